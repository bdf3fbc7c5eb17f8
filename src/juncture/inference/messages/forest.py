"""Walks in a forest: from the roots outwards, and the cycle that shows that a graph is none."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import TypeAlias

from juncture.checks import check_kind
from juncture.graphs.undirected import UndirectedGraph

Edge: TypeAlias = tuple[str, str]
"""(sender, receiver)."""
Parents: TypeAlias = Mapping[str, str | None]
"""Node → the next node on the way to the root, None at a root; nodes come breadth first."""


def rooted(graph: UndirectedGraph, root: str | None = None) -> Parents:
    """The graph hung up at the root; parts that it does not reach, at their first nodes."""
    parents: dict[str, str | None] = {}
    if root is not None:
        check_kind(root, str, "the root")
    for start in graph.nodes if root is None else (root, *graph.nodes):
        if start in parents:
            continue
        parents[start] = None
        queue = deque([start])
        while queue:
            node = queue.popleft()
            for other in graph.neighbors(node):
                if other not in parents:
                    parents[other] = node
                    queue.append(other)
    return parents


def find_cycle(graph: UndirectedGraph) -> list[str] | None:
    """Nodes along a cycle, the first again at the end; None if the graph is a forest."""
    parents = rooted(graph)
    for one, other in graph.edges:
        if parents[one] != other and parents[other] != one:
            up, down = way_to_root(one, parents), way_to_root(other, parents)
            meeting = next(node for node in up if node in set(down))
            return [*up[: up.index(meeting) + 1], *reversed(down[: down.index(meeting)]), one]
    return None


def way_to_root(node: str, parents: Parents) -> list[str]:
    way, above = [node], parents[node]
    while above is not None:
        way.append(above)
        above = parents[above]
    return way


def collect_order(parents: Parents) -> list[Edge]:
    """Each node to its parent, the deepest first: all that a node needs has come when it sends."""
    depths: dict[str, int] = {}
    for node, parent in parents.items():
        depths[node] = 0 if parent is None else depths[parent] + 1
    edges = [(node, parent) for node, parent in parents.items() if parent is not None]
    return sorted(edges, key=lambda edge: -depths[edge[0]])


def children(parents: Parents) -> dict[str, list[str]]:
    """Node → the nodes that hang on it, in the order in which all nodes come."""
    below: dict[str, list[str]] = {node: [] for node in parents}
    for node, parent in parents.items():
        if parent is not None:
            below[parent].append(node)
    return below
