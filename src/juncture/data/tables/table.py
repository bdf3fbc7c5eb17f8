"""`Table`: the columns of a table by name, and `as_column`: every kind of column that users have."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import singledispatch
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np

from juncture.base.values import Value, few
from juncture.data.tables.cells import list_column, object_column, text_column
from juncture.data.tables.columns import (
    Column,
    ColumnParts,
    DatasetColumn,
    Levels,
    NumericColumn,
    concatenate_columns,
    describe_row,
    is_native,
)
from juncture.data.tables.labels import refuse_dates
from juncture.errors import InvalidData, UnknownState, UnknownVariable

Extra: TypeAlias = Literal["error", "ignore"]
Unseen: TypeAlias = Literal["error", "missing"]
Decimal: TypeAlias = Literal[".", ","]
SHOWN = 5  # files that a message names


class Table(Value):
    """Cells by column name, not looked at yet, the number of rows, and the (file, rows) that they come from."""

    cells: dict[str, Any]
    num_rows: int
    files: tuple[tuple[str, int], ...]
    first: ClassVar[int] = 0  # the number of the first row of a file, in messages

    def __init__(self, cells: Mapping[Any, Any], num_rows: int, files: Iterable[tuple[str, int]] = ()) -> None:
        for position, name in enumerate(cells):
            if not isinstance(name, str) or (not name and position):  # a first name may be empty
                raise InvalidData(f"a column's name must be non-empty text; got {name!r}: rename the columns")
        self._set(cells=dict(cells), num_rows=num_rows, files=tuple(files))

    def __len__(self) -> int:
        return self.num_rows

    def column(self, name: str) -> Column:
        column = as_column(self.cells[name], name)
        if len(column) != self.num_rows:
            first = next(iter(self.cells))
            raise InvalidData(
                f"all columns must be equally long; {first!r} has {self.num_rows} rows, {name!r} has {len(column)}"
            )
        return column

    @property
    def is_native(self) -> bool:
        return any(map(is_native, self.cells.values()))

    def describe_row(self, row: int) -> str:
        """How a message names a row: by its line in a CSV file, by its number in another, or in no file."""
        for file, num_rows in self.files:
            if row < num_rows:
                return f"line {row + 2} of {file}" if self._has_line_per_row else f"row {self.first + row} of {file}"
            row -= num_rows
        return describe_row(row)

    @property
    def _has_line_per_row(self) -> bool:
        """Whether the cells are those of CSV files, and none of them holds a line break."""
        return all(
            isinstance(column, Levels) and column.is_of_file and not any("\n" in str(label) for label in column.labels)
            for column in map(self.column, self.cells)
        )

    @contextmanager
    def located(self) -> Iterator[None]:
        """Errors inside the block that do not name the files of the table say which they are."""
        try:
            yield
        except (InvalidData, UnknownState, UnknownVariable) as error:
            names = [file for file, _ in self.files]
            if not names or any(name in str(error) for name in names):
                raise
            raise type(error)(f"{few(names, most=SHOWN)}: {error}") from error

    def only(self, names: Iterable[str]) -> Table:
        return Table({name: self.cells[name] for name in names}, self.num_rows, self.files)

    def convert_columns(self) -> Table:
        """The same table holding its own columns, whatever happens to the cells it was made from."""
        return Table({name: self.column(name) for name in self.cells}, self.num_rows, self.files)


@singledispatch
def as_column(cells: Any, name: str) -> Column:
    """A column from anything that holds one cell a row."""
    from juncture.data.tables.frames import series_column

    return series_column(cells, name)


@as_column.register
def _(cells: NumericColumn, name: str) -> Column:
    return cells


@as_column.register
def _(cells: Levels, name: str) -> Column:
    return cells


@as_column.register
def _(cells: DatasetColumn, name: str) -> Column:
    return cells


@as_column.register
def _(cells: ColumnParts, name: str) -> Column:
    return concatenate_columns([as_column(part, name) for part in cells], name)


@as_column.register(str)
@as_column.register(bytes)
def _(cells: str | bytes, name: str) -> Column:
    raise InvalidData(
        f"column {name!r} must be a list, array or series with one cell per row; got {cells!r}"
        " (one row is a list of one mapping, [{…}])"
    )


@as_column.register
def _(cells: np.ndarray, name: str) -> Column:
    if cells.dtype.kind in "biuf" and cells.ndim in {1, 2}:
        return NumericColumn(np.array(cells if cells.ndim == 1 else cells.astype(np.float64)))
    if cells.dtype.kind in "mM":
        raise refuse_dates(name)
    if cells.dtype.kind not in "OUT" or cells.ndim not in {1, 2}:
        raise InvalidData(
            f"column {name!r} has the type {cells.dtype} and the shape {cells.shape}; a column holds text, numbers"
            " or booleans, one per row"
        )
    if cells.ndim == 1 and cells.dtype.kind != "T":
        return object_column(cells, name) if cells.dtype == object else text_column(cells, name)
    return list_column(cells.tolist(), name)


@as_column.register
def _(cells: np.ma.MaskedArray, name: str) -> Column:
    return list_column(cells.tolist(), name)


@as_column.register
def _(cells: Sequence, name: str) -> Column:  # type: ignore[type-arg]
    return object_column(np.fromiter(cells, dtype=object, count=len(cells)), name)
