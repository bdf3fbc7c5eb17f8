"""Inputs, targets, weights and class labels of a regression as arrays without holes; classes as codes."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from juncture.base.checks import check_iterable, shown
from juncture.base.values import number_of
from juncture.data.feature_names import Names
from juncture.data.observations import as_values
from juncture.data.rows import Rows, is_column, read_labels, row_weights
from juncture.data.tables.foreign import unwrap_frame
from juncture.data.tables.labels import label_array
from juncture.data.tables.table import as_column
from juncture.errors import InvalidData
from juncture.supervised.model import Training, split_training
from juncture.variables import Variable


class Pairs(NamedTuple):
    """Rows to learn from: inputs, targets, and the weight of each."""

    inputs: np.ndarray  # (row, input)
    targets: np.ndarray  # (row,)
    weights: np.ndarray  # (row,)
    names: Names | None = None  # of the columns of inputs


def read_inputs(inputs: Any, names: Names | None = None, *, extra: str = "error") -> np.ndarray:
    """(row, input), finite; a list of numbers is one column. With names, tables are taken by name."""
    table = Rows.of(inputs, names, extra=extra).matrix("inputs")
    check_finite(table, "the inputs")
    return table


def read_targets(targets: Any, num_rows: int) -> np.ndarray:
    """(row,), finite: a number for each row of inputs."""
    if is_column(targets) and not isinstance(targets, np.ndarray):
        targets = as_column(targets, "target").encode(Variable("target"))
    values = as_values(unwrap_frame(targets), (), name="a target")
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.shape != (num_rows,):
        raise InvalidData(
            f"targets are one number a row, {number_of(num_rows, 'number')} here; got an array of the shape"
            f" {values.shape}"
        )
    column = values.astype(np.float64, copy=False)
    check_finite(column, "the targets")
    return column


def read_weights(weights: Any, num_rows: int) -> np.ndarray:
    """(row,), of which some are positive."""
    found = row_weights(weights, num_rows)
    if not found.any():
        raise InvalidData("there is no row with a weight to learn from: give rows")
    return found


def read_pairs(X: Any, y: Any, weights: Any, names: Names | None = None) -> Pairs:
    """Inputs with the names of their columns, targets and weights; with `names` the columns are taken by them."""
    return pairs_of(split_training(names, X, y, weights))


def pairs_of(read: Training) -> Pairs:
    """Rows to learn a regression from, whose targets are numbers."""
    table = read_inputs(read.inputs)
    heavy = read_weights(read.inputs.weights(len(table)), len(table))
    return Pairs(table, read_targets(read.targets, len(table)), heavy, read.names)


def check_finite(values: np.ndarray, what: str) -> None:
    """Check that nothing is missing or infinite; the sentence names the row and what to do."""
    if np.isfinite(values).all():
        return
    place = tuple(int(axis[0]) for axis in np.nonzero(~np.isfinite(values)))
    column = f", column {place[1]}" if len(place) > 1 else ""
    if np.isnan(values[place]):
        raise InvalidData(
            f"row {place[0]}{column} of {what} is missing (NaN), and this regression has no distribution of it: leave"
            " the row out, or fit a network of LinearGaussian conditionals, which takes holes"
        )
    raise InvalidData(f"row {place[0]}{column} of {what} is {values[place]}; give finite numbers")


def read_classes(labels: Any, num_rows: int, classes: Any = None) -> tuple[tuple[Any, ...], np.ndarray]:
    """The classes, sorted unless they are given, and the code of each row; no label may be missing."""
    found, codes = read_labels(labels, "targets")
    if codes.shape != (num_rows,):
        raise InvalidData(
            f"targets are one label a row, {number_of(num_rows, 'label')} here; got an array of the shape {codes.shape}"
        )
    if (codes < 0).any():
        raise InvalidData(f"row {int(np.argmax(codes < 0))} of the targets has no class: leave the row out")
    order = found if classes is None else check_classes(classes)
    places = {label: place for place, label in enumerate(order)}
    unknown = [label for label in found if label not in places]
    if unknown:
        raise InvalidData(f"the targets have the class {unknown[0]!r}, which is not among the classes given")
    if len(order) < 2:
        raise InvalidData(f"a classifier needs at least 2 classes; the targets have {number_of(len(order), 'class')}")
    return tuple(order), np.array([places[label] for label in found], dtype=np.int64)[codes]


def check_classes(classes: Any) -> list[Any]:
    """Labels that are text, numbers or truth values, each once."""
    listed = check_iterable(classes, "classes")
    wrong = [label for label in listed if not isinstance(label, str | int | float | np.generic)]
    if wrong or len(set(listed)) < len(listed):
        raise InvalidData(f"classes are different labels, each a text, a number or a truth value; got {shown(classes)}")
    return listed


def decode_classes(classes: tuple[Any, ...], codes: np.ndarray) -> np.ndarray:
    """The label of each code."""
    return np.asarray(label_array(classes)[codes])
