"""Bucket elimination: one node after the other summed, or maximised, out of a product of tables.

Every factor is put into the bucket of the first of its nodes in the order. The product of a bucket, its node summed
out, goes to the bucket of the next of its nodes (Zhang and Poole 1994; Dechter 1999, also for maximising after
summing). Tables hold logarithms, so nothing underflows. The cost is the size of the tables and is known before a run.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from juncture.errors import TooLarge
from juncture.factors.conditional import draw_codes
from juncture.inference.engines.contract import Cost
from juncture.inference.exact.best_states import Allowed, Solver
from juncture.inference.exact.clique_search import (
    BYTES_PER_CELL,
    MAX_CORE,
    OPERATIONS_PER_CELL,
    best_order,
    order_by_scopes,
)
from juncture.kernels.elimination_orders.greedy_orders import moral_graph
from juncture.numerics import stable
from juncture.runtime.memory import check_memory


class LogFactor(NamedTuple):
    """A table of logarithms over nodes, one axis each."""

    nodes: tuple[int, ...]
    logs: np.ndarray


class Bucket(NamedTuple):
    """A node, the other nodes of its bucket, and the bucket's product over these and, last, the node."""

    node: int
    nodes: tuple[int, ...]
    logs: np.ndarray


class EliminationStep(NamedTuple):
    """One elimination: the node, the other nodes of its bucket, and the shape of the bucket, the node last."""

    node: int
    nodes: tuple[int, ...]
    shape: tuple[int, ...]

    @property
    def cells(self) -> int:
        return math.prod(self.shape)


@dataclass(frozen=True)
class Elimination:
    """The steps in order, nodes to be `maximized` after all that are summed, and the nodes that are left over."""

    steps: tuple[EliminationStep, ...]
    maximized: frozenset[int]
    left: Mapping[int, int]  # node → number of states

    @property
    def cells(self) -> int:
        """The number of entries of all tables together."""
        return sum(step.cells for step in self.steps) + math.prod(self.left.values())

    @property
    def cost(self) -> Cost:
        tables = [*(step.shape for step in self.steps), tuple(self.left.values())]
        largest, cells = float(max(math.prod(shape) for shape in tables)), float(self.cells)
        width = max(len(shape) for shape in tables) - 1
        return Cost(width, largest, BYTES_PER_CELL * cells, OPERATIONS_PER_CELL * cells)

    def run(
        self, factors: Iterable[LogFactor], remembered: Collection[int] | None = None
    ) -> tuple[LogFactor, list[Bucket]]:
        """What is left, and the buckets of the `remembered` nodes (by default the maximised ones), last first."""
        left, buckets = self.reduce(factors, self.maximized if remembered is None else remembered)
        return multiply(left), buckets

    def reduce(
        self, factors: Iterable[LogFactor], remembered: Collection[int] = ()
    ) -> tuple[list[LogFactor], list[Bucket]]:
        """The factors that are left, not multiplied, and the buckets of the `remembered` nodes, last first."""
        indices = {step.node: index for index, step in enumerate(self.steps)}
        waiting = [[LogFactor((step.node,), np.zeros(step.shape[-1]))] for step in self.steps] + [[]]
        for factor in factors:
            waiting[first_step(factor.nodes, indices)].append(factor)
        buckets: list[Bucket] = []
        for index, step in enumerate(self.steps):
            (*rest, _), logs = multiply(waiting[index], last=step.node)
            waiting[index] = []
            out = logs.max(axis=-1) if step.node in self.maximized else stable.log_sum_exp(logs, axis=-1)
            waiting[first_step(rest, indices)].append(LogFactor(tuple(rest), out))
            if step.node in remembered:
                buckets.append(Bucket(step.node, tuple(rest), logs))
        return waiting[-1], buckets[::-1]

    def split(self) -> tuple[Elimination, Elimination]:
        """The steps that sum, and the steps that maximise what these leave."""
        summed = tuple(step for step in self.steps if step.node not in self.maximized)
        both = summed, self.steps[len(summed) :]
        first, second = (Elimination(steps, self.maximized, self.left) for steps in both)
        return first, second

    def describe(self, names: Sequence[str]) -> str:
        """A line for each step: what goes, out of a table over what, of how many entries."""
        lines = []
        for step in self.steps:
            verb = "maximise" if step.node in self.maximized else "sum"
            over = ", ".join(names[node] for node in (*step.nodes, step.node))
            lines.append(f"{verb} {names[step.node]} out of ({over}): {step.cells:,} entries")
        left = ", ".join(names[node] for node in self.left)
        return "\n".join([*lines, f"leaves ({left}): {math.prod(self.left.values()):,} entries"])

    def __str__(self) -> str:
        return self.describe([str(node) for node in range(1 + max([*self.left, *(s.node for s in self.steps)]))])


def plan_elimination(
    scopes: Sequence[Sequence[int]],
    num_states: Sequence[int] | np.ndarray,
    *,
    keep: frozenset[int] = frozenset(),
    maximized: frozenset[int] = frozenset(),
    memory_limit: float | None = np.inf,
    order: Sequence[int] | None = None,
) -> Elimination:
    """How to eliminate all nodes but `keep`, those `maximized` last; TooLarge beyond the limit of bytes.

    The limit None is half of the free memory. Without an `order` a good one is searched; of a given one
    the nodes to keep are passed over.
    """
    order = good_order(scopes, num_states, keep | maximized) if order is None else order
    going = [node for node in order if node not in keep]
    going.sort(key=lambda node: node in maximized)
    steps, left = plan_steps(scopes, num_states, going)
    elimination = Elimination(tuple(steps), maximized, {node: int(num_states[node]) for node in sorted(left)})
    remedy = "observe more, name fewer targets, or raise memory_limit"
    check_memory(elimination.cells * BYTES_PER_CELL, "eliminating the variables", remedy, memory_limit)
    return elimination


def good_order(
    scopes: Sequence[Sequence[int]],
    num_states: Sequence[int] | np.ndarray,
    late: Collection[int] = (),
    effort: float = 1.0,
) -> list[int]:
    """All nodes in an order that makes small tables, the `late` ones last; `effort` as in `best_tree`."""
    if len(num_states) > MAX_CORE:
        raise TooLarge(f"the search for an elimination order takes up to {MAX_CORE:,} nodes, not {len(num_states):,}")
    starts = np.cumsum([0, *(len(scope) for scope in scopes)], dtype=np.int64)
    nodes = np.array([node for scope in scopes for node in scope], dtype=np.int64)
    is_late = np.zeros(len(num_states), dtype=np.bool_)
    is_late[list(late)] = True
    sweep = order_by_scopes(len(num_states), starts, nodes)
    graph = moral_graph(len(num_states), starts, nodes)
    order = best_order(graph, np.log(num_states), [sweep], is_late if late else None, effort)
    return [int(node) for node in order.nodes]


def plan_steps(
    scopes: Sequence[Sequence[int]], num_states: Sequence[int] | np.ndarray, order: Sequence[int]
) -> tuple[list[EliminationStep], set[int]]:
    """The steps of an order, and the nodes of what is left: the run without its numbers."""
    indices = {node: index for index, node in enumerate(order)}
    met: list[set[int]] = [set() for _ in range(len(order) + 1)]
    for scope in scopes:
        met[first_step(scope, indices)].update(scope)
    steps = []
    for index, node in enumerate(order):
        around = tuple(sorted(met[index] - {node}))
        met[first_step(around, indices)].update(around)
        steps.append(EliminationStep(node, around, tuple(int(num_states[other]) for other in (*around, node))))
    return steps, met[-1]


def first_step(nodes: Iterable[int], indices: Mapping[int, int]) -> int:
    """The first step that eliminates one of the nodes; -1, the factors that are left, if none does."""
    return min((indices[node] for node in nodes if node in indices), default=-1)


def multiply(factors: Sequence[LogFactor], last: int | None = None) -> LogFactor:
    """The product over all nodes of the factors, `last` as the last axis."""
    nodes = list(dict.fromkeys(node for factor in factors for node in factor.nodes if node != last))
    nodes += [] if last is None else [last]
    total: np.ndarray = np.zeros(())
    for factor in factors:
        sizes = dict(zip(factor.nodes, factor.logs.shape, strict=True))
        order = [factor.nodes.index(node) for node in nodes if node in sizes]
        total = total + factor.logs.transpose(order).reshape([sizes.get(node, 1) for node in nodes])
    return LogFactor(tuple(nodes), total)


def trace_back(buckets: Sequence[Bucket]) -> dict[int, int]:
    """The best state of every maximised node: each given those that were eliminated after it."""
    codes: dict[int, int] = {}
    for bucket in buckets:
        codes[bucket.node] = int(bucket.logs[tuple(codes[node] for node in bucket.nodes)].argmax())
    return codes


def marginal_map_solver(elimination: Elimination, factors: Sequence[LogFactor], log_scale: float = 0.0) -> Solver:
    """A solver that maximises over the `maximized` nodes of an elimination after summing out all others."""

    def solve(allowed: Allowed) -> tuple[dict[int, int], float] | None:
        masks = [LogFactor((node,), weights) for node, weights in allowed.items()]
        left, buckets = elimination.run([*factors, *masks])
        value = float(left.logs)
        return None if value == -np.inf else (trace_back(buckets), value + log_scale)

    return solve


def draw_back(buckets: Sequence[Bucket], num_rows: int, rng: np.random.Generator) -> dict[int, np.ndarray]:
    """States drawn for every summed node, (row,): each given those that were eliminated after it."""
    codes: dict[int, np.ndarray] = {}
    for bucket in buckets:
        logs = bucket.logs[tuple(codes[node] for node in bucket.nodes)]
        weights = np.exp(logs - logs.max(axis=-1, keepdims=True))  # (row, state), or (state,) for the first
        codes[bucket.node] = draw_codes(np.broadcast_to(weights, (num_rows, weights.shape[-1])), rng)
    return codes
