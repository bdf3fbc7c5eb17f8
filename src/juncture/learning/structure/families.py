"""What a score asks of data: the scores of families. A family is a child and its parents, all given by position."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from juncture.learning.structure.sets import Positions, members

NOTHING = -1  # the candidate that adds no parent
WORTH_THREADS = 200_000  # cells to count, below which handing work to another core takes longer than doing it


class Families(Protocol):
    """The families of some data under one score."""

    @property
    def names(self) -> tuple[str, ...]: ...

    @property
    def num_rows(self) -> int: ...

    def extended(self, child: int, parents: Sequence[int], candidates: Sequence[int]) -> np.ndarray:
        """The score of the child's family with each candidate added to the parents; `NOTHING` adds none."""
        ...

    def of_subsets(self, child: int, needed: Sequence[int], free: Sequence[int], most: int) -> np.ndarray:
        """The score of the needed parents with each set of at most `most` of the free ones: bit i is `free[i]`.

        It is -inf for larger sets, and may be for sets that score no more than one of their subsets.
        """
        ...


@dataclass(frozen=True, eq=False)
class WeighedFamilies:
    """Families of which each parent costs the same besides."""

    families: Families
    cost: float

    @property
    def names(self) -> tuple[str, ...]:
        return self.families.names

    @property
    def num_rows(self) -> int:
        return self.families.num_rows

    def extended(self, child: int, parents: Sequence[int], candidates: Sequence[int]) -> np.ndarray:
        num_parents = len(parents) + (np.array(candidates, dtype=np.int64) != NOTHING)
        return np.asarray(self.families.extended(child, parents, candidates) - self.cost * num_parents)

    def of_subsets(self, child: int, needed: Sequence[int], free: Sequence[int], most: int) -> np.ndarray:
        num_parents = np.array([len(needed) + number.bit_count() for number in range(1 << len(free))])
        return self.families.of_subsets(child, needed, free, most) - self.cost * num_parents


def weighed_families(families: Families, expected_parents: float) -> WeighedFamilies:
    """Each of the others is a parent with probability p = expected / others; an edge costs log((1 - p) / p)."""
    odds = min(expected_parents / max(len(families.names) - 1, 1), 1 - 1e-9)
    return WeighedFamilies(families, float(np.log((1 - odds) / odds)))


class ScoreCache:
    """Scores of families, each computed once; parents are sets of positions."""

    def __init__(self, families: Families) -> None:
        self.families = families
        self.names = families.names
        self._scores: dict[tuple[int, Positions], float] = {}
        self._toggled: dict[tuple[int, Positions], np.ndarray] = {}

    def family(self, child: int, parents: Positions) -> float:
        key = (child, parents)
        if key not in self._scores:
            *common, last = members(parents) or [NOTHING]
            self._scores[key] = float(self.families.extended(child, common, [last])[0])
        return self._scores[key]

    def total(self, parents: Iterable[Positions]) -> float:
        """The score of a whole graph, given by the parents of each child."""
        return float(sum(self.family(child, one) for child, one in enumerate(parents)))

    def toggled(self, child: int, parents: Positions, candidates: Positions) -> np.ndarray:
        """For each candidate, the child's score when it joins its parents, or leaves them; NaN for all others."""
        key = (child, parents)
        if key not in self._toggled:
            self._toggled[key] = self._toggle(child, parents, candidates)
        return self._toggled[key]

    def _toggle(self, child: int, parents: Positions, candidates: Positions) -> np.ndarray:
        scores = np.full(len(self.names), np.nan)
        joining = members(candidates & ~parents & ~(1 << child))
        scores[joining] = self.families.extended(child, members(parents), joining)
        for one in joining:
            self._scores[child, parents | 1 << one] = float(scores[one])
        for one in members(parents):
            scores[one] = self.family(child, parents ^ 1 << one)
        return scores

    def toggle_all(self, wanted: Sequence[tuple[int, Positions, Positions]]) -> None:
        """Compute many at once, on all cores; children differ, so no two write the same score."""
        missing = [one for one in wanted if one[:2] not in self._toggled]
        spread(lambda one: self.toggled(*one), missing, len(missing) * len(self.names) * self.families.num_rows)


def spread(run: Callable[[Any], Any], tasks: Sequence[Any], cells: float) -> list[Any]:
    """Each task's result; on all cores when there is enough to do."""
    if len(tasks) < 2 or cells < WORTH_THREADS:
        return [run(task) for task in tasks]
    with ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        return list(pool.map(run, tasks))


def rounding(score: float) -> float:
    """A gain that is no more than this is none."""
    return 1e-6 + 1e-12 * abs(score)
