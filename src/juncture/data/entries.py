"""The doors: every kind of table and every kind of column that users have."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from functools import singledispatch
from typing import Any

import numpy as np

from juncture.data.tables.cells import list_column, object_column, text_column
from juncture.data.tables.columns import Coded, Column, Levels, Numbers, row_place
from juncture.data.tables.parts import Parts, joined
from juncture.errors import InvalidData
from juncture.values import Value


class Table(Value):
    """Cells by column name, not looked at yet, the number of rows, and the (file, rows) that they come from."""

    _fields = ("cells", "num_rows", "files")
    cells: dict[str, Any]
    num_rows: int
    files: tuple[tuple[str, int], ...]

    def __init__(self, cells: Mapping[Any, Any], num_rows: int, files: Iterable[tuple[str, int]] = ()) -> None:
        for name in cells:
            if not isinstance(name, str) or not name:
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

    def place(self, row: int) -> str:
        """How a message names a row: with its file, if there are several."""
        for file, num_rows in self.files:
            if row < num_rows:
                return f"row {row} of {file}"
            row -= num_rows
        return row_place(row)

    def only(self, names: Iterable[str]) -> Table:
        return Table({name: self.cells[name] for name in names}, self.num_rows, self.files)

    def converted(self) -> Table:
        """The same table holding its own columns, whatever happens to the cells it was made from."""
        return Table({name: self.column(name) for name in self.cells}, self.num_rows, self.files)


@singledispatch
def as_table(data: Any, names: Sequence[str] | None = None) -> Table:
    """A table from anything tabular; `names` names the columns of a plain array."""
    from juncture.data.tables.frames import frame_cells

    return Table(*frame_cells(data))


@as_table.register
def _(data: Table, names: Sequence[str] | None = None) -> Table:
    return data


@as_table.register(str)
@as_table.register(os.PathLike)
def _(data: str | os.PathLike[str], names: Sequence[str] | None = None) -> Table:
    from juncture.data.files.files import table_of_files

    return table_of_files(data)


@as_table.register
def _(data: Mapping, names: Sequence[str] | None = None) -> Table:  # type: ignore[type-arg]
    first = next(iter(data.values()), ())
    is_column = hasattr(first, "__len__") and getattr(first, "shape", None) != () and not isinstance(first, type)
    return Table(data, len(first) if is_column else 0)


@as_table.register(list)
@as_table.register(tuple)
def _(data: Sequence[Any], names: Sequence[str] | None = None) -> Table:
    if data and all(isinstance(item, str | os.PathLike) for item in data):
        from juncture.data.files.files import table_of_files

        return table_of_files(*data)
    as_rows(data)
    found = dict.fromkeys(name for row in data for name in row)
    return Table({name: [row.get(name) for row in data] for name in found}, len(data))


@as_table.register
def _(data: np.ndarray, names: Sequence[str] | None = None) -> Table:
    if data.dtype.names is not None:
        return Table({name: data[name] for name in data.dtype.names}, len(data))
    if data.ndim != 2 or names is None:
        raise InvalidData(
            "a plain array of rows must have two axes, (row, variable), and come with `variables` for its columns;"
            f" it has the shape {data.shape}{' and no variables' if names is None else ''}"
        )
    if data.shape[1] != len(names):
        raise InvalidData(f"the array has {data.shape[1]} columns for {len(names)} variables; they must be as many")
    return Table({name: data[:, number] for number, name in enumerate(names)}, len(data))


def as_rows(rows: Sequence[Any]) -> Sequence[Mapping[str, Any]]:
    """The rows as they are, after a look at whether each is a mapping."""
    for number, row in enumerate(rows):
        if not isinstance(row, Mapping):
            raise InvalidData(f"a list of rows must hold mappings from name to state; row {number} is {row!r}")
    return rows


@singledispatch
def as_column(cells: Any, name: str) -> Column:
    """A column from anything that holds one cell a row."""
    from juncture.data.tables.frames import series_column

    return series_column(cells, name)


@singledispatch
def is_native(cells: Any) -> bool:
    """Whether another library reads these cells without the interpreter's lock, so that threads are of use."""
    return False


@is_native.register
def _(cells: Parts) -> bool:
    return is_native(cells[0])


@as_column.register
def _(cells: Numbers, name: str) -> Column:
    return cells


@as_column.register
def _(cells: Levels, name: str) -> Column:
    return cells


@as_column.register
def _(cells: Coded, name: str) -> Column:
    return cells


@as_column.register
def _(cells: Parts, name: str) -> Column:
    return joined([as_column(part, name) for part in cells])


@as_column.register(str)
@as_column.register(bytes)
def _(cells: str | bytes, name: str) -> Column:
    raise InvalidData(f"column {name!r} must be a list, array or series with one cell a row; got {cells!r}")


@as_column.register
def _(cells: np.ndarray, name: str) -> Column:
    if cells.dtype.kind in "biuf" and cells.ndim in {1, 2}:
        return Numbers(np.array(cells if cells.ndim == 1 else cells.astype(np.float64)))
    if cells.dtype.kind not in "OUT" or cells.ndim not in {1, 2}:
        raise InvalidData(
            f"column {name!r} has the type {cells.dtype} and the shape {cells.shape}; a column holds text, numbers"
            " or booleans, one a row"
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
