"""Many files with the same columns as one table, block after block.

In a partitioned folder, files lie under folders "key=value", where the keys are columns too.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from urllib.parse import unquote

import numpy as np

from juncture.base.checks import check_path
from juncture.base.values import Value
from juncture.data.files.csv_text import TextLevels
from juncture.data.files.table_files import PARQUET, PathLike, check_columns, expand_pattern, is_parquet
from juncture.data.sources.contract import FileReader, SourceTable
from juncture.data.sources.csv import CsvReader
from juncture.data.tables.columns import HOLE
from juncture.errors import InvalidData


class FilesReader(Value):
    """The rows of several files, one file after the other; no block has rows of two files."""

    readers: tuple[FileReader, ...]

    def __init__(self, readers: Sequence[FileReader]) -> None:
        first = readers[0]
        for reader in readers:
            check_columns(reader.file, set(reader.names), first.file, set(first.names))
        self._set(readers=tuple(readers))

    @property
    def names(self) -> tuple[str, ...]:
        return self.readers[0].names

    @property
    def num_rows(self) -> int | None:
        counts = [reader.num_rows for reader in self.readers]
        known = [count for count in counts if count is not None]
        return sum(known) if len(known) == len(counts) else None

    def tables(self, names: Sequence[str]) -> Iterator[SourceTable]:
        for reader in self.readers:
            yield from reader.tables(names)


def read_files(paths: PathLike | Sequence[PathLike], block_rows: int | None) -> FileReader | FilesReader:
    """The reader of files given by a path, a pattern ("rows/*.parquet"), a folder or a list of paths."""
    given = [paths] if isinstance(paths, str | os.PathLike) else paths
    if len(given) == 1 and check_path(given[0]).is_dir():
        return read_folder(Path(given[0]), block_rows)
    files = [file for path in given for file in expand_pattern(path)]
    check_one_kind(files)
    readers = [read_file(file, block_rows) for file in files]
    return readers[0] if len(readers) == 1 else FilesReader(readers)


def read_folder(folder: Path, block_rows: int | None) -> FilesReader:
    """The reader of all files in a folder and below it."""
    files = find_files(folder)
    check_one_kind(files)
    return FilesReader([PartReader(read_file(file, block_rows), find_keys(file, folder)) for file in files])


def check_one_kind(files: Sequence[PathLike]) -> None:
    if len({is_parquet(file) for file in files}) > 1:
        raise InvalidData("files of one table must be of one kind; these are CSV and Parquet")


def read_file(path: PathLike, block_rows: int | None) -> FileReader:
    if not is_parquet(path):
        return CsvReader(path, block_rows)
    from juncture.data.sources.parquet import ParquetReader

    return ParquetReader(path, block_rows)


SUFFIXES = {*PARQUET, ".csv", ".gz"}
NO_VALUE = "__HIVE_DEFAULT_PARTITION__"  # what writers of such folders put for a hole


class PartReader(Value):
    """One file of a partitioned folder; each key of its path is a column with one value."""

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
