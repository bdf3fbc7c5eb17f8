"""The search for a good junction tree: several heuristics give elimination orders, the smallest total size wins."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from juncture.errors import TooLarge
from juncture.inference.engines.contract import Cost
from juncture.kernels.junction_tree.bitsets import as_lists, moral_graph
from juncture.kernels.junction_tree.cliques import clique_tree, total_size
from juncture.kernels.junction_tree.ordering import (
    MIN_FILL,
    MIN_NEIGHBOURS,
    MIN_WEIGHT,
    WEIGHTED_FILL,
    eliminate,
    follow_order,
    peel,
)

HEURISTICS = (MIN_FILL, WEIGHTED_FILL, MIN_WEIGHT)
TIE_SENSITIVE = (
    MIN_WEIGHT,
    MIN_NEIGHBOURS,
    MIN_WEIGHT,
    MIN_FILL,
)  # for further tries: the first two depend much on ties
MAX_EXTRA_TRIES = 16
HOPELESS = 50 * np.log(2.0)  # logarithm of a table's entries: no machine holds that many, so any bound of them will do
SECONDS_PER_CELL, SECONDS_PER_PAIR, SECONDS_PER_TRY = 1e-8, 1e-8, 2e-5  # of a run; of a try, by nodes squared
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


def best_tree(states: np.ndarray, scope_starts: np.ndarray, scope_nodes: np.ndarray) -> CliqueTree:
    """The clique tree of smallest total size among those that the heuristics give.

    More orders are tried, ties broken at random, the longer a run would take compared with a try. How many depends
    on sizes only, so the same model always gets the same plan.
    """
    if len(states) > DENSE_NODES:
        return tree_of_large_graph(states, scope_starts, scope_nodes)
    graph = moral_graph(len(states), scope_starts, scope_nodes)
    sweep = order_by_scopes(len(states), scope_starts, scope_nodes)
    _, order, starts, nodes = best_order(graph, np.log(states), sweep)
    return tree_of(order, starts, nodes, np.log(states))


class Order(NamedTuple):
    """The total size of the tables that an elimination order makes, the order, and each node's neighbours then."""

    total: float
    nodes: np.ndarray
    separator_starts: np.ndarray
    separators: np.ndarray


def best_order(
    graph: np.ndarray, log_sizes: np.ndarray, sweep: np.ndarray | None = None, late: np.ndarray | None = None
) -> Order:
    """The elimination order of smallest tables that was found; `late` nodes come last.

    The given order `sweep` is one of those that are tried.
    """
    late = np.zeros(len(log_sizes), dtype=np.bool_) if late is None else late
    in_order = np.arange(len(log_sizes), dtype=np.float64)
    best = min((try_order(graph, log_sizes, heuristic, in_order, late) for heuristic in HEURISTICS), key=total_of)
    if sweep is not None:
        swept = sweep[np.argsort(late[sweep], kind="stable")]
        best = min(best, order_of(swept, follow_order(graph, swept), log_sizes), key=total_of)
    try_seconds = SECONDS_PER_PAIR * len(log_sizes) ** 2 + SECONDS_PER_TRY
    num_tries = 0 if is_hopeless(best) else min(best.total * SECONDS_PER_CELL / try_seconds, MAX_EXTRA_TRIES)
    for seed in range(int(num_tries)):
        noise = np.random.default_rng(seed).random(len(log_sizes))
        best = min(
            best, try_order(graph, log_sizes, TIE_SENSITIVE[seed % len(TIE_SENSITIVE)], noise, late), key=total_of
        )
    return best


def try_order(graph: np.ndarray, log_sizes: np.ndarray, heuristic: int, noise: np.ndarray, late: np.ndarray) -> Order:
    order, separators = eliminate(graph, log_sizes, heuristic, noise, late, HOPELESS)
    return order_of(order, separators, log_sizes)


def order_of(order: np.ndarray, separators: np.ndarray, log_sizes: np.ndarray) -> Order:
    starts, nodes = as_lists(separators)
    clique_starts, clique_nodes, _, _ = clique_tree(order, starts, nodes)
    return Order(total_size(clique_starts, clique_nodes, log_sizes)[0], order, starts, nodes)


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


def tree_of_large_graph(states: np.ndarray, scope_starts: np.ndarray, scope_nodes: np.ndarray) -> CliqueTree:
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
    sweep = number[order_by_scopes(len(states), scope_starts, scope_nodes)]
    _, core_order, core_starts, core_nodes = best_order(graph, np.log(states[core]), sweep[sweep >= 0])
    leaf_starts = np.cumsum([0, *(last >= 0)])
    order = np.concatenate([peeled, core[core_order]])
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
