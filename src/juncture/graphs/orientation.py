"""Arrows that follow from others: Meek's rules, and a directed graph that agrees with a partly directed one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from heapq import heapify, heappop, heappush
from itertools import combinations

from juncture.graphs.graph import Edge


class Marks:
    """A partly directed graph in the making: for each node its parents, children and undirected neighbours."""

    def __init__(self, nodes: Iterable[str], directed: Iterable[Edge], undirected: Iterable[Edge]) -> None:
        self.parents: dict[str, set[str]] = {node: set() for node in nodes}
        self.children: dict[str, set[str]] = {node: set() for node in self.parents}
        self.neighbors: dict[str, set[str]] = {node: set() for node in self.parents}
        for one, other in undirected:
            self.neighbors[one].add(other)
            self.neighbors[other].add(one)
        for tail, head in directed:
            self.children[tail].add(head)
            self.parents[head].add(tail)

    def adjacent(self, node: str) -> set[str]:
        return self.parents[node] | self.children[node] | self.neighbors[node]

    def are_adjacent(self, one: str, other: str) -> bool:
        return other in self.parents[one] or other in self.children[one] or other in self.neighbors[one]

    def orient(self, tail: str, head: str) -> None:
        """Turn tail -- head into tail -> head."""
        self.neighbors[tail].remove(head)
        self.neighbors[head].remove(tail)
        self.children[tail].add(head)
        self.parents[head].add(tail)

    def remove(self, node: str) -> set[str]:
        """Remove a node, and return its former neighbours."""
        around = self.adjacent(node)
        for other in around:
            for links in (self.parents, self.children, self.neighbors):
                links[other].discard(node)
        return around


# --- Meek's four rules (1995): when tail -- head must be tail -> head -------------------------------------------------


def away_from_collider(marks: Marks, tail: str, head: str) -> bool:
    """a -> tail -- head, a and head not adjacent: the other direction would make a new immorality at tail."""
    return any(not marks.are_adjacent(a, head) for a in marks.parents[tail])


def away_from_cycle(marks: Marks, tail: str, head: str) -> bool:
    """tail -> a -> head: the other direction would close a cycle."""
    return not marks.children[tail].isdisjoint(marks.parents[head])


def between_two_paths(marks: Marks, tail: str, head: str) -> bool:
    """tail -- a -> head and tail -- b -> head, a and b not adjacent: the other direction would force a -> tail <- b."""
    middles = sorted(marks.neighbors[tail] & marks.parents[head])
    return any(not marks.are_adjacent(a, b) for a, b in combinations(middles, 2))


def away_from_directed_path(marks: Marks, tail: str, head: str) -> bool:
    """tail -- a -> b -> head, b adjacent to tail, a not adjacent to head; needed only after outside arrows."""
    return any(
        not marks.are_adjacent(a, head) and marks.are_adjacent(tail, b)
        for b in marks.parents[head]
        for a in marks.parents[b] & marks.neighbors[tail]
    )


RULES: tuple[Callable[[Marks, str, str], bool], ...] = (
    away_from_collider,
    away_from_cycle,
    between_two_paths,
    away_from_directed_path,
)


def orient_all(marks: Marks, positions: dict[str, int]) -> None:
    """Apply the rules until none applies; an arrow can only matter for edges at its ends and at its head's children."""
    pending = dict.fromkeys(marks.neighbors)
    while pending:
        node = next(iter(pending))
        del pending[node]
        for other in sorted(marks.neighbors[node], key=positions.__getitem__):
            pair = find_forced_direction(marks, node, other)
            if pair is not None:
                marks.orient(*pair)
                pending.update(dict.fromkeys((*pair, *sorted(marks.children[pair[1]], key=positions.__getitem__))))


def find_forced_direction(marks: Marks, one: str, other: str) -> Edge | None:
    """The direction that a rule gives to an undirected edge."""
    for pair in ((one, other), (other, one)):
        if any(rule(marks, *pair) for rule in RULES):
            return pair
    return None


# --- Dor and Tarsi (1992) ---------------------------------------------------------------------------------------------


def find_extension(marks: Marks, nodes: Sequence[str]) -> list[Edge] | None:
    """The undirected edges directed so that no cycle and no new immorality arises; None where that cannot be.

    A node that can come last is removed with its edges pointing to it, until none is left; of several, the last.
    """
    positions = {node: position for position, node in enumerate(nodes)}
    ready = [-position for position in range(len(nodes))]
    heapify(ready)
    found: list[Edge] = []
    left = set(nodes)
    while ready:
        node = nodes[-heappop(ready)]
        if node not in left or not can_be_last(marks, node):
            continue
        left.remove(node)
        found += [(other, node) for other in sorted(marks.neighbors[node], key=positions.__getitem__)]
        for other in marks.remove(node):
            heappush(ready, -positions[other])
    return None if left else found


def can_be_last(marks: Marks, node: str) -> bool:
    """No arrow leaves the node, and its undirected neighbours are adjacent to all other nodes around it."""
    if marks.children[node]:
        return False
    around = marks.adjacent(node)
    return all(marks.are_adjacent(one, other) for one in marks.neighbors[node] for other in around - {one})
