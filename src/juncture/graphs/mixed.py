"""Graphs in which some edges are arrows and others have no direction: nodes, edges, text, networkx."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from functools import cached_property
from typing import Any, ClassVar, Self

from juncture.errors import InvalidModel
from juncture.graphs.edges import Edge, as_edges
from juncture.graphs.graph import Graph, adjacency
from juncture.graphs.orientation import Marks
from juncture.graphs.text import Link
from juncture.graphs.traversal import find_cycle, topological_order
from juncture.graphs.undirected import UndirectedGraph


class MixedGraph(Graph):
    """Arrows and undirected edges over names, at most one between two nodes; directed cycles are allowed."""

    _fields = ("nodes", "edges", "directed_edges")
    _kind, _arrow, _networkx_class = "digraph", "->", "DiGraph"
    _arrows: ClassVar[tuple[str, ...]] = ("->", "<-", "--")
    directed_edges: tuple[Edge, ...]

    def __init__(
        self, directed: Iterable[Edge] = (), undirected: Iterable[Edge] = (), nodes: Iterable[str] = ()
    ) -> None:
        arrows = as_edges(directed, "->")
        super().__init__((*arrows, *as_edges(undirected, "--")), nodes)
        check_single(self.edges)
        self._set(directed_edges=arrows)

    @classmethod
    def from_networkx(cls, graph: Any) -> Self:
        """From a `networkx.DiGraph`, in which two edges in opposite directions stand for an undirected edge."""
        cls._check_networkx(graph)
        both = {frozenset(edge): edge for edge in graph.edges if graph.has_edge(*edge[::-1])}
        return cls((edge for edge in graph.edges if frozenset(edge) not in both), both.values(), graph)

    def to_networkx(self) -> Any:
        """A `networkx.DiGraph` with each undirected edge as two edges, in opposite directions."""
        graph = super().to_networkx()
        graph.add_edges_from((head, tail) for tail, head in self.undirected_edges)
        return graph

    @property
    def undirected_edges(self) -> tuple[Edge, ...]:
        return tuple(edge for edge in self.edges if edge not in self._directed)

    def parents(self, name: str) -> tuple[str, ...]:
        """The tails of the arrows into this node."""
        return self._parents[self._check_name(name)]

    def children(self, name: str) -> tuple[str, ...]:
        """The heads of the arrows out of this node."""
        return self._children[self._check_name(name)]

    def neighbors(self, name: str) -> tuple[str, ...]:
        """The nodes that an undirected edge joins to this one."""
        return self._neighbors[self._check_name(name)]

    def skeleton(self) -> UndirectedGraph:
        """The same edges without their directions."""
        return UndirectedGraph(self.edges, self.nodes)

    def in_order(self, edges: Iterable[Edge]) -> Self:
        """The same graph with its edges in this order; directions do not matter."""
        mine = {frozenset(link[::2]): link for link in self._links()}
        return self._from_links((mine[frozenset(edge)] for edge in edges), self.nodes)

    @classmethod
    def _from_links(cls, links: Iterable[Link], nodes: Iterable[str]) -> Self:
        links = tuple(links)
        graph = cls(
            ((tail, head) for tail, arrow, head in links if arrow == "->"),
            ((tail, head) for tail, arrow, head in links if arrow == "--"),
            nodes,
        )
        graph._set(edges=tuple((link.tail, link.head) for link in links))  # in the order written
        return graph

    def _links(self) -> Iterable[Link]:
        return (Link(tail, "->" if (tail, head) in self._directed else "--", head) for tail, head in self.edges)

    def _key(self) -> Hashable:
        undirected = frozenset(frozenset(edge) for edge in self.undirected_edges)
        return frozenset(self.nodes), self._directed, undirected

    def _marks(self) -> Marks:
        return Marks(self.nodes, self.directed_edges, self.undirected_edges)

    def _cycle(self) -> list[str]:
        """A cycle of arrows, or none."""
        ordered = set(topological_order(self.nodes, self._parents, self._children))
        left = [node for node in self.nodes if node not in ordered]
        return find_cycle(left, self._parents) if left else []

    def _directed_as(self, marks: Marks) -> Self:
        """These edges, with the directions that the marks have."""
        links = (
            Link(tail, "->", head)
            if head in marks.children[tail]
            else (Link(head, "->", tail) if tail in marks.children[head] else Link(tail, "--", head))
            for tail, head in self.edges
        )
        return self._from_links(links, self.nodes)

    @cached_property
    def _directed(self) -> frozenset[Edge]:
        return frozenset(self.directed_edges)

    @cached_property
    def _parents(self) -> dict[str, tuple[str, ...]]:
        return adjacency(self.nodes, ((head, tail) for tail, head in self.directed_edges))

    @cached_property
    def _children(self) -> dict[str, tuple[str, ...]]:
        return adjacency(self.nodes, self.directed_edges)

    @cached_property
    def _neighbors(self) -> dict[str, tuple[str, ...]]:
        pairs = (pair for edge in self.undirected_edges for pair in (edge, edge[::-1]))
        return adjacency(self.nodes, pairs)


def check_single(edges: Iterable[Edge]) -> None:
    """At most one edge between two nodes."""
    seen: set[frozenset[str]] = set()
    for edge in edges:
        if frozenset(edge) in seen:
            raise InvalidModel(
                f"{edge[0]!r} and {edge[1]!r} have two edges between them; give one edge, with or without direction"
            )
        seen.add(frozenset(edge))
