"""Local scores of rows past memory, from tables that passes over the rows count (`StreamedRows`).

A family without a table is estimated from a sample of the rows: the score of a family that is known and has one parent
less, plus the gain in the sample, weighed up to all rows. The estimates only lead a search on to the families that it
will ask for; see `StreamedRows.settle`.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import comb, prod
from typing import TypeAlias

import numpy as np

from juncture.errors import TooLarge
from juncture.learning.structure.data import total_weight
from juncture.learning.structure.scores.discrete import KINDS
from juncture.learning.structure.scores.local_scores import NOTHING, LocalScores, ScoreCache
from juncture.learning.structure.sets import Positions, members, set_of
from juncture.learning.structure.streamed.counting import Table, arrange_table
from juncture.learning.structure.streamed.streamed_rows import StreamedRows

LIKELIHOOD = KINDS.index("likelihood")
MAX_SETS = 2**16  # of parents of one child that are scored one after the other

Order: TypeAlias = tuple[int, ...]
"""The parents of a family, then the child: the order of the axes of its table, and of the terms of its score."""


class StreamedScores:
    """Scores of families: from counts of all rows where a pass has made them, else estimated from a sample."""

    def __init__(self, rows: StreamedRows, sample: LocalScores) -> None:
        self.rows, self.names = rows, rows.names
        self.num_rows = sample.num_rows  # that a score looks at: all but estimates come from tables
        self._sample = ScoreCache(sample)
        self._scores: dict[Order, float] = {}
        self._families: dict[tuple[int, Positions], float] = {}

    def score_table(self, table: Table, order: Order) -> float:
        """The score of a family by its table."""
        raise NotImplementedError

    def score_extensions(self, child: int, parents: Sequence[int], candidates: Sequence[int]) -> np.ndarray:
        orders = [(*parents, child) if one == NOTHING else (one, *parents, child) for one in candidates]
        scores = [self.find_score(order) for order in orders]
        if None in scores:
            joining = set_of(one for one in candidates if one != NOTHING)
            self._sample.compute_toggles([(child, set_of(parents), joining)])
        found = zip(orders, scores, strict=True)
        return np.array([self.estimate(child, set_of(order[:-1])) if one is None else one for order, one in found])

    def score_subsets(self, child: int, needed: Sequence[int], free: Sequence[int], most: int) -> np.ndarray:
        count = sum(comb(len(free), size) for size in range(min(most, len(free)) + 1))
        if count > MAX_SETS:
            raise TooLarge(
                f"{self.names[child]!r} has {count:,} possible sets of parents, and rows past memory are counted for"
                f" at most {MAX_SETS:,}: set max_parents, or take method='hill-climbing'"
            )
        scores = np.full(1 << len(free), -np.inf)
        scores[0] = self.find_or_estimate((*needed, child))
        waiting = [(0, list(needed), 0, float(scores[0]))]
        while waiting:
            number, parents, start, best = waiting.pop()
            for bit in range(start, len(free) if number.bit_count() < most else start):
                wider = [*parents, free[bit]]
                if not self.is_hopeless(child, wider, best):
                    other = number | 1 << bit
                    scores[other] = self.find_or_estimate((*wider, child))
                    waiting.append((other, wider, bit + 1, max(best, float(scores[other]))))
        return scores

    def is_hopeless(self, child: int, parents: Sequence[int], best: float) -> bool:
        """Whether the parents, and so all sets that hold them, cannot score more than fewer parents."""
        return False

    def find_or_estimate(self, order: Order) -> float:
        found = self.find_score(order)
        return self.estimate(order[-1], set_of(order[:-1])) if found is None else found

    def find_score(self, order: Order) -> float | None:
        """The score from the table; None where there is no table yet."""
        found = self._scores.get(order)
        if found is None and (table := self.rows.table(set_of(order))) is not None:
            found = self._scores[order] = self.score_table(table, order)
            self._families[order[-1], set_of(order[:-1])] = found
        return found

    def find_exact(self, child: int, parents: Positions) -> float | None:
        """The score of a family that has a table, or had one."""
        found = self._families.get((child, parents))
        if found is None and self.rows.has_table(parents | 1 << child):
            found = self.find_score((*members(parents), child))
        return found

    def estimate(self, child: int, parents: Positions) -> float:
        """The best score that is known with one parent less, plus the gain in the sample."""
        exact = self.find_exact(child, parents)
        if exact is not None:
            return exact
        if not parents:
            return self._weigh_up(self._sample.family(child, 0))
        smaller = [parents ^ 1 << one for one in members(parents)]
        known = [(score, one) for one in smaller if (score := self.find_exact(child, one)) is not None]
        score, nearest = max(known) if known else (self.estimate(child, smaller[-1]), smaller[-1])
        without, together = self._sample.family(child, nearest), self._sample.family(child, parents)
        return score + self._weigh_up(together - without) if np.isfinite(without) else score

    def _weigh_up(self, score: float) -> float:
        """From the sample to all rows."""
        seen = total_weight(self.rows.sample)
        return score * self.rows.weight / seen if seen else 0.0


class StreamedDiscreteScores(StreamedScores):
    """As `DiscreteScores`, for complete rows."""

    def __init__(self, rows: StreamedRows, sample: LocalScores, kind: str, amount: float) -> None:
        super().__init__(rows, sample)
        self.kind, self.amount = KINDS.index(kind), float(amount)

    def score_table(self, table: Table, order: Order) -> float:
        return score_cells(self.rows, table, set_of(order), order, self.kind, self.amount)

    def is_hopeless(self, child: int, parents: Sequence[int], best: float) -> bool:
        sizes = self.rows.sizes
        num_given = float(np.prod(sizes[list(parents)], dtype=float))
        return self.kind == LIKELIHOOD and -self.amount * num_given * (sizes[child] - 1) < best


class StreamedObservedScores(StreamedScores):
    """As `ObservedScores`: each family by the rows in which it is observed, weighed up to all rows."""

    def __init__(self, rows: StreamedRows, sample: LocalScores, cost: float) -> None:
        super().__init__(rows, sample)
        self.cost = cost

    def score_extensions(self, child: int, parents: Sequence[int], candidates: Sequence[int]) -> np.ndarray:
        return np.array([self.find_or_estimate(observed_order(child, parents, one)) for one in candidates])

    def score_table(self, table: Table, order: Order) -> float:
        total = float((table if isinstance(table, np.ndarray) else table.weights).sum())
        if total == 0.0:
            return -np.inf
        log_likelihood = score_cells(self.rows, table, set_of(order), order, LIKELIHOOD, 0.0)
        sizes = self.rows.sizes[list(order)]
        num_parameters = float(np.prod(sizes[:-1], dtype=float)) * (sizes[-1] - 1)
        return float(self.rows.weight / total * log_likelihood - self.cost * num_parameters)


def observed_order(child: int, parents: Sequence[int], candidate: int) -> Order:
    """The order in which `ObservedScores` adds up a family: the last of its parents first."""
    family = [*parents] if candidate == NOTHING else [*parents, candidate]
    return (*family[-1:], *family[:-1], child)


def score_cells(rows: StreamedRows, table: Table, everyone: Positions, order: Order, kind: int, amount: float) -> float:
    """The score of a family by the table of a set that holds it; members that are not of the family are summed out."""
    from juncture.kernels.structure.local_scores import score_table

    *parents, child = order
    cells = arrange_table(table, everyone, parents, [child], rows.sizes)
    num_given = prod(float(rows.sizes[one]) for one in parents)
    return float(score_table(cells.reshape(-1), int(rows.sizes[child]), num_given, kind, amount))
