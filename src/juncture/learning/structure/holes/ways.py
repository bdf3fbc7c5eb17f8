"""The ways to complete rows: every combination of states of the missing cells of each row, with its probability.

A row with missing cells of variables with 2 and 3 states has 6 ways. The posterior of its missing cells given the
others is a softmax over its ways of the log-probabilities of the families that hold a missing cell.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from juncture.factors.conditional import Conditional

MOST_WAYS = 64  # of a row
MOST_OF_ALL = 2**21  # ways of all rows, which are an array for each column


@dataclass(frozen=True, eq=False)
class Ways:
    """All ways to complete rows, those of one row after the other."""

    rows: np.ndarray  # (way,): the row that each completes
    starts: np.ndarray  # (row,): the first way of each
    codes: np.ndarray  # (variable, way)

    @classmethod
    def of(cls, codes: np.ndarray, sizes: np.ndarray) -> Ways:
        """Of rows as codes (variable, row), where -1 is a hole."""
        is_hole = codes < 0
        radix = np.where(is_hole, sizes[:, np.newaxis], 1)
        numbers = radix.prod(axis=0)
        ends = np.cumsum(numbers)
        rows = np.repeat(np.arange(len(numbers)), numbers)
        left = np.arange(len(rows)) - (ends - numbers)[rows]
        filled = codes[:, rows]
        for variable in np.flatnonzero(is_hole.any(axis=1)):
            own = radix[variable][rows]
            left, state = np.divmod(left, own)
            filled[variable] = np.where(own > 1, state, np.where(filled[variable] < 0, 0, filled[variable]))
        return cls(rows, ends - numbers, filled)

    def cells(self, variables: Sequence[int], sizes: np.ndarray) -> np.ndarray:
        """The cell of each way in the table of these variables, the last fastest."""
        cells = np.zeros(len(self.rows), np.int64)
        for variable in variables:
            cells = cells * sizes[variable] + self.codes[variable]
        return cells

    def posteriors(self, families: Sequence[tuple[Conditional, np.ndarray]]) -> tuple[np.ndarray, np.ndarray]:
        """The posterior probability of each way, and the log-probability of each row under these families.

        A family is a table with the cell of each way in it.
        """
        logs = np.zeros(len(self.rows))
        with np.errstate(divide="ignore"):
            for part, cells in families:
                logs += np.log(part.values).ravel()[cells]
        if not len(logs):
            return logs, np.zeros(0)
        peaks = np.maximum.reduceat(logs, self.starts)
        shifts = np.where(np.isfinite(peaks), peaks, 0.0)
        shares = np.exp(logs - shifts[self.rows])
        totals = np.add.reduceat(shares, self.starts)
        with np.errstate(divide="ignore"):
            log_totals = np.log(totals) + shifts
        return shares / np.where(totals > 0, totals, 1.0)[self.rows], log_totals


def count_ways(codes: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """How many ways there are to complete each row, as floats, which do not overflow."""
    return np.where(codes < 0, sizes[:, np.newaxis].astype(float), 1.0).prod(axis=0)


def has_few_ways(codes: np.ndarray, sizes: np.ndarray, least: np.ndarray | int = 0) -> np.ndarray:
    """The rows whose ways are all taken: few each, and few of all; up to `least` of a row always are."""
    numbers = count_ways(codes, sizes)
    most = MOST_WAYS
    while most > 1 and numbers[numbers <= most].sum() > MOST_OF_ALL:
        most //= 2
    return np.asarray(numbers <= np.maximum(most, least))
