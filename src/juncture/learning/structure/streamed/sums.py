"""`SummedRows`: rows with real columns past memory, summed up: moments for each combination of states of the others.

Every score and every test of real columns follows from these sums, so that one pass over a source is enough. Moments
are centred, and those of blocks are merged in their order by Chan's formula.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, reduce
from operator import add

import numpy as np

from juncture.data.dataset import Dataset
from juncture.data.sources.contract import Block, RowSource, is_elsewhere, map_blocks
from juncture.data.sources.source import collect, join_rows
from juncture.data.tables.distinct import distinct_rows
from juncture.errors import TooLarge
from juncture.learning.networks.expectation import FEW_DISTINCT
from juncture.learning.structure.streamed.streamed_rows import find_hole
from juncture.numerics.stable import Moments, grouped_moments, merge_moments
from juncture.variables import Variable

MAX_NUMBERS = 2**23  # of all moments


@dataclass(frozen=True, eq=False)
class SummedRows:
    """The moments of the real columns for each combination of states that occurs: a cell.

    Attributes
    ----------
    variables
        The variables of all columns.
    codes
        (column with states, cell): the states of each cell.
    moments
        The weight (cell,), mean (cell, real) and scatter (cell, real, real) of each cell.
    counts
        (cell,): the number of rows that have a weight.
    lowest, highest
        (real,): of the rows that have a weight.
    num_rows
        The number of all rows.
    first_hole
        The column and the row of the first hole; None where the rows are complete.
    """

    variables: tuple[Variable, ...]
    codes: np.ndarray
    moments: Moments
    counts: np.ndarray
    lowest: np.ndarray
    highest: np.ndarray
    num_rows: int
    first_hole: tuple[str, str] | None

    @classmethod
    def of(cls, block: Block) -> SummedRows:
        """The sums of one block."""
        rows = block.rows
        weights = np.ones(len(rows)) if rows.weights is None else np.asarray(rows.weights, float)
        real = [rows.columns[variable.name][weights > 0] for variable in rows.variables if variable.is_real]
        states = [rows.columns[variable.name][weights > 0] for variable in rows.variables if not variable.is_real]
        own = weights[weights > 0]
        values = np.stack(real, axis=1)
        codes = np.array(states, dtype=np.int64).reshape(len(states), len(own))
        group, firsts = number_cells(codes)
        check_cells(len(firsts), len(real))
        moments = one_group(values, own) if len(firsts) == 1 else grouped_moments(values, group, own, len(firsts))
        counts = np.bincount(group, minlength=len(firsts))
        ends = (values.min(axis=0, initial=np.inf), values.max(axis=0, initial=-np.inf))
        return cls(rows.variables, codes[:, firsts], moments, counts, *ends, len(rows), find_hole(block))

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(variable.name for variable in self.variables)

    @property
    def is_complete(self) -> bool:
        return self.first_hole is None

    @property
    def weight(self) -> float:
        return float(self.moments.weight.sum())

    def __len__(self) -> int:
        return self.num_rows

    @cached_property
    def cells(self) -> Dataset:
        """The columns with states, one row for each cell, with its weight."""
        states = [variable for variable in self.variables if not variable.is_real]
        columns = {variable.name: own for variable, own in zip(states, self.codes, strict=True)}
        return Dataset.from_codes(states, columns, self.moments.weight)

    def __add__(self, other: SummedRows) -> SummedRows:
        both = np.concatenate([self.codes, other.codes], axis=1)
        group, firsts = number_cells(both)
        check_cells(len(firsts), self.moments.center.shape[1])
        parts = np.split(group, [self.codes.shape[1]])
        mine, theirs = (
            spread_moments(one.moments, index, len(firsts)) for one, index in zip((self, other), parts, strict=True)
        )
        return SummedRows(
            self.variables,
            both[:, firsts],
            merge_moments(mine, theirs),
            np.bincount(group, np.concatenate([self.counts, other.counts]), minlength=len(firsts)).astype(np.int64),
            np.minimum(self.lowest, other.lowest),
            np.maximum(self.highest, other.highest),
            self.num_rows + other.num_rows,
            self.first_hole or other.first_hole,
        )


def check_cells(num_cells: int, num_real: int) -> None:
    most = MAX_NUMBERS // (num_real + 1) ** 2
    if num_cells > most:
        raise TooLarge(
            f"the columns with states have more than {most:,} combinations, and for each the moments of {num_real}"
            " columns of numbers are kept, which is too much: leave out columns with many states, put the numbers into"
            " bins with jt.Discretizer, or learn from a sample of the rows"
        )


def number_cells(codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The number of each column of codes among the different ones, and where each comes first."""
    if not len(codes):
        return np.zeros(codes.shape[1], np.int64), np.arange(min(codes.shape[1], 1))
    return distinct_rows(np.ascontiguousarray(codes.T))


def one_group(values: np.ndarray, weights: np.ndarray) -> Moments:
    """The moments of all rows together."""
    total = weights.sum()
    center = weights @ values / total
    apart = values - center
    return Moments(np.array([total]), center[np.newaxis], ((apart.T * weights) @ apart)[np.newaxis])


def spread_moments(moments: Moments, index: np.ndarray, num_cells: int) -> Moments:
    """The same among more cells; those of other cells are 0."""
    found = [np.zeros((num_cells, *part.shape[1:])) for part in moments]
    for whole, part in zip(found, moments, strict=True):
        whole[index] = part
    return Moments(*found)


def sum_rows(source: RowSource, most: int) -> Dataset | SummedRows:
    """The rows of a source in memory if they are at most `most`, else their sums; of a cluster only few come here."""
    if is_elsewhere(source):
        sums = reduce(add, map_blocks(SummedRows.of, source))
        return collect(source) if sums.num_rows <= min(most, FEW_DISTINCT) else sums
    blocks: list[Dataset] = []
    total: SummedRows | None = None
    num_rows = 0
    for rows, sums in map_blocks(sum_block, source):
        num_rows += len(rows)
        blocks = [*blocks, rows] if num_rows <= most else []
        total = sums if total is None else total + sums
    return join_rows(source, blocks) if num_rows <= most or total is None else total


def sum_block(block: Block) -> tuple[Dataset, SummedRows]:
    return block.rows, SummedRows.of(block)
