"""`MessageTree`: all messages of a junction tree, in both directions, without division (Shenoy and Shafer 1990).

The product of what a clique holds and gets, but for one table, is the derivative by that table's entries. Tables are
dense, or list the entries that are not zero (`listed_products`): a message lists what the factors on its side allow.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from juncture.inference.exact.elimination.buckets import LogFactor, multiply
from juncture.inference.exact.junction_tree.plan import Structure
from juncture.kernels.elimination_orders.cliques import lower_parents
from juncture.kernels.junction_tree.layout import lay_out
from juncture.kernels.junction_tree.packing import assign_factors
from juncture.numerics import stable


class Products(Protocol):
    """How tables of one kind are multiplied and summed."""

    def listed(self, factor: LogFactor) -> Any:
        """A table of this kind."""

    def ones(self, nodes: tuple[int, ...]) -> list[Any]:
        """Tables of ones by which a product gets all of these nodes, if it needs them."""

    def multiply(self, factors: Sequence[Any]) -> Any:
        """The product."""

    def sum_to(self, factor: Any, nodes: tuple[int, ...]) -> Any:
        """The table summed over all but these nodes."""

    def table(self, factor: Any, nodes: tuple[int, ...]) -> np.ndarray:
        """The same as an array, with an axis for each of these nodes."""

    def derivatives(self, factors: Sequence[LogFactor], rest: Any) -> list[np.ndarray]:
        """For each factor the product of `rest` and all other factors, summed for the factor's nodes."""


@dataclass(frozen=True)
class DenseProducts:
    """Tables with all entries."""

    num_states: np.ndarray

    def listed(self, factor: LogFactor) -> LogFactor:
        return factor

    def ones(self, nodes: tuple[int, ...]) -> list[LogFactor]:
        return [LogFactor(nodes, np.zeros(self.num_states[list(nodes)]))]

    def multiply(self, factors: Sequence[LogFactor]) -> LogFactor:
        return multiply(factors)

    def sum_to(self, factor: LogFactor, nodes: tuple[int, ...]) -> LogFactor:
        return LogFactor(nodes, self.table(factor, nodes))

    def table(self, factor: LogFactor, nodes: tuple[int, ...]) -> np.ndarray:
        rest = tuple(axis for axis, node in enumerate(factor.nodes) if node not in nodes)
        left = [node for node in factor.nodes if node in nodes]
        table = stable.log_sum_exp(factor.logs, axis=rest) if rest else factor.logs
        return table.transpose([left.index(node) for node in nodes])

    def derivatives(self, factors: Sequence[LogFactor], rest: LogFactor) -> list[np.ndarray]:
        products = leave_one_out(self, factors, rest)
        return [self.table(product, factor.nodes) for factor, product in zip(factors, products, strict=True)]


@dataclass(frozen=True)
class Skeleton:
    """A junction tree by its nodes: those of each clique, those shared with its parent, and where tables go."""

    axes: list[tuple[int, ...]]
    separators: list[tuple[int, ...]]
    parents: list[int]
    factor_cliques: list[int]  # -1: a table without nodes
    node_cliques: list[int]

    @classmethod
    def of(cls, structure: Structure) -> Skeleton:
        tree, states = structure.tree, structure.num_states
        parents = lower_parents(tree.starts, tree.nodes, tree.parents, states)
        nodes, shared = lay_out(tree.starts, tree.nodes, parents, len(states))
        axes = [tuple(nodes[a:b].tolist()) for a, b in zip(tree.starts, tree.starts[1:], strict=False)]
        separators = [clique[:count] for clique, count in zip(axes, shared.tolist(), strict=True)]
        cliques = assign_factors(tree.order, tree.node_cliques, structure.scope_starts, structure.scope_nodes)
        return cls(axes, separators, parents.tolist(), cliques.tolist(), tree.node_cliques.tolist())


@dataclass(frozen=True)
class MessageTree:
    """What every clique holds, and the messages along every edge of the tree in both directions, as logarithms."""

    products: Products
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
        cls, skeleton: Skeleton, tables: Sequence[LogFactor], known: Sequence[LogFactor], products: Products
    ) -> MessageTree:
        inside = [products.ones(nodes) for nodes in skeleton.axes]
        held: list[list[int]] = [[] for _ in inside]
        children: list[list[int]] = [[] for _ in inside]
        for index, clique in enumerate(skeleton.factor_cliques):
            if clique >= 0:
                held[clique].append(index)
        for part in known:
            inside[skeleton.node_cliques[part.nodes[0]]].append(products.listed(part))
        for clique, parent in enumerate(skeleton.parents):
            if parent >= 0:
                children[parent].append(clique)
        listed = [products.listed(table) for table in tables]
        tree = cls(products, tables, listed, held, inside, children, {}, {}, 0.0, np.zeros(len(inside)))
        tree.collect(skeleton.separators)
        tree.distribute(skeleton.separators)
        return tree.with_totals(skeleton.parents)

    def with_totals(self, parents: Sequence[int]) -> MessageTree:
        roots = [clique for clique, parent in enumerate(parents) if parent < 0]
        totals = [float(self.products.table(self.up[root], ())) for root in roots]
        beside = dict(zip(roots, leave_one_out_sums(totals), strict=True))
        for clique, parent in enumerate(parents):  # parents come first
            self.log_beside[clique] = beside[clique] if parent < 0 else self.log_beside[parent]
        return replace(self, log_total=sum(totals))

    def collect(self, separators: list[tuple[int, ...]]) -> None:
        """Send the messages to the parents; that of a root is the log of its tree's total."""
        for clique in reversed(range(len(separators))):
            tables = [self.tables[index] for index in self.held[clique]]
            sent = [self.up[child] for child in self.children[clique]]
            product = self.products.multiply([*self.inside[clique], *tables, *sent])
            self.up[clique] = self.products.sum_to(product, separators[clique])

    def distribute(self, separators: list[tuple[int, ...]]) -> None:
        """Send the messages to the children: to each what its parent holds and gets from all others."""
        for clique, children in enumerate(self.children):
            if not children:
                continue
            tables = [self.tables[index] for index in self.held[clique]]
            rest = self.products.multiply([*self.inside[clique], *tables, *self.from_parent(clique)])
            sent = leave_one_out(self.products, [self.up[child] for child in children], rest)
            for child, product in zip(children, sent, strict=True):
                self.down[child] = self.products.sum_to(product, separators[child])

    def from_parent(self, clique: int) -> list[Any]:
        return [self.down[clique]] if clique in self.down else []

    def derivatives(self, clique: int) -> list[np.ndarray]:
        """For each table of a clique the product of all else that the clique holds and gets, summed for its nodes."""
        sent = [self.up[child] for child in self.children[clique]]
        rest = self.products.multiply([*self.inside[clique], *sent, *self.from_parent(clique)])
        return self.products.derivatives([self.factors[index] for index in self.held[clique]], rest)


def leave_one_out(products: Products, factors: Sequence[Any], rest: Any) -> Iterator[Any]:
    """For each factor the product of `rest` and all others, without division: halves are multiplied in turn."""
    if len(factors) < 2:
        yield from [rest] * len(factors)
        return
    first, second = factors[: len(factors) // 2], factors[len(factors) // 2 :]
    yield from leave_one_out(products, first, products.multiply([rest, *second]))
    yield from leave_one_out(products, second, products.multiply([rest, *first]))


def leave_one_out_sums(values: Sequence[float]) -> list[float]:
    """For each value the sum of all others, without subtraction."""
    before = np.cumsum([0.0, *values])[:-1]
    after = np.cumsum([0.0, *reversed(values)])[:-1][::-1]
    return (before + after).tolist()
