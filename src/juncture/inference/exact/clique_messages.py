"""Messages along the edges of a tree of cliques, to the roots and back: by division, and without it.

`collect` and `distribute` multiply each message into the belief of the clique that gets it. What a parent sends back is
its belief over what the child has sent, so that an edge takes two sums and a division (Jensen, Lauritzen and Olesen
1990). Afterwards each belief is the sum of the product of all tables over what the clique does not have.

`MessageTree` keeps the messages apart. What a clique sends along an edge is the product of what it holds and of what it
gets along all others (Shafer and Shenoy 1990). That takes more products, but it divides by nothing, so that it also
tells what the rest of the tree says of an entry that is zero.

A clique sends after it has received from all of its children: edges are given parents first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from juncture.inference.exact.log_tables import (
    Eliminate,
    LogFactor,
    Nodes,
    Products,
    align,
    divide,
    leave_one_out,
    reduce_to,
    sums_without_each,
)


class CliqueEdge(NamedTuple):
    """A clique, its parent, which is None for a root, and the nodes of its message: those that both have.

    The message of a root is the total of its tree, over no nodes, or over those that are never summed out.
    """

    clique: int
    parent: int | None
    shared: Nodes


CliqueNodes: TypeAlias = Mapping[int, Nodes] | Sequence[Nodes]
Beliefs: TypeAlias = dict[int, np.ndarray] | list[np.ndarray]


def shared_nodes(clique: Nodes, other: Nodes) -> Nodes:
    """The nodes that two cliques share, in the order of the first."""
    return tuple(node for node in clique if node in other)


def collect(
    edges: Sequence[CliqueEdge], nodes: CliqueNodes, beliefs: Beliefs, eliminate: Eliminate
) -> dict[int, np.ndarray]:
    """Multiply the messages to the roots into the beliefs, in place; the message of each clique."""
    sent = {}
    for clique, parent, shared in reversed(edges):
        sent[clique] = reduce_to(beliefs[clique], nodes[clique], shared, eliminate)
        if parent is not None:
            beliefs[parent] = beliefs[parent] + align(sent[clique], shared, nodes[parent])
    return sent


def distribute(
    edges: Sequence[CliqueEdge],
    nodes: CliqueNodes,
    beliefs: Beliefs,
    sent: Mapping[int, np.ndarray],
    eliminate: Eliminate,
) -> None:
    """Multiply the messages from the roots into the beliefs, in place, given those that were sent to the roots."""
    for clique, parent, shared in edges:
        if parent is not None:
            total = reduce_to(beliefs[parent], nodes[parent], shared, eliminate)
            beliefs[clique] = beliefs[clique] + align(divide(total, sent[clique]), shared, nodes[clique])


@dataclass(frozen=True)
class CliqueLayout:
    """A junction tree: the nodes of each clique, the edges in the order of the cliques, and where tables go."""

    axes: list[tuple[int, ...]]
    edges: list[CliqueEdge]
    factor_cliques: list[int]  # -1: a table without nodes
    node_cliques: list[int]


@dataclass(frozen=True)
class MessageTree:
    """What every clique holds, and the messages along every edge of the tree in both directions, as logarithms."""

    products: Products
    edges: Sequence[CliqueEdge]
    factors: Sequence[LogFactor]
    tables: list[Any]  # the same, as tables of the kind that is multiplied
    held: list[list[int]]  # (clique,): the numbers of its tables
    inside: list[list[Any]]  # (clique,): the evidence that it holds, and ones
    children: list[list[int]]
    up: dict[int, Any]  # clique → its message to its parent
    down: dict[int, Any]  # clique → its parent's message to it
    log_total: float
    log_beside: np.ndarray  # (clique,): the log of the product of all trees' totals but that of its own

    @classmethod
    def of(
        cls, layout: CliqueLayout, tables: Sequence[LogFactor], known: Sequence[LogFactor], products: Products
    ) -> MessageTree:
        inside = [products.ones(nodes) for nodes in layout.axes]
        held: list[list[int]] = [[] for _ in inside]
        children: list[list[int]] = [[] for _ in inside]
        for index, clique in enumerate(layout.factor_cliques):
            if clique >= 0:
                held[clique].append(index)
        for part in known:
            inside[layout.node_cliques[part.nodes[0]]].append(products.listed(part))
        for clique, parent, _ in layout.edges:
            if parent is not None:
                children[parent].append(clique)
        listed = [products.listed(table) for table in tables]
        nothing = np.zeros(len(inside))
        tree = cls(products, layout.edges, tables, listed, held, inside, children, {}, {}, 0.0, nothing)
        tree.collect()
        tree.distribute()
        return tree.with_totals()

    def with_totals(self) -> MessageTree:
        totals = {edge.clique: float(self.products.table(self.up[edge.clique], ())) for edge in self.roots}
        beside = dict(zip(totals, sums_without_each(np.array([*totals.values()])).tolist(), strict=True))
        for clique, parent, _ in self.edges:
            self.log_beside[clique] = beside[clique] if parent is None else self.log_beside[parent]
        return replace(self, log_total=sum(totals.values()))

    @property
    def roots(self) -> list[CliqueEdge]:
        return [edge for edge in self.edges if edge.parent is None]

    def collect(self) -> None:
        """Send the messages to the parents; that of a root is the log of its tree's total."""
        for clique, _, shared in reversed(self.edges):
            product = self.products.multiply([*self.inside[clique], *self.tables_of(clique), *self.received(clique)])
            self.up[clique] = self.products.sum_to(product, shared)

    def distribute(self) -> None:
        """Send the messages to the children: to each what its parent holds and gets from all others."""
        for clique, children in enumerate(self.children):
            if not children:
                continue
            rest = self.products.multiply([*self.inside[clique], *self.tables_of(clique), *self.from_parent(clique)])
            sent = leave_one_out(self.products, self.received(clique), rest)
            for child, product in zip(children, sent, strict=True):
                self.down[child] = self.products.sum_to(product, self.edges[child].shared)

    def tables_of(self, clique: int) -> list[Any]:
        return [self.tables[index] for index in self.held[clique]]

    def received(self, clique: int) -> list[Any]:
        """The messages of the children."""
        return [self.up[child] for child in self.children[clique]]

    def from_parent(self, clique: int) -> list[Any]:
        return [self.down[clique]] if clique in self.down else []

    def derivatives(self, clique: int) -> list[np.ndarray]:
        """For each table of a clique the product of all else that the clique holds and gets, summed for its nodes."""
        rest = self.products.multiply([*self.inside[clique], *self.received(clique), *self.from_parent(clique)])
        return self.products.derivatives([self.factors[index] for index in self.held[clique]], rest)
