"""Rows of models with hidden parts: numbers, vectors, frames or a `Dataset`, as one array; and draws as a `Dataset`."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from math import prod
from numbers import Real
from typing import Any, TypeAlias, TypeVar

import numpy as np

from juncture.base.checks import shown
from juncture.base.values import number_of
from juncture.data.dataset import Dataset
from juncture.data.feature_names import Names, as_table, check_found, select_columns
from juncture.data.observations import as_values
from juncture.data.sources.contract import Block, Origin, RowSource, is_source, map_blocks
from juncture.data.sources.entries import as_lazy_source, find_query
from juncture.data.sources.source import collect
from juncture.data.tables.foreign import open_frame, series_values, unwrap_frame
from juncture.data.tables.weights import as_weights
from juncture.errors import InvalidData
from juncture.variables import Variable

Result = TypeVar("Result")
EventShape: TypeAlias = tuple[int, ...]
RowParts: TypeAlias = Callable[[], Iterator[tuple[np.ndarray, np.ndarray]]]  # rows and weights, part by part


def rows_of(
    given: Any, event_shape: EventShape | None = None, names: Names | None = None, *, extra: str = "error"
) -> tuple[np.ndarray, bool]:
    """(row, *event) with NaN for holes, and whether one row was given and not a list of them.

    Without the shape of a row, the rows are a table of any number of columns. Where rows are numbers, a table of one
    column will do. With names, tables are taken by name.
    """
    rows = select_columns(collect_rows(given), names, extra=extra)
    values = read_columns(rows, event_shape, names)
    if values is None:
        values = as_values(unwrap_frame(rows), (), name="a row")
    if event_shape == () and values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    size = 1 if event_shape is None else len(event_shape)
    check_shape(values.shape, event_shape)
    if np.isinf(values).any():
        place = np.argwhere(np.isinf(values))[0]
        where = f"row {place[0]}" if values.ndim > size else "the row"
        raise InvalidData(f"a number must be finite, or NaN where it is missing; {where} has {values[tuple(place)]}")
    if event_shape != ():
        values = values.astype(np.float64, copy=False)  # numbers may stay whole: they may be codes
    is_single = values.ndim == size
    return (values[None] if is_single else values), is_single


def collect_rows(given: Any) -> Any:
    """The rows of a source or a query in memory; all else as it is."""
    is_lazy = is_source(given) or find_query(given) is not None or isinstance(given, str | os.PathLike)
    source = as_lazy_source(given) if is_lazy else None
    return given if source is None else collect(source.coded(map(Variable, source.names)))


def check_shape(shape: tuple[int, ...], event_shape: EventShape | None) -> None:
    if event_shape is None:
        if len(shape) != 2:
            raise InvalidData(f"rows are a table of numbers, (row, column); got an array of the shape {shape}")
    elif shape not in {event_shape, (*shape[:1], *event_shape)}:
        wanted = number_of(prod(event_shape), "number") if len(event_shape) < 2 else f"the shape {event_shape}"
        raise InvalidData(f"a row has {wanted}; got an array of the shape {shape}")


def read_columns(given: Any, event_shape: EventShape | None = None, names: Names | None = None) -> np.ndarray | None:
    """The columns of a file, a `Dataset` or a frame side by side, each as numbers; None for anything else.

    With names the columns are in their order.
    """
    column_of: Callable[[str], np.ndarray]
    given = as_table(given)
    if isinstance(given, Dataset):
        found, column_of = list(given.columns), lambda name: as_numbers(given, name)
    else:
        frame = open_frame(given)
        if frame is None:
            return None
        found, column_of = list(frame.columns), lambda name: frame_column(frame, name)
    order = found if event_shape is None else order_columns(found, event_shape, is_named=names is not None)
    columns = [column_of(name) for name in order]
    table = np.stack(columns, axis=1) if columns else np.zeros((len(given), 0))
    return table.reshape(len(table), *event_shape) if event_shape else table


def order_columns(names: Sequence[str], event_shape: EventShape, *, is_named: bool) -> list[str]:
    """The columns by name if they have the names that `sample` gives to columns without names, else as they come."""
    own = column_names(event_shape)
    if len(names) != len(own):
        raise InvalidData(
            f"a row has {number_of(len(own), 'number')}; there are {number_of(len(names), 'column')}:"
            " keep the right ones, a Dataset with only([…])"
        )
    return own if set(own) == set(names) and not is_named else list(names)


def frame_column(frame: Any, name: str) -> np.ndarray:
    values = series_values(frame.get_column(name))
    try:
        return as_values(values, (), name="a row")
    except InvalidData:
        strange = next((cell for cell in values.tolist() if not isinstance(cell, Real | None)), values)
        raise InvalidData(
            f"the cells of a row are numbers; the column {name!r} holds {shown(strange)}: leave the column out, or put"
            " numbers for its cells"
        ) from None


def as_numbers(data: Dataset, name: str) -> np.ndarray:
    """A column as numbers, NaN for holes: labels that are numbers stand for themselves."""
    variable, column = data.variable(name), data.columns[name]
    if variable.is_real:
        return column
    if not all(isinstance(label, Real) for label in variable.labels):
        raise InvalidData(
            f"the cells of a row are numbers; the column {name!r} holds labels such as {variable.labels[0]!r}: leave it"
            " out with only([…]), or put numbers for them"
        )
    return np.array([*variable.labels, np.nan], np.float64)[column]  # the code of a hole is -1


def weighted_rows(
    given: Any, weights: Any, event_shape: EventShape | None = None, names: Names | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Many rows, and the weight of each; by name the weights are a column of them."""
    if isinstance(weights, str):
        given, weights = Dataset(given, weights=weights), None
    rows, is_single = rows_of(given, event_shape, names, extra="ignore")
    if is_single:
        raise InvalidData("a model is learned from many rows; got one")
    own = given.weights if weights is None and isinstance(given, Dataset) else weights
    found = as_weights(own, len(rows))
    return rows, np.ones(len(rows)) if found is None else found


def as_parts(given: Any, weights: Any, event_shape: EventShape, names: Names | None) -> RowParts:
    """A function that gives rows and weights: all in one part, or in the blocks of a source."""
    source = as_lazy_source(given)
    if source is not None:
        return SourceRows.of(source, weights, event_shape, names)
    part = weighted_rows(given, weights, event_shape, names)
    return lambda: iter([part])


@dataclass(frozen=True, eq=False)
class SourceRows:
    """The rows of a source as numbers, with their weights; a call reads them anew, part by part."""

    source: RowSource
    event_shape: EventShape
    names: Names | None = None

    @classmethod
    def of(cls, source: RowSource, weights: Any, event_shape: EventShape, names: Names | None = None) -> SourceRows:
        if names is not None:
            check_found(source.names, names, "ignore")
        kept = [name for name in source.names if name != weights] if names is None else names
        return cls(source.coded(map(Variable, kept), weights), event_shape, names)

    def __call__(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Parts are coded on threads, while those before them are in use."""
        return self.map(as_part)

    def map(self, function: Callable[[np.ndarray, np.ndarray, Origin], Result]) -> Iterator[Result]:
        """`function` of rows, weights and the place of each part, in order: on threads, or where the rows are."""
        return map_blocks(partial(apply_to_rows, function, self.event_shape, self.names), self.source)


def apply_to_rows(
    function: Callable[[np.ndarray, np.ndarray, Origin], Result],
    event_shape: EventShape,
    names: Names | None,
    block: Block,
) -> Result:
    with block.origin.located():
        rows, weights = weighted_rows(block.rows, block.rows.weights, event_shape, names)
        return function(rows, weights, block.origin)


def as_part(rows: np.ndarray, weights: np.ndarray, origin: Origin) -> tuple[np.ndarray, np.ndarray]:
    return rows, weights


def column_names(event_shape: EventShape) -> list[str]:
    """The columns of a dataset of rows: "x" for numbers, "x0", "x1", … for the entries of a vector."""
    return [f"x{index}" for index in range(prod(event_shape))] if event_shape else ["x"]


def as_dataset(rows: np.ndarray, feature_names: Names | None = None) -> Dataset:
    """Rows (row, *event) as real columns."""
    names = list(feature_names or column_names(rows.shape[1:]))
    columns = np.asarray(rows, np.float64).reshape(len(rows), len(names)).T.copy()
    return Dataset.from_codes(map(Variable, names), dict(zip(names, columns, strict=True)))


def check_complete(table: np.ndarray, what: str, instead: str) -> None:
    """Raise for a table with a hole; `instead` is what takes holes."""
    if np.isnan(table).any():
        row = int(np.argmax(np.isnan(table).any(axis=1)))
        raise InvalidData(f"{what} take complete rows; row {row} has a hole: {instead}")
