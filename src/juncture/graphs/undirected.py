"""`UndirectedGraph`: edges without direction."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from functools import cached_property
from typing import Any, Self

from juncture.graphs.cliques import is_chordal, maximal_cliques
from juncture.graphs.edges import Edge
from juncture.graphs.graph import Graph, adjacency
from juncture.graphs.traversal import components


class UndirectedGraph(Graph):
    """An undirected graph over names; an edge given again, in either direction, is the same edge.

    >>> graph = UndirectedGraph.parse("a -- b -- c -- a; c -- d")
    >>> graph.neighbors("c"), graph.maximal_cliques()
    (('b', 'a', 'd'), (('a', 'b', 'c'), ('c', 'd')))
    """

    _kind, _arrow, _arrows, _networkx_class = "graph", "--", ("--",), "Graph"

    def __init__(self, edges: Iterable[Edge] = (), nodes: Iterable[str] = ()) -> None:
        super().__init__(edges, nodes)
        first: dict[frozenset[str], Edge] = {}
        for edge in self.edges:
            first.setdefault(frozenset(edge), edge)
        self._set(edges=tuple(first.values()))

    @classmethod
    def from_networkx(cls, graph: Any) -> Self:
        """The nodes and edges of a `networkx.Graph`, without attributes."""
        cls._check_networkx(graph)
        return cls(graph.edges, graph)

    def neighbors(self, name: str) -> tuple[str, ...]:
        """The nodes joined to this one, in the order in which the edges were given."""
        return self._neighbors[self._known_name(name)]

    def components(self) -> tuple[tuple[str, ...], ...]:
        """The connected parts, each in node order, and ordered by their first nodes."""
        return components(self.nodes, self._neighbors)

    def is_forest(self) -> bool:
        """Whether no edge closes a cycle."""
        return len(self.edges) == len(self.nodes) - len(self.components())

    def is_tree(self) -> bool:
        """Whether exactly one path joins every two nodes; a graph without nodes is no tree."""
        return len(self.edges) == len(self.nodes) - 1 and len(self.components()) == 1

    def maximal_cliques(self) -> tuple[tuple[str, ...], ...]:
        """The sets of joined nodes that no other node can extend, each in node order, in order of positions."""
        cliques = maximal_cliques(self._neighbor_positions)
        return tuple(tuple(self.nodes[position] for position in clique) for clique in cliques)

    def is_chordal(self) -> bool:
        """Whether every cycle of more than three nodes has an edge between two that are not next to each other."""
        return is_chordal(self._neighbor_positions)

    def _key(self) -> Hashable:
        return frozenset(self.nodes), frozenset(frozenset(edge) for edge in self.edges)

    @cached_property
    def _neighbors(self) -> dict[str, tuple[str, ...]]:
        return adjacency(self.nodes, (pair for one, other in self.edges for pair in ((one, other), (other, one))))

    @cached_property
    def _neighbor_positions(self) -> list[set[int]]:
        return [{self._positions[other] for other in self._neighbors[node]} for node in self.nodes]
