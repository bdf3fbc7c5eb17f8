"""The first of several equally good assignments of all nodes, read off a junction tree after max-product.

An assignment is among the best just when its cell is among the best of every clique (Dawid 1992). Best cells that fit
no best cell of a neighbour are dropped, then every node in order takes its first state that is left. What this
drops is passed on from clique to clique as far as something changes; a cell is dropped once, so the work is in
proportion to the cells.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

from juncture.inference.exact.best_states import TIE
from juncture.inference.exact.junction_tree.plan import CliquePlan
from juncture.inference.exact.junction_tree.sparse.plan import SparsePlan
from juncture.kernels.junction_tree.layout import INNER, NODE_CLIQUE, OFFSET, OUTER, PARENT, SIZE, STATES
from juncture.kernels.sparse_tree.layout import CODES


def first_assignment(plan: CliquePlan, max_marginals: np.ndarray) -> list[int]:
    """Each node's code, from the log-max-marginals of all cells; ties go to the earlier state, in node order."""
    cells = best_cells(plan, max_marginals)
    cells.make_consistent()
    codes = []
    for node, row in enumerate(plan.node_table):
        is_left = cells.states_left(node)
        code = int(is_left.argmax())
        codes.append(code)
        if is_left[code + 1 :].any():
            cells.drop_after(node, code)
            cells.pass_on(int(row[NODE_CLIQUE]))
    return codes


@dataclass(frozen=True, eq=False)
class BestCells(ABC):
    """Which cells of each clique are among the best."""

    plan: Any
    tables: list[np.ndarray]
    parents: list[int]
    children: list[list[int]]

    @abstractmethod
    def states_left(self, node: int) -> np.ndarray:
        """Which states of a node have a cell left, (state,)."""

    @abstractmethod
    def drop_after(self, node: int, code: int) -> None:
        """Drop the cells in which a node has a later state."""

    @abstractmethod
    def restrict_parent(self, clique: int) -> bool:
        """Drop the cells of the parent that fit none of the clique; says whether there were any."""

    @abstractmethod
    def restrict_child(self, clique: int) -> bool:
        """Drop the cells of the clique that fit none of its parent; says whether there were any."""

    def make_consistent(self) -> None:
        """Drop the cells that no best assignment has: towards the roots, then back."""
        for clique in reversed(range(len(self.tables))):
            if self.parents[clique] >= 0:
                self.restrict_parent(clique)
        for clique in range(len(self.tables)):
            if self.parents[clique] >= 0:
                self.restrict_child(clique)

    def pass_on(self, changed: int) -> None:
        """Restrict the cliques around one that changed, then those around these, as far as they change."""
        waiting = [(changed, -1)]
        while waiting:
            clique, source = waiting.pop()
            parent = self.parents[clique]
            if parent >= 0 and parent != source and self.restrict_parent(clique):
                waiting.append((parent, clique))
            waiting += [
                (child, clique) for child in self.children[clique] if child != source and self.restrict_child(child)
            ]


@dataclass(frozen=True, eq=False)
class BestOfAllCells(BestCells):
    """... of cliques that have all cells."""

    outside: list[tuple[int, ...]]  # (clique,): the axes of the parent that are not in the separator
    inside: list[tuple[int, ...]]  # (clique,): the shape of the parent with ones for these

    @classmethod
    def of(cls, plan: CliquePlan, tables: list[np.ndarray], parents: list[int], children: list[list[int]]) -> BestCells:
        axes = [plan.nodes[a:b].tolist() for a, b in zip(plan.starts, plan.starts[1:], strict=False)]
        sizes = plan.num_states.tolist()
        shaped = [table.reshape([sizes[node] for node in nodes]) for table, nodes in zip(tables, axes, strict=True)]
        outside, inside = [], []
        for clique, (nodes, parent) in enumerate(zip(axes, parents, strict=True)):
            separator, above = set(nodes[: plan.shared[clique]]), axes[parent] if parent >= 0 else []
            outside.append(tuple(axis for axis, node in enumerate(above) if node not in separator))
            inside.append(tuple(sizes[node] if node in separator else 1 for node in above))
        return cls(plan, shaped, parents, children, outside, inside)

    def axis_of(self, node: int) -> np.ndarray:
        """A node's clique as (outer, state, inner)."""
        row = self.plan.node_table[node]
        return self.tables[int(row[NODE_CLIQUE])].reshape(row[OUTER], row[STATES], row[INNER])

    def states_left(self, node: int) -> np.ndarray:
        return np.asarray(self.axis_of(node).any(axis=(0, 2)))

    def drop_after(self, node: int, code: int) -> None:
        self.axis_of(node)[:, code + 1 :] = False

    def restrict_parent(self, clique: int) -> bool:
        table = self.tables[self.parents[clique]]
        is_left = self.of_separator(clique).reshape(self.inside[clique])
        return drop(table, is_left)

    def restrict_child(self, clique: int) -> bool:
        is_left = self.tables[self.parents[clique]].any(axis=self.outside[clique]).reshape(-1)
        return drop(self.tables[clique].reshape(len(is_left), -1), is_left[:, np.newaxis])

    def of_separator(self, clique: int) -> np.ndarray:
        """Which joint states of its separator the clique has left; the separator's axes come first."""
        size = int(np.prod(self.inside[clique]))
        return np.asarray(self.tables[clique].reshape(size, -1).any(axis=1))


class BestOfPossibleCells(BestCells):
    """... of cliques that keep possible cells only."""

    def codes_of(self, node: int) -> np.ndarray:
        start, clique = self.plan.node_table[node, CODES], self.plan.node_table[node, NODE_CLIQUE]
        return np.asarray(self.plan.codes[start : start + self.plan.table[clique, SIZE]])

    def states_left(self, node: int) -> np.ndarray:
        is_left = self.tables[self.plan.node_table[node, NODE_CLIQUE]]
        return np.bincount(self.codes_of(node)[is_left], minlength=self.plan.num_states[node]) > 0

    def drop_after(self, node: int, code: int) -> None:
        self.tables[self.plan.node_table[node, NODE_CLIQUE]][self.codes_of(node) > code] = False

    def restrict_parent(self, clique: int) -> bool:
        starts = self.plan.starts_of_blocks(clique)
        is_left = np.logical_or.reduceat(self.tables[clique], starts[:-1])
        return drop(self.tables[self.parents[clique]], is_left[self.plan.reads(clique)])

    def restrict_child(self, clique: int) -> bool:
        starts = self.plan.starts_of_blocks(clique)
        is_left = np.zeros(len(starts) - 1, np.bool_)
        is_left[self.plan.reads(clique)[self.tables[self.parents[clique]]]] = True
        return drop(self.tables[clique], np.repeat(is_left, np.diff(starts)))


def best_cells(plan: CliquePlan, max_marginals: np.ndarray) -> BestCells:
    tables = [are_best(max_marginals[offset : offset + size]) for offset, size in plan.table[:, [OFFSET, SIZE]]]
    parents = plan.table[:, PARENT].tolist()
    children: list[list[int]] = [[] for _ in parents]
    for clique, parent in enumerate(parents):
        if parent >= 0:
            children[parent].append(clique)
    if isinstance(plan, SparsePlan):
        return BestOfPossibleCells(plan, tables, parents, children)
    return BestOfAllCells.of(plan, tables, parents, children)


def drop(table: np.ndarray, is_left: np.ndarray) -> bool:
    """Drop cells in place; says whether there were any."""
    before = np.count_nonzero(table)
    table &= is_left
    return bool(np.count_nonzero(table) < before)


def are_best(logs: np.ndarray) -> np.ndarray:
    top = logs.max()
    return np.asarray(logs >= top - TIE * max(1.0, abs(top)))
