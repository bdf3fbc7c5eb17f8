"""`RandomForest` and `RegressionForest`: trees from bootstrap samples, which vote."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin

from juncture import numerics
from juncture.data.tables.labels import label_array
from juncture.data.tables.table import Table
from juncture.estimators.tables import draw_seed
from juncture.estimators.trees.estimator import TreeEstimator, read_classes, read_numbers
from juncture.supervised.trees.forest import RandomForest as Forest
from juncture.supervised.trees.forest import learn_forest

OPTIONS = (
    "criterion", "missing", "max_depth", "min_samples_split", "min_samples_leaf", "min_gain", "max_features",
    "categories", "bootstrap",
)  # fmt: skip


def learn_options(estimator: Any, table: Table, y: Any, weights: Any, target: str, vote: str) -> Forest:
    """The forest with the options of an estimator."""
    options = {name: getattr(estimator, name) for name in OPTIONS}
    number, seed = estimator.n_estimators, draw_seed(estimator.random_state)
    return learn_forest(table, y, num_trees=number, target=target, vote=vote, weights=weights, rng=seed, **options)


class RandomForest(ClassifierMixin, TreeEstimator):  # type: ignore[misc]
    """A random forest of trees in Quinlan's form.

    Parameters
    ----------
    n_estimators
        The number of trees.
    vote
        "soft" averages the shares of the classes over the trees, "hard" counts the trees that predict each class.
    criterion, missing, max_depth, min_samples_split, min_samples_leaf, min_gain, max_features, categories, bootstrap
        As in `juncture.supervised.learn_forest`.
    random_state
        The seed; the forest does not depend on the number of threads.

    Attributes
    ----------
    model_
        The forest, a `juncture.supervised.RandomForest`.
    classes_
        The classes, sorted.
    oob_score_
        The share of rows that the trees which have not seen them predict rightly; None without a bootstrap.
    n_features_in_, feature_names_in_
        The number of columns, and their names if they have any.

    Examples
    --------
    >>> forest = RandomForest(n_estimators=9).fit([[1], [2], [8], [9]] * 5, ["low", "low", "high", "high"] * 5)
    >>> forest.predict([[0], [10]]).tolist()
    ['low', 'high']
    """

    def __init__(  # noqa: PLR0913 (options of one algorithm)
        self,
        n_estimators: int = 100,
        *,
        vote: str = "soft",
        criterion: str = "gain",
        missing: str = "fractions",
        max_depth: int | None = None,
        min_samples_split: float = 0.0,
        min_samples_leaf: float = 0.0,
        min_gain: float = 0.0,
        max_features: Any = "sqrt",
        categories: Any = None,
        bootstrap: bool = True,
        random_state: Any = 0,
    ) -> None:
        self.n_estimators = n_estimators
        self.vote = vote
        self.criterion = criterion
        self.missing = missing
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_gain = min_gain
        self.max_features = max_features
        self.categories = categories
        self.bootstrap = bootstrap
        self.random_state = random_state

    def predict_proba(self, X: Any) -> np.ndarray:
        """(row, class): the votes of the trees for each class, in the order of `classes_`."""
        return np.asarray(self._model().predict_proba(self._read(X, reset=False)))

    def predict_log_proba(self, X: Any) -> np.ndarray:
        """The logarithms of `predict_proba`."""
        return numerics.log(self.predict_proba(X))

    def _read_target(self, y: Any) -> Any:
        return read_classes(y)

    def _learn(self, table: Table, target: Any, weights: Any) -> None:
        self.model_ = learn_options(self, table, target, weights, "class", self.vote)
        self.classes_ = label_array(self.model_.trees[0].target.labels)
        error = self.model_.out_of_bag_error
        self.oob_score_ = None if error is None else 1.0 - error


class RegressionForest(RegressorMixin, TreeEstimator):  # type: ignore[misc]
    """A random forest of regression trees, which predicts the mean of its trees.

    Parameters
    ----------
    n_estimators
        The number of trees.
    criterion, missing, max_depth, min_samples_split, min_samples_leaf, min_gain, max_features, categories, bootstrap
        As in `juncture.supervised.learn_forest`.
    random_state
        The seed; the forest does not depend on the number of threads.

    Attributes
    ----------
    model_
        The forest, a `juncture.supervised.RandomForest`.
    n_features_in_, feature_names_in_
        The number of columns, and their names if they have any.

    Examples
    --------
    >>> forest = RegressionForest(n_estimators=9).fit([[1], [2], [8], [9]] * 5, [1.0, 1.0, 3.0, 3.0] * 5)
    >>> forest.predict([[0], [10]]).tolist()
    [1.0, 3.0]
    """

    def __init__(  # noqa: PLR0913 (options of one algorithm)
        self,
        n_estimators: int = 100,
        *,
        criterion: str = "variance",
        missing: str = "fractions",
        max_depth: int | None = None,
        min_samples_split: float = 0.0,
        min_samples_leaf: float = 0.0,
        min_gain: float = 0.0,
        max_features: Any = None,
        categories: Any = None,
        bootstrap: bool = True,
        random_state: Any = 0,
    ) -> None:
        self.n_estimators = n_estimators
        self.criterion = criterion
        self.missing = missing
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_gain = min_gain
        self.max_features = max_features
        self.categories = categories
        self.bootstrap = bootstrap
        self.random_state = random_state

    def _read_target(self, y: Any) -> Any:
        return read_numbers(y)

    def _learn(self, table: Table, target: Any, weights: Any) -> None:
        self.model_ = learn_options(self, table, target, weights, "number", "soft")
