"""`DecisionTree` and `RegressionTree`: one tree, pruned on rows that are held out if asked."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin

from juncture import numerics
from juncture.checks import check_number
from juncture.data.tables.labels import label_array
from juncture.data.tables.table import Table
from juncture.estimators.tables import draw_seed
from juncture.estimators.trees.estimator import TreeEstimator, held_out, read_classes, read_numbers
from juncture.supervised.trees.learn import learn_tree
from juncture.supervised.trees.pruning import prune_by_cost, prune_tree
from juncture.supervised.trees.tree import DecisionTree as Tree

OPTIONS = (
    "criterion", "missing", "max_depth", "min_samples_split", "min_samples_leaf", "min_gain", "significance",
    "max_features", "categories",
)  # fmt: skip


def learn_pruned(estimator: Any, table: Table, y: Any, weights: Any, target: str) -> Tree:
    """The tree with the options of an estimator: grown, and pruned where that is asked."""
    options = {name: getattr(estimator, name) for name in OPTIONS}
    seed = draw_seed(estimator.random_state)
    is_held = held_out(table.num_rows, estimator.prune_fraction, seed)
    if not is_held.any():
        tree = learn_tree(table, y, target=target, weights=weights, rng=seed, **options)
    else:
        heavy = np.ones(table.num_rows) if weights is None else weights
        tree = learn_tree(table, y, target=target, weights=heavy * ~is_held, rng=seed, **options)
        tree = prune_tree(tree, table, y, weights=heavy * is_held)
    alpha = check_number(estimator.ccp_alpha, "ccp_alpha", least=0.0)
    return prune_by_cost(tree, alpha) if alpha > 0 else tree


class DecisionTree(ClassifierMixin, TreeEstimator):  # type: ignore[misc]
    """A decision tree in Quinlan's form: multiway splits on categories, thresholds on numbers, holes allowed.

    Parameters
    ----------
    criterion
        "gain" (information gain), "gain_ratio" or "gini".
    missing
        Where a row with a missing value goes: "fractions" to all children, "mode" to the heaviest one, "class_mode" in
        training to the heaviest one of its class.
    max_depth, min_samples_split, min_samples_leaf, min_gain, significance, max_features, categories
        As in `juncture.supervised.learn_tree`.
    prune_fraction
        The share of the rows that is held out of the growth, and by which the tree is pruned (reduced error).
    ccp_alpha
        The price of a leaf in cost-complexity pruning.
    random_state
        The seed of the rows that are held out, and of `max_features`.

    Attributes
    ----------
    model_
        The tree, a `juncture.supervised.DecisionTree`, which has rules, explanations, a picture and a file.
    classes_
        The classes, sorted.
    n_features_in_, feature_names_in_
        The number of columns, and their names if they have any.

    Examples
    --------
    >>> tree = DecisionTree().fit([["sunny", 25], ["rain", 18], ["rain", 30], ["sunny", 31]], ["go", "no", "no", "go"])
    >>> tree.predict([["rain", 20], ["sunny", 20]]).tolist()
    ['no', 'go']
    """

    def __init__(  # noqa: PLR0913 (options of one algorithm)
        self,
        *,
        criterion: str = "gain",
        missing: str = "fractions",
        max_depth: int | None = None,
        min_samples_split: float = 0.0,
        min_samples_leaf: float = 0.0,
        min_gain: float = 0.0,
        significance: float | None = None,
        max_features: int | None = None,
        categories: Any = None,
        prune_fraction: float = 0.0,
        ccp_alpha: float = 0.0,
        random_state: Any = 0,
    ) -> None:
        self.criterion = criterion
        self.missing = missing
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_gain = min_gain
        self.significance = significance
        self.max_features = max_features
        self.categories = categories
        self.prune_fraction = prune_fraction
        self.ccp_alpha = ccp_alpha
        self.random_state = random_state

    def predict_proba(self, X: Any) -> np.ndarray:
        """(row, class): the shares of the classes, in the order of `classes_`."""
        return np.asarray(self._model().predict_proba(self._read(X, reset=False)))

    def predict_log_proba(self, X: Any) -> np.ndarray:
        """The logarithms of `predict_proba`."""
        return numerics.log(self.predict_proba(X))

    def _read_target(self, y: Any) -> Any:
        return read_classes(y)

    def _learn(self, table: Table, target: Any, weights: Any) -> None:
        self.model_ = learn_pruned(self, table, target, weights, "class")
        self.classes_ = label_array(self.model_.target.labels)


class RegressionTree(RegressorMixin, TreeEstimator):  # type: ignore[misc]
    """A regression tree: splits that lower the variance most, and leaves that predict the mean.

    Parameters
    ----------
    criterion
        "variance".
    missing
        "fractions" or "mode", as for `DecisionTree`.
    max_depth, min_samples_split, min_samples_leaf, min_gain, max_features, categories
        As in `juncture.supervised.learn_tree`.
    prune_fraction, ccp_alpha, random_state
        As for `DecisionTree`.

    Attributes
    ----------
    model_
        The tree, a `juncture.supervised.DecisionTree`.
    n_features_in_, feature_names_in_
        The number of columns, and their names if they have any.

    Examples
    --------
    >>> RegressionTree(max_depth=1).fit([[1], [2], [3], [4]], [1.0, 1.0, 5.0, 7.0]).predict([[0], [9]]).tolist()
    [1.0, 6.0]
    """

    significance = None

    def __init__(  # noqa: PLR0913 (options of one algorithm)
        self,
        *,
        criterion: str = "variance",
        missing: str = "fractions",
        max_depth: int | None = None,
        min_samples_split: float = 0.0,
        min_samples_leaf: float = 0.0,
        min_gain: float = 0.0,
        max_features: int | None = None,
        categories: Any = None,
        prune_fraction: float = 0.0,
        ccp_alpha: float = 0.0,
        random_state: Any = 0,
    ) -> None:
        self.criterion = criterion
        self.missing = missing
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_gain = min_gain
        self.max_features = max_features
        self.categories = categories
        self.prune_fraction = prune_fraction
        self.ccp_alpha = ccp_alpha
        self.random_state = random_state

    def _read_target(self, y: Any) -> Any:
        return read_numbers(y)

    def _learn(self, table: Table, target: Any, weights: Any) -> None:
        self.model_ = learn_pruned(self, table, target, weights, "number")
