"""The k most probable joint states of all nodes, in time proportional to k and to the number of nodes.

As in `best_states`, what is left once an assignment is taken out falls into cells: those that agree with it before some
node and have another state there. Here the value of all these cells comes from one pass over the tree
(`value_alternatives`), and only the best cell is solved (after Nilsson 1998). Cells are disjoint by their first states,
so these decide between cells of equal value.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from itertools import count
from typing import TypeAlias

import numpy as np

from juncture.inference.exact.best_states import Solver, allow_only
from juncture.inference.exact.junction_tree.coded_findings import CodedFinding
from juncture.inference.exact.junction_tree.packed_tree import PackedTree
from juncture.kernels.junction_tree.layout import MARGINAL

Cell: TypeAlias = tuple[float, tuple[int, ...]]
"""The value of the best assignment, negative and rounded so that equals tie; the first states that all share."""
Waiting: TypeAlias = tuple[float, tuple[int, ...], int, Iterator[Cell]]
"""A cell on the heap, a number to tell it apart, and the cells that come after it."""


def rank_assignments(
    tree: PackedTree, evidence: CodedFinding, targets: tuple[int, ...], solve: Solver, how_many: int
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
    tree: PackedTree, evidence: CodedFinding, targets: np.ndarray, codes: np.ndarray, start: int, value: float
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
    tree: PackedTree, evidence: CodedFinding, targets: np.ndarray, codes: np.ndarray, start: int
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
