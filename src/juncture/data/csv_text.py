"""CSV text as columns: a header, then one line a row; an empty cell is a hole.

Cells are coded as they are read, so that memory holds each distinct text once.
"""

from __future__ import annotations

import csv
import gzip
import os
import re
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from itertools import islice
from pathlib import Path
from typing import Any, TextIO, TypeAlias, cast

import numpy as np

from juncture.data.columns import Levels, code_type
from juncture.errors import FormatError
from juncture.variables import State, Variable

Source: TypeAlias = str | os.PathLike[str] | TextIO

CHUNK = 4096
BYTE_ORDER_MARK = "\ufeff"
INTEGER = re.compile(r"0|-?[1-9][0-9]{0,999}")
REAL = re.compile(r"[+-]?((0|[1-9][0-9]*)(\.[0-9]*)?|\.[0-9]+)(e[+-]?[0-9]+)?|-?inf|nan", re.IGNORECASE)
TRUTH = {"True": True, "False": False}


class TextLevels(Levels):
    """A column read from text: its labels are text, which a variable of its own declares as what they look like."""

    def declared(self, name: str) -> Variable:
        return Levels(self.codes, typed([str(label) for label in self.labels])).declared(name)


Columns: TypeAlias = dict[str, TextLevels]


def typed(texts: Sequence[str]) -> Sequence[State]:
    """All integers, all numbers or all booleans as such, else text; "007" stays text, for 7 is not what it says."""
    if all(INTEGER.fullmatch(text) for text in texts):
        return [int(text) for text in texts]
    if all(REAL.fullmatch(text) for text in texts):
        return [float(text) for text in texts]
    if all(text in TRUTH for text in texts):
        return [TRUTH[text] for text in texts]
    return texts


def read_table(source: Source) -> tuple[Columns, int]:
    """The columns of a CSV file by name, and the number of rows."""
    file = str(os.fspath(source)) if isinstance(source, str | os.PathLike) else None
    with opened(source, "rt") as stream:
        reader = csv.reader(without_mark(stream), strict=True)
        try:
            return read_columns(reader, read_header(reader))
        except FormatError as error:
            raise FormatError(error.message, file=file, line=reader.line_num) from None
        except csv.Error as error:
            raise FormatError(f"not readable as CSV: {error}", file=file, line=reader.line_num) from error
        except (UnicodeDecodeError, EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise FormatError(f"not readable as text in UTF-8: {error}", file=file) from error


def opened(source: Source, mode: str) -> AbstractContextManager[TextIO]:
    """A file opened as UTF-8 text, through gzip when it is named so; a stream as it is."""
    if not isinstance(source, str | os.PathLike):
        return nullcontext(source)
    open_file: Any = gzip.open if Path(source).suffix == ".gz" else open
    return cast("AbstractContextManager[TextIO]", open_file(source, mode, encoding="utf-8", newline=""))


def without_mark(lines: Iterable[str]) -> Iterator[str]:
    """The lines, without the byte order mark that some programs put in front."""
    rest = iter(lines)
    first = next(rest, "")
    if not isinstance(first, str):
        raise FormatError("the stream gives bytes; open it as text")
    yield first.removeprefix(BYTE_ORDER_MARK)
    yield from rest


def read_header(reader: Iterator[list[str]]) -> list[str]:
    names = next(reader, [])
    if not all(names) or not names:
        raise FormatError("the first line must name every column; a name is empty or the file is")
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise FormatError(f"the header names the column {twice!r} twice")
    return names


def read_columns(reader: Any, names: Sequence[str]) -> tuple[Columns, int]:
    positions: list[dict[str, int]] = [{"": 0} for _ in names]
    parts: list[list[np.ndarray]] = [[np.empty(0, dtype=np.int8)] for _ in names]
    rows = checked_rows(reader, len(names))
    while chunk := list(islice(rows, CHUNK)):
        for known, part, cells in zip(positions, parts, zip(*chunk, strict=True), strict=True):
            for cell in dict.fromkeys(cells):
                known.setdefault(cell, len(known))
            part.append(np.fromiter(map(known.__getitem__, cells), dtype=code_type(len(known)), count=len(cells)))
    columns = {
        name: TextLevels(np.concatenate(part) - 1, list(known)[1:])  # the empty text came first: 0 becomes -1
        for name, known, part in zip(names, positions, parts, strict=True)
    }
    return columns, len(next(iter(columns.values())))


def checked_rows(reader: Any, width: int) -> Iterator[list[str]]:
    """The rows as they are, each as wide as the header; only the end of the file may have empty lines."""
    empty_line = 0
    for row in reader:
        if not row:
            empty_line = empty_line or reader.line_num
        elif empty_line:
            raise FormatError(f'line {empty_line} is empty, yet rows follow it; write an empty cell as "" or delete it')
        elif len(row) != width:
            raise FormatError(f"the row has {len(row)} cells; the header names {width} columns")
        else:
            yield row
