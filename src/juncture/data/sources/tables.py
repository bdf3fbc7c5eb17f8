"""`SourceTable`: the cells of one block before they are coded; `TableReader`: what gives such tables in order."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from juncture.data.sources.contract import Origin
from juncture.data.tables.table import Table
from juncture.errors import InvalidData
from juncture.runtime.files import stat_regular_file

BLOCK_ROWS, BLOCK_CELLS, FEWEST_ROWS = 2**18, 2**24, 2**10


class SourceTable(Table):
    """A table that knows where its rows come from, and the weights that came with them."""

    _fields = (*Table._fields, "origin", "weights")
    origin: Origin
    weights: np.ndarray | None

    def __init__(
        self, cells: Mapping[Any, Any], num_rows: int, origin: Origin, weights: np.ndarray | None = None
    ) -> None:
        super().__init__(cells, num_rows)
        self._set(origin=origin, weights=weights)

    def describe_row(self, row: int) -> str:
        return self.origin.describe_row(row)

    def only(self, names: Iterable[str]) -> Table:
        return SourceTable({name: self.cells[name] for name in names}, self.num_rows, self.origin, self.weights)


class TableReader(Protocol):
    """Reads the tables of a source, block by block, with the columns that are asked for."""

    @property
    def names(self) -> tuple[str, ...]: ...

    @property
    def num_rows(self) -> int | None: ...

    def tables(self, names: Sequence[str]) -> Iterator[SourceTable]: ...


class FileReader(TableReader, Protocol):
    """Reads the tables of one file."""

    @property
    def file(self) -> str: ...


def default_block_rows(num_columns: int) -> int:
    """2^18 rows, or fewer where there are so many columns that a block would have more than 2^24 cells.

    >>> default_block_rows(8), default_block_rows(1000)
    (262144, 16384)
    """
    rows = BLOCK_CELLS // max(1, num_columns)
    return max(FEWEST_ROWS, min(BLOCK_ROWS, 1 << max(0, rows.bit_length() - 1)))


class FileState(NamedTuple):
    """The size of a file and the time of its last change."""

    size: int
    changed: int

    @classmethod
    def of(cls, file: str) -> FileState:
        found = stat_regular_file(file)
        return cls(found.st_size, found.st_mtime_ns)

    def check_unchanged(self, file: str) -> None:
        if FileState.of(file) != self:
            raise InvalidData(f"{file} has changed since this source was made of it: make a new source")


def file_name(path: str | os.PathLike[str]) -> str:
    return str(os.fspath(path))
