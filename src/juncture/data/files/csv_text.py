"""CSV text as columns: a header, then one line a row; an empty cell is a hole.

The separator is a comma, a semicolon or a tab, found in the first line. Cells are coded as they are read, so that
memory holds each distinct text once. A row has at most 2^25 characters, a table at most 2^20 columns, and what is
kept of the rows stays below the memory limit.
"""

from __future__ import annotations

import codecs
import csv
import io
import os
import re
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import chain, islice
from typing import Any, TextIO, TypeAlias

import numpy as np

from juncture.data.column_kinds import TRUTH, text_kind
from juncture.data.tables.columns import ColumnKind, Levels, code_type
from juncture.errors import FormatError
from juncture.runtime.files import check_decompressed_size, open_decompressed
from juncture.runtime.memory import default_memory_limit, format_bytes
from juncture.variables import State, Variable, first_repeated

Source: TypeAlias = str | os.PathLike[str] | TextIO
CHUNK, CHUNK_CELLS = 4096, 2**20  # rows at a time, and cells where rows are long
MAX_COLUMNS = 2**20
MAX_ROW = 2**25  # characters
TEXT_BYTES = 150  # of a different text in a column, beside its letters
BYTE_ORDER_MARK = "\ufeff"
UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


class TextLevels(Levels):
    """A column read from text: its labels are text, which a variable of its own declares as what they look like."""

    is_of_file = True

    def declare_variable(self, name: str, kind: ColumnKind | None = None) -> Variable:
        return Levels(self.codes, parse_labels([str(label) for label in self.labels])).declare_variable(name, kind)


Columns: TypeAlias = dict[str, TextLevels]


def parse_labels(texts: Sequence[str]) -> Sequence[State]:
    """All integers, all numbers or all booleans as such, else text."""
    kind = text_kind(texts)
    return texts if kind == "texts" else [PARSERS[kind](text) for text in texts]


PARSERS: dict[str, Callable[[str], State]] = {"integers": int, "numbers": float, "truths": TRUTH.__getitem__}


def read_table(source: Source) -> tuple[Columns, int]:
    """The columns of a CSV file by name, and the number of rows."""
    file = str(os.fspath(source)) if isinstance(source, str | os.PathLike) else None
    with open_text(source) as stream:
        rows = SeparatedRows(bounded_lines(stream, length := RowLength()), file)
        try:
            return read_columns(rows, read_header(rows), length)
        except FormatError as error:
            raise FormatError(error.message, file=file, line=rows.line_num) from None
        except csv.Error as error:
            raise FormatError(f"not readable as CSV: {error}", file=file, line=rows.line_num) from error
        except UnicodeDecodeError as error:
            raise not_utf8(error, file) from error


def not_utf8(error: UnicodeDecodeError, file: str | None) -> FormatError:
    """The error of a file in another encoding, with what to do about it."""
    encoding, name = ("utf-16", "UTF-16") if error.object[:2] in UTF_16 else ("cp1252", "Windows-1252 or Latin-1")
    return FormatError(
        f"not readable as text in UTF-8, but perhaps {name}: save it as UTF-8 (iconv -f {encoding} -t utf-8), or read"
        f' it with pandas: jt.Dataset(pd.read_csv(…, encoding="{encoding}")); {error.reason} at byte {error.start}',
        file=file,
    )


@contextmanager
def open_text(source: Source) -> Iterator[TextIO]:
    """A file opened as UTF-8 text, through gzip when it is named so; a stream as it is."""
    if not isinstance(source, str | os.PathLike):
        yield source
        return
    check_decompressed_size(source)
    with open_decompressed(source) as stream:
        yield io.TextIOWrapper(stream, encoding="utf-8", newline="")


class SeparatedRows:
    """Python's CSV parser, with the separator that the first line has; lines may come after others of the same file."""

    def __init__(self, lines: Iterator[str], file: str | None, separator: str | None = None, before: int = 0) -> None:
        self.lines, self.file, self.separator, self.before = lines, file, separator, before
        self.rows: Any = None

    def __iter__(self) -> Iterator[list[str]]:
        return self

    def __next__(self) -> list[str]:
        if self.rows is None:
            first = [] if self.separator else header_lines(self.lines)
            self.separator = self.separator or find_separator("".join(first), self.file)
            self.rows = parse_rows(chain(first, self.lines), self.separator)
            if first:
                return strip_names(next(self.rows), "".join(first))
        row: list[str] = next(self.rows)
        return row

    @property
    def line_num(self) -> int:
        return self.before + (0 if self.rows is None else int(self.rows.line_num))


def parse_rows(lines: Iterable[str], separator: str) -> Any:
    """Python's CSV parser; blanks after a separator are no part of a cell, except between quotes."""
    return csv.reader(lines, strict=True, delimiter=separator, skipinitialspace=True)


def strip_names(names: Sequence[str], line: str) -> list[str]:
    """The names of a header without blanks around them, unless quotes keep these."""
    return list(names) if '"' in line else [name.strip(" ") for name in names]


def header_lines(lines: Iterator[str]) -> list[str]:
    """The lines of the first row: more than one where a name in quotes goes on."""
    found = [next(lines)]
    num_quotes = found[0].count('"')
    while num_quotes % 2 and (line := next(lines, "")):
        found.append(line)
        num_quotes += line.count('"')
    return found


class RowLength:
    """How many characters of the row that is being read were read so far."""

    __slots__ = ("so_far",)

    def __init__(self) -> None:
        self.so_far = 0


def bounded_lines(stream: TextIO, length: RowLength) -> Iterator[str]:
    """The lines, without a byte order mark in front; a row, of one line or many, is refused once it is too long."""
    next_line = partial(stream.readline, MAX_ROW) if hasattr(stream, "readline") else partial(next, iter(stream), "")
    yield strip_byte_order_mark(next_line())
    for line in iter(next_line, ""):
        length.so_far += len(line)
        if length.so_far >= MAX_ROW:
            raise row_too_long()
        yield line


def strip_byte_order_mark(line: Any) -> str:
    """The first line without the byte order mark that some programs put in front."""
    if not isinstance(line, str):
        raise FormatError("the stream gives bytes; open it as text")
    if len(line) >= MAX_ROW:
        raise row_too_long()
    return line.removeprefix(BYTE_ORDER_MARK)


def row_too_long() -> FormatError:
    return FormatError(f"a row has {MAX_ROW:,} characters or more; is this a table of rows and columns?")


def read_header(reader: Iterator[list[str]]) -> list[str]:
    names = next(reader, [])
    if not names:
        raise FormatError("the file is empty; its first line must name every column")
    if not all(names[1:]) or names == [""]:  # pandas and R number the rows in a first column without a name
        position = names.index("", 1 if len(names) > 1 else 0) + 1
        raise FormatError(f"column {position} has no name; the first line must name every column")
    check_names(names)
    return names


def check_names(names: Sequence[str], twice: str = "the header names the column {!r} twice") -> None:
    """Refuse more columns than a table may have, and a name that comes twice."""
    if len(names) > MAX_COLUMNS:
        raise FormatError(f"the file has {len(names):,} columns; a table has at most {MAX_COLUMNS:,}")
    if len(set(names)) < len(names):
        raise FormatError(twice.format(names[first_repeated(names)]))


def read_columns(reader: SeparatedRows, names: Sequence[str], length: RowLength) -> tuple[Columns, int]:
    """Cells in order, some rows at a time, until there are no more or they would take more than the memory limit."""
    cells = [CodedCells() for _ in names]
    rows, limit = check_rows(reader, len(names), length), default_memory_limit()
    while chunk := list(islice(rows, max(1, min(CHUNK, CHUNK_CELLS // len(names))))):
        for column, values in zip(cells, zip(*chunk, strict=True), strict=True):
            column.extend(values)
        if sum(column.num_bytes for column in cells) > limit:
            raise FormatError(f"the rows up to this line need more than {format_bytes(limit)}, half of the free memory")
    columns = {name: column.levels() for name, column in zip(names, cells, strict=True)}
    return columns, len(next(iter(columns.values())))


class CodedCells:
    """The cells of one column so far: the position of each among the different texts; the empty text is the first."""

    def __init__(self) -> None:
        self.known: dict[str, int] = {"": 0}
        self.codes, self.num_letters = array("b"), 0

    def extend(self, cells: Sequence[str]) -> None:
        for cell in dict.fromkeys(cells):
            if cell not in self.known:
                self.known[cell] = len(self.known)
                self.num_letters += len(cell)
        if (kind := typecode(len(self.known))) != self.codes.typecode:
            self.codes = array(kind, self.codes)
        codes = np.fromiter(map(self.known.__getitem__, cells), dtype=self.codes.typecode, count=len(cells))
        self.codes.frombytes(codes.tobytes())

    @property
    def num_bytes(self) -> int:
        return self.codes.itemsize * len(self.codes) + self.num_letters + TEXT_BYTES * len(self.known)

    def levels(self) -> TextLevels:
        codes = np.array(self.codes, dtype=code_type(len(self.known)))
        return TextLevels(codes - 1, list(self.known)[1:])  # the empty text came first: 0 becomes -1


def typecode(num_texts: int) -> str:
    return np.dtype(code_type(num_texts)).char


def check_rows(reader: SeparatedRows, width: int, length: RowLength) -> Iterator[list[str]]:
    """The rows as they are, each as wide as the header; only the end of the file may have empty lines."""
    empty_line = length.so_far = 0
    for row in reader:
        length.so_far = 0
        if not row:
            empty_line = empty_line or reader.line_num
        elif empty_line:
            raise FormatError(f'line {empty_line} is empty, yet rows follow it; write an empty cell as "" or delete it')
        elif len(row) != width:
            raise FormatError(
                f"the row has {len(row)} cells; the header names {width} columns, separated by {reader.separator!r}"
            )
        else:
            yield row


QUOTED = re.compile(r'"(?:[^"]|"")*(?:"|$)')
SEPARATORS = ",;\t"
TABBED = (".tsv", ".tab")


def find_separator(head: str, file: str | os.PathLike[str] | None = None) -> str:
    """The separator that the header has most often outside quotes; a comma where there is none.

    >>> find_separator("smoke;age"), find_separator('"smoke;age",lung'), find_separator("smoke")
    (';', ',', ',')
    """
    bare = QUOTED.sub("", head)
    if is_tabbed(file) and "\t" in bare:
        return "\t"
    return max(SEPARATORS, key=bare.count)  # the first of those that are equally many


def is_tabbed(file: object) -> bool:
    """Whether the name of a file says that tabs separate its cells."""
    return isinstance(file, str | os.PathLike) and str(file).lower().removesuffix(".gz").endswith(TABBED)
