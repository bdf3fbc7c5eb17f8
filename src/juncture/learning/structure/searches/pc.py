"""PC: edges from tests of independence, directions from colliders (Spirtes and Glymour 1991; stable by Colombo 2014).

Choose PC to see which directions the data identify, and which they leave open; with an oracle the answer is exact.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass
from functools import partial
from itertools import combinations, product
from typing import Any

import numpy as np

from juncture.graphs.directed import DirectedGraph, PartiallyDirectedGraph
from juncture.graphs.orientation import RULES, Marks
from juncture.graphs.traversal import reachable
from juncture.learning.structure.constraints import Constrained, EdgeConstraints, check_level, check_whole
from juncture.learning.structure.independence.functions import warn_of_functions
from juncture.learning.structure.independence.tests import as_tester
from juncture.learning.structure.searches.equivalence_classes import directed_extension
from juncture.learning.structure.searches.skeleton import Skeleton, Verdicts, check_rule, find_colliders, find_skeleton
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
