"""`DirectedGraph` and `PartiallyDirectedGraph`, the CPDAG of a class of equivalent directed graphs.

A directed graph has an essential graph, which is partially directed, and a partially directed graph may have a
consistent extension, which is directed. So the two classes refer to each other.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from juncture.errors import InvalidModel
from juncture.graphs.acyclic import AcyclicGraph
from juncture.graphs.edges import Edge, as_edges
from juncture.graphs.mixed import MixedGraph
from juncture.graphs.orientation import find_extension, orient_all
from juncture.graphs.text import path_text, quote_name

Triple = tuple[str, str, str]


class DirectedGraph(AcyclicGraph):
    """An acyclic directed graph over names.

    Parameters
    ----------
    edges
        Pairs (parent, child) of names.
    nodes
        Further nodes. Nodes are ordered as in `nodes`, then as in the edges.

    Examples
    --------
    >>> graph = DirectedGraph.parse("a -> b <- c; b -> d; alone")
    >>> graph.parents("b"), sorted(graph.ancestors({"d"}))
    (('a', 'c'), ['a', 'b', 'c'])
    >>> graph
    DirectedGraph('a -> b; c -> b; b -> d; alone')
    """

    def colliders(self) -> tuple[Triple, ...]:
        """Every (parent, child, parent) in which two arrows meet, the parents in alphabetical order."""
        pairs = ((node, pair) for node in self.nodes for pair in combinations(sorted(self._parents[node]), 2))
        return tuple((one, node, other) for node, (one, other) in pairs)

    def immoralities(self) -> tuple[Triple, ...]:
        """The colliders whose parents are not adjacent."""
        return tuple(triple for triple in self.colliders() if not self._are_adjacent(triple[0], triple[2]))

    def is_equivalent(self, other: DirectedGraph) -> bool:
        """Whether both graphs state the same independencies: same edges without direction, same immoralities."""
        if not isinstance(other, DirectedGraph):
            raise InvalidModel(f"a directed graph can be equivalent to another; got {other!r}")
        return self.skeleton() == other.skeleton() and set(self.immoralities()) == set(other.immoralities())

    def covered_edges(self) -> tuple[Edge, ...]:
        """The covered edges: those whose head has the tail's parents, the tail, and no other parents."""
        return tuple(edge for edge in self.edges if self.is_covered(*edge))

    def is_covered(self, tail: str, head: str) -> bool:
        """Whether this edge's head has the tail's parents, the tail, and no others."""
        self._check_edge(tail, head)
        return set(self._parents[head]) == {tail, *self._parents[tail]}

    def reverse_edge(self, tail: str, head: str) -> DirectedGraph:
        """The graph with this edge reversed; if the edge is covered, the two graphs are equivalent."""
        self._check_edge(tail, head)
        turned = ((head, tail) if edge == (tail, head) else edge for edge in self.edges)
        return DirectedGraph(turned, self.nodes)

    def equivalence_class(self) -> Iterator[DirectedGraph]:
        """All graphs that state the same independencies, this one first, one by one; there may be very many.

        Reversing covered edges leads to all of them (Chickering 1995).
        """
        found, queue = {self}, [self]
        for graph in queue:
            yield graph
            turned = {graph.reverse_edge(*edge): None for edge in graph.covered_edges()}
            queue += [other for other in turned if other not in found]
            found.update(turned)

    def essential_graph(self) -> PartiallyDirectedGraph:
        """The CPDAG: an edge keeps its direction if it has it in all equivalent graphs.

        >>> DirectedGraph.parse("a -> b <- c; b -> d; e -> f").essential_graph()
        PartiallyDirectedGraph('a -> b; c -> b; b -> d; e -- f')
        """
        fixed = {(parent, child) for one, child, other in self.immoralities() for parent in (one, other)}
        undirected = (edge for edge in self.edges if edge not in fixed)
        return PartiallyDirectedGraph(fixed, undirected, self.nodes).orient().in_order(self.edges)

    def _are_adjacent(self, one: str, other: str) -> bool:
        return other in self._parents[one] or other in self._children[one]

    def _check_edge(self, tail: str, head: str) -> None:
        if self._check_name(tail) not in self._parents[self._check_name(head)]:
            edge = f"{quote_name(tail)} -> {quote_name(head)}"
            raise InvalidModel(f"the graph has no edge {edge}; `edges` lists those it has")


class PartiallyDirectedGraph(MixedGraph):
    """A graph over names with directed and undirected edges, at most one between two nodes; cycles are allowed.

    Parameters
    ----------
    directed
        Pairs (tail, head) of names.
    undirected
        Pairs of names.
    nodes
        Further nodes. Nodes are ordered as in `nodes`, then as in the edges.

    Examples
    --------
    >>> graph = PartiallyDirectedGraph.parse("a -> b <- c; b -- d")
    >>> graph.directed_edges, graph.undirected_edges
    ((('a', 'b'), ('c', 'b')), (('b', 'd'),))
    >>> graph.orient()
    PartiallyDirectedGraph('a -> b; c -> b; b -> d')
    """

    def orient(self, *arrows: Edge) -> PartiallyDirectedGraph:
        """The graph with these undirected edges directed, and all that follows from its arrows by Meek's four rules.

        >>> PartiallyDirectedGraph.parse("a -- b -- c").orient(("a", "b"))
        PartiallyDirectedGraph('a -> b; b -> c')
        """
        marks = self._marks()
        for tail, head in as_edges(arrows, "->"):
            if head not in marks.neighbors[self._check_name(tail)]:
                raise InvalidModel(f"there is no undirected edge {quote_name(tail)} -- {quote_name(head)} to direct")
            marks.orient(tail, head)
        orient_all(marks, self._positions)
        oriented = self._directed_as(marks)
        cycle = oriented._cycle()
        if cycle and not self._cycle():
            raise InvalidModel(
                f"these arrows, and what follows from them, close the cycle {path_text([*cycle, cycle[0]], '->')}: no"
                " directed graph has them"
            )
        return oriented

    def consistent_extension(self) -> DirectedGraph:
        """A directed graph with these edges, these arrows, no cycle and no other immoralities; it may not exist.

        >>> PartiallyDirectedGraph.parse("a -- b -- c").consistent_extension()
        DirectedGraph('a -> b; b -> c')
        """
        found = find_extension(self._marks(), self.nodes)
        if found is None:
            raise InvalidModel(
                "the undirected edges cannot all be directed without a cycle or a new immorality; "
                "this graph is the CPDAG of no directed graph"
            )
        directions = {frozenset(edge): edge for edge in (*self.directed_edges, *found)}
        return DirectedGraph((directions[frozenset(edge)] for edge in self.edges), self.nodes)

    def is_extendable(self) -> bool:
        """Whether there is a `consistent_extension`."""
        return find_extension(self._marks(), self.nodes) is not None

    def is_essential(self) -> bool:
        """Whether this is the CPDAG of a class of equivalent graphs."""
        return self.is_extendable() and self.consistent_extension().essential_graph() == self
