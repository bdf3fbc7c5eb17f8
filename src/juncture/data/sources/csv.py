"""CSV files in blocks of lines.

Blocks without quotes go to PyArrow, where it is installed and the file is long; from the first block that has
anything else, the rows go to Python's parser. Both give the columns that reading the file at once gives.
"""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from importlib.util import find_spec
from itertools import islice
from typing import Any, BinaryIO, NamedTuple

from juncture.base.values import Value
from juncture.data.files.csv_arrow import COPIES, LONG, arrow_columns, has_blanks, has_empty_line
from juncture.data.files.csv_text import (
    BYTE_ORDER_MARK,
    CHUNK,
    CHUNK_CELLS,
    MAX_ROW,
    CodedCells,
    Columns,
    RowLength,
    SeparatedRows,
    bounded_lines,
    check_rows,
    not_utf8,
    parse_rows,
    read_header,
    strip_names,
)
from juncture.data.sources.contract import FileState, Origin, SourceTable, default_block_rows, file_name
from juncture.errors import FormatError
from juncture.runtime.files import PIECE, open_decompressed
from juncture.runtime.memory import default_memory_limit, format_bytes


class Position(NamedTuple):
    """Bytes and lines before a block."""

    offset: int
    line: int


class LinedColumns(NamedTuple):
    """The columns of a block, and the line of its first row if each row is one line."""

    columns: Columns
    line: int | None


class CsvReader(Value):
    """One CSV file, perhaps packed by gzip; its header is read at once, its rows when they are asked for."""

    file: str
    names: tuple[str, ...]
    block_rows: int
    state: FileState
    separator: str
    num_rows = None

    def __init__(self, path: str | os.PathLike[str], block_rows: int | None = None) -> None:
        file = file_name(path)
        self._set(file=file, state=FileState.of(file))
        with open_at(file, 0) as stream:
            reader = SeparatedRows(bounded_lines(stream, RowLength()), file)
            with format_errors(file, lambda: reader.line_num):
                self._set(names=tuple(read_header(reader)), separator=str(reader.separator))
        self._set(block_rows=block_rows or default_block_rows(len(self.names)))

    def tables(self, names: Sequence[str]) -> Iterator[SourceTable]:
        self.state.check_unchanged(self.file)
        start = 0
        for columns, line in self._blocks():
            num_rows = len(columns[self.names[0]])
            yield SourceTable({name: columns[name] for name in names}, num_rows, Origin(self.file, start, line=line))
            start += num_rows
        if start == 0:
            empty = {name: CodedCells().levels() for name in names}
            yield SourceTable(empty, 0, Origin(self.file))

    def _blocks(self) -> Iterator[LinedColumns]:
        rest = yield from self._plain_blocks()
        if rest is not None:
            yield from self._parsed_blocks(rest)

    def _plain_blocks(self) -> Generator[LinedColumns, None, Position | None]:
        """The blocks up to the first that is not certainly lines with commas in them; where it starts."""
        if self.state.size < LONG or find_spec("pyarrow") is None:
            return Position(0, 0)
        with open_decompressed(self.file) as stream:
            head = stream.readline(MAX_ROW)
            if len(self.names) < 2 or not is_header(head, self.names, self.separator):
                return Position(0, 0)
            position = Position(len(head), 1)
            while lines := self._read_lines(stream):
                content = b"".join(lines)
                columns = plain_columns(content, list(self.names), self.separator)
                if columns is None:
                    return position
                yield LinedColumns(columns, position.line + 1)
                position = Position(position.offset + len(content), position.line + len(lines))
        return None

    def _read_lines(self, stream: BinaryIO) -> list[bytes]:
        limit, total, lines = default_memory_limit() // COPIES, 0, []
        for line in islice(iter(partial(stream.readline, MAX_ROW), b""), self.block_rows):
            lines.append(line)
            total += len(line)
            if total > limit:
                raise self._too_large(limit)
        return lines

    def _parsed_blocks(self, position: Position) -> Iterator[LinedColumns]:
        with open_at(self.file, position.offset) as stream:
            length = RowLength()
            reader = SeparatedRows(bounded_lines(stream, length), self.file, self.separator, position.line)
            with format_errors(self.file, lambda: reader.line_num):
                if position.offset == 0:
                    read_header(reader)
                rows = check_rows(reader, len(self.names), length)
                before = reader.line_num
                while (columns := self._read_block(rows)) is not None:
                    is_lined = reader.line_num - before == len(columns[self.names[0]])
                    yield LinedColumns(columns, before + 1 if is_lined else None)
                    before = reader.line_num

    def _read_block(self, rows: Iterator[list[str]]) -> Columns | None:
        cells, left, limit = [CodedCells() for _ in self.names], self.block_rows, default_memory_limit()
        most = max(1, min(CHUNK, CHUNK_CELLS // len(self.names)))
        while chunk := list(islice(rows, min(left, most))):
            for column, values in zip(cells, zip(*chunk, strict=True), strict=True):
                column.extend(values)
            left -= len(chunk)
            if sum(column.num_bytes for column in cells) > limit:
                raise self._too_large(limit)
        if left == self.block_rows:
            return None
        return {name: column.levels() for name, column in zip(self.names, cells, strict=True)}

    def _too_large(self, limit: int) -> FormatError:
        return FormatError(
            f"a block of {self.block_rows:,} rows takes more than {format_bytes(limit)}: ask for blocks of fewer rows"
            " with block_rows",
            file=self.file,
        )


def is_header(line: bytes, names: Sequence[str], separator: str) -> bool:
    """Whether the first line, by itself, is the header of these names; quotes in it are common."""
    try:
        text = line.decode().removeprefix(BYTE_ORDER_MARK)
        return strip_names(next(parse_rows([text], separator), []), text) == list(names)
    except (UnicodeDecodeError, csv.Error):
        return False


def plain_columns(content: bytes, names: list[str], separator: str) -> Columns | None:
    """The columns of some lines, read by PyArrow; None where Python's parser might read something else."""
    if b'"' in content or content.count(b"\r") != content.count(b"\r\n") or has_empty_line(content):
        return None
    if has_blanks(content, separator):
        return None
    return arrow_columns(content, names, separator)


@contextmanager
def open_at(file: str, offset: int) -> Iterator[Any]:
    """The text of a file after so many bytes."""
    with open_decompressed(file) as stream:
        while offset > 0 and (skipped := stream.read(min(offset, PIECE))):
            offset -= len(skipped)
        yield io.TextIOWrapper(stream, encoding="utf-8", newline="")


@contextmanager
def format_errors(file: str, line: Callable[[], int]) -> Iterator[None]:
    """Whatever is wrong with a CSV file as one error with its line."""
    try:
        yield
    except FormatError as error:
        raise FormatError(error.message, file=file, line=line() if error.line is None else error.line) from None
    except csv.Error as error:
        raise FormatError(f"not readable as CSV: {error}", file=file, line=line()) from error
    except UnicodeDecodeError as error:
        raise not_utf8(error, file) from error
