"""Rows in partitions that lie on a cluster: `Partitions`, which an adapter supplies, and the source that is made of it.

The function of a pass goes to where the partitions are; only its results come here, in the order of the partitions.
Each partition is cut into blocks by itself, and sums over blocks are made here, so that they are the same to the last
bit for any number of workers, also where a worker was lost and others did its work again.
"""

from __future__ import annotations

import pickle
import platform
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np

import juncture
from juncture import parallel
from juncture.data.dataset import Dataset
from juncture.data.files.csv_text import check_names
from juncture.data.sources.arrow import cut_batches
from juncture.data.sources.contract import Block, Origin
from juncture.data.sources.source import BlockCoding, TableSource
from juncture.data.sources.states import Survey, join_levels, levels_of
from juncture.data.sources.tables import SourceTable, default_block_rows
from juncture.data.tables.coding import as_markers
from juncture.data.tables.columns import no_cells
from juncture.data.tables.export import import_package
from juncture.errors import HeldWarning, JunctureError, Unsupported, hold_warnings, warn_user

Result = TypeVar("Result")
Other = TypeVar("Other")


class Partitions(ABC):
    """Rows in partitions, which are fixed and in order: what an adapter of a cluster supplies."""

    name: str  # how messages call it: "the Dask frame"
    names: Sequence[str]  # of the columns

    @abstractmethod
    def map(self, work: Callable[[int, Iterable[Any]], Result], names: Sequence[str]) -> Iterator[Result]:
        """`work(number of the partition, its record batches of these columns)`, on the workers.

        The results come in the order of the partitions. `work` is a small object that pickles and must not be called
        here; its result pickles. A partition without rows may have batches without rows, or none.
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
        work = PartitionWork.of(function, names, self.partitions.name, self.block_rows)
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
        look = partial(levels_of, names=self.names, markers=as_markers(self.missing))
        return join_levels(self.reader.map_tables(look, self.names), self.names)

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


class Versions(NamedTuple):
    """What must be the same here and on the workers for pickled functions, and the last bit of results, to be."""

    juncture: str
    numpy: str
    python: str

    @classmethod
    def of_this_process(cls) -> Versions:
        return cls(juncture.__version__, np.__version__, ".".join(platform.python_version_tuple()[:2]))

    def check(self) -> None:
        for name, wanted, found in zip(self._fields, self, Versions.of_this_process(), strict=True):
            if wanted != found:
                raise Unsupported(
                    f"the workers have {name} {found} and this process has {name} {wanted}: install the same version"
                    " on both sides"
                )


class Found(NamedTuple):
    """What came of a partition: the results of its blocks, the warnings, and the error that ended the work."""

    results: list[Any]
    warnings: list[HeldWarning]
    error: JunctureError | None

    def give(self) -> Iterator[Any]:
        for warning in dict.fromkeys(self.warnings):
            warn_user(*warning)
        yield from self.results
        if self.error is not None:
            raise self.error


@dataclass(frozen=True)
class PartitionWork:
    """What goes to the workers: the versions, which are compared first, and a pickled function of tables."""

    versions: Versions
    content: bytes

    @classmethod
    def of(cls, function: Callable[[SourceTable], Any], names: Sequence[str], name: str, size: int) -> PartitionWork:
        return cls(Versions.of_this_process(), find_pickler().dumps((function, tuple(names), name, size)))

    def __call__(self, number: int, batches: Iterable[Any]) -> Found:
        results: list[Any] = []
        with hold_warnings() as held, parallel.within_one_thread():
            try:
                self.versions.check()
                function, names, name, size = load(self.content)
                for table in cut_batches(batches, names, size, f"partition {number} of {name}"):
                    results.append(function(table))  # noqa: PERF401 (those before an error are kept)
            except JunctureError as error:
                return Found(results, held, error)
        return Found(results, held, None)


@lru_cache(maxsize=4)
def load(content: bytes) -> Any:
    """What was pickled: once in each process, so that plans that a model keeps serve all of its partitions."""
    return pickle.loads(content)  # noqa: S301 (made by the process that gave this one its work)


def find_pickler() -> Any:
    """What pickles functions by their content: Dask needs cloudpickle, PySpark has a copy of it."""
    return sys.modules.get("pyspark.cloudpickle") or import_package("cloudpickle", "dask")


def same(given: Other) -> Other:
    return given
