"""Datasets written as CSV files; and rows written part after part, CSV or Parquet of any length in flat memory.

CSV is UTF-8 with a header; an empty cell is a hole; a file named `.gz` is compressed. Real numbers are written so
that reading gives the same bits. A file appears whole or not at all.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Any, BinaryIO, TextIO, TypeAlias

import numpy as np

from juncture.base.checks import check_path
from juncture.data.files.csv_text import CHUNK, SEPARATORS, Source, is_tabbed
from juncture.data.files.table_files import is_parquet
from juncture.data.tables.export import import_package, label_texts
from juncture.errors import InvalidData
from juncture.runtime.files import replace_file, replace_text_file
from juncture.variables import Variable

if TYPE_CHECKING:
    from juncture.data.dataset import Dataset


def write_csv(dataset: Dataset, target: Source) -> None:
    """Write a header and the rows; a file appears whole or not at all.

    The weights are not written, so they must be absent.
    """
    if not hasattr(target, "write"):
        check_path(target)
    if dataset.weights is not None:
        raise InvalidData("a CSV file cannot hold weights; write `dataset.to_pandas()` with a column of them")
    if not dataset.variables:
        raise InvalidData("a dataset without variables cannot be written as CSV: the header would be empty")
    separator = "\t" if is_tabbed(target) else ","
    hole = '""' if len(dataset.variables) == 1 else ""  # a line that is empty would not be a row
    columns = [CsvColumn(variable, dataset.columns[variable.name], hole) for variable in dataset.variables]
    with replace_text_file(target) if isinstance(target, str | os.PathLike) else nullcontext(target) as stream:
        write_rows(stream, columns, dataset.num_rows, separator)


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


WritePart: TypeAlias = Callable[["Dataset"], None]


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


def write_rows(
    stream: TextIO, columns: Sequence[CsvColumn], num_rows: int, separator: str, *, with_header: bool = True
) -> None:
    if with_header:
        stream.write(separator.join(quote_cell(column.name, SEPARATORS) for column in columns) + "\n")
    for start in range(0, num_rows, CHUNK):
        cells = [column.cells(start, start + CHUNK) for column in columns]
        stream.writelines(separator.join(row) + "\n" for row in zip(*cells, strict=True))


class CsvColumn:
    """A column as the text of its cells, each label quoted once."""

    def __init__(self, variable: Variable, values: np.ndarray, hole: str) -> None:
        if variable.dimension > 1:
            raise InvalidData(f"variable {variable.name!r} is vector-valued; a CSV cell holds one number")
        self.name, self.values, self.hole = variable.name, values, hole
        self.texts = [] if variable.is_real else [quote_cell(text) for text in csv_texts(variable)]
        check_encodable(variable.name, *self.texts)

    def cells(self, start: int, stop: int) -> Iterator[str]:
        values = self.values[start:stop].tolist()
        if self.values.dtype.kind == "f":
            return (repr(value) if value == value else self.hole for value in values)  # noqa: PLR0124
        return map([*self.texts, self.hole].__getitem__, values)  # the code -1 finds the hole at the end


def csv_texts(variable: Variable) -> Sequence[str]:
    texts = label_texts(variable)
    if "" in texts:
        raise InvalidData(
            f"variable {variable.name!r} has the empty text as a state, which CSV reads as a missing value"
        )
    return texts


def quote_cell(text: str, separators: str = ",\t") -> str:
    """The text as one cell, in quotes where separators, quotes, line ends or a byte order mark ask for them."""
    if any(mark in text for mark in f'{separators}"\r\n\ufeff') or text != text.strip():
        return '"' + text.replace('"', '""') + '"'
    return text


def check_encodable(*texts: str) -> None:
    for text in texts:
        try:
            text.encode("utf-8")
        except UnicodeEncodeError:
            raise InvalidData(f"the text {text!r} cannot be encoded as UTF-8") from None
