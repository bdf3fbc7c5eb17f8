"""The best joint states of some nodes of a junction tree, for one row of evidence or many, and the first of equal ones.

All nodes at once are read off the max-marginals of one run. Where several assignments are equally good, the first is
read off the tree after max-product: an assignment is among the best just when its cell is among the best of every
clique (Dawid 1992). Best cells that fit no best cell of a neighbour are dropped, then every node in order takes its
first state that is left. What this drops is passed on from clique to clique as far as something changes; a cell is
dropped once, so the work is in proportion to the cells.
"""

from __future__ import annotations

import heapq
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import singledispatch
from itertools import count
from typing import Any, TypeAlias

import numpy as np

from juncture.errors import TooLarge
from juncture.inference.exact.best_states import TIE, Allowed, Solver, allow_only
from juncture.inference.exact.junction_tree import choice
from juncture.inference.exact.junction_tree.coded_findings import CodedFinding, CodedFindings
from juncture.inference.exact.junction_tree.dense_tree import DenseTree
from juncture.inference.exact.junction_tree.factored_tree import FactoredTree
from juncture.inference.exact.junction_tree.marginal_map import best_targets, rank_targets
from juncture.inference.exact.junction_tree.packed_tree import PackedTree
from juncture.inference.exact.junction_tree.plan import CliquePlan
from juncture.inference.exact.junction_tree.sparse_plan import SparsePlan
from juncture.kernels.junction_tree.layout import INNER, MARGINAL, NODE_CLIQUE, OFFSET, OUTER, PARENT, SIZE, STATES
from juncture.kernels.sparse_tree.layout import CODES
from juncture.numerics import stable


def best_of_marginal(marginal: np.ndarray, log_evidence: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(codes (row, 1, 1), logs of the product (row, 1)): the best state of one target; of equal ones the first."""
    possible = log_evidence > -np.inf
    logs = stable.log(np.where(possible[:, np.newaxis], marginal, 1.0))
    top = logs.max(axis=1)
    values = log_evidence + top
    slack = TIE * np.maximum(1.0, np.abs(np.where(possible, values, 0.0)))
    codes = (logs >= (top - slack)[:, np.newaxis]).argmax(axis=1)
    return codes[:, np.newaxis, np.newaxis], values[:, np.newaxis]


def best_assignments(
    tree: PackedTree,
    rows: CodedFindings,
    targets: tuple[int, ...],
    count: int,
    memory_limit: int | None,
    determined: frozenset[int] = frozenset(),
) -> tuple[np.ndarray, np.ndarray]:
    """(codes (row, rank, target), logs of the product (row, rank)); -inf where there is no further assignment.

    Nodes that the others determine need not be among the targets: there is one term to sum over them, the largest.
    """
    known = determined.union(targets)
    if count > 1:
        return best_row_by_row(tree, rows, targets, count, memory_limit, known)
    codes, values = np.zeros((rows.num_rows, 1, len(targets)), np.int64), np.full((rows.num_rows, 1), -np.inf)
    for observed, indices in rows.patterns():
        some = rows.take(indices)
        if covers(tree, known, observed):
            codes[indices], values[indices] = best_of_all(tree, some, targets, memory_limit, known)
        else:
            codes[indices, 0], values[indices, 0] = best_targets(tree, some, targets, memory_limit)
    return codes, values


def covers(tree: PackedTree, known: frozenset[int], observed: np.ndarray) -> bool:
    """Whether every node is observed or known with the targets, so that nothing has to be summed out."""
    return len(known.union(observed.tolist())) == len(tree.plan.num_states)


def best_of_all(
    tree: PackedTree, rows: CodedFindings, targets: tuple[int, ...], memory_limit: int | None, known: frozenset[int]
) -> tuple[np.ndarray, np.ndarray]:
    """As `best_assignments`, where every node is observed or known; rows with ties are searched one by one."""
    if rows.num_rows == 1:
        return best_row_by_row(tree, rows, targets, 1, memory_limit, known)
    chosen, values, is_tied = tree.choose_rows(rows, TIE)
    codes, values = chosen[:, np.newaxis, list(targets)], values[:, np.newaxis]
    tied = np.flatnonzero(is_tied)
    if len(tied):
        codes[tied], values[tied] = best_row_by_row(tree, rows.take(tied), targets, 1, memory_limit, known)
    return codes, values


def best_row_by_row(
    tree: PackedTree,
    rows: CodedFindings,
    targets: tuple[int, ...],
    count: int,
    memory_limit: int | None,
    known: frozenset[int],
) -> tuple[np.ndarray, np.ndarray]:
    """As `best_assignments`, by a search for each row."""
    found, stored = [], tree.with_tables(memory_limit) if count > 1 else None
    for number in range(rows.num_rows):
        row = rows.row(number)
        if not covers(tree, known, row.observed):
            found.append(rank_targets(tree, rows.take(np.array([number])), targets, count, memory_limit))
        elif stored is None:
            found.append(best_of_row(tree, row, targets))
        else:
            ranked = rank_assignments(stored, row, targets, max_product_solver(stored, row), count)
            found.append(ranked if stored is tree else with_value_of_best(tree, row, targets, *ranked))
    ranks = max([1, *(len(values) for _, values in found)])
    codes, values = np.zeros((len(found), ranks, len(targets)), np.int64), np.full((len(found), ranks), -np.inf)
    for number, (row_codes, row_values) in enumerate(found):
        codes[number, : len(row_values)], values[number, : len(row_values)] = row_codes, row_values
    return codes, values


def best_of_row(tree: PackedTree, row: CodedFinding, targets: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
    """(codes (rank, target), logs of the product (rank,)) of the best assignment, if there is any."""
    found = max_product_solver(tree, row)({})
    if found is None:
        return np.empty((0, len(targets)), np.int64), np.empty(0)
    return np.array([[found[0][node] for node in targets]], np.int64), np.array([found[1]])


def with_value_of_best(
    tree: PackedTree, row: CodedFinding, targets: tuple[int, ...], codes: np.ndarray, values: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Ranked assignments, the first of which has the same bits as when it is asked alone."""
    best, top = best_of_row(tree, row, targets)
    return codes, np.concatenate([top, values[1:]]) if np.array_equal(best, codes[:1]) else values


@singledispatch
def max_product_solver(tree: Any, evidence: CodedFinding) -> Solver:
    """All nodes at once, read off the max-marginals; ties go to the earlier state, in node order."""
    num_states = tree.plan.num_states
    all_nodes, starts = np.arange(len(num_states)), np.cumsum(num_states) - num_states
    seen, seen_logs = evidence.as_logs(num_states)

    def solve(allowed: Allowed) -> tuple[dict[int, int], float] | None:
        nodes = np.concatenate([seen, np.array(list(allowed), dtype=np.int64)])
        logs, work = np.concatenate([seen_logs, *allowed.values()]), np.empty(tree.plan.num_cells)
        marginals, top = tree.run_logs(nodes, logs, all_nodes, maximize=True, work=work)
        if top == -np.inf:
            return None
        tops = np.repeat(np.maximum.reduceat(marginals, starts), num_states)
        winners = np.flatnonzero(marginals >= tops - TIE * np.maximum(1.0, np.abs(tops)))
        is_tied = len(winners) > len(num_states)
        codes = first_assignment(tree.plan, work) if is_tied else (winners - starts).tolist()
        return dict(enumerate(codes)), top + evidence.log_scale

    return solve


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


@max_product_solver.register
def _(tree: FactoredTree, evidence: CodedFinding) -> Solver:
    """As above, from the max-marginals alone."""
    seen, seen_logs = evidence.as_logs(tree.plan.num_states)

    def solve(allowed: Allowed) -> tuple[dict[int, int], float] | None:
        nodes, logs = np.array([*seen, *allowed], np.int64), np.concatenate([seen_logs, *allowed.values()])
        codes, log_top, is_tied = tree.best_codes(nodes, logs, TIE)
        if log_top == -np.inf:
            return None
        if is_tied.any():
            codes = first_of_tied(tree, evidence, allowed, codes, is_tied)
        return dict(enumerate(codes.tolist())), log_top + evidence.log_scale

    return solve


def first_of_tied(
    tree: FactoredTree, evidence: CodedFinding, allowed: Allowed, codes: np.ndarray, is_tied: np.ndarray
) -> np.ndarray:
    """The first of several best assignments.

    The first tied node takes its first state, and after a run with that the next one. Where many are tied, the cliques
    are stored and searched at once if they fit.
    """
    if choice.should_store(int(is_tied.sum())):
        with suppress(TooLarge):
            found = max_product_solver(tree.with_tables(None), evidence)(allowed)
            return codes if found is None else np.array([found[0][node] for node in range(len(codes))])
    nodes, logs = evidence.as_logs(tree.plan.num_states)
    fixed = dict(allowed)
    while is_tied.any():
        first = int(is_tied.argmax())
        fixed[first] = allow_only(int(codes[first]), int(tree.plan.num_states[first]))
        where = np.array([*nodes, *fixed], np.int64)
        codes, _, is_tied = tree.best_codes(where, np.concatenate([logs, *fixed.values()]), TIE)
    return codes


Cell: TypeAlias = tuple[float, tuple[int, ...]]
"""The value of the best assignment, negative and rounded so that equals tie; the first states that all share."""
Waiting: TypeAlias = tuple[float, tuple[int, ...], int, Iterator[Cell]]
"""A cell on the heap, a number to tell it apart, and the cells that come after it."""


def rank_assignments(
    tree: DenseTree, evidence: CodedFinding, targets: tuple[int, ...], solve: Solver, how_many: int
) -> tuple[np.ndarray, np.ndarray]:
    """(codes (rank, target), log of the product (rank,)); every other node is observed, or a function of these."""
    sizes = tree.plan.num_states
    numbers = count()
    heap: list[Waiting] = [(0.0, (), next(numbers), iter(()))]
    codes: list[list[int]] = []
    values: list[float] = []
    while heap and len(values) < how_many:
        _, prefix, _, siblings = heapq.heappop(heap)
        push_next(heap, siblings, numbers)
        fixed = zip(targets, prefix, strict=False)
        found = solve({node: allow_only(code, int(sizes[node])) for node, code in fixed})
        if found is None:
            continue
        codes.append([found[0][node] for node in targets])
        values.append(found[1])
        if len(values) < how_many:
            cells = split_cell(
                tree, evidence, np.array(targets, np.int64), np.array(codes[-1], np.int64), len(prefix), values[-1]
            )
            push_next(heap, cells, numbers)
    return np.array(codes, dtype=np.int64).reshape(len(values), len(targets)), np.array(values)


def push_next(heap: list[Waiting], cells: Iterator[Cell], numbers: Iterator[int]) -> None:
    """Put the next of some sorted cells on the heap, with those that come after it."""
    for cost, prefix in cells:
        heapq.heappush(heap, (cost, prefix, next(numbers), cells))
        return


def split_cell(
    tree: DenseTree, evidence: CodedFinding, targets: np.ndarray, codes: np.ndarray, start: int, value: float
) -> Iterator[Cell]:
    """The cells that are left of one that is fixed before `start` once its best assignment is out, best first.

    Of equal cells come those of a smaller state first, from the first node on; then those of a larger one, from the
    last node back: this is the order of their assignments.
    """
    gains = value_states(tree, evidence, targets, codes, start)
    sizes, firsts = tree.plan.num_states[targets[start:]], tree.plan.node_table[targets[start:], MARGINAL]
    places = np.repeat(np.arange(start, len(targets)), sizes)
    states = np.arange(len(places)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    costs = -np.round(value + gains[np.repeat(firsts, sizes) + states], 10)
    is_larger = states > codes[places]
    order = np.lexsort((states, np.where(is_larger, -places, places), is_larger, costs))
    for index in order[(states != codes[places])[order] & (costs[order] < np.inf)]:
        yield float(costs[index]), (*codes[: places[index]].tolist(), int(states[index]))


def value_states(
    tree: DenseTree, evidence: CodedFinding, targets: np.ndarray, codes: np.ndarray, start: int
) -> np.ndarray:
    """For each state of the targets from `start` on: what the best product loses by it, those before it fixed."""
    plan = tree.plan
    fixed = CodedFinding(targets[:start], codes[:start], np.empty(0, np.int64), np.empty(0))
    parts = [finding.as_logs(plan.num_states) for finding in (evidence, fixed)]
    nodes, logs = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    work, messages, values = np.empty(plan.num_cells), np.empty(plan.num_entries), np.full(plan.num_marginals, -np.inf)
    tree.run_logs(nodes, logs, np.empty(0, np.int64), maximize=True, work=work, messages=messages)
    tree.value_alternatives(targets[start:], codes[start:], work, messages, values)
    return values
