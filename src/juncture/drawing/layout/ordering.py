"""The order of the vertices within their layers: sweeps of barycentres and swaps of neighbours.

Sugiyama, Tagawa and Toda, "Methods for visual understanding of hierarchical system structures", IEEE
Transactions on Systems, Man and Cybernetics 11(2), 1981.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Sequence

from juncture.drawing.layout.layers import LayeredGraph

Layers = list[list[int]]
MAX_SWEEPS, PATIENCE = 30, 8
WORK_BUDGET, LARGE = 120_000, 30_000  # size times sweeps from each start; the size from where one quick start must do


def order(graph: LayeredGraph) -> Layers:
    """The vertices of each layer from left to right, with as few crossings as the sweeps find."""
    starts = (True, False) if graph.size < LARGE else (True,)
    tried = [improve_order(graph, first_order(graph, downwards)) for downwards in starts]
    return min(tried, key=lambda layers: crossings(graph, layers))


def improve_order(graph: LayeredGraph, layers: Layers) -> Layers:
    """The best of a number of sweeps, alternately down and up."""
    best, fewest, idle = layers, crossings(graph, layers), 0
    for sweep in range(min(MAX_SWEEPS, max(WORK_BUDGET // graph.size, 2))):
        layers = sort_by_neighbours(graph, layers, downwards=sweep % 2 == 0)
        layers = swap_neighbours(graph, layers) if graph.size < LARGE else layers
        count = crossings(graph, layers)
        idle = 0 if count < fewest else idle + 1
        if count < fewest:
            best, fewest = layers, count
        if fewest == 0 or idle == PATIENCE:
            break
    return best


def first_order(graph: LayeredGraph, downwards: bool) -> Layers:
    """Depth-first from the outermost layer: trees come out without crossings."""
    ahead, behind = (graph.below, graph.above) if downwards else (graph.above, graph.below)
    layers: Layers = [[] for _ in range(graph.num_layers)]
    seen = [False] * graph.num_vertices
    roots = sorted(range(graph.num_vertices), key=lambda vertex: (bool(behind[vertex]), vertex))
    for root in roots:
        stack = [root]
        while stack:
            vertex = stack.pop()
            if not seen[vertex]:
                seen[vertex] = True
                layers[graph.layer_of[vertex]].append(vertex)
                stack += [other for other in reversed(ahead[vertex]) if not seen[other]]
    return sort_layers(graph, layers, positions(layers)) if graph.borders else layers


def positions(layers: Layers) -> dict[int, float]:
    """Each vertex's position in its layer, counted from the layer's middle."""
    return {vertex: position - (len(layer) - 1) / 2 for layer in layers for position, vertex in enumerate(layer)}


def sort_by_neighbours(graph: LayeredGraph, layers: Layers, downwards: bool) -> Layers:
    """Each layer sorted by the mean position of its neighbours in the layer just sorted."""
    behind = graph.above if downwards else graph.below
    position = positions(layers)
    means = cluster_means(graph, position)
    result = list(layers)
    for number in range(len(layers)) if downwards else reversed(range(len(layers))):
        value = {
            vertex: sum(position[other] for other in behind[vertex]) / len(behind[vertex])
            if behind[vertex]
            else position[vertex]
            for vertex in layers[number]
        }
        result[number] = _sorted_layer(graph, layers[number], value, means)
        for index, vertex in enumerate(result[number]):
            position[vertex] = index - (len(layers[number]) - 1) / 2
    return result


def sort_layers(graph: LayeredGraph, layers: Layers, value: dict[int, float]) -> Layers:
    means = cluster_means(graph, value)
    return [_sorted_layer(graph, layer, value, means) for layer in layers]


def _sorted_layer(
    graph: LayeredGraph, layer: Sequence[int], value: dict[int, float], means: dict[int, float]
) -> list[int]:
    if not graph.borders:
        return sorted(layer, key=value.__getitem__)

    def key(vertex: int) -> list[tuple[float, int]]:
        steps = [
            (means[step.cluster] if step.fixed is None else step.fixed, step.cluster) for step in graph.paths[vertex]
        ]
        return [*steps, (value[vertex], -1)]

    return sorted(layer, key=key)


def cluster_means(graph: LayeredGraph, position: dict[int, float]) -> dict[int, float]:
    """The mean position of the neighbours outside each cluster: the same in all layers, so that none twist."""
    if not graph.borders:
        return {}
    members: dict[int, list[int]] = {}
    for vertex, path in enumerate(graph.paths):
        for step in path:
            if step.fixed is None:
                members.setdefault(step.cluster, []).append(vertex)
    means = {}
    for cluster, inside in members.items():
        own = set(inside)
        around = [
            position[other]
            for vertex in inside
            for other in graph.above[vertex] + graph.below[vertex]
            if other not in own
        ]
        pulls = around or [position[vertex] for vertex in inside]
        means[cluster] = sum(pulls) / len(pulls)
    return means


def swap_neighbours(graph: LayeredGraph, layers: Layers) -> Layers:
    """Neighbours exchanged wherever that removes a crossing."""
    position = {vertex: index for layer in layers for index, vertex in enumerate(layer)}
    result = [list(layer) for layer in layers]
    for _ in range(3):
        changed = False
        for layer in result:
            for index in range(len(layer) - 1):
                left, right = layer[index], layer[index + 1]
                if graph.paths[left] == graph.paths[right] and _gain(graph, left, right, position) > 0:
                    layer[index], layer[index + 1] = right, left
                    position[left], position[right] = index + 1, index
                    changed = True
        if not changed:
            break
    return result


def _gain(graph: LayeredGraph, left: int, right: int, position: dict[int, int]) -> int:
    """How many crossings fewer there are when the two are exchanged."""
    gain = 0
    for neighbours in (graph.above, graph.below):
        if neighbours[left] and neighbours[right]:
            theirs = sorted(position[other] for other in neighbours[right])
            for other in neighbours[left]:
                gain += bisect_left(theirs, position[other]) + bisect_right(theirs, position[other]) - len(theirs)
    return gain


def crossings(graph: LayeredGraph, layers: Layers) -> int:
    """The number of pairs of edges that cross, counted as inversions in O(E log E)."""
    position = {vertex: index for layer in layers for index, vertex in enumerate(layer)}
    total = 0
    for layer in layers[:-1]:
        seen: list[int] = []
        for vertex in layer:
            ends = sorted(position[other] for other in graph.below[vertex])
            total += sum(len(seen) - bisect_right(seen, end) for end in ends)
            for end in ends:
                insort(seen, end)
    return total
