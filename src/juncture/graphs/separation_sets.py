"""D-separation with sets of nodes as bits: one pass finds all nodes that are connected to a node, and is kept.

For many questions about one graph, as a search of structures asks them of an oracle.
"""

from __future__ import annotations

from collections.abc import Iterable

from juncture.graphs.directed import DirectedGraph

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
