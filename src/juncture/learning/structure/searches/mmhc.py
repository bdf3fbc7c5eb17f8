"""Max-min hill climbing (Tsamardinos, Brown and Aliferis 2006): tests select possible edges, a score decides.

For many variables: hill climbing then looks at few pairs only.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np

from juncture.graphs.directed import DirectedGraph
from juncture.learning.structure.constraints import Constrained, EdgeConstraints, check_level, check_whole
from juncture.learning.structure.data import Cases
from juncture.learning.structure.independence import Tester, as_tester, determined_by, warn_of_functions
from juncture.learning.structure.scores.local_scores import map_tasks
from juncture.learning.structure.scores.scores import scores_and_bounds
from juncture.learning.structure.searches.hill_climbing import HillClimbing
from juncture.learning.structure.searches.trees import edge_gains
from juncture.learning.structure.sets import graph_of
from juncture.numerics.iteration import ProgressCallback


@dataclass(frozen=True, kw_only=True)
class MMHC(Constrained):
    """Max-min hill climbing (MMHC): hill climbing over the pairs of variables that tests leave.

    Tests of independence exclude a pair if the two variables are independent given some set of at most `max_given`
    other variables.

    Parameters
    ----------
    required, forbidden, tiers, max_parents, score, tabu, restarts
        As in `HillClimbing`.
    test
        The name of an independence test, or a test such as `PermutationTest(1000)`.
    level
        The significance level of the tests.
    max_given
        The largest number of variables to condition on.
    """

    score: Any = "bic"
    test: Any = "auto"
    level: float = 0.05
    max_given: int = 3
    tabu: int = 10
    restarts: int = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        check_level(self.level)
        check_whole(self.max_given, "max_given")

    def run(self, data: Cases, *, rng: np.random.Generator, progress: ProgressCallback | None = None) -> DirectedGraph:
        scores, bounds = scores_and_bounds(self, self.score, data)
        gains = edge_gains(scores, bounds, [0] * len(scores.names))
        tester = as_tester(data, self.test, rng)
        pairs = find_related_pairs(tester, bounds, gains, self.level, self.max_given)
        warn_of_functions(tester, pairs)
        near = bounds.within(pairs)
        search = HillClimbing(tabu=self.tabu, restarts=self.restarts)
        return graph_of(scores.names, search.search(scores, near, rng, progress))


def find_related_pairs(
    tester: Tester, bounds: EdgeConstraints, gains: np.ndarray, level: float, max_given: int
) -> np.ndarray:
    """The pairs in which each is a candidate parent or child of the other."""
    pairs = bounds.allowed | bounds.allowed.T
    strength = np.maximum(gains, gains.T)

    def relatives(target: int) -> list[int]:
        return MaxMin(tester, target, strength[target], level, max_given).relatives(np.flatnonzero(pairs[target]))

    near = np.zeros_like(pairs)
    for target, found in enumerate(map_tasks(relatives, range(len(pairs)), len(pairs) ** 2 * tester.num_rows)):
        near[target, found] = True
    return near & near.T


@dataclass(frozen=True, eq=False)
class MaxMin:
    """The parents and children of one target: the next is always the one that is hardest to separate from it."""

    tester: Tester
    target: int
    strength: np.ndarray  # decides where p-values are equally small
    level: float
    max_given: int
    _functions: dict[tuple[int, ...], bool] = field(default_factory=dict)

    def relatives(self, others: Iterable[int]) -> list[int]:
        found: list[int] = []
        largest = {int(other): self.separation(int(other), [()]) for other in others}
        while near := {other: p for other, p in largest.items() if p <= self.level and other not in found}:
            best = min(near, key=lambda other: (near[other], -self.strength[other]))
            largest = {
                other: max(p, self.separation(other, self.sets(found, best)))
                for other, p in near.items()
                if other != best
            }
            found.append(best)
        return [one for one in found if self.stays(one, found)]

    def stays(self, one: int, found: list[int]) -> bool:
        """Whether no set of the others separates it after all."""
        others = [other for other in found if other != one]
        sets = [part for size in range(self.max_given + 1) for part in combinations(others, size)]
        return self.separation(one, sets) <= self.level

    def sets(self, found: list[int], newest: int) -> list[tuple[int, ...]]:
        """The sets of those found that hold the newest."""
        return [(*part, newest) for size in range(self.max_given) for part in combinations(found, size)]

    def separation(self, other: int, sets: list[tuple[int, ...]]) -> float:
        """The largest p-value given these sets; once it is above the level, the rest need not be tested."""
        largest = 0.0
        for size in sorted({len(part) for part in sets}):
            same = [part for part in sets if len(part) == size]
            values = self.tester.p_values((self.target, other), same)
            informative = [p for p, given in zip(values, same, strict=True) if p < 1.0 or not self.is_function(given)]
            largest = max(largest, *map(float, informative), 0.0)
            if largest > self.level:
                break
        return largest

    def is_function(self, given: tuple[int, ...]) -> bool:
        """Whether the given leave the target no choice: then they separate it from anyone, its neighbours too."""
        if given not in self._functions:
            self._functions[given] = bool(determined_by(self.tester, [self.target], given))
        return self._functions[given]
