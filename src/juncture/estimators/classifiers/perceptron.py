"""`Perceptron`: Rosenblatt's rule for two classes, and one hyperplane a class for more."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from juncture.checks import check_choice, check_count, check_flag, check_number
from juncture.data.tables.weights import as_weights
from juncture.errors import InvalidData
from juncture.estimators.tables import as_plain_column, draw_seed, row_weights, validate_table
from juncture.supervised.linear_classifiers.perceptron import Run, apply_rule, warn_not_converged


class Perceptron(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """The perceptron: each misclassified row adds η t (1, x) to the weights, until none is left.

    scikit-learn's class of this name shuffles, stops when the loss no longer falls, and keeps no history; this one ends
    when all rows are right, counts its updates for the bound (R/γ)², and has a batch mode and a margin.

    Parameters
    ----------
    method
        "stochastic", a step at each misclassified row, or "batch", a step along all of them.
    margin
        A row counts as misclassified unless t a(x) is above this.
    learning_rate
        η.
    max_iter
        The most passes over the rows; classes that are not separable never end before.
    shuffle
        Whether "stochastic" takes the rows of each pass in a random order.
    random_state
        The seed of that order.

    Attributes
    ----------
    coef_, intercept_
        (1, column) and (1,) for two classes, else a row a class, each against the rest.
    errors_
        For each hyperplane the number of misclassified rows of each pass.
    num_updates_
        (hyperplane,): how many rows changed the weights.
    converged_
        (hyperplane,): whether the last pass found no error.
    classes_, n_iter_, n_features_in_, feature_names_in_
        The labels, sorted; the most passes; the columns.

    Examples
    --------
    >>> rows, labels = [[0, 0], [0, 1], [1, 0], [1, 1]], ["no", "no", "no", "yes"]
    >>> classifier = Perceptron().fit(rows, labels)
    >>> classifier.predict(rows).tolist(), classifier.num_updates_.tolist()
    (['no', 'no', 'no', 'yes'], [18])
    """

    def __init__(
        self,
        *,
        method: str = "stochastic",
        margin: float = 0.0,
        learning_rate: float = 1.0,
        max_iter: int = 1000,
        shuffle: bool = False,
        random_state: Any = 0,
    ) -> None:
        self.method = method
        self.margin = margin
        self.learning_rate = learning_rate
        self.max_iter = max_iter
        self.shuffle = shuffle
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from rows without holes; a weight scales the step of its row."""
        if y is None:
            raise InvalidData("Perceptron requires y to be passed, but the target y is None")
        rows, column = validate_table(self, X, y=y, dtype=np.float64)
        labels = as_plain_column(column)
        check_classification_targets(labels)
        weights = as_weights(row_weights(sample_weight, X), len(rows))
        self.classes_, codes = np.unique(labels, return_inverse=True)
        if len(self.classes_) < 2:
            raise InvalidData(f"a perceptron needs at least 2 classes; y has only one class, {self.classes_[0]!r}")
        lifted = np.column_stack([np.ones(len(rows)), rows])
        sides = [1] if len(self.classes_) == 2 else range(len(self.classes_))
        runs = [self._learn(lifted, codes == code, weights) for code in sides]
        warn_not_converged(max((run.errors for run in runs), key=lambda errors: errors[-1]))
        self.coef_ = np.array([run.weights[1:] for run in runs])
        self.intercept_ = np.array([run.weights[0] for run in runs])
        self.errors_ = [run.errors for run in runs]
        self.num_updates_ = np.array([sum(run.errors) for run in runs])
        self.converged_ = np.array([not run.errors[-1] for run in runs])
        self.n_iter_ = max(len(run.errors) for run in runs)
        return self

    def decision_function(self, X: Any) -> np.ndarray:
        """a(x): (row,) for two classes, positive for the second; else (row, class)."""
        check_is_fitted(self, "coef_")
        rows = validate_table(self, X, dtype=np.float64, reset=False)
        activations = rows @ self.coef_.T + self.intercept_
        return np.asarray(activations[:, 0] if len(self.classes_) == 2 else activations)

    def predict(self, X: Any) -> np.ndarray:
        """The class of each row: that of the largest activation."""
        activations = self.decision_function(X)
        codes = (activations > 0).astype(np.int64) if activations.ndim == 1 else activations.argmax(axis=1)
        return np.asarray(self.classes_[codes])

    def _learn(self, lifted: np.ndarray, is_second: np.ndarray, weights: np.ndarray | None) -> Run:
        signed = np.where(is_second, 1.0, -1.0)[:, None] * lifted
        heavy = np.ones(len(signed)) if weights is None else weights
        keep = heavy > 0
        rate = check_number(self.learning_rate, "learning_rate", above=0, finite=True)
        is_shuffled = check_flag(self.shuffle, "shuffle")
        generator = np.random.default_rng(draw_seed(self.random_state))
        return apply_rule(
            signed[keep],
            rate * heavy[keep],
            np.zeros(signed.shape[1]),
            least=check_number(self.margin, "margin", least=0, finite=True),
            max_epochs=check_count(self.max_iter, "max_iter", least=1),
            is_batch=check_choice(self.method, ("stochastic", "batch"), "method") == "batch",
            generator=generator if is_shuffled else None,
        )
