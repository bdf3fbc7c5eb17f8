"""Bayes ball: where open trails lead, in time linear in nodes and edges; minimal and minimum separators.

The state of a ball is its node, and whether it arrived along an arrow. Its next moves depend on both.

`SeparationSets` is for many questions about one directed graph, as a search of structures asks them of an oracle. It
takes sets of nodes as bits: one pass finds all nodes that are connected to a node, and is kept.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Collection, Iterable, Set
from itertools import pairwise
from math import inf
from typing import TYPE_CHECKING

from juncture.graphs.traversal import Steps, reachable

if TYPE_CHECKING:
    from juncture.graphs.directed import DirectedGraph

State = tuple[str, bool]  # a node, and whether the ball came to it along an arrow
Moves = Callable[[State], Iterable[State]]
Origins = dict[State, State | None]


def directed_moves(parents: Steps, children: Steps, given: Set[str]) -> Moves:
    """The rules in a directed graph: a node that is given stops the ball, except that a collider then sends it on.

    A collider lets the ball pass from parent to parent if it, or a descendant of it, is given.
    """
    open_colliders = given | reachable(given, parents)

    def moves(state: State) -> list[State]:
        node, along_arrow = state
        goes_up = node in open_colliders if along_arrow else node not in given
        found = [(parent, False) for parent in parents[node]] if goes_up else []
        return found if node in given else found + [(child, True) for child in children[node]]

    return moves


def undirected_moves(neighbors: Steps, given: Set[str]) -> Moves:
    """The rule in an undirected graph: anywhere that is not given."""

    def moves(state: State) -> list[State]:
        return [(other, False) for other in neighbors[state[0]] if other not in given]

    return moves


def search(starts: Iterable[str], moves: Moves, targets: Collection[str] = ()) -> tuple[Origins, State | None]:
    """Where each state was first come from, nearest first, and the first state at a target; there it stops."""
    origins: Origins = {(node, False): None for node in starts}
    queue = deque(origins)
    while queue:
        here = queue.popleft()
        for there in moves(here):
            if there not in origins:
                origins[there] = here
                if there[0] in targets:
                    return origins, there
                queue.append(there)
    return origins, None


def path_to(end: State, origins: Origins) -> list[State]:
    """The states from a start to this one."""
    path: list[State] = []
    state: State | None = end
    while state is not None:
        path.append(state)
        state = origins[state]
    return path[::-1]


def minimal_separator(neighbors: Steps, a: Set[str], b: Set[str], allowed: Set[str]) -> set[str] | None:
    """Allowed nodes that separate a from b, none of which can be spared; None if all of them do not.

    What is first met from a separates, and of that, what is first met from b (van der Zander, Liśkiewicz, Textor 2014).
    """
    nearest_a = find_first_met(neighbors, a, allowed)
    if search(a, undirected_moves(neighbors, nearest_a), b)[1] is not None:
        return None
    return find_first_met(neighbors, b, nearest_a)


def find_first_met(neighbors: Steps, starts: Set[str], stops: Set[str]) -> set[str]:
    """The stops that are reached from the starts before any other stop."""
    reached, _ = search(starts, undirected_moves(neighbors, stops))
    return {other for node, _ in reached for other in neighbors[node] if other in stops}


def minimum_separator(neighbors: Steps, a: Set[str], b: Set[str], allowed: Set[str]) -> set[str] | None:
    """As few allowed nodes as can separate a from b (Menger 1927): as many as there are disjoint paths.

    Each allowed node has capacity one, from its entrance (True) to its exit (False).
    """
    if minimal_separator(neighbors, a, b, allowed) is None:
        return None
    flow: Counter[tuple[State, State]] = Counter()

    def has_room(source: State, target: State) -> bool:
        if source[0] == target[0]:
            room = (1 if source[0] in allowed else inf) if source[1] else 0
        else:
            room = inf if target[1] else 0
        return room > flow[source, target]

    def moves(state: State) -> list[State]:
        node, entering = state
        around = [(other, not entering) for other in (node, *neighbors[node])]
        return [target for target in around if has_room(state, target)]

    origins, end = search(a, moves, b)
    while end is not None:
        path = path_to(end, origins)
        for source, target in pairwise(path):
            flow[source, target] += 1
            flow[target, source] -= 1
        origins, end = search(a, moves, b)
    return {node for node, entering in origins if entering and (node, False) not in origins}


MAX_KEPT = 200_000  # passes whose results are kept, before all are forgotten


class SeparationSets:
    """The separations of a directed graph, asked by position; a set of nodes is the bits of a whole number."""

    def __init__(self, graph: DirectedGraph) -> None:
        indices = {name: index for index, name in enumerate(graph.nodes)}
        self.parents = [bits(indices[one] for one in graph.parents(name)) for name in graph.nodes]
        self.children = [bits(indices[one] for one in graph.children(name)) for name in graph.nodes]
        self.ancestors = [0] * len(indices)  # each node among its own
        for name in graph.topological_order():
            index = indices[name]
            self.ancestors[index] = 1 << index | union(self.ancestors, self.parents[index])
        self._connected: dict[tuple[int, int], int] = {}

    def is_separated(self, a: int, b: int, given: int) -> bool:
        """Whether no open trail leads from a to b; connections are symmetric, and kept for the end asked first."""
        if (self.parents[a] | self.children[a]) >> b & 1:
            return False
        if (b, given) in self._connected:
            a, b = b, a
        return not self.connected(a, given) >> b & 1

    def connected(self, start: int, given: int) -> int:
        """All nodes to which an open trail leads from the start."""
        key = (start, given)
        if key not in self._connected:
            if len(self._connected) >= MAX_KEPT:
                self._connected.clear()
            self._connected[key] = self._reach(start, given)
        return self._connected[key]

    def _reach(self, start: int, given: int) -> int:
        """Bayes ball for all nodes of a frontier at once: those reached from a child, and those reached from a parent.

        A node that is given stops the ball, but for a collider, which opens if it or a descendant of it is given.
        """
        opened = union(self.ancestors, given)
        upward = new_upward = 1 << start
        downward = new_downward = 0
        while new_upward | new_downward:
            to_parents = new_upward & ~given | new_downward & opened
            to_children = (new_upward | new_downward) & ~given
            new_upward = union(self.parents, to_parents) & ~upward
            new_downward = union(self.children, to_children) & ~downward
            upward |= new_upward
            downward |= new_downward
        return upward | downward


def bits(indices: Iterable[int]) -> int:
    """A set of positions as the bits of a whole number."""
    total = 0
    for index in indices:
        total |= 1 << index
    return total


def union(sets: list[int], indices: int) -> int:
    """The union of the sets at these positions."""
    total = 0
    while indices:
        lowest = indices & -indices
        total |= sets[lowest.bit_length() - 1]
        indices ^= lowest
    return total
