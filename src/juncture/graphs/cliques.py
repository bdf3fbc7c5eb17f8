"""Cliques, perfect elimination orders and clique trees. Nodes are positions; a graph lists the neighbours of each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set

Neighbors = Sequence[Set[int]]


def maximal_cliques(neighbors: Neighbors) -> list[tuple[int, ...]]:
    """All maximal cliques, sorted (Bron and Kerbosch 1973, with the pivot of Tomita, Tanaka and Takahashi 2006).

    A clique grows by candidates, which are adjacent to all its members. Every maximal clique holds the pivot or one
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
    """Every set of nodes that are adjacent to one another, single nodes too; a clique is extended by later nodes."""
    stack: list[tuple[tuple[int, ...], set[int]]] = [
        ((node,), {other for other in neighbors[node] if other > node}) for node in range(len(neighbors))
    ]
    while stack:
        clique, candidates = stack.pop()
        yield clique
        stack.extend(
            ((*clique, node), {other for other in candidates & neighbors[node] if other > node}) for node in candidates
        )


def perfect_order(neighbors: Neighbors) -> list[int] | None:
    """An order in which no elimination adds an edge, or None if there is none: the graph is not chordal.

    A maximum cardinality order, reversed, is perfect if any order is (Tarjan and Yannakakis 1984).
    """
    order = maximum_cardinality_order(neighbors)[::-1]
    return order if is_perfect(neighbors, order) else None


def is_perfect(neighbors: Neighbors, order: Sequence[int]) -> bool:
    """Whether each node's later neighbours form a clique; it is enough that all are adjacent to the first of them."""
    position = positions(order)
    for later in later_neighbors(neighbors, order):
        if later:
            first = min(later, key=position.__getitem__)
            if not later - {first} <= neighbors[first]:
                return False
    return True


def clique_tree(
    order: Sequence[int], separators: Sequence[set[int]]
) -> tuple[list[tuple[int, ...]], list[tuple[int, int]]]:
    """The maximal cliques that elimination makes, sorted, and the edges of a tree of them with the largest separators.

    The separator of a node is its set of neighbours when it is eliminated; they lie in the clique of the first of them
    in the order. Nodes are added in reverse order (Blair and Peyton 1993): if the separator is all of that clique, the
    node joins it; else a new clique begins, with an edge to it. An unconnected graph gives a forest.
    """
    position = positions(order)
    cliques: list[set[int]] = []
    edges: list[tuple[int, int]] = []
    clique_of: dict[int, int] = {}  # the clique that a node joined or began
    for node, separator in zip(reversed(order), reversed(separators), strict=True):
        parent = clique_of[min(separator, key=position.__getitem__)] if separator else None
        if parent is not None and len(cliques[parent]) == len(separator):
            clique_of[node] = parent
            cliques[parent].add(node)
            continue
        clique_of[node] = len(cliques)
        if parent is not None:
            edges.append((parent, len(cliques)))
        cliques.append(separator | {node})
    return in_order(cliques, edges)


def in_order(
    cliques: Sequence[set[int]], edges: Iterable[tuple[int, int]]
) -> tuple[list[tuple[int, ...]], list[tuple[int, int]]]:
    """The same tree with cliques, and then edges, sorted."""
    rows = [tuple(sorted(clique)) for clique in cliques]
    ranks = positions(sorted(range(len(rows)), key=rows.__getitem__))
    pairs = (sorted((ranks[one], ranks[other])) for one, other in edges)
    return sorted(rows), sorted((first, second) for first, second in pairs)


def later_neighbors(neighbors: Neighbors, order: Sequence[int]) -> list[set[int]]:
    """For each node of the order its neighbours that come after it."""
    position = positions(order)
    return [{other for other in neighbors[node] if position[other] > position[node]} for node in order]


def positions(order: Sequence[int]) -> dict[int, int]:
    return {node: position for position, node in enumerate(order)}


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
