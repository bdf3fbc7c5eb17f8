"""Who is joined to whom: an edge goes when some set of neighbours makes its ends independent (PC-stable)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, islice
from typing import NamedTuple, TypeAlias

import numpy as np

from juncture.iteration import Watch
from juncture.learning.structure.constraints import Bounds
from juncture.learning.structure.independence.functions import determined
from juncture.learning.structure.independence.tests import SeparationTester, Tester
from juncture.learning.structure.scores.local_scores import spread

BATCH = 16  # sets tested in one go

Separating: TypeAlias = dict[tuple[int, ...], float]
"""Sets that make a pair independent, each with the p-value of its test."""


@dataclass(frozen=True, eq=False)
class Skeleton:
    """Which pairs are joined, the sets that separate those that are not, and the largest p-value of each pair."""

    joined: np.ndarray
    separators: dict[tuple[int, int], Separating]
    p_values: np.ndarray

    def part(self, pair: tuple[int, int], separating: Separating) -> None:
        """The pair is no longer joined; each of the sets separates it."""
        self.joined[pair] = self.joined[pair[::-1]] = False
        self.separators[pair] = separating


class PairTest(NamedTuple):
    """The tests of a pair given sets of one size.

    The largest p-value; the sets that separate; and those by which one of the pair is a function, with the other.
    """

    p_value: float
    separating: Separating
    empty: list[tuple[int, tuple[int, ...]]]


def find_skeleton(
    tester: Tester, bounds: Bounds, level: float, max_given: int | None = None, progress: Watch | None = None
) -> Skeleton:
    """Test every pair given sets of 0, 1, 2, … of its neighbours, until no pair has that many.

    Neighbours are those before the round, so that the order of the variables does not matter (Colombo and Maathuis
    2014). Every set that separates in the round is kept. A set that leaves one of the pair no choice separates them if
    all of it is joined to the other after the round.
    """
    joined = bounds.allowed | bounds.allowed.T
    fixed = bounds.required | bounds.required.T
    found = Skeleton(joined, {}, np.zeros(joined.shape))
    size = 0
    while (pairs := testable(joined, fixed, size)) and (max_given is None or size <= max_given):
        before = joined.copy()
        cells = len(pairs) * tester.num_rows
        tests = spread(lambda pair: test_pair(tester, before, pair, size, level), pairs, cells)  # noqa: B023
        for (first, second), test in zip(pairs, tests, strict=True):
            largest = max(test.p_value, found.p_values[first, second])
            found.p_values[first, second] = found.p_values[second, first] = largest
            if test.separating:
                found.part((first, second), test.separating)
        for pair, test in zip(pairs, tests, strict=True):
            if joined[pair] and (
                replacing := {given: 1.0 for end, given in test.empty if joined[end, list(given)].all()}
            ):
                found.part(pair, replacing)
        size += 1
        if progress is not None:
            progress(size, float(joined.sum() // 2))
    return found


def testable(joined: np.ndarray, fixed: np.ndarray, size: int) -> list[tuple[int, int]]:
    """The pairs in question of which one has enough neighbours besides the other."""
    has_enough = joined.sum(axis=0) > size
    wanted = np.triu(joined & ~fixed) & (has_enough | has_enough[:, np.newaxis])
    return [(int(first), int(second)) for first, second in np.argwhere(wanted)]


def test_pair(tester: Tester, joined: np.ndarray, pair: tuple[int, int], size: int, level: float) -> PairTest:
    found = PairTest(0.0, {}, [])
    sets = conditions(joined, pair, size)
    while batch := list(islice(sets, BATCH)):
        for given, value in zip(batch, tester.p_values(pair, batch).tolist(), strict=True):
            functions = determined(tester, pair, given) if value == 1.0 else []
            if functions:
                found.empty.extend((sum(pair) - one, given) for one in functions)
                continue
            found = found._replace(p_value=max(found.p_value, value))
            if value > level:
                found.separating[given] = value
        if found.separating and isinstance(tester, SeparationTester):  # all sets agree
            break
    return found


def conditions(joined: np.ndarray, pair: tuple[int, int], size: int) -> Iterator[tuple[int, ...]]:
    """The sets of that size among the neighbours of the first, then those among the second's that are new."""
    seen: list[set[int]] = []
    for one, other in (pair, pair[::-1]):
        around = set(np.flatnonzero(joined[one]).tolist()) - {other}
        fresh = (given for given in combinations(sorted(around), size) if not any(set(given) <= old for old in seen))
        yield from fresh
        seen.append(around)
