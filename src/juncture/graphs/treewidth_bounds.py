"""Bounds on treewidth: from below by minors with large degrees, from above by elimination orders."""

from __future__ import annotations

from collections.abc import Callable
from heapq import heapify, heappop, heappush
from itertools import islice
from typing import NamedTuple

import numpy as np

from juncture.graphs.cliques import Neighbors
from juncture.graphs.elimination import width
from juncture.graphs.elimination_orders import heuristic_order, tie_breakers

TRIES = 8


class Bounds(NamedTuple):
    """The treewidth is at least `lower` and at most `upper`."""

    lower: int
    upper: int


def bounds(neighbors: Neighbors, rng: np.random.Generator | None = None) -> Bounds:
    """The best that the lower bounds, and the elimination orders of several heuristics and tries, can tell."""
    lower = lower_bound(neighbors)
    return Bounds(lower, upper_bound(neighbors, lower, rng))


def upper_bound(neighbors: Neighbors, lower: int, rng: np.random.Generator | None) -> int:
    """The least width of several elimination orders; the search ends when one is as good as any can be."""
    upper = len(neighbors) - 1
    log_sizes = np.full(len(neighbors), np.log(2.0))
    for noise in islice(tie_breakers(len(neighbors), rng), TRIES):
        for heuristic in ("min-fill", "min-neighbours"):
            if upper <= lower:
                return upper
            upper = min(upper, width(neighbors, heuristic_order(neighbors, log_sizes, heuristic, noise)))
    return upper


def lower_bound(neighbors: Neighbors) -> int:
    """The better of degeneracy and contraction degeneracy; -1 for no nodes."""
    return max(degeneracy(neighbors), contraction_degeneracy(neighbors))


def degeneracy(neighbors: Neighbors) -> int:
    """The largest least degree of a subgraph: delete a node of least degree, again and again (Szekeres, Wilf 1968)."""
    return largest_least_degree(neighbors, delete)


def contraction_degeneracy(neighbors: Neighbors) -> int:
    """The largest least degree on a way of contractions, greedy: MMD+ (Bodlaender, Koster and Wolle 2004).

    A node of least degree is merged with the neighbour with which it shares the fewest neighbours.
    """
    return largest_least_degree(neighbors, contract)


Graph = list[set[int]]


def largest_least_degree(neighbors: Neighbors, take: Callable[[Graph, int], set[int]]) -> int:
    """The most neighbours of a node that was taken; a treewidth is never less than the least degree of a minor."""
    graph = [set(others) for others in neighbors]
    heap = [(len(others), node) for node, others in enumerate(graph)]  # a node's last entry counts
    heapify(heap)
    gone: set[int] = set()
    largest = -1
    while heap:
        degree, node = heappop(heap)
        if node in gone or degree != len(graph[node]):
            continue
        largest = max(largest, degree)
        gone.add(node)
        for other in take(graph, node):
            heappush(heap, (len(graph[other]), other))
    return largest


def delete(graph: Graph, node: int) -> set[int]:
    """Take the node away; those whose degree may have changed."""
    for other in graph[node]:
        graph[other].remove(node)
    return graph[node]


def contract(graph: Graph, node: int) -> set[int]:
    """Merge the node into a neighbour; those whose degree may have changed."""
    around = delete(graph, node)
    if around:
        target = min(around, key=lambda other: (len(graph[other] & around), other))
        graph[target] |= around - {target}
        for other in around - {target}:
            graph[other].add(target)
    return around
