"""`StepKind`: how the rows of a table are read as the steps of sequences; and tables of any kind as a `TableSource`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod
from typing import Any, NamedTuple

import numpy as np

from juncture.base.checks import shown
from juncture.base.values import few, number_of
from juncture.data.dataset import Dataset
from juncture.data.entries import as_table
from juncture.data.sources.contract import Origin, RowSource, is_source
from juncture.data.sources.entries import as_reader
from juncture.data.sources.source import TableSource
from juncture.data.sources.tables import SourceTable
from juncture.data.tables.table import Table
from juncture.errors import InvalidData
from juncture.variables import State, Variable


class StepKind(NamedTuple):
    """The shape of one observation; its labels, where observations are labels; the labels of hidden states."""

    event_shape: tuple[int, ...]
    symbols: tuple[State, ...] | None = None
    states: tuple[State, ...] | None = None

    def variables(self, names: Sequence[str]) -> list[Variable]:
        """The variables of the columns of observations: one a number, or one of vectors."""
        size = prod(self.event_shape)
        if len(names) == 1 and size > 1:
            return [Variable(names[0], dimension=size)]
        if len(names) != size:
            wanted = "one number" if not self.event_shape else number_of(size, "number")
            listed = f", {few(names)}" if names else ""
            raise InvalidData(
                f"an observation has {wanted}; beside the key there are {number_of(len(names), 'column')}{listed}: keep"
                ' the right ones, such as as_source(rows).only(["patient", "x"])'
            )
        return [Variable(name) if self.symbols is None else Variable(name, self.symbols) for name in names]

    def state_variable(self, name: str) -> Variable:
        if self.states is None:
            raise InvalidData(f"this model takes no labels of states; leave `states={name!r}` out")
        return Variable(name, self.states)

    def stack(self, columns: Sequence[np.ndarray], num_rows: int) -> np.ndarray:
        """(row, *event): codes of labels as whole numbers where none is missing, all else as floats."""
        rows = np.stack(columns, axis=1) if len(columns) > 1 else columns[0]
        if self.symbols is not None:
            return rows.astype(np.int64) if (rows >= 0).all() else np.where(rows < 0, np.nan, rows)
        return rows.reshape(num_rows, *self.event_shape)


def as_key(name: Any, option: str) -> str:
    if not isinstance(name, str):
        raise InvalidData(f"`{option}` is the name of a column; got {shown(name)}")
    return name


def as_table_source(data: Any) -> TableSource:
    """Rows of any kind as tables that are not coded yet; rows in memory are one table."""
    if isinstance(data, TableSource):
        return data
    if is_source(data):
        return TableSource(BlockTables(data))
    return TableSource(as_reader(data, None, None) or WholeTable(data))


class WholeTable:
    """The one table of rows in memory."""

    def __init__(self, data: Any) -> None:
        self.table: Table = as_table(data)
        self.weights = data.weights if isinstance(data, Dataset) else None
        self.names, self.num_rows = tuple(self.table.cells), self.table.num_rows

    def tables(self, names: Sequence[str]) -> Iterator[SourceTable]:
        cells = {name: self.table.cells[name] for name in names}
        yield SourceTable(cells, self.num_rows, Origin(), self.weights)


class BlockTables:
    """The blocks of a source as tables."""

    def __init__(self, source: RowSource) -> None:
        self.source, self.names = source, source.names

    @property
    def num_rows(self) -> int | None:
        return self.source.num_rows

    def tables(self, names: Sequence[str]) -> Iterator[SourceTable]:
        for rows, origin in self.source.only(names).blocks():
            yield SourceTable(as_table(rows).only(names).cells, len(rows), origin, rows.weights)
