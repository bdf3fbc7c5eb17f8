"""Decision trees and random forests as scikit-learn's estimators."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from juncture.base.checks import check_number
from juncture.data.dataset import as_table
from juncture.data.rows import default_names
from juncture.data.tables.cells import unmask
from juncture.data.tables.labels import label_array
from juncture.data.tables.table import Table
from juncture.errors import InvalidData
from juncture.estimators.reading import (
    as_plain_column,
    check_known_columns,
    class_column,
    draw_seed,
    has_names,
    row_weights,
    validate_table,
)
from juncture.estimators.shell import options_of, shell_of
from juncture.numerics import stable
from juncture.supervised.trees.forest import ForestOptions, grow_forest
from juncture.supervised.trees.forest import RandomForest as Forest
from juncture.supervised.trees.growth import TreeOptions
from juncture.supervised.trees.pruning import prune_by_cost, prune_tree
from juncture.supervised.trees.training_rows import read_training
from juncture.supervised.trees.tree import DecisionTree as Tree
from juncture.supervised.trees.tree import grow_tree

TARGET = "y"


class TreeEstimator(BaseEstimator):  # type: ignore[misc]
    """A tree or a forest that is learned from a table, in which cells may be missing."""

    model_: Any

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from rows; text, booleans and categorical columns are categories, numbers are real-valued."""
        if y is None:
            raise InvalidData(f"{type(self).__name__} requires y to be passed, but the target y is None")
        table = self._read(X, reset=True)
        target = self._read_target(y)
        if len(target) != table.num_rows:
            raise InvalidData(f"y has {len(target)} rows, X has {table.num_rows}: they must be as many")
        self._learn(table, target, row_weights(sample_weight, X))
        return self

    def predict(self, X: Any) -> np.ndarray:
        """The class, or the number, of each row."""
        return np.asarray(self._model().predict(self._read(X, reset=False)))

    @property
    def feature_importances_(self) -> np.ndarray:
        """(column,): the share of each column in the fall of the impurity."""
        return np.array(self._model().importances)

    def _model(self) -> Any:
        check_is_fitted(self, "model_")
        return self.model_

    def _learn(self, table: Table, target: Any, weights: Any) -> None:
        raise NotImplementedError

    def _read_target(self, y: Any) -> Any:
        raise NotImplementedError

    def _read(self, X: Any, *, reset: bool) -> Table:
        """The columns of X by name."""
        if not reset:
            self._model()
        if not has_names(X):
            array = validate_table(self, unmask(X), dtype=None, ensure_all_finite="allow-nan", reset=reset)
            return as_table(array, list(getattr(self, "feature_names_in_", default_names(array.shape[1]))))
        table = as_table(X)
        if reset:
            self.n_features_in_, self.feature_names_in_ = len(table.cells), np.array(list(table.cells), dtype=object)
        else:
            names = getattr(self, "feature_names_in_", default_names(self.n_features_in_))
            check_known_columns(table.cells, set(names), TARGET, may_lack=False)
        return table

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = tags.input_tags.string = True
        return tags


def read_classes(y: Any) -> Any:
    """The class of each row as a column; holes and fractions are refused."""
    column = class_column(y, TARGET)
    labels = label_array(column.levels.labels)
    if labels.dtype.kind == "f" and not np.isfinite(labels).all():
        raise InvalidData("the class y is infinite in some row; a class is a label")
    check_classification_targets(labels[column.levels.codes[column.levels.codes >= 0]] if len(labels) else labels)
    return column


def read_numbers(y: Any) -> np.ndarray:
    """The number of each row."""
    values = as_plain_column(y)
    try:
        numbers = values.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidData(f"y must be numbers, one a row: {error}") from error
    if not np.isfinite(numbers).all():
        raise InvalidData("y contains NaN or infinity; a regression needs a finite number in each row")
    return numbers


def held_out(number: int, fraction: Any, seed: int) -> np.ndarray:
    """(row,): whether a row is held out for pruning; about this fraction of all rows, drawn at random."""
    share = check_number(fraction, "prune_fraction", least=0.0, below=1.0)
    is_held = np.zeros(number, bool)
    is_held[np.random.default_rng(seed).permutation(number)[: int(share * number)]] = True
    return is_held


def learn_pruned(estimator: Any, table: Table, y: Any, weights: Any, target: str) -> Tree:
    """The tree with the options of an estimator: grown, and pruned where that is asked."""
    options = options_of(estimator, TreeOptions, target=target)
    generator = np.random.default_rng(seed := draw_seed(estimator.random_state))
    is_held = held_out(table.num_rows, estimator.prune_fraction, seed)
    if not is_held.any():
        rows = read_training(table, y, weights, options.categories, is_real=options.is_real)
        tree = grow_tree(rows, options, generator)
    else:
        heavy = np.ones(table.num_rows) if weights is None else weights
        rows = read_training(table, y, heavy * ~is_held, options.categories, is_real=options.is_real)
        tree = prune_tree(grow_tree(rows, options, generator), table, y, weights=heavy * is_held)
    alpha = check_number(estimator.ccp_alpha, "ccp_alpha", least=0.0)
    return prune_by_cost(tree, alpha) if alpha > 0 else tree


@shell_of(TreeOptions, without=("target",), first=())
class DecisionTree(ClassifierMixin, TreeEstimator):  # type: ignore[misc]
    """A decision tree in Quinlan's form: multiway splits on categories, thresholds on numbers, holes allowed.

    Parameters
    ----------
    {options}
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

    prune_fraction: float = 0.0
    ccp_alpha: float = 0.0
    random_state: Any = 0

    def predict_proba(self, X: Any) -> np.ndarray:
        """(row, class): the shares of the classes, in the order of `classes_`."""
        return np.asarray(self._model().predict_proba(self._read(X, reset=False)))

    def predict_log_proba(self, X: Any) -> np.ndarray:
        """The logarithms of `predict_proba`."""
        return stable.log(self.predict_proba(X))

    def _read_target(self, y: Any) -> Any:
        return read_classes(y)

    def _learn(self, table: Table, target: Any, weights: Any) -> None:
        self.model_ = learn_pruned(self, table, target, weights, "class")
        self.classes_ = label_array(self.model_.target.labels)


@shell_of(TreeOptions, without=("target", "confidence"), first=())
class RegressionTree(RegressorMixin, TreeEstimator):  # type: ignore[misc]
    """A regression tree: splits that lower the variance most, and leaves that predict the mean.

    Parameters
    ----------
    {options}
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

    prune_fraction: float = 0.0
    ccp_alpha: float = 0.0
    random_state: Any = 0

    def _read_target(self, y: Any) -> Any:
        return read_numbers(y)

    def _learn(self, table: Table, target: Any, weights: Any) -> None:
        self.model_ = learn_pruned(self, table, target, weights, "number")


def learn_options(estimator: Any, table: Table, y: Any, weights: Any, target: str, vote: str) -> Forest:
    """The forest with the options of an estimator."""
    options = options_of(estimator, ForestOptions, target=target, vote=vote)
    rows = read_training(table, y, weights, options.categories, is_real=options.is_real)
    return grow_forest(rows, options, np.random.default_rng(draw_seed(estimator.random_state)))


@shell_of(ForestOptions, without=("target", "confidence"), first=("n_estimators",))
class RandomForest(ClassifierMixin, TreeEstimator):  # type: ignore[misc]
    """A random forest of trees in Quinlan's form.

    Parameters
    ----------
    {options}
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

    random_state: Any = 0

    def predict_proba(self, X: Any) -> np.ndarray:
        """(row, class): the votes of the trees for each class, in the order of `classes_`."""
        return np.asarray(self._model().predict_proba(self._read(X, reset=False)))

    def predict_log_proba(self, X: Any) -> np.ndarray:
        """The logarithms of `predict_proba`."""
        return stable.log(self.predict_proba(X))

    def _read_target(self, y: Any) -> Any:
        return read_classes(y)

    def _learn(self, table: Table, target: Any, weights: Any) -> None:
        self.model_ = learn_options(self, table, target, weights, "class", self.vote)
        self.classes_ = label_array(self.model_.trees[0].target.labels)
        error = self.model_.out_of_bag_error
        self.oob_score_ = None if error is None else 1.0 - error


@shell_of(
    ForestOptions, without=("target", "confidence", "vote"), defaults={"max_features": None}, first=("n_estimators",)
)
class RegressionForest(RegressorMixin, TreeEstimator):  # type: ignore[misc]
    """A random forest of regression trees, which predicts the mean of its trees.

    Parameters
    ----------
    {options}
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

    random_state: Any = 0

    def _read_target(self, y: Any) -> Any:
        return read_numbers(y)

    def _learn(self, table: Table, target: Any, weights: Any) -> None:
        self.model_ = learn_options(self, table, target, weights, "number", "soft")
