"""Colliders of a skeleton: of each triple tail - middle - head with ends apart, whether the middle is a collider.

Every set of neighbours of an end that separates the ends has a vote: sets with the middle speak against a collider,
sets without it for one (Ramsey, Spirtes and Zhang 2006; the majority rule by Colombo and Maathuis 2014).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from juncture.errors import InvalidData, hint
from juncture.learning.structure.independence.tests import Tester
from juncture.learning.structure.scores.local_scores import spread
from juncture.learning.structure.searches.skeleton import Separating, Skeleton, test_pair

RULES = {"majority": 0.5, "conservative": 0.0}  # the largest share of sets with the middle that leaves a collider
MAX_GIVEN = 3  # members of the sets that are tested for a vote
DIGITS = 12  # of p-values that are compared: the order of the columns changes the last ones

Triple = tuple[int, int, int]


class Verdicts(NamedTuple):
    """Colliders (tail, middle, head), the clearest first; and triples of which the votes leave it open, both ways."""

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
    pairs = [pair for pair in skeleton.separators if (skeleton.joined[pair[0]] & skeleton.joined[pair[1]]).any()]
    cells = len(pairs) * tester.num_rows
    found = spread(lambda pair: separating_sets(tester, skeleton, pair, level, most), pairs, cells)
    ranked, ambiguous = [], set()
    for (tail, head), sets in zip(pairs, found, strict=True):
        ends = sorted((tester.names[tail], tester.names[head]))
        for middle in np.flatnonzero(skeleton.joined[tail] & skeleton.joined[head]).tolist():
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
        found |= test_pair(tester, skeleton.joined, pair, size, level).separating
    return found


def vote_on(middle: int, sets: Separating) -> Vote:
    without = [value for given, value in sets.items() if middle not in given]
    return Vote(1.0 - len(without) / len(sets), max(without, default=0.0))


def is_collider(vote: Vote, rule: str) -> bool:
    return vote.share == 0.0 or vote.share < RULES[rule]


def is_open(vote: Vote, rule: str) -> bool:
    """Whether the triple may be a collider or not; the votes against are counted as those for."""
    return vote.share < 1.0 and vote.share <= 1.0 - RULES[rule]
