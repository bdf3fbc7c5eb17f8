"""Rows of numbers with holes, as one array; and draws as a `Dataset`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import numpy as np

from juncture.data.dataset import Dataset
from juncture.data.sequences.steps import unwrap_frame
from juncture.data.sources.entries import as_lazy_source
from juncture.data.tables.weights import as_weights
from juncture.errors import InvalidData
from juncture.families.observations import as_values
from juncture.values import number_of
from juncture.variables import Variable

RowParts: TypeAlias = Callable[[], Iterator[tuple[np.ndarray, np.ndarray]]]  # rows and weights, part by part


def rows_of(given: Any, num_columns: int | None = None) -> tuple[np.ndarray, bool]:
    """(row, column) with NaN for holes, and whether one row was given and not a list of them."""
    values = columns_of(given) if isinstance(given, Dataset) else as_values(unwrap_frame(given), (), name="a row")
    if values.ndim not in (1, 2) or (num_columns is None and values.ndim == 1):
        raise InvalidData(f"rows are a table of numbers, (row, column); got an array of the shape {values.shape}")
    if num_columns is not None and values.shape[-1] != num_columns:
        raise InvalidData(f"a row has {number_of(num_columns, 'number')}; got an array of the shape {values.shape}")
    rows = np.atleast_2d(values).astype(np.float64, copy=False)
    if np.isinf(rows).any():
        row, column = np.argwhere(np.isinf(rows))[0]
        raise InvalidData(f"a number must be finite, or NaN where it is missing; row {row} has {rows[row, column]}")
    return rows, values.ndim == 1


def columns_of(data: Dataset) -> np.ndarray:
    """The real columns of a dataset side by side."""
    labelled = [variable.name for variable in data.variables if not variable.is_real]
    if labelled:
        raise InvalidData(
            f"rows of factors are numbers; the column {labelled[0]!r} has states: leave it out with only([…]),"
            " or declare it real"
        )
    columns = list(data.columns.values())
    return np.stack(columns, axis=1) if columns else np.zeros((len(data), 0))


def weighted_rows(given: Any, weights: Any, num_columns: int | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Many rows, and the weight of each."""
    rows, is_single = rows_of(given, num_columns)
    if is_single:
        raise InvalidData("factors are learned from many rows; got one")
    own = given.weights if weights is None and isinstance(given, Dataset) else weights
    found = as_weights(own, len(rows))
    return rows, np.ones(len(rows)) if found is None else found


def as_parts(given: Any, weights: Any, num_columns: int) -> RowParts:
    """A function that gives rows and weights: all in one part, or in the blocks of a source."""
    source = as_lazy_source(given)
    if source is None:
        part = weighted_rows(given, weights, num_columns)
        return lambda: iter([part])
    kept = source if weights is None else source.coded(source.variables, weights)
    return lambda: (weighted_rows(block.rows, block.rows.weights, num_columns) for block in kept.blocks())


def as_dataset(rows: np.ndarray) -> Dataset:
    """Rows (row, column) as real columns "x0", "x1", …."""
    names = [f"x{index}" for index in range(rows.shape[1])]
    return Dataset.from_codes(map(Variable, names), dict(zip(names, rows.T.copy(), strict=True)))
