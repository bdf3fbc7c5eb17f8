"""Exact treewidth of graphs that are small, or become small by safe reductions."""

from __future__ import annotations

from collections.abc import Callable, Set
from heapq import heapify, heappop, heappush
from itertools import islice
from typing import NamedTuple

import numpy as np

from juncture.errors import TooLarge
from juncture.graphs.cliques import Neighbors, maximal_cliques
from juncture.graphs.elimination import heuristic_order, induced_width, tie_breakers

Graph = list[set[int]]
TRIES = 8
MAX_SETS = 2**20  # of eliminated nodes, in one search: enough for any twenty nodes and a clique, and about ten seconds
MAX_NODES = 62  # they are bits of a word


class TreewidthBounds(NamedTuple):
    """The treewidth is at least `lower` and at most `upper`."""

    lower: int
    upper: int


def bound_treewidth(neighbors: Neighbors, rng: np.random.Generator | None = None) -> TreewidthBounds:
    """The best lower bound, and the least width of several heuristic elimination orders."""
    lower = lower_bound(neighbors)
    return TreewidthBounds(lower, upper_bound(neighbors, lower, rng))


def upper_bound(neighbors: Neighbors, lower: int, rng: np.random.Generator | None) -> int:
    """The least width of several elimination orders; the search ends when one is as good as any can be."""
    upper = len(neighbors) - 1
    log_sizes = np.full(len(neighbors), np.log(2.0))
    for noise in islice(tie_breakers(len(neighbors), rng), TRIES):
        for heuristic in ("min-fill", "min-neighbours"):
            if upper <= lower:
                return upper
            upper = min(upper, induced_width(neighbors, heuristic_order(neighbors, log_sizes, heuristic, noise)))
    return upper


def lower_bound(neighbors: Neighbors) -> int:
    """The better of degeneracy and contraction degeneracy; -1 for no nodes."""
    return max(degeneracy(neighbors), contraction_degeneracy(neighbors))


def degeneracy(neighbors: Neighbors) -> int:
    """The largest least degree of a subgraph: delete a node of least degree, again and again (Szekeres, Wilf 1968)."""
    return largest_least_degree(neighbors, delete)


def contraction_degeneracy(neighbors: Neighbors) -> int:
    """The largest least degree along greedy contractions: MMD+ (Bodlaender, Koster and Wolle 2004).

    A node of least degree is merged with the neighbour with which it shares the fewest neighbours.
    """
    return largest_least_degree(neighbors, contract)


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


def treewidth(neighbors: Neighbors) -> int:
    """The least width of any elimination order; -1 for no nodes."""
    lower, upper = bound_treewidth(neighbors)
    core, lower = eliminate_safely(neighbors, lower) if lower < upper else ([], lower)
    lower = max(lower, contraction_degeneracy(core))
    if not core or lower == upper:
        return lower
    if len(core) > MAX_NODES:
        raise too_large(core, lower, upper)
    clique = max(maximal_cliques(core), key=len)
    for width in range(max(lower, len(clique) - 1), upper):
        answer = has_width(core, clique, width)
        if answer is None:
            raise too_large(core, width, upper)
        if answer:
            return width
    return upper


def too_large(core: Neighbors, lower: int, upper: int) -> TooLarge:
    return TooLarge(
        f"the treewidth lies between {lower} and {upper}; to find it, sets of {len(core)} nodes would be searched, "
        f"and at most {MAX_NODES} nodes and {MAX_SETS:,} sets are; treewidth_bounds() takes any graph"
    )


# --- rules that make a graph smaller ---------------------------------------------------------------------------------


def eliminate_safely(neighbors: Neighbors, lower: int) -> tuple[list[set[int]], int]:
    """The graph after all safe eliminations, renumbered, and a lower bound that includes the eliminated nodes."""
    graph = {node: set(others) for node, others in enumerate(neighbors)}
    waiting = set(graph)
    while waiting:
        node = waiting.pop()
        if node not in graph or not is_safe(graph, node, lower):
            continue
        around = graph.pop(node)
        for other in around:
            graph[other] |= around
            graph[other] -= {node, other}
        near = around.union(*(graph[other] for other in around))
        waiting |= near if len(around) <= lower else set(graph)
        lower = max(lower, len(around))
    number = {node: index for index, node in enumerate(graph)}
    return [{number[other] for other in others} for others in graph.values()], lower


def is_safe(graph: dict[int, set[int]], node: int, lower: int) -> bool:
    """Whether some best order begins with this node (Bodlaender, Koster, van den Eijkhof 2005).

    So it is when its neighbours form a clique (it is simplicial); or all but one of them do, and their number is no
    larger than a lower bound on the treewidth.
    """
    around = graph[node]
    if is_clique(graph, around):
        return True
    return len(around) <= lower and any(is_clique(graph, around - {other}) for other in around)


def is_clique(graph: dict[int, set[int]], nodes: Set[int]) -> bool:
    return all(nodes - graph[node] == {node} for node in nodes)


# --- the search over sets of eliminated nodes ------------------------------------------------------------------------


def has_width(neighbors: Neighbors, clique: tuple[int, ...], width: int) -> bool | None:
    """Whether some elimination order has at most this width; None if the search exceeds `MAX_SETS` sets.

    The neighbours of a node at its elimination depend on which nodes went before, not on their order. So sets of
    eliminated nodes grow by one node a step, and each set is kept once (Bodlaender, Fomin, Koster, Kratsch and
    Thilikos 2006). Some best order ends with the clique, any clique; the last `width + 1` nodes can go in any order.
    """
    free = [node for node in range(len(neighbors)) if node not in clique]
    bit = {node: 1 << index for index, node in enumerate([*free, *clique])}
    tables = neighbor_tables([sum(bit[other] for other in neighbors[node]) for node in free])
    gone = np.zeros(1, dtype=np.int64)  # (set,): the sets reached, as bits
    searched = 0
    for _ in range(len(neighbors) - width - 1):
        grown = [add_node(tables, gone, bit[node], width) for node in free]
        gone = np.unique(np.concatenate(grown))
        searched += len(gone)
        if searched > MAX_SETS:
            return None
    return bool(len(gone))


def add_node(tables: list[np.ndarray], gone: np.ndarray, bit: int, width: int) -> np.ndarray:
    """The sets with this node, for those without it after which it has at most `width` neighbours."""
    before = gone[gone & bit == 0]
    inside = np.full(len(before), bit, dtype=np.int64)  # (set,): the node, and what it reaches through the set
    while True:
        around = find_neighbors(tables, inside)
        grown = around & before | bit
        if np.array_equal(grown, inside):
            return before[count_bits(around & ~grown) <= width] | bit
        inside = grown


def neighbor_tables(masks: list[int]) -> list[np.ndarray]:
    """For each sixteen free nodes a table: set of them, as bits → all nodes that are adjacent to one of the set."""
    tables = []
    for start in range(0, len(masks), 16):
        table = np.zeros(1, dtype=np.int64)
        for mask in masks[start : start + 16]:
            table = np.concatenate([table, table | mask])
        tables.append(table)
    return tables


def find_neighbors(tables: list[np.ndarray], sets: np.ndarray) -> np.ndarray:
    around = np.zeros(len(sets), dtype=np.int64)
    for index, table in enumerate(tables):
        around |= table[sets >> 16 * index & 0xFFFF]
    return around


def count_bits(sets: np.ndarray) -> np.ndarray:
    return np.unpackbits(sets.view(np.uint8)).reshape(len(sets), 64).sum(axis=1)
