"""What a score asks of data: the scores of families. A family is a child and its parents, all given by position."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from juncture.learning.structure.sets import Positions, members
from juncture.parallel import num_cores, on_cores

NOTHING = -1  # the candidate that adds no parent
WORTH_THREADS = 1_000_000  # cells to count, below which handing work to another core takes longer than doing it


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
        if (child, parents) not in self._toggled:
            self.toggle_all([(child, parents, candidates)])
        return self._toggled[child, parents]

    def toggle_all(self, wanted: Sequence[tuple[int, Positions, Positions]]) -> None:
        """Work out many at once, on all cores: the candidates of few children are shared out."""
        missing = [one for one in wanted if one[:2] not in self._toggled]
        if not missing:
            return
        joining = [members(candidates & ~parents & ~(1 << child)) for child, parents, candidates in missing]
        parts = -(-num_cores() // len(missing))  # as many as make work for every core
        tasks = [
            (child, members(parents), some[part::parts])
            for (child, parents, _), some in zip(missing, joining, strict=True)
            for part in range(parts)
        ]
        cells = sum(map(len, joining)) * self.families.num_rows
        scores = iter(spread(lambda task: self.families.extended(*task), tasks, cells))
        for (child, parents, _), some in zip(missing, joining, strict=True):
            found = np.full(len(self.names), np.nan)
            for part in range(parts):
                found[some[part::parts]] = next(scores)
            self._keep(child, parents, found, some)

    def _keep(self, child: int, parents: Positions, toggled: np.ndarray, joining: Sequence[int]) -> None:
        for one in joining:
            self._scores[child, parents | 1 << one] = float(toggled[one])
        for one in members(parents):
            toggled[one] = self.family(child, parents ^ 1 << one)
        self._toggled[child, parents] = toggled


def one_by_one(families: Families, child: int, needed: Sequence[int], free: Sequence[int], most: int) -> np.ndarray:
    """The scores of all sets of parents, where there is no quicker way."""
    scores = np.full(1 << len(free), -np.inf)
    for number in range(1 << len(free)):
        if number.bit_count() <= most:
            parents = [*needed, *(free[bit] for bit in members(number))]
            scores[number] = families.extended(child, parents, [NOTHING])[0]
    return scores


def spread(run: Callable[[Any], Any], tasks: Sequence[Any], cells: float) -> list[Any]:
    """Each task's result; on all cores when there is enough to do."""
    return on_cores(run, tasks, is_worth_threads=cells >= WORTH_THREADS)


def rounding(score: float) -> float:
    """A gain that is no more than this is none."""
    return 1e-6 + 1e-12 * abs(score)
