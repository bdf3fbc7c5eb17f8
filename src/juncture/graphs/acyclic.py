"""Directed graphs without cycles: parents and children, ancestors, and the independencies that missing edges state."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from functools import cached_property
from itertools import combinations
from typing import Any, Self

from juncture.errors import InvalidModel
from juncture.graphs.edges import Edge, as_nodes
from juncture.graphs.graph import adjacency
from juncture.graphs.independence import Independence, as_oracle, minimal_parents
from juncture.graphs.independence_graph import IndependenceGraph
from juncture.graphs.separation import Moves, directed_moves
from juncture.graphs.text import path_text
from juncture.graphs.trails import Passage, directed_passage
from juncture.graphs.traversal import Steps, find_cycle, reachable, topological_order
from juncture.graphs.undirected import UndirectedGraph


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
