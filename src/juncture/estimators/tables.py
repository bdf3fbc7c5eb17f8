"""What `X` and `y` are: columns with names, and the class of each row."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import narwhals as nw
import numpy as np
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from juncture.data.columns import Levels, sorting_key
from juncture.data.dataset import Dataset
from juncture.data.tables import Table, as_column
from juncture.errors import InvalidData, hint
from juncture.variables import Variable

NAMED = Dataset | Table | Mapping | str | os.PathLike


def has_names(X: Any) -> bool:
    """Whether the columns have names of their own: those of datasets, mappings, files and frames do."""
    if isinstance(X, NAMED) or getattr(getattr(X, "dtype", None), "names", None):
        return True
    if isinstance(X, Sequence):
        return bool(X) and isinstance(X[0], Mapping)
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    return isinstance(frame, nw.DataFrame) and all(isinstance(name, str) for name in frame.columns)


def default_names(number: int) -> list[str]:
    """What the columns of a plain array are called."""
    return [f"x{place}" for place in range(number)]


def class_levels(y: Any, name: str) -> Levels:
    """The class of each row by its distinct labels; None and NaN are holes."""
    column = as_column(column_or_1d(y, warn=True), name)
    levels = column.levels
    if any(isinstance(label, float) and not np.isfinite(label) for label in levels.labels):
        raise InvalidData(f"Input y contains infinity; a class is a label, or missing: look at {name!r}")
    labels = np.array(levels.labels)
    check_classification_targets(labels[levels.codes[levels.codes >= 0]] if len(labels) else labels)
    return levels


def class_variable(levels: Levels, name: str) -> Variable:
    """The class with the labels that were seen, sorted, as its states."""
    labels: list[Any] = list(levels.labels)
    if not labels:
        raise InvalidData(f"no row says its class {name!r}: y has holes only")
    return Variable(name, sorted(labels, key=sorting_key))


def label_array(labels: Iterable[Any]) -> np.ndarray:
    """Labels as an array of their kind; of several kinds, as objects."""
    kept = list(labels)
    return np.array(kept, dtype=None if len({type(label) for label in kept}) == 1 else object)


def given_class(cells: Mapping[str, Any], target: str | None) -> Any:
    """The column of the class, for want of a `y`."""
    if target is None or target not in cells:
        raise InvalidData(
            "this classifier requires y to be passed, but the target y is None"
            + (": or name a column of X in target=" if target is None else f", and X has no column {target!r}")
        )
    return cells[target]


def positive_weights(weights: Any) -> np.ndarray | None:
    if weights is None:
        return None
    array = np.asarray(weights)
    if not array.any():
        raise InvalidData("all sample weights are zero; some row must count")
    return array


def refuse_unknown_columns(names: Iterable[str], known: set[str]) -> None:
    """As scikit-learn says it."""
    unknown = [name for name in names if name not in known]
    if unknown:
        raise InvalidData(
            f"the column {unknown[0]!r} was unseen at fit time; {hint(unknown[0], sorted(known))}"
            " (columns may be left out, but not added)"
        )
