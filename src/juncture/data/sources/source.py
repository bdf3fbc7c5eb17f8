"""`MemorySource` and `TableSource`: rows in memory, and rows that a reader gives table by table."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from juncture.base.values import number_of
from juncture.data.column_kinds import UNNAMED, Finding, warn_unnamed
from juncture.data.dataset import Dataset, check_columns, check_first_name, is_row_names, read_cells
from juncture.data.sources.contract import (
    Block,
    Origin,
    RowSource,
    SourceTable,
    TableReader,
    check_weights_name,
    default_block_rows,
    map_blocks,
)
from juncture.data.sources.states import Survey, survey
from juncture.data.tables.coding import as_markers
from juncture.data.tables.columns import ColumnKind
from juncture.data.tables.table import Table
from juncture.errors import InvalidData
from juncture.runtime.parallel import blocks_of
from juncture.variables import Scope, Variable

CHANGED = " (the states were found in a first pass; a source must give the same rows at each pass)"


@dataclass(frozen=True, eq=False, repr=False)
class MemorySource:
    """A dataset cut into blocks, which share its columns."""

    data: Dataset
    block_rows: int | None = None
    weights = None  # those of the dataset are in the blocks

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.data.columns)

    @property
    def variables(self) -> tuple[Variable, ...]:
        return self.data.variables

    @property
    def num_rows(self) -> int:
        return self.data.num_rows

    def blocks(self) -> Iterator[Block]:
        size = self.block_rows or default_block_rows(len(self.names))
        for rows in blocks_of(self.num_rows, size) or [slice(0, 0)]:
            arrays = tuple(array[rows] for array in self.data.arrays)
            weights = None if self.data.weights is None else self.data.weights[rows]
            part = self.data._with(arrays=arrays, weights=weights, num_rows=rows.stop - rows.start)
            yield Block(part, Origin(start=rows.start))

    def only(self, names: Iterable[str]) -> MemorySource:
        return replace(self, data=self.data.only(names))

    def coded(self, variables: Iterable[Variable], weights: str | None = None) -> MemorySource:
        check_weights_name(weights, self.names)
        return replace(self, data=Dataset(self.data, variables, weights, extra="ignore"))

    def __repr__(self) -> str:
        return f"MemorySource({self.data!r})"


@dataclass(frozen=True, eq=False)
class BlockCoding:
    """How the cells of a table become codes; it holds nothing of the source."""

    variables: tuple[Variable, ...]
    weights: str | None
    missing: Any
    hint: str

    def of(self, variables: Iterable[Variable], **changes: Any) -> BlockCoding:
        """The same coding of other variables."""
        return replace(self, variables=tuple(variables), **changes)

    def __call__(self, table: SourceTable) -> Block:
        weights = self.weights if self.weights is not None else table.weights
        with table.origin.located(self.hint):
            rows = Dataset(table, self.variables, weights, missing=self.missing)
        return Block(rows, table.origin)


@dataclass(frozen=True, eq=False, repr=False)
class TableSource:
    """The tables of a reader, coded block by block, by declared variables or by those of a first pass."""

    reader: TableReader
    given: Scope | None = None
    weights: str | None = None
    missing: Any = None
    chosen: tuple[str, ...] | None = None
    kinds: Mapping[str, ColumnKind] = field(default_factory=dict)  # of the columns of which somebody said it

    @cached_property
    def names(self) -> tuple[str, ...]:
        names = (name for name in self.read_names() if name != self.weights)
        if self.given is not None:
            known = set(names)
            return tuple(name for name in self.given.names if name in known)
        return tuple(names) if self.chosen is None else self.chosen

    def read_names(self) -> tuple[str, ...]:
        """The columns, without a first one that has no name and numbers or names the rows of the first block."""
        names = tuple(self.reader.names)
        if self.chosen is not None or len(names) < 2 or names[0] not in UNNAMED:
            return names
        if self.given is None and not getattr(self.reader, "is_once", False):
            table = next(iter(self.reader.tables(names[:1])))
            if len(table) and not is_row_names(table.column(names[0])):
                return check_first_name(names)
            warn_unnamed(names[0])
            return names[1:]
        return names if names[0] else names[1:]

    @cached_property
    def _survey(self) -> Survey:
        return self.read_survey()

    def read_survey(self) -> Survey:
        """The variables and the number of rows, found by reading all rows."""
        return survey(self.reader.tables(self.names), self.names, as_markers(self.missing), self.kinds)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What columns look like, and how they were read, where a pass found it."""
        return self._survey.findings if "_survey" in self.__dict__ else ()

    @property
    def variables(self) -> tuple[Variable, ...]:
        if self.given is None:
            return self._survey.variables if self.names else ()
        return tuple(self.given.variable(name) for name in self.names)

    @property
    def num_rows(self) -> int | None:
        if self.reader.num_rows is None and "_survey" in self.__dict__:
            return self._survey.num_rows
        return self.reader.num_rows

    def blocks(self) -> Iterator[Block]:
        for make in self.uncoded_blocks():
            yield make()

    def uncoded_blocks(self) -> Iterator[Callable[[], Block]]:
        """For each block a function that codes it, so that threads code some while others are read."""
        coding = self.coding
        for table in self.read_tables():
            yield partial(coding, table)

    def read_tables(self) -> Iterator[SourceTable]:
        """The tables of one pass; a reader that can code cells itself has `coded_tables`, which takes the variables."""
        coded = getattr(self.reader, "coded_tables", None)
        return self.reader.tables(self.columns) if coded is None else coded(self.columns, self.variables)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that a pass reads."""
        return self.names if self.weights is None else (*self.names, self.weights)

    @property
    def coding(self) -> BlockCoding:
        return BlockCoding(self.variables, self.weights, self.missing, "" if self.given is not None else CHANGED)

    def only(self, names: Iterable[str]) -> TableSource:
        kept = check_columns(names, self.names, "the source")
        if self.given is None and "_survey" not in self.__dict__:
            return replace(self, chosen=tuple(kept))
        known = Scope(self.variables)
        return replace(self, given=Scope(known.variable(name) for name in kept))

    def coded(self, variables: Iterable[Variable], weights: str | None = None) -> TableSource:
        """What `only` left out stays out: it may be the column that is to be predicted."""
        kept = set(self.names)
        scope = Scope(variable for variable in variables if variable.name in kept)
        return replace(self, given=scope, weights=self.check_weights(weights))

    def check_weights(self, weights: Any) -> str | None:
        """The name of the column of weights: one that the source has, or the column that it weighs its rows by."""
        if weights is None or (isinstance(weights, str) and weights == self.weights):
            return self.weights
        return check_weights_name(weights, self.names)

    def __repr__(self) -> str:
        rows = "rows" if self.num_rows is None else number_of(self.num_rows, "row")
        return (
            f"{type(self).__name__}({rows} of {number_of(len(self.names), 'variable')}: {type(self.reader).__name__})"
        )


@read_cells.register(MemorySource)
@read_cells.register(TableSource)
def _(data: RowSource, names: Sequence[str] | None = None) -> Table:
    raise InvalidData("this takes rows in memory, not a source: read them with juncture.data.sources.collect(source)")


def collect(source: RowSource) -> Dataset:
    """All rows of a source in memory."""
    return join_rows(source, list(map_blocks(lambda block: block.rows, source)))


def join_rows(source: RowSource, blocks: Sequence[Dataset]) -> Dataset:
    """The rows of all blocks of a source, one after the other."""
    columns = {name: np.concatenate([rows.columns[name] for rows in blocks]) for name in source.names}
    weights = None
    if any(rows.weights is not None for rows in blocks):
        weights = np.concatenate([np.ones(len(rows)) if rows.weights is None else rows.weights for rows in blocks])
    return Dataset.from_codes(source.variables, columns, weights)
