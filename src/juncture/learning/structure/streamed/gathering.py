"""`gather_rows`: one pass over a source: its distinct rows in memory, or where they are many, in a coded copy."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np

from juncture.data.dataset import Dataset
from juncture.data.missingness import has_hole
from juncture.data.sources.contract import Block, RowSource
from juncture.data.sources.passes import map_blocks
from juncture.data.tables.columns import code_type
from juncture.learning.networks.expectation import merge_equal_rows, merge_parts
from juncture.learning.structure.streamed.coded_copy import CodedCopy
from juncture.learning.structure.streamed.rows import StreamedRows
from juncture.variables import Variable

SAMPLE = 2**16  # rows that families are estimated from before they are counted
LEAST_MERGED = 2**18  # rows that wait before they are merged with those before them
FIRST_STEP = 8  # of the rows of a source of unknown length, one in so many is drawn at first


class BlockSummary(NamedTuple):
    """The distinct rows of a block and their weights, some of its rows, and where it has holes."""

    rows: Dataset
    weights: np.ndarray
    sample: Dataset
    num_rows: int
    holes: np.ndarray
    first_hole: tuple[str, str] | None


def summarise_block(step: int, block: Block) -> BlockSummary:
    rows, weights = merge_equal_rows(block.rows)
    missing = {name: has_hole(column) for name, column in rows.columns.items()}
    holes = np.array([weights[own].sum() for own in missing.values()])
    sample = block.rows.take(slice(None, None, step))
    return BlockSummary(rows, weights, sample, len(block.rows), holes, find_hole(block))


def find_hole(block: Block) -> tuple[str, str] | None:
    """The first column with a hole, and how its first row without a value is named."""
    for name, column in block.rows.columns.items():
        holes = has_hole(column)
        if holes.any():
            return name, block.describe_row(int(np.argmax(holes)))
    return None


class DistinctRuns:
    """Distinct rows as they come: in memory, and from where they are more than `most` in a copy, run after run."""

    def __init__(self, variables: tuple[Variable, ...], most: int) -> None:
        self.most = most
        sizes = [variable.num_states for variable in variables]
        self.copy = CodedCopy(len(variables), np.dtype(code_type(max(sizes, default=0))))
        self.merged: Dataset | None = None
        self._waiting: list[tuple[Dataset, np.ndarray]] = []

    def add(self, rows: Dataset, weights: np.ndarray) -> None:
        self._waiting.append((rows, weights))
        num_merged = 0 if self.merged is None else len(self.merged)
        if sum(len(own) for _, own in self._waiting) >= min(max(num_merged, LEAST_MERGED), self.most):
            self.merge()

    def merge(self) -> None:
        """Merge the rows that wait; where the distinct ones are too many, write them."""
        if not self._waiting:
            return
        before = [] if self.merged is None else [(self.merged, np.asarray(self.merged.weights))]
        self.merged, self._waiting = merge_parts([*before, *self._waiting]), []
        if len(self.merged) > self.most:
            self.write()

    def write(self) -> None:
        if self.merged is not None:
            self.copy.append(np.stack(self.merged.arrays), np.asarray(self.merged.weights))
            self.merged = None


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


def gather_rows(source: RowSource, most: int) -> Dataset | StreamedRows:
    """The distinct rows of a source whose columns have states: in memory up to `most`, else to be counted in passes."""
    runs, sample = DistinctRuns(source.variables, most), Sample(source.num_rows)
    holes, first_hole, num_rows, weight = np.zeros(len(source.variables)), None, 0, 0.0
    for part in map_blocks(partial(summarise_block, sample.first_step), source):
        runs.add(part.rows, part.weights)
        sample.add(part.sample)
        holes = holes + part.holes
        first_hole = first_hole or part.first_hole
        num_rows, weight = num_rows + part.num_rows, weight + float(part.weights.sum())
    runs.merge()
    if not runs.copy.num_rows and runs.merged is not None:
        return runs.merged
    runs.write()
    return StreamedRows(source.variables, runs.copy, sample.rows(), num_rows, weight, holes, first_hole)
