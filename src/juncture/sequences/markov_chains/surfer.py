"""The random surfer of PageRank, who follows a link or jumps to any page: shares of time, solved for or iterated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from juncture.errors import TooLarge
from juncture.iteration import Trace, iterate

MOST_PAGES_EXACTLY = 10_000


class Shares(NamedTuple):
    """The reader's shares of time, and a bound on Σ |shares - those in the long run|."""

    values: np.ndarray
    bound: float


@dataclass(frozen=True, eq=False)
class Surfer:
    """`follows` is damping × the probability of each link, sparse, as (to, from)."""

    follows: Any
    is_dangling: np.ndarray  # (page,): without links
    damping: float

    @classmethod
    def of(cls, weights: Any, damping: float) -> Surfer:
        from scipy.sparse import diags_array

        totals = np.asarray(weights.sum(axis=1)).ravel()
        shares = np.divide(damping, totals, out=np.zeros_like(totals), where=totals > 0)
        return cls((diags_array(shares) @ weights).T.tocsr(), totals == 0, damping)

    def solve(self, tolerance: float = 0.0, max_steps: int = 1) -> tuple[np.ndarray, Trace]:
        """(I - dSᵀ) p = 1, with the sum 1: what pages without links send anywhere only changes a common factor."""
        size = len(self.is_dangling)
        if size > MOST_PAGES_EXACTLY:
            raise TooLarge(
                f'the exact ranks of {size:,} pages need a matrix of {8 * size**2:,} bytes; method="power" needs none'
            )
        matrix = -self.follows.toarray()
        np.fill_diagonal(matrix, 1.0)  # pages have no links to themselves
        values = np.linalg.solve(matrix, np.ones(size))
        return values / values.sum(), Trace((0.0,), True, "solved")

    def iterate_ranks(self, tolerance: float, max_steps: int) -> tuple[np.ndarray, Trace]:
        """Steps until the bound on the error is below the tolerance.

        A step brings any two distributions nearer by the factor d, so the error is at most d/(1 - d) times the last
        change; and the bound falls by at least 1 - d of itself.
        """
        found, trace = iterate(self, tolerance=tolerance * (1.0 - self.damping), max_steps=max_steps)
        return found.values, trace

    def init(self) -> Shares:
        size = len(self.is_dangling)
        return Shares(np.full(size, 1.0 / size), 2.0 / (1.0 - self.damping))

    def step(self, shares: Shares) -> Shares:
        moved = self.follows @ shares.values
        moved += (1.0 - moved.sum()) / len(moved)  # all who follow no link go anywhere
        change = np.abs(moved - shares.values).sum()
        return Shares(moved, float(change * self.damping / (1.0 - self.damping)))

    def objective(self, shares: Shares) -> float:
        return -shares.bound

    def kept(self, values: np.ndarray) -> float:
        """What is left of the ranks if pages without links pass nothing on."""
        lost = self.damping * float(values[self.is_dangling].sum())
        return (1.0 - self.damping) / (1.0 - self.damping + lost)
