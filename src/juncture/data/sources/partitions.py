"""Rows in partitions that lie on a cluster: `Partitions`, which an adapter supplies, and the source that is made of it.

The function of a pass goes to where the partitions are; only its results come here, in the order of the partitions.
Each partition is cut into blocks by itself, and sums over blocks are made here, so that they are the same to the last
bit for any number of workers, also where a worker was lost and others did its work again.

`add_columns` gives the frame further columns, by a function of tables that the workers call when the frame is
computed.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, Generic, TypeVar

from juncture.data.dataset import Dataset
from juncture.data.files.csv_text import check_names
from juncture.data.sources.arrow import arrow_cells, cut_batches
from juncture.data.sources.contract import Block, Origin, SourceTable, default_block_rows
from juncture.data.sources.source import BlockCoding, TableSource
from juncture.data.sources.states import Survey, join_levels, levels_of
from juncture.data.tables.coding import as_markers
from juncture.data.tables.columns import no_cells
from juncture.runtime.workers import Found, Remote, same

Result = TypeVar("Result")


class Partitions(ABC):
    """Rows in partitions, which are fixed and in order: what an adapter of a cluster supplies."""

    name: str  # how messages call it: "the Dask frame"
    names: Sequence[str]  # of the columns
    pickler: str = "cloudpickle"  # the package that pickles functions by their content, here and on the workers

    @abstractmethod
    def map(self, work: Callable[[int, Iterable[Any]], Result], names: Sequence[str]) -> Iterator[Result]:
        """`work(number of the partition, its record batches of these columns)`, on the workers.

        The results come in the order of the partitions. `work` is a small object that pickles and must not be called
        here; its result pickles. A partition without rows may have batches without rows, or none.
        """

    @abstractmethod
    def add_columns(self, work: Callable[[int, int, Any], Found], schema: Any) -> Any:
        """The frame with further columns of an Arrow schema, which are computed on the workers when the frame is.

        `work(number of the partition, number of the first row, Arrow table of all columns)` finds the further columns
        of these rows, as an Arrow table.
        """


class PartitionReader:
    """The tables of partitions, each partition cut into blocks of at most so many rows."""

    num_rows, is_once = None, False

    def __init__(self, partitions: Partitions, block_rows: int | None = None) -> None:
        check_names(list(partitions.names), "the column {!r} is there twice")
        self.partitions, self.names = partitions, tuple(partitions.names)
        self.block_rows = block_rows or default_block_rows(len(self.names))

    def map_tables(self, function: Callable[[SourceTable], Result], names: Sequence[str]) -> Iterator[Result]:
        """`function` of each table, called where its rows are; a partition without rows has no table."""
        on_tables = partial(work_on_tables, function, tuple(names), self.partitions.name, self.block_rows)
        work = Remote.of(on_tables, self.partitions.pickler)
        for found in self.partitions.map(work, names or self.names[:1]):  # rows without columns have no number
            yield from found.give()

    def tables(self, names: Sequence[str]) -> Iterator[SourceTable]:
        """The tables themselves, brought here."""
        return self.map_tables(same, names)


class ClusterSource(TableSource):
    """The rows of partitions: passes run on the workers; `blocks` brings the rows here, one partition at a time."""

    reader: PartitionReader

    @cached_property
    def _survey(self) -> Survey:
        """The variables and the number of rows; only the labels of each block come here."""
        look = partial(levels_of, names=self.names, markers=as_markers(self.missing), kinds=self.kinds)
        return join_levels(self.reader.map_tables(look, self.names), self.names, self.kinds)

    def map_blocks(self, function: Callable[[Block], Result]) -> Iterator[Result]:
        """`function` of each block, in order, called where its rows are; the function and its results are pickled."""
        has_rows = False
        for result in self.reader.map_tables(OfBlock(self.coding, function), self.columns):
            has_rows = True
            yield result
        if not has_rows:
            yield function(self._no_rows())

    def uncoded_blocks(self) -> Iterator[Callable[[], Block]]:
        for block in self.map_blocks(same):
            yield partial(same, block)

    def _no_rows(self) -> Block:
        cells = {variable.name: no_cells(variable) for variable in self.variables}
        return Block(Dataset.from_codes(self.variables, cells), Origin(self.reader.partitions.name))


@dataclass(frozen=True)
class OfBlock(Generic[Result]):
    """A function of blocks as one of tables."""

    coding: BlockCoding
    function: Callable[[Block], Result]

    def __call__(self, table: SourceTable) -> Result:
        return self.function(self.coding(table))


def work_on_tables(
    function: Callable[[SourceTable], Result],
    names: tuple[str, ...],
    name: str,
    block_rows: int,
    number: int,
    batches: Iterable[Any],
) -> Iterator[Result]:
    """What runs where a partition is."""
    for table in cut_batches(batches, names, block_rows, f"partition {number} of {name}"):
        yield function(table)


def add_columns(
    partitions: Partitions, function: Callable[[SourceTable], Dataset], names: Iterable[str], schema: Any
) -> Any:
    """The frame of the partitions with the columns that `function` gives for tables of the columns of these names.

    `schema` is the Arrow schema of the further columns. Warnings are given on the workers, which compute the frame.
    """
    work = Remote.of(partial(columns_of, function, tuple(names), partitions.name), partitions.pickler)
    return partitions.add_columns(work, schema)


def columns_of(
    function: Callable[[SourceTable], Dataset], names: tuple[str, ...], name: str, number: int, start: int, rows: Any
) -> Iterator[Any]:
    """The further columns of an Arrow table of rows of a partition, from its row `start` on, as an Arrow table."""
    yield function(
        SourceTable(arrow_cells(rows, names), rows.num_rows, Origin(f"partition {number} of {name}", start))
    ).to_arrow()
