"""The search for a good junction tree: heuristics give elimination orders, the best of them is improved part by part.

The search may take longer the longer the run that it shortens. What it takes is counted in work, never in time, so that
the same model always gets the same plan; a search that is predicted to end after a deadline is refused.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from juncture.errors import TooLarge
from juncture.inference.engines.contract import Cost
from juncture.kernels.elimination_orders.cliques import clique_tree, total_size
from juncture.kernels.elimination_orders.greedy_orders import (
    MIN_FILL,
    MIN_NEIGHBOURS,
    MIN_WEIGHT,
    WEIGHTED_FILL,
    as_lists,
    eliminate,
    follow_order,
    moral_graph,
    peel,
    sizes_of,
)
from juncture.kernels.elimination_orders.triangulation import count_simplicial, improve_order

HEURISTICS = (MIN_FILL, WEIGHTED_FILL, MIN_WEIGHT)
TIE_SENSITIVE = (
    MIN_WEIGHT,
    MIN_NEIGHBOURS,
    MIN_WEIGHT,
    MIN_FILL,
)  # for further tries: the first two depend much on ties
MAX_EXTRA_TRIES = 16
HOPELESS = 60 * np.log(2.0)  # logarithm of a table's entries: no machine holds that many, so any bound of them will do
SECONDS_PER_CELL, SECONDS_PER_PAIR, SECONDS_PER_TRY = 1e-8, 1e-8, 2e-5  # of a run; of a try, by nodes squared
WORK_PER_CELL = 8.0  # of the search, some nanoseconds each: as long as about two runs
LEAST_WORK, MOST_WORK = 100_000, 1_000_000_000  # less is not worth a start; about a second
SECONDS_PER_WORK = 2e-9
WORK_OF_TWO = 100_000_000  # from here on the search starts twice
MOST_CELLS = 1e100  # of a start
MAX_IMPROVED = 5_000  # nodes: beyond, a step of the improvement takes too long
SEED = 88172645463325252
DENSE_NODES = 2_000  # up to here the graph is searched whole; beyond, its trees are peeled off first
MAX_CORE = 40_000
BYTES_PER_CELL = 24  # a packed table, a working one, and the indices between them
OPERATIONS_PER_CELL = 6


@dataclass(frozen=True, eq=False)
class CliqueTree:
    """Cliques as lists of nodes, parents first, with the elimination order that made them."""

    order: np.ndarray  # (node,)
    starts: np.ndarray  # (clique + 1,)
    nodes: np.ndarray
    parents: np.ndarray  # (clique,)
    node_cliques: np.ndarray  # (node,): the clique that holds a node's neighbours at its elimination
    cost: Cost


def best_tree(
    states: np.ndarray,
    scope_starts: np.ndarray,
    scope_nodes: np.ndarray,
    *,
    log_sizes: np.ndarray | None = None,
    known: np.ndarray | None = None,
    effort: float = 1.0,
    deadline: float | None = None,
) -> CliqueTree:
    """The clique tree of smallest total size that was found.

    Cliques may be weighed by other `log_sizes` of their nodes than the logarithms of their numbers of states, where
    some nodes add less to a table than their states. A `known` order is one of those that are tried. The improvement
    takes `effort` times its usual work; with 0 there is none. What would take longer than to the deadline, a time of
    `time.monotonic`, raises `PlanningTooLong`.
    """
    log_sizes = np.log(states) if log_sizes is None else log_sizes
    sweep = order_by_scopes(len(states), scope_starts, scope_nodes)
    given = [sweep] if known is None else [sweep, known]
    if len(states) > DENSE_NODES:
        return tree_of_large_graph(states, scope_starts, scope_nodes, log_sizes, given, effort, deadline)
    graph = moral_graph(len(states), scope_starts, scope_nodes)
    order = best_order(graph, log_sizes, given, effort=effort, deadline=deadline)
    separator_starts, separators = as_lists(order.separators)
    return tree_of(order.nodes, separator_starts, separators, np.log(states))


class Order(NamedTuple):
    """The total size of the tables that an elimination order makes, the order, and each node's neighbours then."""

    total: float
    nodes: np.ndarray
    separators: np.ndarray  # (step, word): bitsets


def best_order(
    graph: np.ndarray,
    log_sizes: np.ndarray,
    given: Sequence[np.ndarray] = (),
    late: np.ndarray | None = None,
    effort: float = 1.0,
    deadline: float | None = None,
) -> Order:
    """The elimination order of smallest tables that was found; `late` nodes come last.

    The `given` orders are among those that are tried.
    """
    check_deadline(len(HEURISTICS) * (SECONDS_PER_PAIR * len(log_sizes) ** 2 + SECONDS_PER_TRY), deadline)
    is_late = np.zeros(len(log_sizes), dtype=np.bool_) if late is None else late
    in_order = np.arange(len(log_sizes), dtype=np.float64)
    best = try_order(graph, log_sizes, HEURISTICS[0], in_order, is_late)
    for heuristic in HEURISTICS[1:]:
        best = min(best, try_order(graph, log_sizes, heuristic, in_order, is_late, best.total), key=total_of)
    for order in given:
        sorted_order = order[np.argsort(is_late[order], kind="stable")]
        best = min(best, order_of(graph, log_sizes, sorted_order), key=total_of)
    if is_hopeless(best):
        return best
    if late is not None:
        return try_more(graph, log_sizes, is_late, best)
    return improve(graph, log_sizes, best, effort, deadline)


class PlanningTooLong(TooLarge):
    """Planning would end after the deadline, however large the model is."""


def check_deadline(seconds: float, deadline: float | None) -> None:
    """Raise `PlanningTooLong` where planning that takes so many seconds would not end in time."""
    if deadline is not None and time.monotonic() + seconds > deadline:
        raise PlanningTooLong(
            f"planning exact inference would take some {seconds:.2g} s, longer than the budget leaves; raise it, or"
            " plan ahead with jt.compile"
        )


def try_order(
    graph: np.ndarray, log_sizes: np.ndarray, heuristic: int, noise: np.ndarray, late: np.ndarray, bound: float = np.inf
) -> Order:
    """The order of a heuristic; beyond the bound it is incomplete."""
    order, separators, total = eliminate(graph, log_sizes, heuristic, noise, 0.0, late, HOPELESS, bound)
    return Order(total, order, separators)


def improve(
    graph: np.ndarray, log_sizes: np.ndarray, first: Order, effort: float = 1.0, deadline: float | None = None
) -> Order:
    """Parts of the clique tree triangulated anew, the longer the longer a run takes.

    Where there is work enough, a second search starts from a breadth-first order. It is far worse than the first, but
    leads elsewhere, often to something better.
    """
    budget = effort * min(MOST_WORK, WORK_PER_CELL * first.total)
    if budget < LEAST_WORK:
        return first
    num_simplicial = count_simplicial(graph, first.nodes, first.separators)
    core = first.nodes[num_simplicial:]
    if not 0 < len(core) <= MAX_IMPROVED:
        return first
    check_deadline(SECONDS_PER_WORK * budget, deadline)
    inside, sizes = restrict(graph, core), log_sizes[core]
    starts = [np.arange(len(core))]
    if budget >= WORK_OF_TWO and order_of(inside, sizes, second := breadth_first_order(inside)).total < MOST_CELLS:
        starts.append(second)
    share, per_cell = int(budget) // len(starts), effort * WORK_PER_CELL / len(starts)
    found = [start[improve_order(restrict(inside, start), sizes[start], SEED, share, per_cell)] for start in starts]
    orders = [np.concatenate([first.nodes[:num_simplicial], core[order]]) for order in found]
    return min((order_of(graph, log_sizes, order) for order in orders), key=total_of)


def breadth_first_order(graph: np.ndarray) -> np.ndarray:
    """The nodes by their distance from one at the rim (Cuthill and McKee 1969), reversed."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import reverse_cuthill_mckee

    bits = np.unpackbits(graph.view(np.uint8), axis=1, bitorder="little")[:, : len(graph)]
    order: np.ndarray = reverse_cuthill_mckee(csr_array(bits), symmetric_mode=True)
    return order.astype(np.int64)


def restrict(graph: np.ndarray, nodes: np.ndarray) -> np.ndarray:
    """The graph among these nodes, numbered in their order, as bitsets."""
    starts, neighbours = as_lists(graph[nodes])
    number = np.full(64 * graph.shape[1], -1)
    number[nodes] = np.arange(len(nodes))
    rows, columns = np.repeat(np.arange(len(nodes)), np.diff(starts)), number[neighbours]
    rows, columns = rows[columns >= 0], columns[columns >= 0]
    inside = np.zeros((len(nodes), -(-len(nodes) // 64)), dtype=np.uint64)
    np.bitwise_or.at(inside, (rows, columns // 64), np.uint64(1) << (columns % 64).astype(np.uint64))
    return inside


def try_more(graph: np.ndarray, log_sizes: np.ndarray, late: np.ndarray, best: Order) -> Order:
    """The best of further orders, ties broken at random: the more, the longer a run takes compared with a try."""
    try_seconds = SECONDS_PER_PAIR * len(log_sizes) ** 2 + SECONDS_PER_TRY
    for seed in range(int(min(best.total * SECONDS_PER_CELL / try_seconds, MAX_EXTRA_TRIES))):
        noise = np.random.default_rng(seed).random(len(log_sizes))
        heuristic = TIE_SENSITIVE[seed % len(TIE_SENSITIVE)]
        best = min(best, try_order(graph, log_sizes, heuristic, noise, late, best.total), key=total_of)
    return best


def order_of(graph: np.ndarray, log_sizes: np.ndarray, order: np.ndarray) -> Order:
    separators = follow_order(graph, order)
    starts, nodes, _, _ = clique_tree(order, *as_lists(separators))
    with np.errstate(over="ignore"):
        total = np.multiply.reduceat(sizes_of(log_sizes)[nodes], starts[:-1]).sum() if len(nodes) else 0.0
    return Order(float(total), order, separators)


def order_by_scopes(num_nodes: int, scope_starts: np.ndarray, scope_nodes: np.ndarray) -> np.ndarray:
    """The nodes by the last of their scopes, and scopes by their first node.

    Where nodes are numbered along a line, as steps in time are, or the causes of noisy children, few are open at once.
    """
    sizes = np.diff(scope_starts)
    firsts = np.minimum.reduceat(scope_nodes, scope_starts[:-1][sizes > 0]) if len(scope_nodes) else scope_nodes
    lasts = np.zeros(num_nodes, dtype=np.int64)
    np.maximum.at(lasts, scope_nodes, np.repeat(firsts, sizes[sizes > 0]))
    return np.argsort(lasts, kind="stable")


def is_hopeless(order: Order) -> bool:
    return order.total > np.exp(HOPELESS)


def total_of(order: Order) -> float:
    return order.total


def tree_of(order: np.ndarray, starts: np.ndarray, nodes: np.ndarray, log_sizes: np.ndarray) -> CliqueTree:
    clique_starts, clique_nodes, parents, node_cliques = clique_tree(order, starts, nodes)
    total, largest = total_size(clique_starts, clique_nodes, log_sizes)
    width = int(np.diff(clique_starts).max(initial=0)) - 1
    with np.errstate(over="ignore"):
        cost = Cost(width, float(np.exp(largest)), BYTES_PER_CELL * total, OPERATIONS_PER_CELL * total)
    return CliqueTree(order, clique_starts, clique_nodes, parents, node_cliques, cost)


def tree_of_large_graph(
    states: np.ndarray,
    scope_starts: np.ndarray,
    scope_nodes: np.ndarray,
    log_sizes: np.ndarray,
    given: Sequence[np.ndarray],
    effort: float,
    deadline: float | None,
) -> CliqueTree:
    """Peel the trees off, which costs nothing, then search an order for the core that is left."""
    starts, neighbours = neighbour_lists(len(states), scope_starts, scope_nodes)
    peeled, last = peel(starts, neighbours)
    core = np.setdiff1d(np.arange(len(states)), peeled)
    if len(core) > MAX_CORE:
        raise TooLarge(
            f"the model's graph has a core of {len(core):,} nodes in cycles; planning takes up to {MAX_CORE:,}"
        )
    number = np.full(len(states), -1)
    number[core] = np.arange(len(core))
    inside = number[neighbours] >= 0
    rows = np.repeat(np.arange(len(states)), np.diff(starts))
    pairs = np.stack([number[rows[inside]], number[neighbours[inside]]], axis=1)
    pairs = pairs[pairs[:, 0] >= 0]
    graph = moral_graph(len(core), np.arange(0, 2 * len(pairs) + 1, 2), pairs.reshape(-1))
    orders = [number[order] for order in given]
    inside_core = [order[order >= 0] for order in orders]
    found = best_order(graph, log_sizes[core], inside_core, effort=effort, deadline=deadline)
    core_starts, core_nodes = as_lists(found.separators)
    leaf_starts = np.cumsum([0, *(last >= 0)])
    order = np.concatenate([peeled, core[found.nodes]])
    all_starts = np.concatenate([leaf_starts, leaf_starts[-1] + core_starts[1:]])
    return tree_of(order, all_starts, np.concatenate([last[last >= 0], core[core_nodes]]), np.log(states))


def neighbour_lists(num_nodes: int, scope_starts: np.ndarray, scope_nodes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The moral graph as sorted lists of neighbours."""
    keys = []
    for size in np.unique(np.diff(scope_starts)):
        scopes = scope_nodes[scope_starts[:-1][np.diff(scope_starts) == size][:, None] + np.arange(size)]
        keys += [scopes[:, a] * num_nodes + scopes[:, b] for a in range(size) for b in range(size) if a != b]
    pairs = np.unique(np.concatenate([np.empty(0, np.int64), *keys]))
    starts = np.searchsorted(pairs // num_nodes, np.arange(num_nodes + 1))
    return starts, pairs % num_nodes
