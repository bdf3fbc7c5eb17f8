"""The k most probable joint states of some nodes, by a partition of what is left (Lawler 1972, Nilsson 1998).

The best assignment is found by a solver. The assignments other than it fall into cells: those that agree with it on the
first i - 1 nodes and differ at the i-th. The best of each cell is found the same way, and the best of all these is
the next one, whose own cell is then split again.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import count
from typing import TypeAlias

import numpy as np

from juncture import numerics
from juncture.inference.exact.coded_findings import CodedFinding
from juncture.inference.exact.elimination import LogFactor, plan_elimination, trace_back
from juncture.inference.exact.packed_tree import PackedTree

TIE = 1e-12  # two logarithms this close stand for the same product
Allowed: TypeAlias = dict[int, np.ndarray]
"""Node → log-weight of each of its states, 0 where it may be and -inf where not."""
Solver: TypeAlias = Callable[[Allowed], tuple[dict[int, int], float] | None]
"""The best codes by node that are allowed, and the log of their product; None if nothing is possible."""


@dataclass(order=True)
class Cell:
    """The assignments that are allowed, with the best of them."""

    cost: float  # rounded, so that equal products tie
    in_order: tuple[int, ...]
    number: int
    value: float = field(compare=False)
    codes: dict[int, int] = field(compare=False)
    allowed: Allowed = field(compare=False)
    split_from: int = field(compare=False)


def best_states(solve: Solver, sizes: dict[int, int], how_many: int) -> tuple[np.ndarray, np.ndarray]:
    """(codes (rank, node), log of the product (rank,)) of the best joint states of the nodes in `sizes`."""
    numbers = count()
    cells = list(best_cell(solve, {}, 0, sizes, numbers))
    codes: list[list[int]] = []
    values: list[float] = []
    while cells and len(values) < how_many:
        best = heapq.heappop(cells)
        codes.append([best.codes[node] for node in sizes])
        values.append(best.value)
        if len(values) < how_many:
            for cell in split(solve, best, sizes, numbers):
                heapq.heappush(cells, cell)
    return np.array(codes, dtype=np.int64).reshape(len(values), len(sizes)), np.array(values)


def best_cell(
    solve: Solver, allowed: Allowed, split_from: int, sizes: dict[int, int], numbers: Iterator[int]
) -> Iterator[Cell]:
    """The cell of these constraints, if anything in it is possible."""
    found = solve(allowed)
    if found is not None:
        codes, value = found
        in_order = tuple(codes[node] for node in sizes)
        yield Cell(-round(value, 10), in_order, next(numbers), value, codes, allowed, split_from)


def split(solve: Solver, best: Cell, sizes: dict[int, int], numbers: Iterator[int]) -> Iterator[Cell]:
    """The cells that a cell falls into once its best assignment is taken out."""
    allowed = dict(best.allowed)
    for place, node in list(enumerate(sizes))[best.split_from :]:
        code = best.codes[node]
        others = allowed.get(node, np.zeros(sizes[node])).copy()
        others[code] = -np.inf
        if others.max() > -np.inf:
            yield from best_cell(solve, {**allowed, node: others}, place, sizes, numbers)
        allowed[node] = only(code, sizes[node])


def only(code: int, num_states: int) -> np.ndarray:
    """Log-weights that allow one state."""
    weights = np.full(num_states, -np.inf)
    weights[code] = 0.0
    return weights


def max_product_solver(tree: PackedTree, evidence: CodedFinding) -> Solver:
    """All nodes at once, read off the max-marginals; ties go to the earlier state, in node order."""
    num_states = tree.plan.num_states
    everything = np.arange(len(num_states))
    seen, seen_logs = evidence.as_logs(num_states)

    def solve(allowed: Allowed) -> tuple[dict[int, int], float] | None:
        fixed = dict(allowed)
        while True:
            nodes = np.concatenate([seen, np.array(list(fixed), dtype=np.int64)])
            logs = np.concatenate([seen_logs, *fixed.values()])
            marginals, top = tree.run_logs(nodes, logs, everything, maximize=True)
            if top == -np.inf:
                return None
            parts = np.split(marginals, np.cumsum(num_states))[:-1]
            winners = [np.flatnonzero(part >= part.max() - TIE * max(1.0, abs(part.max()))) for part in parts]
            tied = next((node for node, states in enumerate(winners) if len(states) > 1), None)
            if tied is None:
                return {node: int(states[0]) for node, states in enumerate(winners)}, top + evidence.log_scale
            fixed[tied] = only(int(winners[tied][0]), num_states[tied])

    return solve


def marginal_map_solver(
    tree: PackedTree, evidence: CodedFinding, targets: frozenset[int], memory_limit: float
) -> Solver:
    """The targets maximised after all other nodes were summed out."""
    plan = tree.plan
    scopes = [plan.scope_nodes[a:b].tolist() for a, b in zip(plan.scope_starts, plan.scope_starts[1:], strict=False)]
    elimination = plan_elimination(scopes, plan.num_states, maximized=targets, memory_limit=memory_limit)
    tables = [
        LogFactor(tuple(scope), numerics.log(values).reshape([plan.num_states[node] for node in scope]))
        for scope, values in zip(scopes, tree.factors, strict=True)
        if scope  # a factor without variables is in the tree's log scale
    ]
    unary = [LogFactor((node,), np.zeros(size)) for node, size in enumerate(plan.num_states)]
    seen, seen_logs = evidence.as_logs(plan.num_states)
    pieces = np.split(seen_logs, np.cumsum(plan.num_states[seen])[:-1]) if len(seen) else []
    known = [LogFactor((int(node),), piece) for node, piece in zip(seen, pieces, strict=True)]

    def solve(allowed: Allowed) -> tuple[dict[int, int], float] | None:
        masks = [LogFactor((node,), weights) for node, weights in allowed.items()]
        left, buckets = elimination.run([*tables, *unary, *known, *masks])
        value = float(left.logs)
        return None if value == -np.inf else (trace_back(buckets), value + tree.log_scale + evidence.log_scale)

    return solve
