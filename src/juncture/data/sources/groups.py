"""Rows that the engine of a source groups by itself: queries give the distinct rows of some columns, and their counts.

Only groups are collected. Counts are exact; sums of weights are those of the engine, which may add the rows in another
order each time, so that their last bits may differ.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, Protocol, TypeGuard

import numpy as np

from juncture.data.sources.contract import Block, Origin, RowSource, SourceTable, TableReader
from juncture.data.sources.source import BlockCoding, TableSource
from juncture.data.sources.states import BlockLevels, Survey, join_levels, levels_of
from juncture.data.tables.coding import as_markers
from juncture.data.tables.columns import Column, ColumnKind
from juncture.variables import Scope, Variable


class GroupingSource(RowSource, Protocol):
    """A source whose engine groups rows."""

    def group_rows(self, sets: Sequence[Sequence[str]], most: int) -> Iterator[Block | None]:
        """For each set of columns their distinct rows, sorted by codes, weighted by the weight of their copies.

        None for a set that has more than `most` distinct rows, or a column that has no states to group by.
        """


def groups_rows(source: Any) -> TypeGuard[GroupingSource]:
    """Whether a source keeps the contract `GroupingSource`."""
    return hasattr(type(source), "group_rows")


class GroupQuery(Protocol):
    """The queries of an engine: what an adapter supplies."""

    @property
    def name(self) -> str:
        """How messages call the rows."""

    def is_groupable(self, names: Sequence[str], weights: str | None) -> bool:
        """Whether the engine may group these columns: no cell is a list, and it may sum the weights."""

    def find_labels(self, names: Sequence[str]) -> tuple[int, Iterator[tuple[str, SourceTable]]]:
        """The number of rows, and the distinct cells of each column; floats are no labels, and have none."""

    def group(self, sets: Sequence[Sequence[str]], weights: str | None, most: int) -> Iterator[SourceTable]:
        """For each set of columns its distinct rows, at most so many, weighted, with the number of their copies."""

    def has_more(self, names: Sequence[str], most: int) -> bool:
        """Whether the first rows have more distinct rows than `most`, so that grouping all rows is of no use."""


class GroupingReader(TableReader, Protocol):
    """Reads tables, and has the queries of their engine."""

    @property
    def query(self) -> GroupQuery: ...


class QuerySource(TableSource):
    """The tables of a reader whose engine finds states and groups rows by queries."""

    reader: GroupingReader

    @cached_property
    def _survey(self) -> Survey:
        query = self.reader.query
        if not query.is_groupable(self.names, None):  # vectors, whose lengths all rows must have
            return self.read_survey()
        return find_states(query, self.names, as_markers(self.missing), self.kinds)

    def group_rows(self, sets: Sequence[Sequence[str]], most: int) -> Iterator[Block | None]:
        return group_coded(self.reader.query, self.coding, sets, most)


def find_states(
    query: GroupQuery, names: Sequence[str], markers: Variable | None, kinds: Mapping[str, ColumnKind]
) -> Survey:
    """The variables of columns by queries of their distinct cells, and the number of rows."""
    columns: dict[str, Column] = {}
    num_rows, labels = query.find_labels(names)
    for name, table in labels:
        columns |= levels_of(table, [name], markers, kinds).columns
    return join_levels([BlockLevels(num_rows, Origin(query.name), columns)], names, kinds)


def group_coded(
    query: GroupQuery, coding: BlockCoding, sets: Sequence[Sequence[str]], most: int
) -> Iterator[Block | None]:
    """The coded groups of each set of columns; None where there are too many, or numbers that have no states."""
    known = {variable.name: variable for variable in coding.variables}
    scopes = [Scope(known[name] for name in names) for names in sets]
    asked = [scope.names for scope in scopes if can_group(query, scope, coding.weights, most)]
    found = query.group(asked, coding.weights, most + 1)
    wanted = set(asked)
    for scope in scopes:
        yield code_groups(next(found), coding.of(scope), most) if scope.names in wanted else None


def can_group(query: GroupQuery, scope: Scope, weights: str | None, most: int) -> bool:
    if not scope or any(variable.is_real or variable.cuts for variable in scope):
        return False
    if not query.is_groupable(scope.names, weights):
        return False
    return scope.size <= most or not query.has_more(scope.names, most)


def code_groups(table: SourceTable, coding: BlockCoding, most: int) -> Block | None:
    block = coding.of(coding.variables, weights=None)(table)
    if len(block.rows) > most:
        return None
    order = np.lexsort(block.rows.arrays[::-1])
    copies = tuple(np.array(table.origin.copies)[order].tolist())
    return Block(block.rows.take(order), block.origin._replace(copies=copies))
