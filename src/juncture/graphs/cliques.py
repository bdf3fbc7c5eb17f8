"""Cliques and chords; nodes are positions, and a graph is the set of neighbours of each."""

from __future__ import annotations

from collections.abc import Sequence, Set

Neighbors = Sequence[Set[int]]


def maximal_cliques(neighbors: Neighbors) -> list[tuple[int, ...]]:
    """All maximal cliques, sorted (Bron and Kerbosch 1973, with the pivot of Tomita, Tanaka and Takahashi 2006).

    A clique grows by candidates, which are joined to all of it. Every maximal clique holds the pivot or one
    that is not its neighbour, so only those need to be tried. What was tried is excluded from then on.
    """
    cliques: list[tuple[int, ...]] = []
    stack: list[tuple[tuple[int, ...], set[int], set[int]]] = [((), set(range(len(neighbors))), set())]
    while stack:
        clique, candidates, excluded = stack.pop()
        if not candidates:
            if clique and not excluded:
                cliques.append(tuple(sorted(clique)))
            continue
        for node in candidates - neighbors[pivot(candidates, excluded, neighbors)]:
            stack.append(((*clique, node), candidates & neighbors[node], excluded & neighbors[node]))
            candidates.remove(node)
            excluded.add(node)
    return sorted(cliques)


def pivot(candidates: Set[int], excluded: Set[int], neighbors: Neighbors) -> int:
    """The node with the most neighbours among the candidates."""
    return max(candidates | excluded, key=lambda node: len(candidates & neighbors[node]))


def is_chordal(neighbors: Neighbors) -> bool:
    """Whether each node's earlier neighbours form a clique in a maximum cardinality order (Tarjan and Yannakakis 1984).

    It is enough that all of them are joined to the latest of them.
    """
    order = maximum_cardinality_order(neighbors)
    place = {node: position for position, node in enumerate(order)}
    for node in order:
        earlier = {other for other in neighbors[node] if place[other] < place[node]}
        if earlier:
            latest = max(earlier, key=place.__getitem__)
            if not earlier - {latest} <= neighbors[latest]:
                return False
    return True


def maximum_cardinality_order(neighbors: Neighbors) -> list[int]:
    """All nodes, each time one with the most neighbours already placed; in time linear in nodes and edges."""
    count = [0] * len(neighbors)  # placed neighbours of each node
    buckets: list[list[int]] = [list(range(len(neighbors)))]  # by that count; a node stays behind when it moves up
    order: dict[int, None] = {}
    while buckets:
        if not buckets[-1]:
            buckets.pop()
            continue
        node = buckets[-1].pop()
        if node in order:
            continue
        order[node] = None
        for other in neighbors[node]:
            if other in order:
                continue
            count[other] += 1
            if count[other] == len(buckets):
                buckets.append([])
            buckets[count[other]].append(other)
    return list(order)
