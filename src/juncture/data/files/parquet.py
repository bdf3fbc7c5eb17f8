"""Parquet files, read column by column with PyArrow."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from juncture.data.files.csv_text import check_names
from juncture.data.tables.columns import Column, Levels
from juncture.data.tables.export import imported
from juncture.data.tables.frames import arrow_levels, series_column
from juncture.data.tables.parts import is_native
from juncture.data.tables.table import Table, as_column
from juncture.errors import FormatError, JunctureError
from juncture.files.reading import open_file
from juncture.memory import default_memory_limit, format_bytes
from juncture.values import Value

CELL_BYTES = 8
BATCH = 2**20  # rows


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
            cells = read_cells(content, self.name)
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
        names, num_rows = content.schema_arrow.names, content.metadata.num_rows
        check_names(names, "the column {!r} is there twice")
        check_rows(num_rows)
        return Table({name: ParquetColumn(file, name) for name in names}, num_rows)


def check_rows(num_rows: int) -> None:
    """Refuse a number of rows, of which the file may say any, that one column could not have in memory."""
    limit = default_memory_limit()
    if not 0 <= num_rows * CELL_BYTES <= limit:
        raise FormatError(
            f"the file declares {num_rows:,} rows; a column of them would take {format_bytes(num_rows * CELL_BYTES)},"
            f" and {format_bytes(limit)} is the memory limit"
        )


def read_cells(content: Any, name: str) -> Any:
    """All cells of a column, batch by batch, as long as what they unpack to stays below the memory limit."""
    arrow, limit = imported("pyarrow", "arrow"), default_memory_limit()
    before, parts = arrow.total_allocated_bytes(), []
    for batch in content.iter_batches(columns=[name], batch_size=BATCH, use_threads=False):
        parts.append(batch)
        if arrow.total_allocated_bytes() - before > limit:
            raise FormatError(f"the column {name!r} unpacks to more than {format_bytes(limit)}, the memory limit")
    cells = arrow.Table.from_batches(parts).column(name) if parts else content.read(columns=[name]).column(name)
    cells.validate(full=True)
    return cells


@contextmanager
def opened(file: str, **options: Any) -> Iterator[Any]:
    """The file, and whatever PyArrow, which has many ways to say so, finds wrong with it as one error."""
    arrow, parquet = imported("pyarrow", "arrow"), imported("pyarrow.parquet", "arrow")
    with open_file(file):
        pass  # what cannot be opened says so itself
    try:
        with parquet.ParquetFile(file, **options) as content:
            yield content
    except FormatError as error:
        raise error.in_file(file) from error
    except JunctureError:
        raise
    except (arrow.ArrowException, OSError, MemoryError, ValueError, LookupError, OverflowError) as error:
        told = " ".join(str(error).split())  # one line
        raise FormatError(f"not readable as Parquet: {told or type(error).__name__}", file=file) from error
