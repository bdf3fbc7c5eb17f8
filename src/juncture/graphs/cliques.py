"""Cliques of a graph, all or only the maximal ones; nodes are positions, a graph is the set of neighbours of each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set

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


def all_cliques(neighbors: Neighbors) -> Iterator[tuple[int, ...]]:
    """Every set of nodes that are joined to one another, single nodes too; each grows by later nodes."""
    stack: list[tuple[tuple[int, ...], set[int]]] = [
        ((node,), {other for other in neighbors[node] if other > node}) for node in range(len(neighbors))
    ]
    while stack:
        clique, candidates = stack.pop()
        yield clique
        stack.extend(
            ((*clique, node), {other for other in candidates & neighbors[node] if other > node}) for node in candidates
        )
