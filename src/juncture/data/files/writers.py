"""Rows written part after part: CSV and Parquet files of any length in flat memory."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, BinaryIO, TextIO, TypeAlias

from juncture.data.files.csv import CsvColumn, write_rows
from juncture.data.files.files import is_parquet
from juncture.data.files.separators import is_tabbed
from juncture.data.tables.export import import_package
from juncture.errors import InvalidData
from juncture.runtime.files import replace_file, replace_text_file

if TYPE_CHECKING:
    from juncture.data.dataset import Dataset

WritePart: TypeAlias = Callable[["Dataset"], None]


@contextmanager
def open_rows(path: str | os.PathLike[str]) -> Iterator[WritePart]:
    """A function that appends rows; the file appears, with all of them, when the block ends well."""
    if not is_parquet(path):
        with replace_text_file(path) as stream:
            yield CsvParts(stream, "\t" if is_tabbed(path) else ",").write
        return
    with replace_file(path) as content:
        parts = ParquetParts(content)
        try:
            yield parts.write
        finally:
            parts.close()


class CsvParts:
    """Rows of a CSV file, the header before the first of them."""

    def __init__(self, stream: TextIO, separator: str) -> None:
        self.stream, self.separator, self.has_header = stream, separator, False

    def write(self, rows: Dataset) -> None:
        hole = '""' if len(rows.variables) == 1 else ""  # a line that is empty would not be a row
        columns = [CsvColumn(variable, rows.columns[variable.name], hole) for variable in rows.variables]
        write_rows(self.stream, columns, rows.num_rows, self.separator, with_header=not self.has_header)
        self.has_header = True


class ParquetParts:
    """Row groups of a Parquet file; the first of them gives the types of the columns."""

    def __init__(self, content: BinaryIO) -> None:
        self.content = content
        self.writer: Any = None

    def write(self, rows: Dataset) -> None:
        table = rows.to_arrow()
        if self.writer is None:
            self.writer = import_package("pyarrow.parquet", "arrow").ParquetWriter(self.content, table.schema)
        self.writer.write_table(self._with_types(table, self.writer.schema))

    def _with_types(self, table: Any, schema: Any) -> Any:
        for field, wanted in zip(table.schema, schema, strict=True):
            is_empty = table.column(field.name).null_count == table.num_rows
            if field.type != wanted.type and not is_empty:
                raise InvalidData(
                    f"the column {field.name!r} has the type {field.type} in one block of rows and {wanted.type}"
                    " before, and a Parquet file has one type a column: write a CSV file, or leave the column out"
                )
        return table.cast(schema)

    def close(self) -> None:
        if self.writer is not None:
            self.writer.close()
