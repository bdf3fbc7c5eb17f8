"""Long CSV files without quotes, read by PyArrow where it is installed.

A file without quotes has only lines and commas, which all readers split alike. Files with quotes, files that PyArrow
rejects, and short files, for which loading PyArrow takes longer than reading, are left to `csv_text`.
"""

from __future__ import annotations

import csv
import os
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from juncture.data.files.csv_text import (
    BYTE_ORDER_MARK,
    MAX_COLUMNS,
    Columns,
    Source,
    TextLevels,
    find_separator,
    strip_names,
)
from juncture.data.tables.columns import code_type
from juncture.errors import FormatError
from juncture.runtime.files import read_bytes
from juncture.runtime.memory import default_memory_limit

LONG = 1_000_000  # bytes
COPIES = 8  # of a file, which reading it at once may take in memory


def read_plain(source: Source) -> tuple[Columns, int] | None:
    """The result of `csv_text.read_table`, read faster; None where the two readers might differ."""
    if not isinstance(source, str | os.PathLike) or Path(source).stat().st_size < LONG or find_spec("pyarrow") is None:
        return None
    content = as_bytes(source, default_memory_limit() // COPIES)
    if b'"' in content or content.count(b"\r") != content.count(b"\r\n"):
        return None
    head, _, rest = content.partition(b"\n")
    separator = find_separator(head.decode(errors="replace"), source)
    names, lines = as_names(head, separator), rest.rstrip(b"\r\n")
    if (
        not 2 <= len(names) <= MAX_COLUMNS
        or not all(names[1:])
        or len(set(names)) < len(names)
        or has_empty_line(lines)
    ):
        return None
    if has_blanks(lines, separator):
        return None
    columns = arrow_columns(lines, names, separator)
    return None if columns is None else (columns, len(columns[names[0]]))


def as_bytes(path: str | os.PathLike[str], limit: int) -> bytes:
    """The content of a regular file of at most `limit` bytes; empty for other files, which `csv_text` handles."""
    size = Path(path).stat().st_size
    try:
        return b"" if size > limit else read_bytes(path, limit)
    except FormatError:
        return b""


def has_empty_line(lines: bytes) -> bool:
    return not lines or lines.startswith((b"\n", b"\r\n")) or b"\n\n" in lines or b"\n\r\n" in lines


def has_blanks(lines: bytes, separator: str) -> bool:
    """Whether some cell starts with a blank, which `csv_text` leaves out."""
    return lines.startswith(b" ") or b"\n " in lines or f"{separator} ".encode() in lines


def as_names(head: bytes, separator: str) -> list[str]:
    try:
        text = head.decode().rstrip("\r").removeprefix(BYTE_ORDER_MARK)
        return strip_names(text.split(separator), text)
    except UnicodeDecodeError:
        return []


def arrow_columns(lines: bytes, names: list[str], separator: str) -> Columns | None:
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    text = pa.dictionary(pa.int32(), pa.string())
    try:
        table = arrow_csv.read_csv(
            pa.BufferReader(lines),
            arrow_csv.ReadOptions(column_names=names),
            arrow_csv.ParseOptions(quote_char=False, delimiter=separator),
            arrow_csv.ConvertOptions(column_types=dict.fromkeys(names, text), null_values=[]),
        )
    except pa.ArrowInvalid:
        return None
    columns = {name: text_levels(table.column(name)) for name in names}
    is_long = any(len(str(label)) > csv.field_size_limit() for column in columns.values() for label in column.labels)
    return None if is_long else columns


def text_levels(cells: Any) -> TextLevels:
    from juncture.data.tables.frames import arrow_levels

    levels = arrow_levels(cells).where(bool)  # an empty cell is a hole
    return TextLevels(levels.codes.astype(code_type(len(levels.labels))), levels.labels)
