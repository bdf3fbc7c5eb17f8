"""Which end of each edge is the upper one: along the arrows, or away from a good root."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

Link = tuple[int, int, bool]  # source, target, directed
Arc = tuple[int, int]  # upper end, lower end


def orient(num_vertices: int, links: Sequence[Link]) -> list[Arc]:
    """Every link as (upper, lower), in the given order and without a cycle; arrows of a cycle may turn."""
    directed = any(link[2] for link in links)
    order = arrow_order(num_vertices, links) if directed else breadth_first_order(num_vertices, links)
    position = {vertex: index for index, vertex in enumerate(order)}
    return [(a, b) if position[a] < position[b] else (b, a) for a, b, _ in links]


def neighbour_lists(num_vertices: int, links: Sequence[Link]) -> list[list[int]]:
    lists: list[list[int]] = [[] for _ in range(num_vertices)]
    for source, target, _ in links:
        lists[source].append(target)
        lists[target].append(source)
    return lists


def components(num_vertices: int, links: Sequence[Link]) -> list[list[int]]:
    """The connected parts, each sorted, in the order of their first vertex."""
    neighbours = neighbour_lists(num_vertices, links)
    seen: set[int] = set()
    parts = []
    for root in range(num_vertices):
        if root not in seen:
            part = sorted(distances(root, neighbours))
            seen.update(part)
            parts.append(part)
    return parts


def arrow_order(num_vertices: int, links: Sequence[Link]) -> list[int]:
    """A topological order of the arrows; where a cycle blocks it, the vertex with most arrows out goes first."""
    children: list[list[int]] = [[] for _ in range(num_vertices)]
    waiting = dict.fromkeys(range(num_vertices), 0)
    for source, target, directed in links:
        if directed:
            children[source].append(target)
            waiting[target] += 1
    ready = deque(vertex for vertex, count in waiting.items() if count == 0)
    order = []
    while waiting:
        if not ready:
            ready.append(max(waiting, key=lambda vertex: len(children[vertex]) - waiting[vertex]))
        vertex = ready.popleft()
        del waiting[vertex]
        order.append(vertex)
        for child in children[vertex]:
            if child in waiting:
                waiting[child] -= 1
                if waiting[child] == 0 and child not in ready:
                    ready.append(child)
    return order


def breadth_first_order(num_vertices: int, links: Sequence[Link]) -> list[int]:
    """Each component away from that root which leaves the fewest links within a distance."""
    neighbours = neighbour_lists(num_vertices, links)
    order: list[int] = []
    for part in components(num_vertices, links):
        first = part[0]
        busiest = max(part, key=lambda vertex: (len(neighbours[vertex]), -vertex))
        outermost = list(distances(first, neighbours))[-1]
        root = min((first, busiest, outermost), key=lambda root: _level_links(root, neighbours))
        order += distances(root, neighbours)
    return order


def distances(root: int, neighbours: Sequence[Sequence[int]]) -> dict[int, int]:
    """The number of links from the root to each vertex it reaches, nearest first."""
    found = {root: 0}
    queue = deque([root])
    while queue:
        vertex = queue.popleft()
        for neighbour in neighbours[vertex]:
            if neighbour not in found:
                found[neighbour] = found[vertex] + 1
                queue.append(neighbour)
    return found


def _level_links(root: int, neighbours: Sequence[Sequence[int]]) -> int:
    level = distances(root, neighbours)
    return sum(level[vertex] == level[other] for vertex in level for other in neighbours[vertex])
