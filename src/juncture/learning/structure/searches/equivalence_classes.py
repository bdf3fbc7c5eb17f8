"""Classes of equivalent graphs: operators on their edges, and directed graphs of a class within constraints."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from juncture.errors import InvalidModel
from juncture.graphs.directed import DirectedGraph, PartiallyDirectedGraph
from juncture.learning.structure.constraints import EdgeConstraints
from juncture.learning.structure.sets import Positions, members, set_of


def directed_extension(
    graph: PartiallyDirectedGraph, bounds: EdgeConstraints, weakness: np.ndarray | None = None
) -> DirectedGraph:
    """All edges directed, without a cycle and, if possible, without new immoralities (Dor and Tarsi 1992).

    Again and again a node goes that can come last, with all its edges pointing to it. Where none can, the one that
    breaks least does: an arrow that closes a cycle goes, and of too many parents the weakest.
    """
    indices = {name: index for index, name in enumerate(bounds.names)}
    arrows, plain = matrices(graph, indices)
    weak = np.zeros(arrows.shape) if weakness is None else weakness
    found = np.zeros_like(arrows)
    left = list(range(len(indices)))
    while left:
        node = min(left, key=lambda one: (*count_violations(arrows, plain, bounds, one), -one))
        parents = np.flatnonzero(arrows[:, node] | plain[:, node])
        order = sorted(parents, key=lambda one: (not bounds.required[one, node], weak[one, node], one))
        found[order[: bounds.max_parents], node] = True
        left.remove(node)
        for matrix in (arrows, plain):
            matrix[node] = matrix[:, node] = False
    names = bounds.names
    edges = [(names[tail], names[head]) for head in range(len(names)) for tail in np.flatnonzero(found[:, head])]
    return DirectedGraph(edges, names)


def count_violations(
    arrows: np.ndarray, plain: np.ndarray, bounds: EdgeConstraints, node: int
) -> tuple[bool, int, int, int]:
    """What breaks when the node comes last: a required arrow, other arrows, the limit of parents, immoralities."""
    parents = arrows[:, node] | plain[:, node]
    adjacent = arrows | arrows.T | plain
    around = np.flatnonzero(parents | arrows[node])
    beside = np.flatnonzero(plain[:, node])
    new = int((~adjacent[np.ix_(beside, around)]).sum()) - len(beside)  # no node is adjacent to itself
    too_many = max(int(parents.sum()) - bounds.max_parents, 0)
    return bool((bounds.required[node] & arrows[node]).any()), int(arrows[node].sum()), too_many, new


def matrices(graph: PartiallyDirectedGraph, indices: dict[str, int]) -> tuple[np.ndarray, np.ndarray]:
    """Arrows (tail, head), and undirected edges, both ways."""
    arrows = np.zeros((len(indices), len(indices)), dtype=np.bool_)
    plain = arrows.copy()
    for tail, head in graph.directed_edges:
        arrows[indices[tail], indices[head]] = True
    for one, other in graph.undirected_edges:
        plain[indices[one], indices[other]] = plain[indices[other], indices[one]] = True
    return arrows, plain


class Operator(NamedTuple):
    """Insert, delete or turn the edge tail -> head; `others` are neighbours of the head whose edges get a direction."""

    gain: float
    tail: int
    head: int
    others: Positions


class GraphClass:
    """A CPDAG by position: parents, children and plain neighbours of each, as sets; and a graph of the class."""

    def __init__(self, essential: PartiallyDirectedGraph, member: DirectedGraph) -> None:
        self.essential, self.member = essential, member
        names = essential.nodes
        indices = {name: index for index, name in enumerate(names)}
        self.parents = [set_of(indices[one] for one in essential.parents(name)) for name in names]
        self.children = [set_of(indices[one] for one in essential.children(name)) for name in names]
        self.neighbors = [set_of(indices[one] for one in essential.neighbors(name)) for name in names]
        self.adjacent = [sum(one) for one in zip(self.parents, self.children, self.neighbors, strict=True)]

    def is_clique(self, positions: Positions) -> bool:
        return all(not positions & ~self.adjacent[one] & ~(1 << one) for one in members(positions))

    def around(self, head: int) -> tuple[Positions, ...]:
        """All that the gains of insertions depend on: parents, neighbours, and how the neighbours are adjacent."""
        near = self.neighbors[head]
        return self.parents[head], near, *(self.adjacent[one] & near for one in members(near))

    def common(self, tail: int, head: int) -> Positions:
        """The head's neighbours that are adjacent to the tail."""
        return self.neighbors[head] & self.adjacent[tail]

    def is_blocked(self, start: int, end: int, block: Positions) -> bool:
        """Whether every path from start to end, along undirected edges and arrows, goes through the block."""
        seen, frontier = 1 << start | block, 1 << start
        while frontier:
            reached = 0
            for one in members(frontier):
                reached |= self.children[one] | self.neighbors[one]
            frontier = reached & ~seen
            seen |= frontier
            if frontier >> end & 1:
                return False
        return True

    def cliques_with(self, base: Positions, extra: Positions) -> Iterator[Positions]:
        """The subsets of `extra` that form a clique together with the base, the empty one first."""
        if not self.is_clique(base):
            return
        stack = [(0, extra & self.shared(base, extra))]
        while stack:
            part, possible = stack.pop()
            yield part
            for one in members(possible):
                later = possible & self.adjacent[one] & ~((2 << one) - 1)
                stack.append((part | 1 << one, later))

    def shared(self, base: Positions, extra: Positions) -> Positions:
        """Those of `extra` that are adjacent to all of the base."""
        for one in members(base):
            extra &= self.adjacent[one]
        return extra

    def insert(self, step: Operator) -> PartiallyDirectedGraph | None:
        """The arrow tail -> head added, and arrows from the others to the head; None where it stands for no class."""
        if not self.is_blocked(step.head, step.tail, self.common(step.tail, step.head) | step.others):
            return None
        arrows = [(other, step.head) for other in members(step.others)]
        return self._with_edges([(step.tail, step.head), *arrows], [])

    def delete(self, step: Operator) -> PartiallyDirectedGraph:
        """The edge removed, and arrows to the others from both its ends, where an edge is plain."""
        ends = ((end, other) for other in members(step.others) for end in (step.head, step.tail))
        arrows = [(end, other) for end, other in ends if self.neighbors[end] >> other & 1]
        return self._with_edges(arrows, [(step.tail, step.head)])

    def turn(self, step: Operator) -> PartiallyDirectedGraph | None:
        """The edge made tail -> head, where it was plain or pointed the other way; None where that closes a cycle.

        Of the head's neighbours the others point to it, and it to all the rest; the tail comes first among its own,
        but for those of the others that it has too (Hauser and Bühlmann 2012, propositions 31 and 34).
        """
        tail, head, others = step.tail, step.head, step.others
        before, near = others & self.neighbors[tail], self.neighbors[head] & ~(1 << tail)
        arrows = [(tail, head), *((other, head) for other in members(others))]
        arrows += [(head, other) for other in members(near & ~others)]
        arrows += [(other, tail) for other in members(before)]
        arrows += [(tail, other) for other in members(self.neighbors[tail] & ~before & ~(1 << head))]
        drawn = self._with_edges(arrows, [])
        return drawn if drawn.is_extendable() else None

    def _with_edges(self, arrows: Sequence[tuple[int, int]], gone: Sequence[tuple[int, int]]) -> PartiallyDirectedGraph:
        names = self.essential.nodes
        added = [(names[tail], names[head]) for tail, head in arrows]
        replaced = {frozenset((names[one], names[other])) for one, other in (*arrows, *gone)}
        kept = (edge for edge in self.essential.directed_edges if frozenset(edge) not in replaced)
        plain = (edge for edge in self.essential.undirected_edges if frozenset(edge) not in replaced)
        return PartiallyDirectedGraph((*kept, *added), plain, names)


def complete_class(drawn: PartiallyDirectedGraph, bounds: EdgeConstraints) -> GraphClass | None:
    """The class that a partly directed graph stands for; None where no graph of it is within the bounds."""
    extension = drawn.consistent_extension()
    if bounds.is_free:
        return GraphClass(extension.essential_graph(), extension)
    essential = extension.essential_graph()
    constrained = apply_constraints(essential, bounds)
    if constrained is None:
        return None
    member = directed_extension(constrained, bounds)
    is_within = keeps_constraints(member, bounds) and member.is_equivalent(extension)
    return GraphClass(essential, member) if is_within else None


def apply_constraints(essential: PartiallyDirectedGraph, bounds: EdgeConstraints) -> PartiallyDirectedGraph | None:
    """The class with the directions that follow from the constraints; None where they contradict it."""
    indices = {name: index for index, name in enumerate(bounds.names)}

    def may(tail: str, head: str) -> bool:
        tail_index, head_index = indices[tail], indices[head]
        return bool(bounds.allowed[tail_index, head_index] and not bounds.required[head_index, tail_index])

    constrained = essential
    for one, other in essential.undirected_edges:
        is_open = (one, other) in constrained.undirected_edges or (other, one) in constrained.undirected_edges
        if is_open and may(one, other) != may(other, one):
            try:
                constrained = constrained.orient((one, other) if may(one, other) else (other, one))
            except InvalidModel:
                return None
    arrows_fit = all(may(*edge) for edge in constrained.directed_edges)
    return constrained if arrows_fit and all(may(*edge) for edge in constrained.undirected_edges) else None


def keeps_constraints(graph: DirectedGraph, bounds: EdgeConstraints) -> bool:
    """Whether a graph keeps the constraints."""
    indices = {name: index for index, name in enumerate(bounds.names)}
    edges = np.zeros_like(bounds.allowed)
    for tail, head in graph.edges:
        edges[indices[tail], indices[head]] = True
    is_few = bool((edges.sum(axis=0) <= bounds.max_parents).all())
    return is_few and not (edges & ~bounds.allowed).any() and not (bounds.required & ~edges).any()
