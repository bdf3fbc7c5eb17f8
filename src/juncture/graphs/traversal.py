"""Traversals of graphs that are given as a table from each node to the next nodes; none is recursive."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping, Sequence

Steps = Mapping[str, tuple[str, ...]]


def reachable(starts: Iterable[str], steps: Steps) -> set[str]:
    """Every node that can be reached from the starts, without the starts themselves."""
    starts = set(starts)
    reached, stack = set(starts), list(starts)
    while stack:
        for node in steps[stack.pop()]:
            if node not in reached:
                reached.add(node)
                stack.append(node)
    return reached - starts


def topological_order(nodes: Sequence[str], parents: Steps, children: Steps) -> tuple[str, ...]:
    """Parents before children; of the nodes whose parents are all placed, the earliest in `nodes` comes next.

    Nodes on a cycle, and their descendants, never have all parents placed: they are left out.
    """
    positions = {node: position for position, node in enumerate(nodes)}
    waiting = {node: len(parents[node]) for node in nodes}
    ready = [positions[node] for node in nodes if not waiting[node]]
    order: list[str] = []
    while ready:
        node = nodes[heapq.heappop(ready)]
        order.append(node)
        for child in children[node]:
            waiting[child] -= 1
            if not waiting[child]:
                heapq.heappush(ready, positions[child])
    return tuple(order)


def find_cycle(nodes: Sequence[str], parents: Steps) -> list[str]:
    """A directed cycle among nodes that each have a parent among them, from its earliest node."""
    among = set(nodes)
    position: dict[str, int] = {}  # of each node on the path upwards
    node = nodes[0]
    while node not in position:
        position[node] = len(position)
        node = next(parent for parent in parents[node] if parent in among)
    cycle = list(position)[position[node] :][::-1]
    positions = {name: position for position, name in enumerate(nodes)}
    first = min(range(len(cycle)), key=lambda start: positions[cycle[start]])
    return cycle[first:] + cycle[:first]


def components(nodes: Sequence[str], neighbors: Steps) -> tuple[tuple[str, ...], ...]:
    """The connected parts, each in the order of `nodes`, and ordered by their first nodes."""
    part_of: dict[str, int] = {}
    parts: list[list[str]] = []
    for node in nodes:
        if node not in part_of:
            part_of.update(dict.fromkeys({node} | reachable([node], neighbors), len(parts)))
            parts.append([])
        parts[part_of[node]].append(node)
    return tuple(tuple(part) for part in parts)
