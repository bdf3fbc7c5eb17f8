"""`LogisticRegression` as a scikit-learn classifier."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from juncture.checks import check_flag, is_one_of
from juncture.data.tables.labels import label_array
from juncture.estimators.tables import class_column, row_weights, validate_table
from juncture.supervised.regression.laplace import laplace_logistic
from juncture.supervised.regression.logistic import fit_logistic


@dataclass(eq=False, repr=False)
class LogisticRegression(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Logistic regression of two or more classes, by damped Newton steps.

    Parameters
    ----------
    penalty
        `jt.L2(strength)`, by default of strength 1, or `jt.L1(strength)`; "none" for maximum likelihood, which refuses
        classes that a hyperplane separates.
    posterior
        Whether probabilities average over the Laplace posterior of the coefficients, for an L2 penalty: for two classes
        exactly, for more by draws.
    random_state
        Of the draws.

    Attributes
    ----------
    fit_
        The `jt.supervised.LogisticFit`, with standard errors.
    classes_
        The classes, sorted.
    coef_, intercept_
        The log-odds of each class but the first against it.

    Examples
    --------
    >>> fitted = LogisticRegression().fit([[0.0], [1.0], [2.0], [3.0]], ["no", "no", "yes", "yes"])
    >>> fitted.predict([[0.5], [2.5]]).tolist()
    ['no', 'yes']
    """

    penalty: Any = None
    _: KW_ONLY
    posterior: bool = False
    random_state: Any = 0

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn the coefficients.

        Parameters
        ----------
        X
            A table of numbers, without holes.
        y
            The class of each row.
        sample_weight
            The weight of each row.

        Returns
        -------
        The estimator itself.
        """
        from juncture.learning.undirected.penalties import L2

        table, labels = validate_table(self, X, y=y, dtype=np.float64)
        check_classification_targets(label_array(class_column(labels, "y").levels.labels))
        kind = L2(1.0) if self.penalty is None else None if is_one_of(self.penalty, ["none"]) else self.penalty
        self.fit_ = fit_logistic(table, labels, penalty=kind, weights=row_weights(sample_weight, X))
        self.model_ = self.fit_.model
        self.classes_ = label_array(self.model_.classes)
        self.intercept_, self.coef_ = self.model_.coefficients[:, 0], self.model_.coefficients[:, 1:]
        if check_flag(self.posterior, "posterior"):
            self.posterior_ = laplace_logistic(self.fit_)
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        """(row, class): p(class | row)."""
        check_is_fitted(self)
        table = validate_table(self, X, dtype=np.float64, reset=False)
        if not self.posterior:
            return np.asarray(self.model_.predict_proba(table))
        method = "quadrature" if len(self.classes_) == 2 else "draws"
        return np.asarray(self.posterior_.predict_proba(table, method, rng=self.random_state))

    def predict(self, X: Any) -> np.ndarray:
        """The class of the largest probability."""
        check_is_fitted(self)
        return np.asarray(self.classes_[self.predict_proba(X).argmax(axis=1)])
