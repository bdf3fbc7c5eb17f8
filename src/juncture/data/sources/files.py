"""Many files with the same columns as one table, block after block."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from juncture.base.checks import check_path
from juncture.base.values import Value
from juncture.data.files.files import PathLike, check_columns, expand_pattern, is_parquet
from juncture.data.sources.csv import CsvReader
from juncture.data.sources.folders import PartReader, find_files, find_keys
from juncture.data.sources.tables import FileReader, SourceTable
from juncture.errors import InvalidData


class FilesReader(Value):
    """The rows of several files, one file after the other; no block has rows of two files."""

    _fields = ("readers",)
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
