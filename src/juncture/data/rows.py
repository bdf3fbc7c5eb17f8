"""`Rows`: what somebody gave as rows, read once; and the views of it that models take.

They are arrays, lists, frames of any library, mappings of columns, a `Dataset`, files, or sources whose rows stay
outside memory; models take numbers, codes of their variables, or cells of columns that are yet to be looked at.
Columns with names are taken by the names of a model that was learned from named columns.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial, wraps
from math import prod
from numbers import Real
from typing import Any, ParamSpec, TypeAlias, TypeVar

import numpy as np

from juncture.base.checks import check_iterable, shown
from juncture.base.values import few, number_of
from juncture.data.column_kinds import UNNAMED, warn_unnamed
from juncture.data.dataset import Dataset, Extra, as_table, is_row_names
from juncture.data.feature_names import Names, name_model
from juncture.data.observations import as_values
from juncture.data.sources.contract import Block, Origin, RowSource, check_extra, is_source, map_blocks
from juncture.data.tables.cells import unmask
from juncture.data.tables.columns import ColumnParts, DatasetColumn, Levels, NumericColumn
from juncture.data.tables.foreign import open_frame, series_values, unwrap_frame
from juncture.data.tables.labels import sorting_key
from juncture.data.tables.table import Table, as_column
from juncture.data.tables.weights import as_weights
from juncture.errors import InvalidData, UnknownVariable, hint
from juncture.variables import Scope, Variable, is_missing

P = ParamSpec("P")
Found = TypeVar("Found")
Result = TypeVar("Result")
EventShape: TypeAlias = tuple[int, ...]
RowParts: TypeAlias = Callable[[], Iterator[tuple[np.ndarray, np.ndarray]]]  # rows and weights, part by part


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows as they were given, with the names of their columns and their weights.

    Attributes
    ----------
    data
        A `Dataset`, the cells of a table by name, a frame of narwhals, a source of rows outside memory, or what NumPy
        makes an array of.
    names
        The names of the columns in their order; None for columns without names.
    given_weights
        One weight a row, the name of the column of a source that holds them, or None.
    is_by_name
        Whether the columns were asked for by their names.
    """

    data: Any
    names: Names | None = None
    given_weights: Any = None
    is_by_name: bool = False

    @classmethod
    def of(cls, given: Any, names: Names | None = None, *, weights: Any = None, extra: str = "error") -> Rows:
        """The rows that were given, or those read already; with `names`, the columns of a table by these names.

        A mapping of numbers, and a series of pandas whose labels are the names, is one row by name. `weights` may name
        a column; those of a `Dataset` are taken where none are given. `extra="ignore"` leaves other columns out.
        """
        if type(given) is np.ndarray and given.dtype.names is None and not isinstance(weights, str):
            return cls(given, names, weights, names is not None)
        if isinstance(given, Rows) and names is None and weights is None:
            return given
        data, own = (
            (given.data, given.given_weights) if isinstance(given, Rows) else (read_data(given, names or ()), None)
        )
        asked = own if weights is None else weights
        if isinstance(asked, str) and not is_source(data):
            data, asked = Dataset(data, weights=asked), None
        if asked is None and isinstance(data, Dataset):
            asked = data.weights
        found = without(find_names(data), asked)
        if names is None:
            return cls(data, found, asked)
        return cls(take_columns(data, found, names, extra), names, asked, is_by_name=True)

    @cached_property
    def source(self) -> RowSource | None:
        """The source of rows that stay outside memory, its columns as numbers; None for rows in memory."""
        return self.data.coded(map(Variable, self.names or ()), self.given_weights) if is_source(self.data) else None

    @cached_property
    def table(self) -> Any:
        """The rows in memory, as numbers: a `Dataset`, a frame of narwhals, or what NumPy makes an array of."""
        if isinstance(self.data, np.ndarray):
            return self.data
        if isinstance(self.data, Table):
            return Dataset._of_numbers(self.data)
        if self.source is None:
            return self.data
        from juncture.data.sources.source import collect

        return collect(self.source)

    def cells(self, names: Sequence[str] | None = None) -> Table:
        """The columns by name, not looked at yet; those of an array are called x0, x1, … or as `names` say."""
        if is_source(self.data):
            from juncture.data.sources.source import collect

            return as_table(collect(self.data))
        is_listed = isinstance(self.data, list | tuple) and len(self.data) > 0
        if not is_listed and not isinstance(self.data, np.ndarray):
            return as_table(self.data)
        array = plain_array(self.data) if is_listed else unmask(self.data)
        if array.ndim != 2:
            raise InvalidData(f"the rows must have two axes, (row, column); it has the shape {array.shape}")
        return as_table(array, list(names or default_names(array.shape[1])))

    def codes(self, variables: Iterable[Variable], *, extra: Extra = "error") -> Dataset:
        """The columns of these variables: the codes of their states, and numbers."""
        scope = Scope(variables)
        if not is_source(self.data):
            return Dataset(self.data, scope, self.given_weights, extra=extra)
        from juncture.data.sources.source import collect

        check_extra(self.names or (), scope, extra)
        return collect(self.data.coded(scope, self.given_weights))

    @cached_property
    def columns(self) -> dict[str, Callable[[], np.ndarray]] | None:
        """For each column of a `Dataset` or a frame a function that reads its numbers; None for an array."""
        table = self.table
        if isinstance(table, np.ndarray):
            return None
        if isinstance(table, Dataset):
            return {name: partial(dataset_column, table, name) for name in table.columns}
        frame = open_frame(table)
        return None if frame is None else {name: partial(frame_column, frame, name) for name in frame.columns}

    @cached_property
    def values(self) -> np.ndarray:
        """The numbers with the axes of an array that was given; those of a table are (row, column). Holes are NaN."""
        if isinstance(self.data, np.ndarray) or self.columns is None:
            return as_numbers(unwrap_frame(self.table))
        return self._side_by_side(list(self.columns))

    def _side_by_side(self, names: Sequence[str]) -> np.ndarray:
        columns = [(self.columns or {})[name]() for name in names]
        return np.stack(columns, axis=1) if columns else np.zeros((len(self.table), 0))

    def matrix(self, what: str = "rows") -> np.ndarray:
        """(row, column) of floats; one list of numbers is a column. `what` is what a message calls the rows."""
        values = self.values
        if values.ndim not in (1, 2):
            raise InvalidData(f"{what} are a table of numbers, (row, column); got an array of the shape {values.shape}")
        return (values[:, None] if values.ndim == 1 else values).astype(np.float64, copy=False)

    def numbers(self, event_shape: EventShape | None = None) -> np.ndarray:
        """(row, *event) of finite numbers, NaN for holes; one row alone is a list of one.

        Without the shape of a row, the rows are a table of any number of columns. Where rows are numbers, a table of
        one column will do.
        """
        values = self._events(event_shape)
        if event_shape == () and values.ndim == 2 and values.shape[1] == 1:
            values = values[:, 0]
        check_shape(values.shape, event_shape)
        is_single = self.is_single(event_shape)
        if np.isinf(values).any():
            place = np.argwhere(np.isinf(values))[0]
            where = "the row" if is_single else f"row {place[0]}"
            raise InvalidData(
                f"a number must be finite, or NaN where it is missing; {where} has {values[tuple(place)]}"
            )
        if event_shape != ():
            values = values.astype(np.float64, copy=False)  # numbers may stay whole: they may be codes
        return values[None] if is_single else values

    def _events(self, event_shape: EventShape | None) -> np.ndarray:
        """The values, each row of a table with the shape of an event."""
        if self.columns is None or event_shape is None:
            return self.values
        order = order_columns(list(self.columns), event_shape, is_named=self.is_by_name)
        values = self.values if order == list(self.columns) else self._side_by_side(order)
        return values.reshape(len(values), *event_shape) if event_shape else values

    def is_single(self, event_shape: EventShape | None = None) -> bool:
        """Whether one row was given, and not a list of rows."""
        return self.columns is None and self.values.ndim == (1 if event_shape is None else len(event_shape))

    def many(self, event_shape: EventShape | None = None) -> tuple[np.ndarray, np.ndarray]:
        """The rows that a model is learned from, (row, *event), and the weight of each."""
        rows = self.numbers(event_shape)
        if self.is_single(event_shape):
            raise InvalidData("a model is learned from many rows; got one")
        return rows, self.weights(len(rows))

    def weights(self, num_rows: int) -> np.ndarray:
        """(row,): the weight of each of so many rows, 1 where none are given."""
        own = self.table.weights if self.source is not None else self.given_weights
        return row_weights(own, num_rows)

    def parts(self, event_shape: EventShape) -> RowParts:
        """A function that gives rows and weights: all in one part, or in the blocks of a source."""
        if self.source is not None:
            return SourceRows(self, event_shape)
        part = self.many(event_shape)
        return lambda: iter([part])


def row_weights(weights: Any, num_rows: int) -> np.ndarray:
    """(row,): the weight of each row, 1 where none are given."""
    found = as_weights(weights, num_rows)
    return np.ones(num_rows) if found is None else found


def read_labels(labels: Any, what: str = "labels") -> tuple[list[Any], np.ndarray]:
    """The labels that occur, sorted, and the code of the label of each row, -1 where it is missing."""
    plain = labels if is_column(labels) else unwrap_frame(labels)
    levels = as_column(plain if is_column(plain) else check_iterable(plain, what), what).levels
    known: Any = levels.labels
    order = sorted(range(len(known)), key=lambda code: sorting_key(known[code]))
    ranks = np.full(len(order) + 1, -1, np.int64)  # the code of a hole is -1
    ranks[order] = np.arange(len(order))
    return [known[code] for code in order], ranks[np.asarray(levels.codes)]


def is_column(cells: Any) -> bool:
    """Whether cells are those of a column of a table, or an array, and need no look at each."""
    return isinstance(cells, np.ndarray | NumericColumn | Levels | DatasetColumn | ColumnParts)


def read_data(given: Any, names: Sequence[str] = ()) -> Any:
    """A source, the cells of a file, of a mapping or of mappings, a frame of narwhals; all else as it is."""
    if isinstance(given, np.ndarray):
        return given if given.dtype.names is None else as_table(given)
    is_listed = isinstance(given, list | tuple)
    is_of_numbers = is_listed and not (given and isinstance(given[0], Mapping | str | os.PathLike))
    if is_of_numbers or isinstance(given, Dataset | Table):
        return given
    from juncture.data.sources.entries import as_lazy_source

    source = as_lazy_source(given)
    if source is not None:
        return source
    is_columns = isinstance(given, Mapping) and not is_row(given)
    if is_listed or is_columns or isinstance(given, str | os.PathLike):
        return as_table(given)
    frame = open_frame(given)
    return given if frame is None else without_row_names(frame, names)


def without_row_names(frame: Any, names: Sequence[str]) -> Any:
    """The frame without a first column that numbers or names the rows, unless it is among the names."""
    first = frame.columns[0] if len(frame.columns) > 1 else None
    if first not in UNNAMED or first in names or not is_row_names(as_column(frame.get_column(first), first)):
        return frame
    warn_unnamed(first)
    return frame.drop(first)


def as_numbers(values: Any) -> np.ndarray:
    """Numbers as an array, whole ones as whole numbers."""
    try:
        return as_values(values, (), name="a row")
    except InvalidData:
        raise InvalidData(f"rows must be numbers; got {shown(values)}") from None


def plain_array(rows: Sequence[Any]) -> np.ndarray:
    """A list of rows as an array; cells of different types stay as they are."""
    try:
        array = np.array(rows)
        return np.array(rows, dtype=object) if array.dtype.kind not in "biuf" else array
    except (ValueError, TypeError) as error:
        raise InvalidData(f"rows must be a table with as many cells in each row; got {shown(rows)}") from error


def find_names(data: Any) -> Names | None:
    """The names of the columns of a table; None for an array, and for a frame whose columns have numbers for names."""
    labels = column_labels(data)
    return tuple(map(str, labels)) if any(isinstance(label, str) for label in labels) else None


def column_labels(data: Any) -> tuple[Any, ...]:
    """What the columns of a table are called; nothing for what is no table."""
    if is_source(data):
        return tuple(data.names)
    if isinstance(data, Dataset | Table):
        return tuple(data.columns if isinstance(data, Dataset) else data.cells)
    if isinstance(data, Mapping):
        return tuple(data)
    frame = open_frame(data)
    return () if frame is None else tuple(frame.columns)


def without(names: Names | None, weights: Any) -> Names | None:
    """The names of columns, but that of the weights."""
    is_named = names is not None and isinstance(weights, str)
    return tuple(name for name in names or () if name != weights) if is_named else names


def take_columns(data: Any, found: Names | None, names: Names, extra: str) -> Any:
    """The columns of a table by name, in this order; one row by name as an array; what has no names as it is."""
    if is_source(data):
        check_found(found or (), names, extra)
        return data
    row = as_row(data, names)
    found = found if row is None else tuple(map(str, row))
    if found is None:
        return data
    check_found(found, names, extra)
    if row is not None:
        return np.array([np.nan if is_missing(row[name]) else row[name] for name in names], np.float64)
    return data.only(names) if isinstance(data, Dataset | Table) else data.select(list(names))


def as_row(table: Any, names: Names) -> Mapping[str, Any] | None:
    """One row by name; None for anything else."""
    pandas = sys.modules.get("pandas")  # which is loaded where there is such a series
    if pandas is not None and isinstance(table, pandas.Series) and len(names) > 1 and set(table.index) == set(names):
        return dict(zip(table.index, table.tolist(), strict=True))
    return table if isinstance(table, Mapping) else None


def is_row(mapping: Mapping[Any, Any]) -> bool:
    """Whether a mapping is of names to numbers, and not to columns."""
    return all(isinstance(cell, Real) or is_missing(cell) for cell in mapping.values())


def check_found(found: Names, names: Names, extra: str) -> None:
    """Raise unless a table has all these columns, and with `extra="error"` no others."""
    known = set(found)
    lacking = [name for name in names if name not in known]
    if lacking:
        raise UnknownVariable(
            f"the rows lack the column {lacking[0]!r}, which the model was learned with; {hint(lacking[0], found)}"
        )
    others = [name for name in found if name not in set(names)]
    if others and extra == "error":
        raise InvalidData(
            f"the model was learned without the column {few(map(repr, others), most=4)}: leave it out; its columns are"
            f" {few(map(repr, names))}"
        )


def check_shape(shape: tuple[int, ...], event_shape: EventShape | None) -> None:
    if event_shape is None:
        if len(shape) != 2:
            raise InvalidData(f"rows are a table of numbers, (row, column); got an array of the shape {shape}")
    elif shape not in {event_shape, (*shape[:1], *event_shape)}:
        wanted = number_of(prod(event_shape), "number") if len(event_shape) < 2 else f"the shape {event_shape}"
        raise InvalidData(f"a row has {wanted}; got an array of the shape {shape}")


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


def dataset_column(data: Dataset, name: str) -> np.ndarray:
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


@dataclass(frozen=True, eq=False)
class SourceRows:
    """The rows of a source as numbers, with their weights; a call reads them anew, part by part."""

    rows: Rows
    event_shape: EventShape

    @property
    def source(self) -> RowSource:
        """The source, its columns as numbers."""
        return self.rows.source  # type: ignore[return-value]

    def __call__(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Parts are coded on threads, while those before them are in use."""
        return self.map(as_part)

    def map(self, function: Callable[[np.ndarray, np.ndarray, Origin], Result]) -> Iterator[Result]:
        """`function` of rows, weights and the place of each part, in order: on threads, or where the rows are."""
        names = self.rows.names if self.rows.is_by_name else None
        return map_blocks(partial(apply_to_rows, function, self.event_shape, names), self.source)


def apply_to_rows(
    function: Callable[[np.ndarray, np.ndarray, Origin], Result],
    event_shape: EventShape,
    names: Names | None,
    block: Block,
) -> Result:
    with block.origin.located():
        rows, weights = Rows.of(block.rows, names, extra="ignore").many(event_shape)
        return function(rows, weights, block.origin)


def as_part(rows: np.ndarray, weights: np.ndarray, origin: Origin) -> tuple[np.ndarray, np.ndarray]:
    return rows, weights


def column_names(event_shape: EventShape) -> list[str]:
    """The columns of a dataset of rows: "x" for numbers, "x0", "x1", … for the entries of a vector."""
    return default_names(prod(event_shape)) if event_shape else ["x"]


def default_names(number: int) -> list[str]:
    """What the columns of a plain array are called."""
    return [f"x{position}" for position in range(number)]


def free_name(name: str, taken: Sequence[str]) -> str:
    """The name, with underscores after it where a column has it."""
    while name in taken:
        name += "_"
    return name


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


def keep_names(fit: Callable[P, Found]) -> Callable[P, Found]:
    """A function `fit(model, data, …)` whose fitted model has the names of the columns that it was learned from.

    A model that has names takes the columns by them. The function is given the data as `Rows`.
    """
    learn: Any = fit

    @wraps(fit)
    def named(model: Any, data: Any, *others: Any, **options: Any) -> Any:
        rows = Rows.of(data)
        names = model.feature_names or without(rows.names, options.get("weights"))
        return name_model(learn(model._named(names), rows, *others, **options), names)

    return named  # type: ignore[return-value]
