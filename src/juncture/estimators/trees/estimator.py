"""The base of the estimators of trees: they read `X` and `y`, and leave the work to `learn_tree` and `learn_forest`."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from juncture.checks import check_number
from juncture.data.entries import as_table
from juncture.data.tables.holes import unmask
from juncture.data.tables.labels import label_array
from juncture.data.tables.table import Table
from juncture.errors import InvalidData
from juncture.estimators.tables import (
    as_plain_column,
    check_known_columns,
    class_column,
    default_names,
    has_names,
    row_weights,
    validate_table,
)

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
