"""Partitions without a cluster: what goes to a worker and what comes back is pickled, as it is on one."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any, NoReturn

import pyarrow as pa

from juncture.data.sources.partitions import Partitions


class LocalPartitions(Partitions):
    """Tables as partitions. `order` is the order of the work; `lost` are partitions whose work is done again."""

    name = "the local partitions"

    def __init__(self, tables: Sequence[pa.Table], order: Sequence[int] | None = None, lost: Iterable[int] = ()):
        self.tables, self.names = tables, tables[0].column_names
        self.order, self.lost = range(len(tables)) if order is None else order, set(lost)
        self.bytes_sent: list[int] = []

    def map(self, work: Callable[[int, Iterable[Any]], Any], names: Sequence[str]) -> Iterator[Any]:
        sent, found = pickle.dumps(work), dict[int, bytes]()
        for number in self.order:
            for _ in range(2 if number in self.lost else 1):
                batches = self.tables[number].select(list(names)).to_batches(max_chunksize=3)
                found[number] = pickle.dumps(load(sent)(number, iter(batches)))
        self.bytes_sent.append(sum(map(len, found.values())))
        for number in range(len(self.tables)):
            yield load(found[number])

    def add_columns(self, work: Callable[[int, int, Any], Any], schema: pa.Schema) -> list[pa.Table]:
        """The tables, each with the further columns of its first three rows, of the next three, and so on."""
        sent, tables = pickle.dumps(work), []
        for number, table in enumerate(self.tables):
            starts = range(0, len(table), 3)
            parts = [part for start in starts for part in load(sent)(number, start, table.slice(start, 3)).give()]
            columns = pa.concat_tables([schema.empty_table(), *parts])
            together = [*table.columns, *columns.columns]
            tables.append(pa.table(together, names=[*table.column_names, *schema.names]))
        return tables

    def __reduce__(self) -> NoReturn:
        raise AssertionError("the source was pickled with the work")


def load(content: bytes) -> Any:
    return pickle.loads(content)  # noqa: S301


def as_partitions(table: pa.Table, folder: Any = None) -> LocalPartitions:
    """Four partitions, of which one has no rows; the last is worked on first, and one is lost."""
    cuts = [0, len(table) // 3, len(table) // 3, 2 * len(table) // 3, len(table)]
    parts = [table.slice(low, high - low) for low, high in pairwise(cuts)]
    return LocalPartitions(parts, order=[3, 1, 0, 2], lost=[2])
