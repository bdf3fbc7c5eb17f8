"""`CliqueTree`: cliques with their beliefs, as a forest; built from factors and calibrated.

Tables hold logarithms, and their axes are the nodes of a clique in increasing order, so that a table over some nodes is
widened to more nodes by axes of length 1. Beliefs are normalised; the log of what they summed to is kept apart.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from juncture.inference.engines.factor_arrays import offsets
from juncture.inference.exact.clique_search import CliqueTree as Cliques
from juncture.inference.exact.clique_search import best_tree
from juncture.inference.exact.elimination import LogFactor
from juncture.numerics import stable

Nodes = tuple[int, ...]
FEW_COLUMNS = 8


def widen(table: np.ndarray, nodes: Sequence[int], wide: Sequence[int]) -> np.ndarray:
    """The table with an axis of length 1 for each node of `wide` that it does not have; both in increasing order."""
    if len(nodes) == len(wide):
        return table
    sizes = dict(zip(nodes, table.shape, strict=True))
    return table.reshape([sizes.get(node, 1) for node in wide])


def reduce_axes(operation: np.ufunc, table: np.ndarray, axes: Sequence[int]) -> np.ndarray:
    """`operation` over some axes, in increasing order, one after the other from the last.

    A table of many short axes is seen as one of three, so that loops in NumPy run over what follows the axis.
    """
    for axis in reversed(axes):
        shape = table.shape
        three = table.reshape(math.prod(shape[:axis]), shape[axis], -1)
        table = operation.reduce(three, axis=1) if three.shape[2] > 1 else reduce_last(operation, three[..., 0])
        table = table.reshape(shape[:axis] + shape[axis + 1 :])
    return table


def reduce_last(operation: np.ufunc, table: np.ndarray) -> np.ndarray:
    """`operation` over the last of two axes, column by column where there are few."""
    if table.shape[1] > FEW_COLUMNS:
        return np.asarray(operation.reduce(table, axis=1))
    total = table[:, 0]
    for column in range(1, table.shape[1]):
        total = operation(total, table[:, column])
    return total


def axes_without(nodes: Sequence[int], kept: Iterable[int]) -> list[int]:
    """The axes of the nodes that are not kept."""
    inside = set(kept)
    return [axis for axis, node in enumerate(nodes) if node not in inside]


def sum_onto(table: np.ndarray, nodes: Sequence[int], kept: Iterable[int]) -> np.ndarray:
    """The logs summed over all nodes that are not kept."""
    axes = axes_without(nodes, kept)
    if not axes:
        return table
    tops = reduce_axes(np.maximum, table, axes)
    shifts = np.where(tops > -np.inf, tops, 0.0)
    shape = [1 if axis in axes else size for axis, size in enumerate(table.shape)]
    return stable.log(reduce_axes(np.add, np.exp(table - shifts.reshape(shape)), axes)) + shifts


def subtract(above: np.ndarray, below: np.ndarray) -> np.ndarray:
    """above - below for logs, where both are -inf: 0 of a distribution that is 0 there."""
    return np.subtract(
        above, below, out=np.full(np.broadcast_shapes(above.shape, below.shape), -np.inf), where=above > -np.inf
    )


def plan_cliques(scopes: Sequence[Nodes], num_states: np.ndarray) -> tuple[np.ndarray, Cliques]:
    """The nodes of some scopes, and cliques over their positions, that hold every scope."""
    nodes = np.unique(np.concatenate([np.array(scope, dtype=np.int64) for scope in scopes]))
    inside = np.searchsorted(nodes, np.concatenate([np.array(scope, dtype=np.int64) for scope in scopes]))
    return nodes, best_tree(num_states[nodes], offsets([len(scope) for scope in scopes]), inside, effort=0.0)


@dataclass(eq=False)
class CliqueTree:
    """Cliques by number, each with its nodes, its neighbours and its belief."""

    num_states: np.ndarray  # of all nodes of the model
    nodes: dict[int, Nodes] = field(default_factory=dict)
    neighbours: dict[int, set[int]] = field(default_factory=dict)
    beliefs: dict[int, np.ndarray] = field(default_factory=dict)
    log_total: float = 0.0
    last_number: int = -1

    def separator(self, one: int, other: int) -> Nodes:
        theirs = set(self.nodes[other])
        return tuple(node for node in self.nodes[one] if node in theirs)

    def marginal(self, clique: int, kept: Iterable[int]) -> np.ndarray:
        return sum_onto(self.beliefs[clique], self.nodes[clique], kept)

    def cells(self, clique: int) -> int:
        return int(self.beliefs[clique].size)

    def copy(self) -> CliqueTree:
        around = {clique: set(others) for clique, others in self.neighbours.items()}
        return CliqueTree(
            self.num_states, dict(self.nodes), around, dict(self.beliefs), self.log_total, self.last_number
        )

    def next_number(self) -> int:
        self.last_number += 1
        return self.last_number

    def find(self, nodes: Iterable[int]) -> int | None:
        """The smallest clique that has all these nodes; None where none has."""
        wanted = set(nodes)
        inside = (clique for clique, scope in self.nodes.items() if wanted.issubset(scope))
        return min(inside, key=lambda clique: (self.cells(clique), clique), default=None)

    def marginal_of(self, nodes: Sequence[int]) -> np.ndarray:
        """The log of the marginal of nodes that share a clique, in increasing order."""
        clique = self.find(nodes)
        if clique is None:
            raise ValueError(f"no clique has the nodes {nodes}")
        return self.marginal(clique, nodes)

    def schedule(self) -> list[tuple[int, int | None]]:
        """(clique, its parent), parents first, for each tree of the forest."""
        seen: set[int] = set()
        found: list[tuple[int, int | None]] = []
        for root in sorted(self.nodes):
            waiting: list[tuple[int, int | None]] = [] if root in seen else [(root, None)]
            while waiting:
                clique, parent = waiting.pop()
                seen.add(clique)
                found.append((clique, parent))
                waiting += [(other, clique) for other in sorted(self.neighbours[clique]) if other != parent]
        return found

    def to_factors(self) -> list[LogFactor]:
        """The distribution as a product: each clique's belief, divided by that of the separator to its parent."""
        factors = []
        for clique, parent in self.schedule():
            logs = self.beliefs[clique]
            if parent is not None:
                shared = self.separator(clique, parent)
                logs = subtract(logs, widen(self.marginal(clique, shared), shared, self.nodes[clique]))
            factors.append(LogFactor(self.nodes[clique], logs))
        return factors


def calibrate(factors: Sequence[LogFactor], num_states: np.ndarray) -> CliqueTree:
    """The clique tree of a product of factors, with the exact marginal of every clique."""
    inside, cliques = plan_cliques([factor.nodes for factor in factors], num_states)
    tree = CliqueTree(num_states)
    parents = cliques.parents.tolist()
    for clique, parent in enumerate(parents):
        nodes = inside[cliques.nodes[cliques.starts[clique] : cliques.starts[clique + 1]]]
        tree.nodes[clique] = tuple(sorted(nodes.tolist()))
        tree.neighbours[clique] = set()
        tree.beliefs[clique] = np.zeros(num_states[list(tree.nodes[clique])])
        if parent >= 0 and set(tree.nodes[clique]) & set(tree.nodes[parent]):
            tree.neighbours[clique].add(parent)
            tree.neighbours[parent].add(clique)
    steps = {int(node): step for step, node in enumerate(inside[cliques.order])}
    position = dict(zip(inside.tolist(), cliques.node_cliques.tolist(), strict=True))
    for factor in factors:
        clique = position[min(factor.nodes, key=steps.__getitem__)]
        tree.beliefs[clique] += widen(*sort_axes(factor), tree.nodes[clique])
    tree.last_number = len(parents) - 1
    pass_messages(tree)
    return tree


def sort_axes(factor: LogFactor) -> tuple[np.ndarray, Nodes]:
    order = np.argsort(factor.nodes)
    return factor.logs.transpose(order), tuple(sorted(factor.nodes))


def pass_messages(tree: CliqueTree) -> None:
    """Messages to the roots and back: beliefs become marginals, `log_total` the log of the sum of all."""
    order = tree.schedule()
    sent: dict[int, np.ndarray] = {}
    for clique, parent in reversed(order):
        top = float(tree.beliefs[clique].max())
        shared = () if parent is None else tree.separator(clique, parent)
        message = sum_onto(tree.beliefs[clique], tree.nodes[clique], shared)
        if parent is None:
            tree.log_total += float(message)
            tree.beliefs[clique] = tree.beliefs[clique] - (float(message) if top > -np.inf else 0.0)
        else:
            sent[clique] = message
            tree.beliefs[parent] = tree.beliefs[parent] + widen(message, shared, tree.nodes[parent])
    for clique, parent in order:
        if parent is not None:
            shared = tree.separator(clique, parent)
            back = subtract(tree.marginal(parent, shared), sent[clique])
            tree.beliefs[clique] = tree.beliefs[clique] + widen(back, shared, tree.nodes[clique])
