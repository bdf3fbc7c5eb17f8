"""`StreamedRows`: rows with states past memory, from which the tables that a search asks for are counted in passes.

A search is a function of the scores of families. `settle` runs it with the tables counted so far; a family that has no
table is estimated from a sample of the rows, and its table is noted. One pass counts all tables that were noted, and
the search runs again, until it asks for nothing new: its last run has seen counts of all rows only. The estimates
decide how many passes there are, never what is found.

`gather_rows` is one pass over a source. It keeps the distinct rows in memory, or where they are many, in a coded
copy.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from contextlib import suppress
from functools import partial
from typing import Any, NamedTuple, TypeVar

import numpy as np

from juncture.data.dataset import Dataset
from juncture.data.missingness import has_hole
from juncture.data.sources.contract import Block, RowSource, is_elsewhere, map_blocks
from juncture.data.sources.groups import groups_rows
from juncture.data.tables.columns import code_type
from juncture.data.tables.distinct import as_words, number_words
from juncture.errors import hold_warnings, warn_user
from juncture.learning.networks.expectation import FEW_DISTINCT, collect_distinct, merge_equal_rows, merge_parts
from juncture.learning.structure.sets import Positions
from juncture.learning.structure.streamed.coded_copy import ClusterRows, CodedCopy, Passes, are_whole
from juncture.learning.structure.streamed.counting import Table, count_cells, count_sets
from juncture.variables import Variable

PASS_CELLS = 2**22  # cells that one pass counts
KEPT_CELLS = 2**24  # cells of tables that are kept from pass to pass
SAMPLE = 2**16  # rows that families are estimated from before they are counted
MAX_WAITING = 2**18  # distinct rows of blocks that wait until they are merged with those before them
FIRST_STEP = 8  # of the rows of a source of unknown length, one in so many is drawn at first
Result = TypeVar("Result")


class PassFullError(Exception):
    """A run has asked for as many cells as one pass counts: they are counted before it goes on."""


class StreamedRows:
    """The distinct rows of a source in a coded copy, a sample of the rows, and the tables counted so far.

    Attributes
    ----------
    variables
        The variables of the columns, which all have states.
    num_rows, weight
        The number of rows and the sum of their weights.
    sample
        Some rows, from all of the source, as they are.
    holes
        The weight of the rows in which each column is missing.
    first_hole
        The column and the row of the first hole; None where the rows are complete.
    """

    def __init__(
        self,
        variables: tuple[Variable, ...],
        copy: Passes,
        sample: Dataset,
        num_rows: int,
        weight: float,
        holes: np.ndarray,
        first_hole: tuple[str, str] | None,
    ) -> None:
        self.variables, self.copy, self.sample = variables, copy, sample
        self.num_rows, self.weight, self.holes, self.first_hole = num_rows, weight, holes, first_hole
        self.sizes = np.array([variable.num_states for variable in variables], dtype=np.int64)
        self.num_passes = 0
        self.estimate: Any = None  # what the last run found that had to estimate some families
        self._tables: dict[Positions, Table] = {}
        self._kept: dict[Hashable, Any] = {}
        self._missing: dict[Positions, int] = {}
        self._missing_cells = 0

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(variable.name for variable in self.variables)

    @property
    def is_complete(self) -> bool:
        return self.first_hole is None

    def __len__(self) -> int:
        return self.num_rows

    def keep(self, key: Hashable, make: Callable[[], Result]) -> Result:
        """What was made for the key before, with the scores that it knows; else what is made now."""
        if key not in self._kept:
            self._kept[key] = make()
        found: Result = self._kept[key]
        return found

    def has_table(self, positions: Positions) -> bool:
        return positions in self._tables

    def table(self, positions: Positions) -> Table | None:
        """The counts of a set of columns; None where they are still to be counted, which is noted."""
        found = self._tables.get(positions)
        if found is None:
            self._note(positions)
        return found

    def _note(self, positions: Positions) -> None:
        if positions in self._missing:
            return
        if self._missing_cells > PASS_CELLS:
            raise PassFullError
        cells = min(count_cells(positions, self.sizes), self.copy.num_rows)
        self._missing[positions] = cells
        self._missing_cells += cells

    def settle(self, run: Callable[[], Result]) -> Result:
        """The result of a function that asks for tables, once all of them are counted.

        Warnings of the runs before the last say what estimates suggested, and are dropped.
        """
        self.estimate = None
        while True:
            self._missing, self._missing_cells = {}, 0
            with suppress(PassFullError), hold_warnings() as held:
                self.estimate = run()
            if not self._missing:
                break
            self.count_missing()
        for one in held:
            warn_user(*one)
        found: Result = self.estimate
        return found

    def count_missing(self) -> None:
        """One pass, which counts the tables that were asked for in vain."""
        if sum(table_size(table) for table in self._tables.values()) > KEPT_CELLS:
            self._tables = {}
        self._tables |= count_sets(self.copy, self.sizes, self._missing)
        self.num_passes += 1


def table_size(table: Table) -> int:
    return table.size if isinstance(table, np.ndarray) else 2 * len(table.cells)


def gather_rows(source: RowSource, most: int) -> Dataset | StreamedRows:
    """The distinct rows of a source whose columns have states: in memory up to `most`, else to be counted in passes.

    Where rows lie on a cluster, few distinct ones are brought here; more are counted there, and are never copied.
    """
    is_away = is_elsewhere(source) and not groups_rows(source)
    known = collect_distinct(source, min(most, FEW_DISTINCT)) if is_away else group_rows(source, most)
    if known is not None:
        return known
    runs, sample = DistinctRuns(source.variables, most), Sample(source.num_rows)
    totals = Totals(0, 0.0, np.zeros(len(source.variables)), None, True)
    for part in map_blocks(partial(summarise_block, sample.first_step, is_away), source):
        totals = totals.plus(part.totals)
        sample.add(part.sample)
        if part.distinct is not None:
            runs.add(*part.distinct)
    if is_away:
        passes: Passes = ClusterRows(source, totals.num_rows, totals.has_whole_weights)
        return StreamedRows(source.variables, passes, sample.rows(), *totals[:4])
    runs.merge()
    if not runs.copy.num_rows:
        return runs.rows()
    runs.write()
    return StreamedRows(source.variables, runs.copy, sample.rows(), *totals[:4])


def group_rows(source: RowSource, most: int) -> Dataset | None:
    """The distinct rows that the engine of a source groups; None where it cannot, or where they are too many."""
    grouped = next(source.group_rows([source.names], most)) if groups_rows(source) else None
    return None if grouped is None else merge_parts([merge_equal_rows(grouped.rows)])


def summarise_block(step: int, is_away: bool, block: Block) -> BlockSummary:
    rows, weights = merge_equal_rows(block.rows)
    holes = np.array([weights[has_hole(column)].sum() for column in rows.arrays])
    totals = Totals(len(block.rows), float(weights.sum()), holes, find_hole(block), are_whole(weights))
    return BlockSummary(totals, block.rows.take(slice(None, None, step)), None if is_away else (rows, weights))


class BlockSummary(NamedTuple):
    """The totals of a block, some of its rows, and its distinct rows with their weights unless these stay away."""

    totals: Totals
    sample: Dataset
    distinct: tuple[Dataset, np.ndarray] | None


class Totals(NamedTuple):
    """The number and the weight of rows, the weight of those in which each column is missing, and the first hole."""

    num_rows: int
    weight: float
    holes: np.ndarray
    first_hole: tuple[str, str] | None
    has_whole_weights: bool

    def plus(self, other: Totals) -> Totals:
        """The totals of two parts of the rows together."""
        return Totals(
            self.num_rows + other.num_rows,
            self.weight + other.weight,
            self.holes + other.holes,
            self.first_hole or other.first_hole,
            self.has_whole_weights and other.has_whole_weights,
        )


def find_hole(block: Block) -> tuple[str, str] | None:
    """The first column with a hole, and how its first row without a value is named."""
    for name, column in block.rows.columns.items():
        holes = has_hole(column)
        if holes.any():
            return name, block.describe_row(int(np.argmax(holes)))
    return None


class DistinctRuns:
    """Distinct rows as they come: in memory, and from where they are more than `most` in a copy, run after run.

    Rows are kept as the bytes of their codes, one after the other, filled up to whole words.
    """

    def __init__(self, variables: tuple[Variable, ...], most: int) -> None:
        self.variables, self.most = variables, most
        self.code_type = np.dtype(code_type(max(variable.num_states for variable in variables)))
        self.copy = CodedCopy(len(variables), self.code_type)
        self.words: np.ndarray = np.zeros((0, 0), np.uint32)
        self.weights: np.ndarray = np.zeros(0)
        self._waiting: list[tuple[np.ndarray, np.ndarray]] = []

    def add(self, rows: Dataset, weights: np.ndarray) -> None:
        table = np.empty((len(rows), len(self.variables)), self.code_type)
        for index, column in enumerate(rows.arrays):
            table[:, index] = column
        self._waiting.append((as_words(table), weights))
        if sum(len(own) for _, own in self._waiting) >= min(MAX_WAITING, self.most):
            self.merge()

    def merge(self) -> None:
        """Merge the rows that wait with those before them; where the distinct ones are too many, write them."""
        if not self._waiting:
            return
        parts = [(self.words, self.weights), *self._waiting] if len(self.words) else self._waiting
        self._waiting = []
        words = np.concatenate([own for own, _ in parts])
        group, firsts = number_words(words)
        self.weights = np.bincount(group, np.concatenate([own for _, own in parts]), minlength=len(firsts))
        self.words = words[firsts]
        if len(firsts) > self.most:
            self.write()

    def write(self) -> None:
        self.copy.append(self._codes().T, self.weights)
        self.words, self.weights = self.words[:0], self.weights[:0]

    def rows(self) -> Dataset:
        """The rows in memory."""
        columns = {variable.name: own for variable, own in zip(self.variables, self._codes().T, strict=True)}
        return Dataset.from_codes(self.variables, columns, self.weights)

    def _codes(self) -> np.ndarray:
        """The codes of the rows in memory: (row, variable)."""
        num_bytes = len(self.variables) * self.code_type.itemsize
        return np.ascontiguousarray(self.words.view(np.uint8)[:, :num_bytes]).view(self.code_type)


class Sample:
    """One row in every `step` rows of a source; the step doubles where the rows become too many."""

    def __init__(self, num_rows: int | None) -> None:
        self.first_step = FIRST_STEP if num_rows is None else max(1, num_rows // SAMPLE)
        self.parts: list[Dataset] = []
        self._kept = 1  # one of so many drawn rows is kept

    def add(self, rows: Dataset) -> None:
        self.parts.append(rows.take(slice(None, None, self._kept)))
        if sum(map(len, self.parts)) > 2 * SAMPLE:
            self.parts = [part.take(slice(None, None, 2)) for part in self.parts]
            self._kept *= 2

    def rows(self) -> Dataset:
        """All that were kept, but for rows without weight."""
        variables = self.parts[0].variables
        names = [variable.name for variable in variables]
        columns = {name: np.concatenate([part.columns[name] for part in self.parts]) for name in names}
        weights = [np.ones(len(part)) if part.weights is None else part.weights for part in self.parts]
        together = Dataset.from_codes(variables, columns, np.concatenate(weights))
        return together.take(np.asarray(together.weights) > 0)
