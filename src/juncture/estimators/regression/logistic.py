"""`LogisticRegression` as a scikit-learn classifier."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from juncture.checks import check_choice, check_flag, check_mapping, check_number
from juncture.data.tables.labels import label_array
from juncture.errors import InvalidData, hint
from juncture.estimators.tables import class_column, row_weights, validate_table
from juncture.learning.undirected.penalties import L1, L2, Penalty
from juncture.numerics import log, log_sum_exp
from juncture.supervised.regression.classes import read_classes
from juncture.supervised.regression.laplace import laplace_logistic
from juncture.supervised.regression.logistic import fit_logistic
from juncture.supervised.regression.rows import read_weights

PENALTIES: dict[str, Penalty] = {"l1": L1(1.0), "l2": L2(1.0)}


@dataclass(eq=False, repr=False)
class LogisticRegression(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Logistic regression of two or more classes, by damped Newton steps.

    Parameters
    ----------
    penalty
        `jt.L2(strength)` or `jt.L1(strength)`; "l2", the default, and "l1" have the strength 1. None is maximum
        likelihood, which refuses classes that a hyperplane separates.
    class_weight
        By what the weights of rows are multiplied: a mapping from classes, of which those left out have 1, or
        "balanced", which gives all classes the same total.
    tol, max_iter
        The search ends at a step of no more than `tol`, relative to the weights in standard deviations, or after
        `max_iter` steps, with a warning. None takes those of `jt.supervised.fit_logistic`.
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
        (class, column) and (class,): the weights of each class, which sum to 0 over the classes. Of two classes one
        row, the log-odds of the second.
    n_iter_
        The steps of the search.

    Examples
    --------
    >>> fitted = LogisticRegression().fit([[0.0], [1.0], [2.0], [3.0]], ["no", "no", "yes", "yes"])
    >>> fitted.predict([[0.5], [2.5]]).tolist()
    ['no', 'yes']
    """

    penalty: Any = "l2"
    _: KW_ONLY
    class_weight: Any = None
    tol: float | None = None
    max_iter: int | None = None
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
        table, labels = validate_table(self, X, y=y, dtype=np.float64)
        check_classification_targets(label_array(class_column(labels, "y").levels.labels))
        kind = self.penalty
        if isinstance(kind, str):
            kind = PENALTIES[check_choice(kind, PENALTIES, "penalty, as a word,")]
        weights = weigh_classes(self.class_weight, labels, read_weights(row_weights(sample_weight, X), len(table)))
        self.fit_ = fit_logistic(
            table, labels, penalty=kind, weights=weights, tolerance=self.tol, max_steps=self.max_iter
        )
        self.model_ = self.fit_.model
        self.classes_ = label_array(self.model_.classes)
        self.n_iter_ = self.fit_.num_steps
        every = self.model_.coefficients
        if len(self.classes_) > 2:
            every = np.concatenate([np.zeros((1, every.shape[1])), every])
            every = every - every.mean(axis=0)
        self.intercept_, self.coef_ = every[:, 0], every[:, 1:]
        if check_flag(self.posterior, "posterior"):
            self.posterior_ = laplace_logistic(self.fit_)
        return self

    def decision_function(self, X: Any) -> np.ndarray:
        """(row,): the log-odds of the second of two classes; (row, class): scores whose softmax are probabilities."""
        check_is_fitted(self)
        if self.posterior:
            scores = log(self.predict_proba(X))
        else:
            scores = self.model_.log_odds(validate_table(self, X, dtype=np.float64, reset=False))
        if len(self.classes_) == 2:
            return np.asarray(scores[:, 1] - scores[:, 0])
        return np.asarray(scores - scores.mean(axis=1, keepdims=True))

    def predict_proba(self, X: Any) -> np.ndarray:
        """(row, class): p(class | row)."""
        check_is_fitted(self)
        table = validate_table(self, X, dtype=np.float64, reset=False)
        if not self.posterior:
            return np.asarray(self.model_.predict_proba(table))
        method = "quadrature" if len(self.classes_) == 2 else "draws"
        return np.asarray(self.posterior_.predict_proba(table, method, rng=self.random_state))

    def predict_log_proba(self, X: Any) -> np.ndarray:
        """(row, class): log p(class | row)."""
        check_is_fitted(self)
        if self.posterior:
            return np.asarray(log(self.predict_proba(X)))
        scores = self.model_.log_odds(validate_table(self, X, dtype=np.float64, reset=False))
        return np.asarray(scores - log_sum_exp(scores, axis=1)[:, None])

    def predict(self, X: Any) -> np.ndarray:
        """The class of the largest probability."""
        check_is_fitted(self)
        return np.asarray(self.classes_[self.predict_proba(X).argmax(axis=1)])


def weigh_classes(class_weight: Any, labels: Any, weights: np.ndarray) -> np.ndarray:
    """The weights of rows, times those of their classes."""
    if class_weight is None:
        return weights
    classes, codes = read_classes(labels, len(weights))
    if isinstance(class_weight, str):
        check_choice(class_weight, ["balanced"], "class_weight, as a word,")
        totals = np.bincount(codes, weights, len(classes))
        shares = np.divide(weights.sum() / len(classes), totals, out=np.zeros(len(classes)), where=totals > 0)
    else:
        given = check_mapping(class_weight, "class_weight")
        unknown = [label for label in given if label not in classes]
        if unknown:
            raise InvalidData(f"class_weight has the class {unknown[0]!r}; {hint(unknown[0], classes)}")
        shares = np.array(
            [check_number(given.get(label, 1.0), "a weight of class_weight", least=0, finite=True) for label in classes]
        )
    return np.asarray(weights * shares[codes])
