"""Parquet files, read column by column with PyArrow."""

from __future__ import annotations

import os
from typing import Any

from juncture.data.columns import Column, Levels
from juncture.data.export import imported
from juncture.data.frames import arrow_levels, series_column
from juncture.data.tables import Table, as_column, is_native
from juncture.errors import FormatError
from juncture.values import Value


class ParquetColumn(Value):
    """A column that is read when it is needed."""

    _fields = ("file", "name")
    file: str
    name: str

    def __init__(self, file: str, name: str) -> None:
        self._set(file=file, name=name)

    def read(self) -> Column:
        """Text is decoded once for each distinct value; only a type that says dictionary declares an order."""
        with opened(self.file) as content:
            is_text = str(content.schema_arrow.field(self.name).type) in {"string", "large_string"}
        with opened(self.file, read_dictionary=[self.name] if is_text else None) as content:
            cells = content.read(columns=[self.name], use_threads=False).column(self.name)
        if not is_text:
            return series_column(cells, self.name)
        levels = arrow_levels(cells)
        return Levels(levels.codes, levels.labels)


@as_column.register
def _(cells: ParquetColumn, name: str) -> Column:
    return cells.read()


@is_native.register
def _(cells: ParquetColumn) -> bool:
    return True


def parquet_table(path: str | os.PathLike[str]) -> Table:
    """The columns of a Parquet file, none of them read yet."""
    file = str(os.fspath(path))
    with opened(file) as content:
        names = content.schema_arrow.names
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise FormatError(f"the column {twice!r} is there twice", file=file)
        return Table({name: ParquetColumn(file, name) for name in names}, content.metadata.num_rows)


def opened(file: str, **options: Any) -> Any:
    arrow, parquet = imported("pyarrow", "arrow"), imported("pyarrow.parquet", "arrow")
    try:
        return parquet.ParquetFile(file, **options)
    except arrow.ArrowInvalid as error:
        raise FormatError(f"not readable as Parquet: {error}", file=file) from error
