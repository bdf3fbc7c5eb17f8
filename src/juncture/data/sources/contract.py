"""The contract of rows that are read block by block: `RowSource`, which algorithms take, and `TableReader` under it.

An algorithm that adds up statistics needs one block in memory at a time. A source gives the same blocks (`Block`) in
the same order each time it is asked, so that an iterative algorithm can read them again. `map_blocks` is one pass
over a source, in which blocks are read while others are coded and worked on; the results come in the order of the
blocks, so that sums of results are the same to the last bit for any number of threads.

What an adapter supplies is a `TableReader`, which gives the cells of each block before they are coded
(`SourceTable`).
"""

from __future__ import annotations

import os
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial, reduce
from operator import add
from typing import Any, NamedTuple, Protocol, Self, TypeGuard, TypeVar

import numpy as np

from juncture.base.values import number_of
from juncture.data.dataset import Dataset, Extra
from juncture.data.tables.table import Table
from juncture.errors import InvalidData, UnknownState, UnknownVariable
from juncture.runtime import parallel
from juncture.runtime.files import stat_regular_file
from juncture.variables import Scope, Variable


class Origin(NamedTuple):
    """Where the rows of a block come from: a file or a frame, the number of the first row, the ends of row groups.

    `copies` has the number of rows that each row stands for, where an engine has grouped equal rows. `line` is the line
    of the first row in a file of text, if each row of the block is one line of it.
    """

    name: str = ""
    start: int = 0
    group_ends: tuple[int, ...] = ()
    copies: tuple[int, ...] = ()
    line: int | None = None

    def describe_row(self, row: int) -> str:
        """How a message names a row of the block.

        >>> Origin("rows.parquet", 1000, (800, 1600)).describe_row(5)
        'row 1005 of rows.parquet (row group 1)'
        """
        if self.line is not None and self.name:
            return f"line {self.line + row} of {self.name}"
        if self.copies:
            return f"at least {number_of(self.copies[row], 'row')} of {self.name}"
        number = self.start + row
        group = f" (row group {bisect_right(self.group_ends, number)})" if self.group_ends else ""
        return f"row {number}{f' of {self.name}' if self.name else ''}{group}"

    @contextmanager
    def located(self, hint: str = "") -> Iterator[None]:
        """Errors that do not name the file, and may count rows from the start of the block, say where the block is.

        `hint` is said where a label is no state.
        """
        try:
            yield
        except (InvalidData, UnknownState, UnknownVariable) as error:
            is_named = not self.name or self.name in str(error)
            if isinstance(error, UnknownVariable) and not is_named:
                raise UnknownVariable(f"{self.name}: {error}") from error
            where = "" if is_named else f" (rows are counted from {self.describe_row(0)})"
            why = hint if isinstance(error, UnknownState) else ""
            if not where and not why:
                raise
            raise type(error)(f"{error}{where}{why}") from error


class Block(NamedTuple):
    """Some rows of a source, coded, and where they come from."""

    rows: Dataset
    origin: Origin

    def describe_row(self, row: int) -> str:
        """How a message names a row of the block."""
        return self.origin.describe_row(row)


class RowSource(Protocol):
    """Rows in blocks: fixed, in order, and readable again."""

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns, without that of the weights; known without reading the rows."""

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The variables that code the columns; where none were declared, one pass over the rows finds them."""

    @property
    def num_rows(self) -> int | None:
        """The number of rows; None where it is known only after reading them."""

    @property
    def weights(self) -> str | None:
        """The name of the column that holds the weights of the rows."""

    def blocks(self) -> Iterator[Block]:
        """The blocks from the first to the last, at least one; each call starts anew and gives the same blocks."""

    def only(self, names: Iterable[str]) -> RowSource:
        """The same rows with the columns of these names, in their order, as of a `Dataset`; others are not read."""

    def coded(self, variables: Iterable[Variable], weights: str | None = None) -> RowSource:
        """The same rows, coded by these variables; columns of none of them go, none comes back, nothing is read yet."""


def is_source(data: Any) -> TypeGuard[RowSource]:
    """Whether an object keeps the contract; by its class, so that no property reads the rows."""
    return all(hasattr(type(data), name) for name in ("blocks", "coded", "only", "variables"))


def check_extra(names: Iterable[str], scope: Scope | None, extra: Extra) -> None:
    """Refuse columns that are none of the variables, unless they are to be ignored."""
    from juncture.data.tables.coding import select_columns

    select_columns(Table(dict.fromkeys(names, ()), 0), scope, extra)


def check_weights_name(weights: Any, names: Iterable[str]) -> str | None:
    """The name of the column of weights, which must be there."""
    if weights is None:
        return None
    if not isinstance(weights, str):
        raise InvalidData("the weights of a source are a column of it: give the name of the column")
    if weights not in names:
        raise UnknownVariable.among(weights, names, where="the source, of which `weights` names a column,")
    return weights


Result = TypeVar("Result")
Sum = TypeVar("Sum", bound="Addable")
MakeBlock = Callable[[], Block]


class Addable(Protocol):
    """What blocks give and adds up."""

    def __add__(self, other: Any, /) -> Self: ...


class MapsBlocks(RowSource, Protocol):
    """A source whose rows lie on a cluster."""

    def map_blocks(self, function: Callable[[Block], Result]) -> Iterator[Result]:
        """`function` of each block, in order, called where the rows are; it is pickled, and so are its results."""


def map_blocks(function: Callable[[Block], Result], source: RowSource) -> Iterator[Result]:
    """`function` of each block, in order.

    A source whose rows lie elsewhere has its own `map_blocks`, which calls the function there. A source may have
    `uncoded_blocks`, which gives functions that code a block: threads call them beside each other.
    """
    if is_elsewhere(source):
        return source.map_blocks(function)
    return parallel.map_stream(lambda make: function(make()), make_blocks(source))


def is_elsewhere(source: RowSource) -> TypeGuard[MapsBlocks]:
    """Whether the rows of a source lie on a cluster, and work goes to them."""
    return hasattr(type(source), "map_blocks")


def add_up(function: Callable[[Block], Sum], data: Dataset | RowSource) -> Sum:
    """`function` of all rows in memory, or of each block of a source, added in order."""
    if isinstance(data, Dataset):
        return function(Block(data, Origin()))
    return reduce(add, map_blocks(function, data))


def add_up_complete(function: Callable[[Block], Sum | None], data: Dataset | RowSource) -> Sum | None:
    """The sum over all blocks; None as soon as one of them gives None."""
    if isinstance(data, Dataset):
        return function(Block(data, Origin()))
    total: Sum | None = None
    for part in map_blocks(function, data):
        if part is None:
            return None
        total = part if total is None else total + part
    return total


def make_blocks(source: RowSource) -> Iterator[MakeBlock]:
    uncoded = getattr(source, "uncoded_blocks", None)
    if uncoded is not None:
        yield from uncoded()
        return
    for block in source.blocks():
        yield partial(same, block)


def same(block: Block) -> Block:
    return block


BLOCK_ROWS, BLOCK_CELLS, FEWEST_ROWS = 2**18, 2**24, 2**10


class SourceTable(Table):
    """A table that knows where its rows come from, and the weights that came with them."""

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
