"""The skeleton and the colliders of PC, from tests of independence.

Skeleton (PC-stable): an edge goes when some set of neighbours makes its ends independent. Colliders: of each triple
tail - middle - head with ends apart, every set of neighbours of an end that separates the ends has a vote. Sets with
the middle speak against a collider, sets without it for one (Ramsey, Spirtes and Zhang 2006; the majority rule by
Colombo and Maathuis 2014).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, islice
from typing import NamedTuple, TypeAlias

import numpy as np

from juncture.errors import InvalidData, hint
from juncture.learning.structure.constraints import EdgeConstraints
from juncture.learning.structure.independence.functions import determined_by
from juncture.learning.structure.independence.tests import SeparationTester, Tester
from juncture.learning.structure.scores.local_scores import map_tasks
from juncture.numerics.iteration import ProgressCallback

BATCH = 16  # sets tested in one go

Separating: TypeAlias = dict[tuple[int, ...], float]
"""Sets that make a pair independent, each with the p-value of its test."""


@dataclass(frozen=True, eq=False)
class Skeleton:
    """Which pairs are adjacent, the sets that separate those that are not, and the largest p-value of each pair."""

    adjacent: np.ndarray
    separators: dict[tuple[int, int], Separating]
    p_values: np.ndarray

    def part(self, pair: tuple[int, int], separating: Separating) -> None:
        """The pair is no longer adjacent; each of the sets separates it."""
        self.adjacent[pair] = self.adjacent[pair[::-1]] = False
        self.separators[pair] = separating


class PairTest(NamedTuple):
    """The tests of a pair given sets of one size.

    The largest p-value; the sets that separate; and those by which one of the pair is a function, with the other.
    """

    p_value: float
    separating: Separating
    empty: list[tuple[int, tuple[int, ...]]]


def find_skeleton(
    tester: Tester,
    bounds: EdgeConstraints,
    level: float,
    max_given: int | None = None,
    progress: ProgressCallback | None = None,
) -> Skeleton:
    """Test every pair given sets of 0, 1, 2, … of its neighbours, until no pair has that many.

    Neighbours are those before the round, so that the order of the variables does not matter (Colombo and Maathuis
    2014). Every set that separates in the round is kept. A set that leaves one of the pair no choice separates them if
    all of it is adjacent to the other after the round.
    """
    adjacent = bounds.allowed | bounds.allowed.T
    fixed = bounds.required | bounds.required.T
    found = Skeleton(adjacent, {}, np.zeros(adjacent.shape))
    size = 0
    while (pairs := testable(adjacent, fixed, size)) and (max_given is None or size <= max_given):
        before = adjacent.copy()
        cells = len(pairs) * tester.num_rows
        tests = map_tasks(lambda pair: test_pair(tester, before, pair, size, level), pairs, cells)  # noqa: B023
        for (first, second), test in zip(pairs, tests, strict=True):
            largest = max(test.p_value, found.p_values[first, second])
            found.p_values[first, second] = found.p_values[second, first] = largest
            if test.separating:
                found.part((first, second), test.separating)
        for pair, test in zip(pairs, tests, strict=True):
            if adjacent[pair] and (
                replacing := {given: 1.0 for end, given in test.empty if adjacent[end, list(given)].all()}
            ):
                found.part(pair, replacing)
        size += 1
        if progress is not None:
            progress(size, float(adjacent.sum() // 2))
    return found


def testable(adjacent: np.ndarray, fixed: np.ndarray, size: int) -> list[tuple[int, int]]:
    """The adjacent pairs of which one end has at least `size` neighbours other than the other end."""
    has_enough = adjacent.sum(axis=0) > size
    wanted = np.triu(adjacent & ~fixed) & (has_enough | has_enough[:, np.newaxis])
    return [(int(first), int(second)) for first, second in np.argwhere(wanted)]


def test_pair(tester: Tester, adjacent: np.ndarray, pair: tuple[int, int], size: int, level: float) -> PairTest:
    found = PairTest(0.0, {}, [])
    sets = conditions(adjacent, pair, size)
    while batch := list(islice(sets, BATCH)):
        for given, value in zip(batch, tester.p_values(pair, batch).tolist(), strict=True):
            functions = determined_by(tester, pair, given) if value == 1.0 else []
            if functions:
                found.empty.extend((sum(pair) - one, given) for one in functions)
                continue
            found = found._replace(p_value=max(found.p_value, value))
            if value > level:
                found.separating[given] = value
        if found.separating and isinstance(tester, SeparationTester):  # all sets agree
            break
    return found


def conditions(adjacent: np.ndarray, pair: tuple[int, int], size: int) -> Iterator[tuple[int, ...]]:
    """The sets of that size among the neighbours of the first, then those among the second's that are new."""
    seen: list[set[int]] = []
    for one, other in (pair, pair[::-1]):
        around = set(np.flatnonzero(adjacent[one]).tolist()) - {other}
        fresh = (given for given in combinations(sorted(around), size) if not any(set(given) <= old for old in seen))
        yield from fresh
        seen.append(around)


RULES = {"majority": 0.5, "conservative": 0.0}  # the largest share of sets with the middle that leaves a collider
MAX_GIVEN = 3  # members of the sets that are tested for a vote
DIGITS = 12  # of p-values that are compared: the order of the columns changes the last ones

Triple = tuple[int, int, int]


class Verdicts(NamedTuple):
    """Colliders (tail, middle, head), the clearest first; and triples with undecided votes, in both orders."""

    colliders: list[Triple]
    ambiguous: set[Triple]


class Vote(NamedTuple):
    """Of the sets that separate a pair, the share that holds the middle, and the largest p-value without the middle."""

    share: float
    p_value: float


def check_rule(rule: object) -> None:
    if not isinstance(rule, str) or rule not in RULES:
        raise InvalidData(f"the rule of colliders is 'majority' or 'conservative'; got {rule!r}; {hint(rule, RULES)}")


def find_colliders(tester: Tester, skeleton: Skeleton, rule: str, level: float, max_given: int | None) -> Verdicts:
    """A verdict on every triple; where colliders contradict each other, the first in the list is to be kept.

    The list does not depend on the order of the columns: equally clear colliders are ordered by the names.
    """
    most = MAX_GIVEN if max_given is None else min(max_given, MAX_GIVEN)
    pairs = [pair for pair in skeleton.separators if (skeleton.adjacent[pair[0]] & skeleton.adjacent[pair[1]]).any()]
    cells = len(pairs) * tester.num_rows
    found = map_tasks(lambda pair: separating_sets(tester, skeleton, pair, level, most), pairs, cells)
    ranked, ambiguous = [], set()
    for (tail, head), sets in zip(pairs, found, strict=True):
        ends = sorted((tester.names[tail], tester.names[head]))
        for middle in np.flatnonzero(skeleton.adjacent[tail] & skeleton.adjacent[head]).tolist():
            vote = vote_on(middle, sets)
            if is_collider(vote, rule):
                rank = (vote.share, -round(vote.p_value, DIGITS), tester.names[middle], ends)
                ranked.append((rank, (tail, middle, head)))
            elif is_open(vote, rule):
                ambiguous |= {(tail, middle, head), (head, middle, tail)}
    return Verdicts([triple for _, triple in sorted(ranked)], ambiguous)


def separating_sets(tester: Tester, skeleton: Skeleton, pair: tuple[int, int], level: float, most: int) -> Separating:
    """The sets by which the pair was parted, and all small sets of neighbours that separate it, with p-values."""
    found = dict(skeleton.separators[pair])
    for size in range(most + 1):
        found |= test_pair(tester, skeleton.adjacent, pair, size, level).separating
    return found


def vote_on(middle: int, sets: Separating) -> Vote:
    without = [value for given, value in sets.items() if middle not in given]
    return Vote(1.0 - len(without) / len(sets), max(without, default=0.0))


def is_collider(vote: Vote, rule: str) -> bool:
    return vote.share == 0.0 or vote.share < RULES[rule]


def is_open(vote: Vote, rule: str) -> bool:
    """Whether the triple may be a collider or not; the votes against are counted as those for."""
    return vote.share < 1.0 and vote.share <= 1.0 - RULES[rule]
