"""Sets that separate two others in an undirected graph: a minimal one in linear time, a smallest one by flows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Set
from itertools import pairwise
from math import inf

from juncture.graphs.separation import State, path_to, search, undirected_moves
from juncture.graphs.traversal import Steps


def minimal_separator(neighbors: Steps, a: Set[str], b: Set[str], allowed: Set[str]) -> set[str] | None:
    """Allowed nodes that separate a from b, none of which can be spared; None if all of them do not.

    What is first met from a separates, and of that, what is first met from b (van der Zander, Liśkiewicz, Textor 2014).
    """
    nearest_a = first_met(neighbors, a, allowed)
    if search(a, undirected_moves(neighbors, nearest_a), b)[1] is not None:
        return None
    return first_met(neighbors, b, nearest_a)


def first_met(neighbors: Steps, starts: Set[str], stops: Set[str]) -> set[str]:
    """The stops that are reached from the starts before any other stop."""
    reached, _ = search(starts, undirected_moves(neighbors, stops))
    return {other for node, _ in reached for other in neighbors[node] if other in stops}


def minimum_separator(neighbors: Steps, a: Set[str], b: Set[str], allowed: Set[str]) -> set[str] | None:
    """As few allowed nodes as can separate a from b (Menger 1927): as many as there are ways through different ones.

    Each node is a door that one unit of flow can pass, from its entrance (True) to its exit (False).
    """
    if minimal_separator(neighbors, a, b, allowed) is None:
        return None
    flow: Counter[tuple[State, State]] = Counter()

    def has_room(source: State, target: State) -> bool:
        if source[0] == target[0]:
            room = (1 if source[0] in allowed else inf) if source[1] else 0
        else:
            room = inf if target[1] else 0
        return room > flow[source, target]

    def moves(state: State) -> list[State]:
        node, entering = state
        around = [(other, not entering) for other in (node, *neighbors[node])]
        return [target for target in around if has_room(state, target)]

    origins, end = search(a, moves, b)
    while end is not None:
        path = path_to(end, origins)
        for source, target in pairwise(path):
            flow[source, target] += 1
            flow[target, source] -= 1
        origins, end = search(a, moves, b)
    return {node for node, entering in origins if entering and (node, False) not in origins}
