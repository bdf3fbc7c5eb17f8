"""Inputs, targets and weights of a regression as arrays without holes."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from juncture.base.values import number_of
from juncture.data.feature_names import Names, as_table, find_names, select_columns
from juncture.data.observations import as_values
from juncture.data.rows import read_columns
from juncture.data.sequence_steps import unwrap_frame
from juncture.data.tables.weights import as_weights
from juncture.errors import InvalidData


class Rows(NamedTuple):
    """Rows to learn from: inputs, targets, and the weight of each row."""

    inputs: np.ndarray  # (row, input)
    targets: np.ndarray  # (row,)
    weights: np.ndarray  # (row,)
    names: Names | None = None  # of the columns of inputs


def read_inputs(inputs: Any, names: Names | None = None, *, extra: str = "error") -> np.ndarray:
    """(row, input), finite; a list of numbers is one column. With names, tables are taken by name."""
    table = select_columns(inputs, names, extra=extra)
    values = read_columns(table)
    if values is None:
        values = as_values(unwrap_frame(table), (), name="an input")
    if values.ndim not in (1, 2):
        raise InvalidData(f"inputs are a table of numbers, (row, input); got an array of the shape {values.shape}")
    table = (values[:, None] if values.ndim == 1 else values).astype(np.float64, copy=False)
    check_finite(table, "the inputs")
    return table


def read_targets(targets: Any, num_rows: int) -> np.ndarray:
    """(row,), finite: a number for each row of inputs."""
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
    found = as_weights(weights, num_rows)
    if found is None:
        found = np.ones(num_rows)
    if not found.any():
        raise InvalidData("there is no row with a weight to learn from: give rows")
    return found


def read_rows(inputs: Any, targets: Any, weights: Any, names: Names | None = None) -> Rows:
    """The rows, with the names of their columns; with `names` the columns are taken by them."""
    given = as_table(inputs)
    table = read_inputs(given, names, extra="ignore")
    return Rows(table, read_targets(targets, len(table)), read_weights(weights, len(table)), names or find_names(given))


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
