"""`VariableElimination`: one variable after the other summed (or maximised) out of the product of all factors.

Choose it to see the algorithm, to check others, or for a single question; every marginal takes a pass of its own.
It works on tables of logarithms, so nothing underflows. Cost: the tables that eliminations make, told beforehand
(Zhang and Poole 1994; Dechter 1999 for buckets and for maximising after summing).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from juncture import numerics
from juncture.errors import TooLarge
from juncture.inference.exact.clique_search import BYTES_PER_CELL, best_order
from juncture.kernels.ordering import moral_graph


class LogFactor(NamedTuple):
    """A table of logarithms over nodes, one axis each."""

    nodes: tuple[int, ...]
    logs: np.ndarray


class Bucket(NamedTuple):
    """What one elimination leaves behind: the node, what its table is over, and the best state of the node there."""

    node: int
    nodes: tuple[int, ...]
    best: np.ndarray


@dataclass(frozen=True)
class Elimination:
    """An order, of which the nodes in `maximized` come last and are maximised, the others summed."""

    order: tuple[int, ...]
    maximized: frozenset[int]
    cells: float  # of the tables on the way, together

    def run(self, factors: Sequence[LogFactor]) -> tuple[LogFactor, list[Bucket]]:
        """What is left over the nodes not in the order, and the buckets of the maximised ones, last first."""
        live = list(factors)
        buckets: list[Bucket] = []
        for node in self.order:
            inside = [factor for factor in live if node in factor.nodes]
            live = [factor for factor in live if node not in factor.nodes]
            product = multiply([*inside, LogFactor((), np.zeros(()))], last=node if inside else None)
            if not inside:
                continue
            rest = product.nodes[:-1]
            if node in self.maximized:
                buckets.insert(0, Bucket(node, rest, product.logs.argmax(axis=-1)))
                live.append(LogFactor(rest, product.logs.max(axis=-1)))
            else:
                live.append(LogFactor(rest, numerics.log_sum_exp(product.logs, axis=-1)))
        return multiply([*live, LogFactor((), np.zeros(()))]), buckets


def plan_elimination(
    scopes: Sequence[Sequence[int]],
    num_states: np.ndarray,
    *,
    keep: frozenset[int] = frozenset(),
    maximized: frozenset[int] = frozenset(),
    memory_limit: float = np.inf,
) -> Elimination:
    """A good order for eliminating all nodes but `keep`, those `maximized` last; TooLarge beyond the limit."""
    starts = np.cumsum([0, *(len(scope) for scope in scopes)], dtype=np.int64)
    nodes = np.array([node for scope in scopes for node in scope], dtype=np.int64)
    late = np.array([node in keep or node in maximized for node in range(len(num_states))], dtype=np.bool_)
    log_sizes = np.log(num_states)
    order, separator_starts, separators = best_order(moral_graph(len(num_states), starts, nodes), log_sizes, late)
    cells = 0.0
    for step, node in enumerate(order):
        if node not in keep:
            around = separators[separator_starts[step] : separator_starts[step + 1]]
            cells += float(np.exp(log_sizes[node] + log_sizes[around].sum()))
    if cells * BYTES_PER_CELL > memory_limit:
        raise TooLarge(
            f"eliminating the variables would need {cells * BYTES_PER_CELL / 2**30:,.3g} GiB; "
            f"the limit is {memory_limit / 2**30:,.3g} GiB: observe more, or name fewer targets"
        )
    kept_last = [int(node) for node in order if node not in keep]
    return Elimination(tuple(kept_last), maximized, cells)


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
        codes[bucket.node] = int(bucket.best[tuple(codes[node] for node in bucket.nodes)])
    return codes
