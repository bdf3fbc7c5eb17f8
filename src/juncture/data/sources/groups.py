"""Rows that the engine of a source groups by itself: a query gives the distinct rows of some columns, and their counts.

Only groups are collected. Counts are exact; sums of weights are those of the engine, which may add the rows in another
order each time, so that their last bits may differ.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any, Protocol, TypeGuard, TypeVar

import numpy as np

from juncture import parallel
from juncture.data.sources.arrow import arrow_cells
from juncture.data.sources.contract import Block, Origin, RowSource
from juncture.data.sources.source import BlockCoding, TableSource
from juncture.data.sources.states import BlockLevels, Survey, join_levels, levels_of
from juncture.data.sources.tables import SourceTable, TableReader
from juncture.data.tables.coding import as_markers
from juncture.data.tables.columns import Column
from juncture.errors import InvalidData
from juncture.values import number_of
from juncture.variables import Variable

Result = TypeVar("Result")
COUNT, SUM, LEAST, KNOWN = "rows", "weight", "least_weight", "known_weights"


class GroupingSource(RowSource, Protocol):
    """A source whose engine groups rows."""

    def group_rows(self, names: Sequence[str], most: int) -> Block | None:
        """The distinct rows of these columns, sorted by their codes, weighted by the weight of their copies.

        None where there are more than `most` of them, or where a column has no states to group by.
        """


def groups_rows(source: Any) -> TypeGuard[GroupingSource]:
    """Whether a source keeps the contract `GroupingSource`."""
    return hasattr(type(source), "group_rows")


@dataclass(frozen=True, eq=False)
class Query:
    """A lazy frame of any package that narwhals knows; `run_query` turns the errors of its engine into a sentence."""

    native: Any
    name: str  # how messages call it
    run_query: Callable[[], AbstractContextManager[None]]

    @cached_property
    def frame(self) -> Any:
        import narwhals as nw

        return nw.from_native(self.native)

    @cached_property
    def kinds(self) -> dict[str, Any]:
        """The narwhals type of each column."""
        with self.run_query():
            return dict(self.frame.collect_schema())

    def collect(self, frame: Any) -> Any:
        """An Arrow table."""
        with self.run_query():
            return frame.collect("pyarrow").to_native()

    def count_rows(self) -> int:
        import narwhals as nw

        return int(self.collect(self.frame.select(nw.len().alias(COUNT))).column(COUNT)[0].as_py())

    def find_labels(self, name: str) -> SourceTable:
        """The distinct cells of a column; of floats, whose column is a real variable, none."""
        column = self.frame.select(name)
        rows = self.collect(column.head(0) if self.kinds[name].is_float() else column.unique())
        return SourceTable(arrow_cells(rows, [name]), rows.num_rows, Origin(self.name))

    def group(self, names: Sequence[str], weights: str | None, most: int) -> SourceTable:
        """The distinct rows of the columns, at most so many, with the number and the weight of their copies."""
        import narwhals as nw

        keys = {kind: unused_name(kind, names) for kind in (COUNT, SUM, LEAST, KNOWN)}
        totals = [nw.len().alias(keys[COUNT])]
        if weights is not None:
            weight = nw.col(weights).cast(nw.Float64)
            totals += [
                weight.sum().alias(keys[SUM]),
                weight.min().alias(keys[LEAST]),
                weight.count().alias(keys[KNOWN]),
            ]
        rows = self.collect(self.frame.group_by(*names).agg(*totals).head(most))
        found = {kind: np.array(rows.column(key), np.float64) for kind, key in keys.items() if key in rows.column_names}
        if weights is not None:
            check_sums(found, self.name)
        origin = Origin(self.name, copies=tuple(found[COUNT].astype(np.int64).tolist()))
        return SourceTable(arrow_cells(rows, names), rows.num_rows, origin, found[SUM if weights else COUNT])


class GroupingReader(TableReader, Protocol):
    """Reads tables, and has a query that groups their rows."""

    @property
    def query(self) -> Query: ...


class QuerySource(TableSource):
    """The tables of a reader whose engine finds states and groups rows by queries."""

    reader: GroupingReader

    @cached_property
    def _survey(self) -> Survey:
        query = self.reader.query
        if any(is_nested(query.kinds[name]) for name in self.names):  # vectors, whose lengths all rows must have
            return TableSource._survey.func(self)  # type: ignore[attr-defined]
        return find_states(query, self.names, as_markers(self.missing))

    def map_blocks(self, function: Callable[[Block], Result]) -> Iterator[Result]:
        """`function` of each block; the query starts in this thread, to which connections of some engines are bound."""
        parts = self.uncoded_blocks()
        return parallel.map_stream(lambda make: function(make()), chain([next(parts)], parts))

    def group_rows(self, names: Sequence[str], most: int) -> Block | None:
        variables = [variable for variable in self.variables if variable.name in set(names)]
        return group_coded(self.reader.query, self.coding.of(variables), most)


def find_states(query: Query, names: Sequence[str], markers: Variable | None) -> Survey:
    """The variables of columns by a query of the distinct cells of each, and the number of rows."""
    columns: dict[str, Column] = {}
    for name in names:
        columns |= levels_of(query.find_labels(name), [name], markers).columns
    return join_levels([BlockLevels(query.count_rows(), Origin(query.name), columns)], names)


def group_coded(query: Query, coding: BlockCoding, most: int) -> Block | None:
    """The groups of the columns of a coding, coded; None where there are too many, or numbers that have no states."""
    names = [variable.name for variable in coding.variables]
    weights = coding.weights
    if not names or any(variable.is_real or variable.cuts for variable in coding.variables):
        return None
    if any(is_nested(query.kinds[name]) for name in names) or not (
        weights is None or query.kinds[weights].is_numeric()
    ):
        return None
    table = query.group(names, weights, most + 1)
    block = coding.of(coding.variables, weights=None)(table)
    if len(block.rows) > most:
        return None
    order = np.lexsort([block.rows.columns[name] for name in reversed(names)])
    copies = tuple(np.array(table.origin.copies)[order].tolist())
    return Block(block.rows.take(order), block.origin._replace(copies=copies))


def is_nested(kind: Any) -> bool:
    return bool(kind.is_nested())


def unused_name(name: str, taken: Sequence[str]) -> str:
    """A name that no column has, whatever the engine thinks of small and capital letters.

    >>> unused_name("rows", ["a", "Rows"])
    'rows_'
    """
    lowered = {other.lower() for other in taken}
    while name in lowered:
        name += "_"
    return name


def check_sums(found: dict[str, np.ndarray], name: str) -> None:
    """Check that all weights of the rows are numbers of at least 0, as far as sums and minima show it."""
    missing = found[COUNT] - found[KNOWN]
    if missing.any():
        raise InvalidData(
            f"weights must be finite and at least 0; {number_of(int(missing.sum()), 'row')} of {name} have none"
        )
    wrong = ~(np.isfinite(found[SUM]) & (found[LEAST] >= 0))
    if wrong.any():
        which = int(wrong.argmax())
        worst = found[LEAST][which] if found[LEAST][which] < 0 else found[SUM][which]
        raise InvalidData(f"weights must be finite and at least 0; {name} has a weight of {worst}")
