"""Local scores: the scores of families. A family is a child and its parents, all given by position."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Protocol

import numpy as np

from juncture.learning.structure.sets import Positions, members
from juncture.runtime import parallel
from juncture.runtime.parallel import num_threads

NOTHING = -1  # the candidate that adds no parent
WORTH_THREADS = 1_000_000  # cells to count, below which one thread is quicker


class LocalScores(Protocol):
    """The scores of the families of some data under one score."""

    @property
    def names(self) -> tuple[str, ...]: ...

    @property
    def num_rows(self) -> int: ...

    def score_extensions(self, child: int, parents: Sequence[int], candidates: Sequence[int]) -> np.ndarray:
        """The score of the child's family with each candidate added to the parents; `NOTHING` adds none."""
        ...

    def score_subsets(self, child: int, needed: Sequence[int], free: Sequence[int], most: int) -> np.ndarray:
        """The score of the needed parents with each set of at most `most` of the free ones: bit i is `free[i]`.

        It is -inf for larger sets, and may be for sets that score no more than one of their subsets.
        """
        ...


@dataclass(frozen=True, eq=False)
class EdgePriorScores:
    """Local scores, less the same cost for each parent."""

    scores: LocalScores
    cost: float

    @property
    def names(self) -> tuple[str, ...]:
        return self.scores.names

    @property
    def num_rows(self) -> int:
        return self.scores.num_rows

    def score_extensions(self, child: int, parents: Sequence[int], candidates: Sequence[int]) -> np.ndarray:
        num_parents = len(parents) + (np.array(candidates, dtype=np.int64) != NOTHING)
        return self.scores.score_extensions(child, parents, candidates) - self.cost * num_parents

    def score_subsets(self, child: int, needed: Sequence[int], free: Sequence[int], most: int) -> np.ndarray:
        num_parents = np.array([len(needed) + number.bit_count() for number in range(1 << len(free))])
        return self.scores.score_subsets(child, needed, free, most) - self.cost * num_parents


def with_edge_prior(scores: LocalScores, expected_parents: float) -> EdgePriorScores:
    return EdgePriorScores(scores, edge_cost(len(scores.names), expected_parents))


def edge_cost(num_variables: int, expected_parents: float) -> float:
    """Each of the others is a parent with probability p = expected / others; an edge costs log((1 - p) / p)."""
    odds = min(expected_parents / max(num_variables - 1, 1), 1 - 1e-9)
    return float(np.log((1 - odds) / odds))


class ScoreCache:
    """Scores of families, each computed once; parents are sets of positions."""

    def __init__(self, scores: LocalScores) -> None:
        self.scores = scores
        self.names = scores.names
        self._scores: dict[tuple[int, Positions], float] = {}
        self._toggled: dict[tuple[int, Positions], np.ndarray] = {}
        self._gains: dict[tuple[int, Positions], tuple[float, np.ndarray]] = {}

    def family(self, child: int, parents: Positions) -> float:
        key = (child, parents)
        if key not in self._scores:
            *common, last = members(parents) or [NOTHING]
            self._scores[key] = float(self.scores.score_extensions(child, common, [last])[0])
        return self._scores[key]

    def total(self, parents: Iterable[Positions]) -> float:
        """The score of a whole graph, given by the parents of each child."""
        return float(sum(self.family(child, one) for child, one in enumerate(parents)))

    def toggle_scores(self, child: int, parents: Positions, candidates: Positions) -> np.ndarray:
        """For each candidate, the child's score when it joins its parents, or leaves them; NaN for all others."""
        if (child, parents) not in self._toggled:
            self.compute_toggles([(child, parents, candidates)])
        return self._toggled[child, parents]

    def toggle_gains(self, child: int, parents: Positions, candidates: Positions) -> tuple[float, np.ndarray]:
        """The score of the child's family, and its gain when each candidate joins or leaves; -inf for all others."""
        found = self._gains.get((child, parents))
        if found is None:
            score = self.family(child, parents)
            gains = self.toggle_scores(child, parents, candidates) - score
            found = self._gains[child, parents] = score, np.where(np.isnan(gains), -np.inf, gains)
        return found

    def compute_toggles(self, wanted: Sequence[tuple[int, Positions, Positions]]) -> None:
        """Compute many toggles at once, on all cores: the candidates of few children are divided among the cores."""
        missing = [one for one in wanted if one[:2] not in self._toggled]
        if not missing:
            return
        joining = [members(candidates & ~parents & ~(1 << child)) for child, parents, candidates in missing]
        cells = sum(map(len, joining)) * self.scores.num_rows
        parts = -(-num_threads() // len(missing)) if cells >= WORTH_THREADS else 1  # make work for every thread
        shares = [divide_evenly(some, parts) for some in joining]
        tasks = [
            (child, members(parents), share)
            for (child, parents, _), own in zip(missing, shares, strict=True)
            for share in own
        ]
        scores = iter(map_tasks(lambda task: self.scores.score_extensions(*task), tasks, cells))
        for (child, parents, _), own, some in zip(missing, shares, joining, strict=True):
            found = np.full(len(self.names), np.nan)
            found[some] = np.concatenate([next(scores) for _ in own])
            self._keep(child, parents, found, some)

    def _keep(self, child: int, parents: Positions, toggled: np.ndarray, joining: Sequence[int]) -> None:
        for one in joining:
            self._scores[child, parents | 1 << one] = float(toggled[one])
        for one in members(parents):
            toggled[one] = self.family(child, parents ^ 1 << one)
        self._toggled[child, parents] = toggled


def divide_evenly(numbers: list[int], parts: int) -> list[list[int]]:
    """The numbers in this many parts, each of neighbours."""
    edges = [len(numbers) * part // parts for part in range(parts + 1)]
    return [numbers[start:stop] for start, stop in pairwise(edges)]


def score_subsets_one_by_one(
    local: LocalScores, child: int, needed: Sequence[int], free: Sequence[int], most: int
) -> np.ndarray:
    """The scores of all sets of parents, one after the other."""
    scores = np.full(1 << len(free), -np.inf)
    for number in range(1 << len(free)):
        if number.bit_count() <= most:
            parents = [*needed, *(free[bit] for bit in members(number))]
            scores[number] = local.score_extensions(child, parents, [NOTHING])[0]
    return scores


def map_tasks(run: Callable[[Any], Any], tasks: Sequence[Any], cells: float) -> list[Any]:
    """Each task's result; on all cores when there is enough to do."""
    return parallel.map(run, tasks, is_worth_threads=cells >= WORTH_THREADS)


def rounding(score: float) -> float:
    """The largest gain that counts as rounding."""
    return 1e-6 + 1e-12 * abs(score)
