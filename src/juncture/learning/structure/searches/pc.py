"""PC: edges from tests of independence, directions from colliders (Spirtes and Glymour 1991; stable by Colombo 2014).

Choose PC to see which directions the data identify, and which they leave open; with an oracle the answer is exact.

Skeleton (PC-stable): an edge goes when some set of neighbours makes its ends independent. Colliders: of each triple
tail - middle - head with ends apart, every set of neighbours of an end that separates the ends has a vote. Sets with
the middle speak against a collider, sets without it for one (Ramsey, Spirtes and Zhang 2006; the majority rule by
Colombo and Maathuis 2014). The other directions follow by Meek's rules.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence, Set
from dataclasses import dataclass
from functools import partial
from itertools import combinations, islice, product
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from juncture.errors import InvalidData, hint
from juncture.graphs.directed import DirectedGraph, PartiallyDirectedGraph
from juncture.graphs.orientation import RULES, Marks
from juncture.graphs.traversal import reachable
from juncture.learning.structure.constraints import Constrained, EdgeConstraints, check_level, check_whole
from juncture.learning.structure.independence import (
    SeparationTester,
    Tester,
    as_tester,
    determined_by,
    warn_of_functions,
)
from juncture.learning.structure.scores.local_scores import map_tasks
from juncture.learning.structure.searches.equivalence_classes import directed_extension
from juncture.learning.structure.sets import find_paths
from juncture.numerics.iteration import ProgressCallback


@dataclass(frozen=True, kw_only=True)
class PC(Constrained):
    """The class of graphs that the tests leave, as a CPDAG; with `directed` one graph of it.

    Parameters
    ----------
    required, forbidden, tiers, max_parents
        As in `HillClimbing`.
    test
        The name of an independence test, or a test such as `PermutationTest(1000)`.
    level
        The significance level: two variables are adjacent unless a test given some neighbours has a larger p-value.
    max_given
        The largest number of variables to condition on; by default any.
    colliders
        How the separating sets decide whether two edges meet in a collider: by "majority", or "conservative", where
        all sets must agree; else the directions stay open.
    directed
        Return one directed graph of the class.
    """

    test: Any = "auto"
    level: float = 0.05
    max_given: int | None = None
    colliders: str = "majority"
    directed: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        check_level(self.level)
        check_rule(self.colliders)
        if self.max_given is not None:
            check_whole(self.max_given, "max_given")

    def run(
        self, data: Any, *, rng: np.random.Generator, progress: ProgressCallback | None = None
    ) -> PartiallyDirectedGraph | DirectedGraph:
        tester = as_tester(data, self.test, rng)
        bounds = self.bounds(tester.names)
        skeleton = find_skeleton(tester, bounds, self.level, self.max_given, progress)
        warn_of_functions(tester, skeleton.adjacent)
        verdicts = find_colliders(tester, skeleton, self.colliders, self.level, self.max_given)
        graph = orient_skeleton(skeleton, verdicts, bounds)
        return directed_extension(graph, bounds, skeleton.p_values) if self.directed else graph


def orient_skeleton(skeleton: Skeleton, verdicts: Verdicts, bounds: EdgeConstraints) -> PartiallyDirectedGraph:
    """The directions that follow from the constraints, from colliders, and from both by Meek's rules."""
    names = bounds.names
    arrows = skeleton.adjacent & bounds.allowed & (bounds.required | ~bounds.allowed.T)
    arrows &= ~bounds.required.T
    for tail, middle, head in verdicts.colliders:
        pair = [tail, head]
        turned = arrows.copy()
        turned[pair, middle] = True
        is_open = bounds.allowed[pair, middle].all() and not arrows[middle, pair].any()
        has_room = turned[:, middle].sum() <= bounds.max_parents
        if is_open and has_room and not find_paths(turned).diagonal().any():
            arrows = turned
    plain = np.triu(skeleton.adjacent & ~arrows & ~arrows.T)
    edges = [[(names[tail], names[head]) for tail, head in np.argwhere(matrix)] for matrix in (arrows, plain)]
    marks = Marks(names, *edges)
    apply_meek_rules(marks, {(names[tail], names[middle], names[head]) for tail, middle, head in verdicts.ambiguous})
    return limit_parents(as_graph(marks, names), skeleton, bounds)


def apply_meek_rules(marks: Marks, ambiguous: Set[tuple[str, str, str]] = frozenset()) -> None:
    """Apply Meek's rules until none applies; tests may contradict each other: edges that close a cycle stay open.

    An arrow into the middle of an ambiguous triple says nothing of the triple's other edge. Edges are looked at in the
    order of their names, so that the order of the columns does not matter.
    """
    rules: list[Callable[[Marks, str, str], bool]] = [partial(away_from_definite_collider, ambiguous), *RULES[1:]]
    pending = True
    while pending:
        pending = False
        plain = sorted((tail, head) for tail, others in marks.neighbors.items() for head in others)
        for rule, (tail, head) in product(rules, plain):
            if head in marks.neighbors[tail] and rule(marks, tail, head) and not has_path(marks, head, tail):
                marks.orient(tail, head)
                pending = True


def away_from_definite_collider(ambiguous: Set[tuple[str, str, str]], marks: Marks, tail: str, head: str) -> bool:
    """Meek's first rule, a -> tail -- head with a and head not adjacent, where the triple is known as no collider."""
    return any(not marks.are_adjacent(a, head) and (a, tail, head) not in ambiguous for a in marks.parents[tail])


def has_path(marks: Marks, start: str, end: str) -> bool:
    steps: Any = marks.children
    return end in reachable({start}, steps)


def as_graph(marks: Marks, names: Sequence[str]) -> PartiallyDirectedGraph:
    arrows = [(tail, head) for tail in names for head in names if head in marks.children[tail]]
    plain = [pair for pair in combinations(names, 2) if pair[1] in marks.neighbors[pair[0]]]
    return PartiallyDirectedGraph(arrows, plain, names)


def limit_parents(graph: PartiallyDirectedGraph, skeleton: Skeleton, bounds: EdgeConstraints) -> PartiallyDirectedGraph:
    """The graph without the weakest arrows into variables with too many parents."""
    indices = {name: index for index, name in enumerate(bounds.names)}
    gone: set[tuple[str, str]] = set()
    for name, child in indices.items():
        parents = [indices[parent] for parent in graph.parents(name)]
        order = sorted(parents, key=lambda one: (not bounds.required[one, child], skeleton.p_values[one, child]))
        gone |= {(bounds.names[one], name) for one in order[bounds.max_parents :]}
    if not gone:
        return graph
    kept = [edge for edge in graph.directed_edges if edge not in gone]
    return PartiallyDirectedGraph(kept, graph.undirected_edges, graph.nodes)


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


COLLIDER_RULES = {
    "majority": 0.5,
    "conservative": 0.0,
}  # the largest share of sets with the middle that leaves a collider
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
    if not isinstance(rule, str) or rule not in COLLIDER_RULES:
        raise InvalidData(
            f"the rule of colliders is 'majority' or 'conservative'; got {rule!r}; {hint(rule, COLLIDER_RULES)}"
        )


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
    return vote.share == 0.0 or vote.share < COLLIDER_RULES[rule]


def is_open(vote: Vote, rule: str) -> bool:
    """Whether the triple may be a collider or not; the votes against are counted as those for."""
    return vote.share < 1.0 and vote.share <= 1.0 - COLLIDER_RULES[rule]
