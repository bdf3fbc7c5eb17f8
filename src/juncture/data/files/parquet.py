"""Parquet files, read column by column with PyArrow."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from juncture.base.checks import check_path
from juncture.base.values import Value
from juncture.data.files.csv_text import check_names
from juncture.data.tables.columns import Column, Levels, is_native
from juncture.data.tables.export import import_package
from juncture.data.tables.frames import arrow_levels, series_column
from juncture.data.tables.table import Table, as_column
from juncture.errors import FormatError, InvalidData, JunctureError
from juncture.runtime.files import open_file, replace_file
from juncture.runtime.memory import default_memory_limit, format_bytes

if TYPE_CHECKING:
    from juncture.data.dataset import Dataset

CELL_BYTES = 8
BATCH = 2**20  # rows


class ParquetColumn(Value):
    """A column that is read when it is needed; `derived` keeps the metadata of the file, which take long to parse."""

    file: str
    name: str
    is_text: bool

    def __init__(self, file: str, name: str, is_text: bool) -> None:
        self._set(file=file, name=name, is_text=is_text)

    def read(self) -> Column:
        """Text is decoded once for each distinct value; only a type that says dictionary declares an order."""
        dictionary = [self.name] if self.is_text else None
        with open_parquet(self.file, read_dictionary=dictionary, metadata=self.derived.get("metadata")) as content:
            cells = read_cells(content, self.name)
            if not self.is_text:
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
    with open_parquet(file) as content:
        schema, metadata = content.schema_arrow, content.metadata
        check_names(schema.names, "the file has two columns named {!r}")
        check_num_rows(metadata.num_rows)
        columns = {name: ParquetColumn(file, name, is_text_type(schema.field(name).type)) for name in schema.names}
    for column in columns.values():
        column.derived["metadata"] = metadata
    return Table(columns, metadata.num_rows, [(file, metadata.num_rows)])


def is_text_type(kind: Any) -> bool:
    return str(kind) in {"string", "large_string"}


def check_num_rows(num_rows: int) -> None:
    """Refuse a file that declares more rows than a column in memory can have."""
    limit = default_memory_limit()
    if not 0 <= num_rows * CELL_BYTES <= limit:
        raise FormatError(
            f"the file declares {num_rows:,} rows; one column would take {format_bytes(num_rows * CELL_BYTES)}, and the"
            f" memory limit is {format_bytes(limit)}"
        )


def read_cells(content: Any, name: str) -> Any:
    """All cells of a column, batch by batch, as long as what they unpack to stays below the memory limit."""
    arrow, limit = import_package("pyarrow", "arrow"), default_memory_limit()
    before, parts = arrow.total_allocated_bytes(), []
    for batch in content.iter_batches(columns=[name], batch_size=BATCH, use_threads=False):
        parts.append(batch)
        if arrow.total_allocated_bytes() - before > limit:
            raise FormatError(f"the column {name!r} decompresses to more than {format_bytes(limit)}, the memory limit")
    cells = arrow.Table.from_batches(parts).column(name) if parts else content.read(columns=[name]).column(name)
    cells.validate(full=True)
    return cells


def write_parquet(dataset: Dataset, path: str | os.PathLike[str]) -> None:
    """Write the rows as a Parquet file, which appears whole or not at all; the weights must be absent."""
    parquet = import_package("pyarrow.parquet", "arrow")
    check_path(path)
    if dataset.weights is not None:
        raise InvalidData("a Parquet file of rows has no weights; write `dataset.to_arrow()` with a column of them")
    if not dataset.variables:
        raise InvalidData("a dataset without variables cannot be written as Parquet: it would have no columns")
    rows = dataset.to_arrow()
    with replace_file(path) as stream:
        parquet.write_table(rows, stream)


@contextmanager
def open_parquet(file: str, **options: Any) -> Iterator[Any]:
    """Open a Parquet file; the many kinds of errors of PyArrow become a `FormatError`."""
    arrow, parquet = import_package("pyarrow", "arrow"), import_package("pyarrow.parquet", "arrow")
    with open_file(file):
        pass  # raises the error of a file that cannot be opened
    try:
        with parquet.ParquetFile(file, **options) as content:
            yield content
    except FormatError as error:
        raise error.in_file(file) from error
    except JunctureError:
        raise
    except (arrow.ArrowException, OSError, MemoryError, ValueError, LookupError, OverflowError) as error:
        reason = " ".join(str(error).split())  # one line
        raise FormatError(f"not readable as Parquet: {reason or type(error).__name__}", file=file) from error
