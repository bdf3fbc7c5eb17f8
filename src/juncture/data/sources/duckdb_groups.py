"""The group-bys of a DuckDB relation: all sets of columns in one query, GROUPING SETS, which reads the rows once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from juncture.data.sources.arrow import arrow_cells
from juncture.data.sources.contract import Origin
from juncture.data.sources.duckdb import quote
from juncture.data.sources.lazy_queries import COUNT, LazyQuery, as_groups, unused_name
from juncture.data.sources.tables import SourceTable
from juncture.data.tables.export import import_package

MOST_COLUMNS = 60  # of a query: the set of a group is a number with a bit for each column
SET = "grouping_set"


@dataclass(frozen=True, eq=False)
class RelationQuery(LazyQuery):
    """A relation. Rows with weights are read instead: DuckDB's threads would add them in another order each time."""

    sums_weights: bool = False
    table: Any = None  # of Ibis, kept alive: DuckDB forgets its tables in memory with it

    def is_groupable(self, names: Sequence[str], weights: str | None) -> bool:
        return (weights is None or self.sums_weights) and super().is_groupable(names, weights)

    def find_labels(self, names: Sequence[str]) -> tuple[int, Iterator[tuple[str, SourceTable]]]:
        """One query lists the distinct cells of all columns."""
        count, texts = unused_name(COUNT, names), [name for name in names if not self.kinds[name].is_float()]
        lists = [f"list(distinct {quote(name)}) as {quote(name)}" for name in texts]
        with self.run_query():
            rows = self.native.aggregate(", ".join([*lists, f"count(*) as {quote(count)}"])).to_arrow_table()
        found = ((name, self._listed(rows, name) if name in texts else self._labels(name)) for name in names)
        return int(rows.column(count)[0].as_py()), found

    def _listed(self, rows: Any, name: str) -> SourceTable:
        cells = import_package("pyarrow", "arrow").table({name: rows.column(name).combine_chunks().flatten()})
        return SourceTable(arrow_cells(cells, [name]), cells.num_rows, Origin(self.name))

    def group(self, sets: Sequence[Sequence[str]], weights: str | None, most: int) -> Iterator[SourceTable]:
        if weights is not None:
            yield from super().group(sets, weights, most)
            return
        for part in parts_of(sets):
            yield from self._group_sets(part, most)

    def _group_sets(self, sets: Sequence[Sequence[str]], most: int) -> Iterator[SourceTable]:
        names = list(dict.fromkeys(name for one in sets for name in one))
        count, key = unused_name(COUNT, names), unused_name(SET, names)
        listed = ", ".join(map(quote, names))
        distinct = {frozenset(one): f"({', '.join(map(quote, one))})" for one in sets}
        with self.run_query():
            groups = self.native.aggregate(
                f"{listed}, grouping({listed}) as {quote(key)}, count(*) as {quote(count)}",
                f"grouping sets ({', '.join(distinct.values())})",
            )
            rows = groups.limit(most * len(distinct)).to_arrow_table()
        keys = np.array(rows.column(key), np.int64)
        for one in sets:
            part = rows.filter(import_package("pyarrow", "arrow").array(keys == number_of_set(one, names)))
            counts = np.array(part.column(count), np.float64)
            yield as_groups(part, one, self.name, counts, counts)


def parts_of(sets: Sequence[Sequence[str]]) -> Iterator[list[Sequence[str]]]:
    """The sets in order, in parts that have few columns together; a set that has more is a part by itself."""
    part: list[Sequence[str]] = []
    for one in sets:
        if part and len({name for other in (*part, one) for name in other}) > MOST_COLUMNS:
            yield part
            part = []
        part.append(one)
    if part:
        yield part


def number_of_set(chosen: Sequence[str], names: Sequence[str]) -> int:
    """What GROUPING(names) says of the groups of a set: a bit for each name that is not in it, the last the lowest.

    >>> number_of_set(["b"], ["a", "b", "c"])
    5
    """
    return sum(1 << place for place, name in enumerate(reversed(names)) if name not in chosen)
