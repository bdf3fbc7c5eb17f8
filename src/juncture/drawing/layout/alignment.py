"""Finishing touches to the places: straight long edges, nodes in line, frames with right angles."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from juncture.drawing.layout.layers import BEND, NODE, LayeredGraph
from juncture.drawing.layout.ordering import Layers

SNAP = 12.0
MAX_ROOM, CLEARANCE = 40.0, 7.0
Extents = Sequence[tuple[float, float]]


def straighten(graph: LayeredGraph, layers: Layers, apart: Sequence[Sequence[float]], x: list[float]) -> None:
    """Make the bends of a long edge lie straight under each other where there is room."""
    room = _room(layers, apart, x)
    for chain in sorted(graph.chains, key=len, reverse=True):
        bends = chain[1:-1]
        if bends:
            sides = [room(bend) for bend in bends]
            low, high = max(side[0] for side in sides), min(side[1] for side in sides)
            mean = sum(x[bend] for bend in bends) / len(bends)
            if low <= high:
                for bend in bends:
                    x[bend] = min(max(mean, low), high)


def snap(graph: LayeredGraph, layers: Layers, apart: Sequence[Sequence[float]], x: list[float]) -> None:
    """Line up a node with a neighbour it nearly lies under, so that edges are not almost vertical."""
    room = _room(layers, apart, x)
    lined_up: set[int] = set()
    nodes = [vertex for vertex in range(graph.num_vertices) if graph.kinds[vertex] == NODE]
    for vertex in sorted(nodes, key=lambda vertex: len(graph.above[vertex]) + len(graph.below[vertex])):
        around = [other for other in graph.above[vertex] + graph.below[vertex] if graph.kinds[other] == NODE]
        near = [other for other in around if abs(x[other] - x[vertex]) <= SNAP]
        if near and vertex not in lined_up:
            target = min(near, key=lambda other: abs(x[other] - x[vertex]))
            low, high = room(vertex)
            if low <= x[target] <= high:
                x[vertex] = x[target]
                lined_up |= {vertex, target}


def free_room(graph: LayeredGraph, layers: Layers, extents: Extents, x: Sequence[float]) -> list[float]:
    """How far sideways from each vertex there is neither a node nor a border."""
    room = [MAX_ROOM] * graph.num_vertices
    for layer in layers:
        for side, vertices in ((1, layer), (-1, layer[::-1])):
            edge = -float("inf")
            for vertex in vertices:
                room[vertex] = min(room[vertex], max(side * x[vertex] - edge - CLEARANCE, 1.0))
                if graph.kinds[vertex] != BEND:
                    edge = side * x[vertex] + extents[vertex][1 if side == 1 else 0]
    return room


def _room(layers: Layers, apart: Sequence[Sequence[float]], x: list[float]) -> Callable[[int], tuple[float, float]]:
    """The largest distance that a vertex can move between its present neighbours."""
    where = {vertex: (number, index) for number, layer in enumerate(layers) for index, vertex in enumerate(layer)}

    def room(vertex: int) -> tuple[float, float]:
        number, index = where[vertex]
        layer, gaps = layers[number], apart[number]
        low = x[layer[index - 1]] + gaps[index - 1] if index else float("-inf")
        high = x[layer[index + 1]] - gaps[index] if index + 1 < len(layer) else float("inf")
        return low, high

    return room


def square(graph: LayeredGraph, layers: Layers, apart: Sequence[Sequence[float]], x: list[float]) -> None:
    """Push to the right until every border of a group is one vertical line with the others beyond it."""
    sides = [side for pair in graph.borders for side in pair]
    for _ in range(graph.num_vertices):
        before = list(x)
        for side in sides:
            line = max(x[vertex] for vertex in side)
            for vertex in side:
                x[vertex] = line
        for layer, gaps in zip(layers, apart, strict=True):
            for left, right, gap in zip(layer, layer[1:], gaps, strict=False):
                x[right] = max(x[right], x[left] + gap)
        if x == before:
            break
