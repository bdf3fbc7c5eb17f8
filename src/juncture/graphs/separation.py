"""Bayes ball: where open trails lead, in time linear in nodes and edges.

A ball stands on a node, and remembers whether it came there along an arrow. What it may do next depends on both.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterable, Set

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
