"""`UndirectedGraph`: edges without direction."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from functools import cached_property
from itertools import combinations, islice
from typing import TYPE_CHECKING, Any, Self

from juncture.base.options import as_generator
from juncture.errors import InvalidModel, TooLarge
from juncture.graphs.cliques import all_cliques, clique_tree, maximal_cliques, perfect_order
from juncture.graphs.elimination import best_order, check_search, eliminate, induced_width, log_weights
from juncture.graphs.graph import Edge, adjacency, as_nodes
from juncture.graphs.independence import Independence, IndependenceGraph, as_oracle
from juncture.graphs.separation import Moves, undirected_moves
from juncture.graphs.traversal import Steps, components

if TYPE_CHECKING:
    from juncture.graphs.clique_forest import CliqueForest
    from juncture.graphs.trails import Passage
    from juncture.graphs.treewidth import TreewidthBounds

MAX_CLIQUES = 1_000_000  # of a graph that lists all of them


class UndirectedGraph(IndependenceGraph):
    """An undirected graph over names.

    Parameters
    ----------
    edges
        Pairs of names; a pair that is repeated, in either order, is the same edge.
    nodes
        Further nodes. Nodes are ordered as in `nodes`, then as in the edges.

    Examples
    --------
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
        """The nodes adjacent to this one, in the order in which the edges were given."""
        return self._neighbors[self._check_name(name)]

    @classmethod
    def minimal_map(cls, oracle: Any, nodes: Iterable[str]) -> Self:
        """Two nodes are adjacent unless they are independent given all others.

        If every combination of states can occur, this is the one minimal I-map. The oracle is a graph, a joint table,
        or a function of a, b and given.
        """
        names = as_nodes(nodes)
        holds = as_oracle(oracle)
        edges = (pair for pair in combinations(names, 2) if not holds({pair[0]}, {pair[1]}, set(names) - set(pair)))
        return cls(edges, names)

    def components(self) -> tuple[tuple[str, ...], ...]:
        """The connected components, each in node order, and ordered by their first nodes."""
        return components(self.nodes, self._neighbors)

    def is_forest(self) -> bool:
        """Whether no edge closes a cycle."""
        return len(self.edges) == len(self.nodes) - len(self.components())

    def is_tree(self) -> bool:
        """Whether exactly one path joins every two nodes; a graph without nodes is no tree."""
        return len(self.edges) == len(self.nodes) - 1 and len(self.components()) == 1

    def is_chain(self) -> bool:
        """Whether the graph is a single path through all nodes."""
        return self.is_tree() and all(len(others) <= 2 for others in self._neighbors.values())

    def markov_blanket(self, name: str) -> set[str]:
        """The neighbours: what separates the node from all others."""
        return set(self.neighbors(name))

    def eliminate(self, names: str | Iterable[str]) -> UndirectedGraph:
        """The graph of the other nodes when these nodes are summed out: their neighbours become adjacent."""
        removed = self._check_names(names)
        added = self.fill_in(node for node in self.nodes if node in removed)
        return UndirectedGraph([*self.edges, *added], self.nodes).subgraph(set(self.nodes) - removed)

    def local_independencies(self) -> tuple[Independence, ...]:
        """Each node is independent of all others given its neighbours."""
        every = ((node, self._others({node, *self._neighbors[node]}), self._neighbors[node]) for node in self.nodes)
        return tuple(Independence(node, others, near) for node, others, near in every if others)

    def pairwise_independencies(self) -> tuple[Independence, ...]:
        """Two nodes that are not adjacent are independent given all others."""
        pairs = (pair for pair in combinations(self.nodes, 2) if pair[1] not in self._neighbors[pair[0]])
        return tuple(Independence(one, other, self._others({one, other})) for one, other in pairs)

    def is_clique(self, names: Iterable[str]) -> bool:
        """Whether these nodes are adjacent to one another; a single node is a clique, the empty set is not.

        >>> UndirectedGraph([("a", "b"), ("b", "c")]).is_clique(["a", "b"])
        True
        """
        members = self._check_names(names)
        return bool(members) and all(members - {node} <= set(self._neighbors[node]) for node in members)

    def cliques(self) -> tuple[tuple[str, ...], ...]:
        """All cliques, not only the maximal ones, smallest first and each in node order.

        A complete graph of n nodes has 2ⁿ - 1; a graph with more than a million cliques raises `TooLarge`.
        """
        found = list(islice(all_cliques(self._neighbor_positions), MAX_CLIQUES + 1))
        if len(found) > MAX_CLIQUES:
            raise TooLarge(f"the graph has more than {MAX_CLIQUES:,} cliques; maximal_cliques() are fewer")
        return tuple(map(self._names, sorted(found, key=lambda clique: (len(clique), clique))))

    def maximal_cliques(self) -> tuple[tuple[str, ...], ...]:
        """The sets of adjacent nodes that no other node can extend, each in node order, in order of positions."""
        if self.is_chordal():
            return self.junction_tree().cliques
        return tuple(map(self._names, maximal_cliques(self._neighbor_positions)))

    def is_chordal(self) -> bool:
        """Whether every cycle of more than three nodes has an edge between two that are not next to each other."""
        return self._perfect_order is not None

    def perfect_elimination_order(self) -> tuple[str, ...]:
        """An order of elimination that adds no edge; only a chordal graph has one."""
        if self._perfect_order is not None:
            return self._names(self._perfect_order)
        raise InvalidModel("only a chordal graph has a perfect elimination order; triangulate() this one first")

    def elimination_order(
        self, heuristic: str = "min-fill", weights: Mapping[str, int] | None = None, *, rng: Any = None, tries: int = 1
    ) -> tuple[str, ...]:
        """All nodes in the order of a greedy heuristic; nodes whose neighbours form a clique come first.

        On a chordal graph this is a perfect elimination order.

        Parameters
        ----------
        heuristic
            "min-fill" (the fewest edges added), "weighted-min-fill" (each edge counts the product of its ends'
            weights), "min-weight" (the smallest product of weights in the clique) or "min-neighbours".
        weights
            The numbers of states of nodes, 2 where none is given.
        rng
            A seed or generator that breaks ties. Without it, ties go to the smaller clique, then to the earlier node.
        tries
            The number of orders, of which the one with the smallest tables is kept.

        Returns
        -------
        tuple of str
        """
        check_search(heuristic, tries)
        stream = None if rng is None else as_generator(rng)  # None leaves ties to the order of the nodes
        log_sizes = log_weights(self.nodes, {} if weights is None else weights)
        if self.is_chordal():
            return self.perfect_elimination_order()
        return self._names(best_order(self._neighbor_positions, log_sizes, heuristic, stream, tries))

    def fill_in(self, order: Iterable[str]) -> tuple[Edge, ...]:
        """The edges that are added when these nodes are eliminated in this order; it need not name all nodes."""
        _, added = eliminate(self._neighbor_positions, self._indices(order))
        return tuple((self.nodes[one], self.nodes[other]) for one, other in added)

    def induced_width(self, order: Iterable[str]) -> int:
        """The most neighbours that one of these nodes has when it is eliminated in this order."""
        return induced_width(self._neighbor_positions, self._indices(order))

    def triangulate(
        self, heuristic: str = "min-fill", weights: Mapping[str, int] | None = None, *, rng: Any = None, tries: int = 1
    ) -> UndirectedGraph:
        """A chordal graph: this one, and the edges that an `elimination_order` adds; a chordal graph as it is."""
        added = self.fill_in(self.elimination_order(heuristic, weights, rng=rng, tries=tries))
        return UndirectedGraph([*self.edges, *added], self.nodes) if added else self

    def junction_tree(
        self, heuristic: str = "min-fill", weights: Mapping[str, int] | None = None, *, rng: Any = None, tries: int = 1
    ) -> CliqueForest:
        """The maximal cliques of the triangulated graph, connected along the largest separators.

        >>> print(UndirectedGraph.parse("a -- b -- c -- d -- a").junction_tree())
        {a, b, d} -- {b, d} -- {b, c, d}
        """
        from juncture.graphs.clique_forest import CliqueForest

        order = self._indices(self.elimination_order(heuristic, weights, rng=rng, tries=tries))
        cliques, edges = clique_tree(order, eliminate(self._neighbor_positions, order)[0])
        return CliqueForest(map(self._names, cliques), edges)

    def treewidth(self) -> int:
        """The smallest width of any junction tree; raises an error where finding it would take too long."""
        from juncture.graphs.treewidth import treewidth

        return treewidth(self._neighbor_positions)

    def treewidth_bounds(self, *, rng: Any = None) -> TreewidthBounds:
        """Quick bounds on the treewidth: `lower` by minors, `upper` by heuristic orders."""
        from juncture.graphs.treewidth import bound_treewidth

        return bound_treewidth(self._neighbor_positions, None if rng is None else as_generator(rng))

    def _key(self) -> Hashable:
        return frozenset(self.nodes), frozenset(frozenset(edge) for edge in self.edges)

    def _others(self, names: set[str]) -> tuple[str, ...]:
        return tuple(node for node in self.nodes if node not in names)

    def _moves(self, given: set[str]) -> Moves:
        return undirected_moves(self._neighbors, given)

    def _adjacent(self, node: str) -> tuple[str, ...]:
        return self._neighbors[node]

    def _arrow_between(self, one: str, other: str) -> str:
        return self._arrow

    def _judge_passage(self, before: str, node: str, after: str, given: set[str]) -> Passage:
        from juncture.graphs.trails import plain_passage

        return plain_passage(node, "on the way", given)

    def _moral_neighbors(self, names: set[str]) -> Steps:
        return self._neighbors

    def _basis(self) -> tuple[Independence, ...]:
        return self.independencies()  # local ones imply the others only where every combination can occur

    @cached_property
    def _neighbors(self) -> dict[str, tuple[str, ...]]:
        return adjacency(self.nodes, (pair for one, other in self.edges for pair in ((one, other), (other, one))))

    @cached_property
    def _neighbor_positions(self) -> list[set[int]]:
        return [{self._positions[other] for other in self._neighbors[node]} for node in self.nodes]

    @cached_property
    def _perfect_order(self) -> list[int] | None:
        return perfect_order(self._neighbor_positions)

    def _names(self, positions: Iterable[int]) -> tuple[str, ...]:
        return tuple(self.nodes[position] for position in positions)

    def _indices(self, order: Iterable[str]) -> list[int]:
        return [self._positions[self._check_name(name)] for name in as_nodes(order)]
