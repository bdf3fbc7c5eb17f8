"""Bayes ball: where open trails lead, in time linear in nodes and edges; minimal and minimum separators.

The state of a ball is its node, and whether it arrived along an arrow. Its next moves depend on both.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Collection, Iterable, Set
from itertools import pairwise
from math import inf

from juncture.graphs.traversal import Steps, reachable

State = tuple[str, bool]  # a node, and whether the ball came to it along an arrow
Moves = Callable[[State], Iterable[State]]
Origins = dict[State, State | None]


def directed_moves(parents: Steps, children: Steps, given: Set[str]) -> Moves:
    """The rules in a directed graph: a node that is given stops the ball, except that a collider then sends it on.

    A collider lets the ball pass from parent to parent if it, or a descendant of it, is given.
    """
    open_colliders = given | reachable(given, parents)

    def moves(state: State) -> list[State]:
        node, along_arrow = state
        goes_up = node in open_colliders if along_arrow else node not in given
        found = [(parent, False) for parent in parents[node]] if goes_up else []
        return found if node in given else found + [(child, True) for child in children[node]]

    return moves


def undirected_moves(neighbors: Steps, given: Set[str]) -> Moves:
    """The rule in an undirected graph: anywhere that is not given."""

    def moves(state: State) -> list[State]:
        return [(other, False) for other in neighbors[state[0]] if other not in given]

    return moves


def search(starts: Iterable[str], moves: Moves, targets: Collection[str] = ()) -> tuple[Origins, State | None]:
    """Where each state was first come from, nearest first, and the first state at a target; there it stops."""
    origins: Origins = {(node, False): None for node in starts}
    queue = deque(origins)
    while queue:
        here = queue.popleft()
        for there in moves(here):
            if there not in origins:
                origins[there] = here
                if there[0] in targets:
                    return origins, there
                queue.append(there)
    return origins, None


def path_to(end: State, origins: Origins) -> list[State]:
    """The states from a start to this one."""
    path: list[State] = []
    state: State | None = end
    while state is not None:
        path.append(state)
        state = origins[state]
    return path[::-1]


def minimal_separator(neighbors: Steps, a: Set[str], b: Set[str], allowed: Set[str]) -> set[str] | None:
    """Allowed nodes that separate a from b, none of which can be spared; None if all of them do not.

    What is first met from a separates, and of that, what is first met from b (van der Zander, Liśkiewicz, Textor 2014).
    """
    nearest_a = find_first_met(neighbors, a, allowed)
    if search(a, undirected_moves(neighbors, nearest_a), b)[1] is not None:
        return None
    return find_first_met(neighbors, b, nearest_a)


def find_first_met(neighbors: Steps, starts: Set[str], stops: Set[str]) -> set[str]:
    """The stops that are reached from the starts before any other stop."""
    reached, _ = search(starts, undirected_moves(neighbors, stops))
    return {other for node, _ in reached for other in neighbors[node] if other in stops}


def minimum_separator(neighbors: Steps, a: Set[str], b: Set[str], allowed: Set[str]) -> set[str] | None:
    """As few allowed nodes as can separate a from b (Menger 1927): as many as there are disjoint paths.

    Each allowed node has capacity one, from its entrance (True) to its exit (False).
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
