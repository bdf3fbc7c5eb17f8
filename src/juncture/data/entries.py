"""`as_table`: every kind of table that users have, and files of them."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import singledispatch
from typing import Any

import numpy as np

from juncture.data.tables.table import Table
from juncture.errors import InvalidData


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
    from juncture.data.files.files import read_table_files

    return read_table_files(data)


@as_table.register
def _(data: Mapping, names: Sequence[str] | None = None) -> Table:  # type: ignore[type-arg]
    first = next(iter(data.values()), ())
    is_column = hasattr(first, "__len__") and getattr(first, "shape", None) != () and not isinstance(first, type)
    return Table(data, len(first) if is_column else 0)


@as_table.register(list)
@as_table.register(tuple)
def _(data: Sequence[Any], names: Sequence[str] | None = None) -> Table:
    if data and all(isinstance(item, str | os.PathLike) for item in data):
        from juncture.data.files.files import read_table_files

        return read_table_files(*data)
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
