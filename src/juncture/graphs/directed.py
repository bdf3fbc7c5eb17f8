"""`DirectedGraph`: edges from parents to children, without cycles."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from functools import cached_property
from itertools import combinations
from typing import Any, Self

from juncture.errors import InvalidModel
from juncture.graphs.edges import Edge
from juncture.graphs.graph import Graph, adjacency
from juncture.graphs.text import path_text
from juncture.graphs.traversal import find_cycle, reachable, topological_order
from juncture.graphs.undirected import UndirectedGraph


class DirectedGraph(Graph):
    """An acyclic directed graph over names; nodes come in the order of `nodes`, then of the edges.

    >>> graph = DirectedGraph.parse("a -> b <- c; b -> d; alone")
    >>> graph.parents("b"), sorted(graph.ancestors({"d"}))
    (('a', 'c'), ['a', 'b', 'c'])
    >>> graph
    DirectedGraph('a -> b; c -> b; b -> d; alone')
    """

    _kind, _arrow, _arrows, _networkx_class = "digraph", "->", ("->", "<-"), "DiGraph"

    def __init__(self, edges: Iterable[Edge] = (), nodes: Iterable[str] = ()) -> None:
        super().__init__(edges, nodes)
        check_distinct(self.edges)
        if len(self._order) < len(self.nodes):
            ordered = set(self._order)
            cycle = find_cycle([node for node in self.nodes if node not in ordered], self._parents)
            raise InvalidModel(
                f"a directed graph must have no cycle, but this has {path_text([*cycle, cycle[0]], '->')}; "
                "remove or turn one of these edges"
            )

    @classmethod
    def from_networkx(cls, graph: Any) -> Self:
        """The nodes and edges of a `networkx.DiGraph`, without attributes; parents in the order they were added."""
        cls._check_networkx(graph)
        return cls(((parent, child) for child in graph for parent in graph.predecessors(child)), graph)

    def parents(self, name: str) -> tuple[str, ...]:
        """The tails of the edges into this node, in the order in which the edges were given."""
        return self._parents[self._known_name(name)]

    def children(self, name: str) -> tuple[str, ...]:
        """The heads of the edges out of this node, in the order in which the edges were given."""
        return self._children[self._known_name(name)]

    def ancestors(self, names: str | Iterable[str]) -> set[str]:
        """All from which a directed path leads to one of these nodes, without these nodes themselves."""
        return reachable(self._known(names), self._parents)

    def descendants(self, names: str | Iterable[str]) -> set[str]:
        """All to which a directed path leads from one of these nodes, without these nodes themselves."""
        return reachable(self._known(names), self._children)

    def topological_order(self) -> tuple[str, ...]:
        """All nodes, parents before children; where several could come next, the earliest in `nodes` does."""
        return self._order

    def components(self) -> tuple[tuple[str, ...], ...]:
        """The parts that no edge connects, each in node order, and ordered by their first nodes."""
        return self.skeleton().components()

    def is_forest(self) -> bool:
        """Whether no node has more than one parent."""
        return all(len(parents) <= 1 for parents in self._parents.values())

    def is_tree(self) -> bool:
        """Whether one root has no parent, and all other nodes have one: marrying parents then adds nothing."""
        return self.is_forest() and len(self.edges) == len(self.nodes) - 1

    def is_chain(self) -> bool:
        """Whether the nodes follow one another in a single row."""
        return self.is_tree() and all(len(children) <= 1 for children in self._children.values())

    def is_polytree(self) -> bool:
        """Whether exactly one path joins every two nodes, directions aside; every tree is one too."""
        return self.skeleton().is_tree()

    def markov_blanket(self, name: str) -> set[str]:
        """Parents, children and the children's other parents: what separates the node from all others."""
        children = self.children(name)
        spouses = (parent for child in children for parent in self._parents[child])
        return {*self.parents(name), *children, *spouses} - {name}

    def skeleton(self) -> UndirectedGraph:
        """The same edges without their directions."""
        return UndirectedGraph(self.edges, self.nodes)

    def moralize(self) -> UndirectedGraph:
        """The skeleton, with every two parents of a common child joined."""
        married = (pair for node in self.nodes for pair in combinations(self._parents[node], 2))
        return UndirectedGraph([*self.edges, *married], self.nodes)

    def _key(self) -> Hashable:
        return frozenset(self.nodes), frozenset(self.edges)

    @cached_property
    def _parents(self) -> dict[str, tuple[str, ...]]:
        return adjacency(self.nodes, ((head, tail) for tail, head in self.edges))

    @cached_property
    def _children(self) -> dict[str, tuple[str, ...]]:
        return adjacency(self.nodes, self.edges)

    @cached_property
    def _order(self) -> tuple[str, ...]:
        return topological_order(self.nodes, self._parents, self._children)


def check_distinct(edges: Iterable[Edge]) -> None:
    seen: set[Edge] = set()
    for edge in edges:
        if edge in seen:
            raise InvalidModel(f"the edge {edge[0]!r} -> {edge[1]!r} is given twice; give each edge once")
        seen.add(edge)
