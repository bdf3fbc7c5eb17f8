"""`DirectedGraph` and `PartiallyDirectedGraph`, the CPDAG of a class of equivalent directed graphs.

`AcyclicGraph` has parents and children, ancestors, and the independencies that missing edges state; `DirectedGraph`
adds what concerns equivalent graphs. `MixedGraph` has nodes, arrows and edges without direction;
`PartiallyDirectedGraph` adds the class that it stands for. A directed graph has an essential graph, which is partially
directed, and a partially directed graph may have a consistent extension, which is directed. So the two classes refer to
each other.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, Any, ClassVar, Self

from juncture.errors import InvalidModel
from juncture.graphs.graph import Edge, Graph, adjacency, as_edges, as_nodes
from juncture.graphs.independence import Independence, IndependenceGraph, as_oracle, minimal_parents
from juncture.graphs.orientation import Marks, find_extension, orient_all
from juncture.graphs.separation import Moves, directed_moves
from juncture.graphs.text import Link, path_text, quote_name
from juncture.graphs.traversal import Steps, find_cycle, reachable, topological_order
from juncture.graphs.undirected import UndirectedGraph

if TYPE_CHECKING:
    from juncture.graphs.trails import Passage

Triple = tuple[str, str, str]


class AcyclicGraph(IndependenceGraph):
    """Edges from parents to children, without cycles; `DirectedGraph` adds the graphs that are equivalent."""

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

    @classmethod
    def minimal_map(cls, oracle: Any, order: Iterable[str]) -> Self:
        """The minimal I-map in which edges follow this order; another order may give a graph with more edges.

        Each node gets as few parents as make it independent of all else before it. The oracle is a graph, a joint
        table, or a function of a, b and given.

        >>> from juncture.graphs.directed import DirectedGraph
        >>> collider = DirectedGraph.parse("a -> c <- b")
        >>> DirectedGraph.minimal_map(collider, ["c", "a", "b"])
        DirectedGraph('c -> a; c -> b; a -> b')
        """
        names = as_nodes(order)
        holds = as_oracle(oracle)
        parents = {node: minimal_parents(node, names[:index], holds) for index, node in enumerate(names)}
        return cls(((parent, node) for node in names for parent in parents[node]), names)

    def parents(self, name: str) -> tuple[str, ...]:
        """The tails of the edges into this node, in the order in which the edges were given."""
        return self._parents[self._check_name(name)]

    def children(self, name: str) -> tuple[str, ...]:
        """The heads of the edges out of this node, in the order in which the edges were given."""
        return self._children[self._check_name(name)]

    def ancestors(self, names: str | Iterable[str]) -> set[str]:
        """The nodes from which a directed path leads to one of these nodes, without these nodes themselves."""
        return reachable(self._check_names(names), self._parents)

    def descendants(self, names: str | Iterable[str]) -> set[str]:
        """The nodes to which a directed path leads from one of these nodes, without these nodes themselves."""
        return reachable(self._check_names(names), self._children)

    def topological_order(self) -> tuple[str, ...]:
        """All nodes, parents before children; where several could come next, the earliest in `nodes` does."""
        return self._order

    def components(self) -> tuple[tuple[str, ...], ...]:
        """The connected components, each in node order, and ordered by their first nodes."""
        return self.skeleton().components()

    def is_forest(self) -> bool:
        """Whether no node has more than one parent."""
        return all(len(parents) <= 1 for parents in self._parents.values())

    def is_tree(self) -> bool:
        """Whether one root has no parent and every other node has one; moralising a tree adds no edge."""
        return self.is_forest() and len(self.edges) == len(self.nodes) - 1

    def is_chain(self) -> bool:
        """Whether the nodes follow one another in a single row."""
        return self.is_tree() and all(len(children) <= 1 for children in self._children.values())

    def is_polytree(self) -> bool:
        """Whether exactly one undirected path joins every two nodes; every tree is a polytree."""
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
        """The skeleton, with an edge between every two parents of a common child."""
        married = (pair for node in self.nodes for pair in combinations(self._parents[node], 2))
        return UndirectedGraph([*self.edges, *married], self.nodes)

    def ancestral_graph(self, names: str | Iterable[str]) -> Self:
        """These nodes and their ancestors, with the edges between them: all that matters for them when summed out."""
        kept = self._check_names(names)
        return self.subgraph(kept | self.ancestors(kept))

    # --- independence ------------------------------------------------------------------------------------------------

    def local_independencies(self) -> tuple[Independence, ...]:
        """Each node is independent of its non-descendants given its parents."""
        every = ((node, self._nondescendants(node), self._parents[node]) for node in self.nodes)
        return tuple(Independence(node, others, parents) for node, others, parents in every if others)

    def pairwise_independencies(self) -> tuple[Independence, ...]:
        """Two nodes that are not adjacent are independent given the other non-descendants of one of them."""
        return tuple(
            Independence(
                node, other, [name for name in (*self._nondescendants(node), *self._parents[node]) if name != other]
            )
            for node in self.nodes
            for other in self._nondescendants(node)
        )

    def _key(self) -> Hashable:
        return frozenset(self.nodes), frozenset(self.edges)

    def _nondescendants(self, node: str) -> tuple[str, ...]:
        """What neither descends from a node nor is a parent of it."""
        near = {node, *self._parents[node]} | reachable([node], self._children)
        return tuple(other for other in self.nodes if other not in near)

    def _moves(self, given: set[str]) -> Moves:
        return directed_moves(self._parents, self._children, given)

    def _adjacent(self, node: str) -> tuple[str, ...]:
        return self._parents[node] + self._children[node]

    def _arrow_between(self, one: str, other: str) -> str:
        return "->" if other in self._children[one] else "<-"

    def _judge_passage(self, before: str, node: str, after: str, given: set[str]) -> Passage:
        arrows = (self._arrow_between(before, node), self._arrow_between(node, after))
        from juncture.graphs.trails import directed_passage

        return directed_passage(node, arrows, self._children, given)

    def _moral_neighbors(self, names: set[str]) -> Steps:
        return self.ancestral_graph(names).moralize()._neighbors

    def _basis(self) -> tuple[Independence, ...]:
        return self.local_independencies()

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


class MixedGraph(Graph):
    """Arrows and undirected edges over names, at most one between two nodes; directed cycles are allowed."""

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
