"""Partitioned folders: files under folders "key=value", where the keys are columns too."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from urllib.parse import unquote

import numpy as np

from juncture.base.values import Value
from juncture.data.files.csv_text import TextLevels
from juncture.data.files.files import PARQUET
from juncture.data.sources.tables import FileReader, SourceTable
from juncture.data.tables.columns import HOLE
from juncture.errors import InvalidData

SUFFIXES = {*PARQUET, ".csv", ".gz"}
NO_VALUE = "__HIVE_DEFAULT_PARTITION__"  # what writers of such folders put for a hole


class PartReader(Value):
    """One file of a partitioned folder; each key of its path is a column with one value."""

    _fields = ("reader", "keys")
    reader: FileReader
    keys: dict[str, str]

    def __init__(self, reader: FileReader, keys: Mapping[str, str]) -> None:
        for name in keys:
            if name in reader.names:
                raise InvalidData(f"{reader.file} has a column {name!r}, which is also a key of its folder: drop one")
        self._set(reader=reader, keys=dict(keys))

    @property
    def file(self) -> str:
        return self.reader.file

    @property
    def names(self) -> tuple[str, ...]:
        return (*self.reader.names, *self.keys)

    @property
    def num_rows(self) -> int | None:
        return self.reader.num_rows

    def tables(self, names: Sequence[str]) -> Iterator[SourceTable]:
        own = [name for name in names if name not in self.keys]
        for table in self.reader.tables(own or self.reader.names[:1]):
            cells = {name: table.cells.get(name, self._column(name, len(table))) for name in names}
            yield SourceTable(cells, len(table), table.origin, table.weights)

    def _column(self, name: str, num_rows: int) -> TextLevels | None:
        if name not in self.keys:
            return None
        value = unquote(self.keys[name])
        if value == NO_VALUE:
            return TextLevels(np.full(num_rows, HOLE, np.int32), ())
        return TextLevels(np.zeros(num_rows, np.int32), [value])


def find_files(folder: Path) -> list[Path]:
    """The files of tables in a folder and below it, sorted; names that start with a dot or a line are left out."""
    files = [Path(top, name) for top, _, names in os.walk(folder) for name in names]
    found = sorted(file for file in files if not is_hidden(file.relative_to(folder)))
    for file in found:
        if file.suffix.lower() not in SUFFIXES:
            raise InvalidData(f"a folder of rows holds CSV or Parquet files; {file} is neither: move it, or list files")
    if not found:
        raise InvalidData(f"the folder {folder} holds no CSV and no Parquet file")
    return found


def is_hidden(path: Path) -> bool:
    return any(part.startswith((".", "_")) and "=" not in part for part in path.parts)


def find_keys(file: Path, folder: Path) -> dict[str, str]:
    """The keys of a file by the folders that it is in.

    >>> find_keys(Path("rows/year=2024/site=b/0.parquet"), Path("rows"))
    {'year': '2024', 'site': 'b'}
    """
    parts = (part.partition("=") for part in file.relative_to(folder).parent.parts)
    return {unquote(key): value for key, is_key, value in parts if is_key}
