"""The first of several equally good assignments of all nodes, read off a junction tree after max-product.

An assignment is among the best just when its cell is among the best of every clique (Dawid 1992). Best cells that fit
no best cell of a neighbour are dropped, then every node in order takes its first state that is left. What this
drops is passed on from clique to clique as far as something changes; a cell is dropped once, so the work is in
proportion to the cells.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from juncture.inference.exact.best_states import TIE
from juncture.inference.exact.junction_tree.plan import CliquePlan
from juncture.kernels.junction_tree.layout import INNER, NODE_CLIQUE, OFFSET, OUTER, PARENT, SIZE, STATES


def first_assignment(plan: CliquePlan, max_marginals: np.ndarray) -> list[int]:
    """Each node's code, from the log-max-marginals of all cells; ties go to the earlier state, in node order."""
    cells = BestCells.of(plan, max_marginals)
    cells.make_consistent()
    codes = []
    for row in plan.node_table:
        clique = int(row[NODE_CLIQUE])
        table = cells.tables[clique].reshape(row[OUTER], row[STATES], row[INNER])
        is_left = np.asarray(table.any(axis=(0, 2)))
        code = int(is_left.argmax())
        codes.append(code)
        if is_left[code + 1 :].any():
            table[:, code + 1 :] = False
            cells.pass_on(clique)
    return codes


@dataclass(frozen=True, eq=False)
class BestCells:
    """Which cells of each clique are among the best, and how its separator lies in its parent."""

    tables: list[np.ndarray]
    parents: list[int]
    children: list[list[int]]
    outside: list[tuple[int, ...]]  # (clique,): the axes of the parent that are not in the separator
    inside: list[tuple[int, ...]]  # (clique,): the shape of the parent with ones for these

    @classmethod
    def of(cls, plan: CliquePlan, max_marginals: np.ndarray) -> BestCells:
        axes = [plan.nodes[a:b].tolist() for a, b in zip(plan.starts, plan.starts[1:], strict=False)]
        sizes, parents = plan.num_states.tolist(), plan.table[:, PARENT].tolist()
        children: list[list[int]] = [[] for _ in axes]
        tables, outside, inside = [], [], []
        for clique, (nodes, parent) in enumerate(zip(axes, parents, strict=True)):
            offset, size = plan.table[clique, OFFSET], plan.table[clique, SIZE]
            tables.append(are_best(max_marginals[offset : offset + size]).reshape([sizes[node] for node in nodes]))
            separator, above = set(nodes[: plan.shared[clique]]), axes[parent] if parent >= 0 else []
            outside.append(tuple(axis for axis, node in enumerate(above) if node not in separator))
            inside.append(tuple(sizes[node] if node in separator else 1 for node in above))
            if parent >= 0:
                children[parent].append(clique)
        return cls(tables, parents, children, outside, inside)

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

    def restrict_parent(self, clique: int) -> bool:
        """Drop the cells of the parent that fit none of the clique; says whether there were any."""
        table = self.tables[self.parents[clique]]
        is_left = self.of_separator(clique).reshape(self.inside[clique])
        return drop(table, is_left)

    def restrict_child(self, clique: int) -> bool:
        """Drop the cells of the clique that fit none of its parent; says whether there were any."""
        is_left = self.tables[self.parents[clique]].any(axis=self.outside[clique]).reshape(-1)
        return drop(self.tables[clique].reshape(len(is_left), -1), is_left[:, np.newaxis])

    def of_separator(self, clique: int) -> np.ndarray:
        """Which joint states of its separator the clique has left; the separator's axes come first."""
        size = int(np.prod(self.inside[clique]))
        return np.asarray(self.tables[clique].reshape(size, -1).any(axis=1))


def drop(table: np.ndarray, is_left: np.ndarray) -> bool:
    """Drop cells in place; says whether there were any."""
    before = np.count_nonzero(table)
    table &= is_left
    return bool(np.count_nonzero(table) < before)


def are_best(logs: np.ndarray) -> np.ndarray:
    top = logs.max()
    return np.asarray(logs >= top - TIE * max(1.0, abs(top)))
