"""Many files with the same columns as one table, block after block."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from juncture.data.files.files import PathLike, check_columns, expand_pattern, is_parquet
from juncture.data.sources.csv import CsvReader
from juncture.data.sources.tables import FileReader, SourceTable
from juncture.errors import InvalidData
from juncture.values import Value


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
    """The reader of files given by a path, a pattern ("rows/*.parquet") or a list of these."""
    given = [paths] if isinstance(paths, str | os.PathLike) else paths
    files = [file for path in given for file in expand_pattern(path)]
    if len({is_parquet(file) for file in files}) > 1:
        raise InvalidData("files of one table must be of one kind; these are CSV and Parquet")
    readers = [read_file(file, block_rows) for file in files]
    return readers[0] if len(readers) == 1 else FilesReader(readers)


def read_file(path: PathLike, block_rows: int | None) -> FileReader:
    if not is_parquet(path):
        return CsvReader(path, block_rows)
    from juncture.data.sources.parquet import ParquetReader

    return ParquetReader(path, block_rows)
