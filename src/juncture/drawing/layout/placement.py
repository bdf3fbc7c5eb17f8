"""Where in its layer each vertex lies: near its neighbours, apart from the others, long edges straight."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from juncture.drawing.layout.alignment import Extents, snap, square, straighten
from juncture.drawing.layout.layers import BEND, BORDER, NODE, LayeredGraph
from juncture.drawing.layout.ordering import Layers

GAPS = {(NODE, NODE): 22.0, (NODE, BEND): 18.0, (BEND, BEND): 12.0, (NODE, BORDER): 14.0, (BEND, BORDER): 10.0}
BORDER_GAP = 10.0
STRAIGHTNESS = {NODE: 1.0, BEND: 2.5, BORDER: 6.0}  # multiplied over both ends of an edge
ROUNDS, WORK_BUDGET, LEAF, PIN = 40, 60_000, 0.3, 1e6
Pull = list[tuple[int, float]]


def assign_x(graph: LayeredGraph, layers: Layers, extents: Extents) -> list[float]:
    """The x coordinate of every vertex; `extents` says how far each reaches to its left and right."""
    apart = _separations(graph, layers, extents)
    x = [0.0] * graph.num_vertices
    down, up = range(len(layers)), range(len(layers) - 1, -1, -1)
    no_pulls: list[Pull] = [[]] * graph.num_vertices
    for number in down:
        _settle(x, layers[number], apart[number], no_pulls)
    above, below = _pulls(graph, graph.above), _pulls(graph, graph.below)
    both = [one + other for one, other in zip(above, below, strict=True)]
    rounds = min(ROUNDS, max(WORK_BUDGET // max(graph.num_vertices, 1), 1))
    for sweep, pulls in [(down, above), (up, below)] * rounds + [(down, both)] * rounds:
        for number in sweep:
            _settle(x, layers[number], apart[number], pulls)
    if graph.borders:
        square(graph, layers, apart, x)
        pinned = [[(vertex, PIN)] if graph.kinds[vertex] == BORDER else pull for vertex, pull in enumerate(both)]
        for number in [*down, *up] * 2:
            _settle(x, layers[number], apart[number], pinned)
        square(graph, layers, apart, x)
    straighten(graph, layers, apart, x)
    snap(graph, layers, apart, x)
    return x


def space_out(wanted: Sequence[float], weights: Sequence[float], gaps: Sequence[float]) -> list[float]:
    """The places nearest to the wanted ones, by weighted squares, with at least the gaps between them.

    Less the summed gaps this is isotonic regression: neighbours in the wrong order are pooled.

    >>> space_out([0, 0, 10], [1, 1, 1], [4, 4])
    [-2.0, 2.0, 10.0]
    """
    offsets = [0.0]
    for gap in gaps:
        offsets.append(offsets[-1] + gap)
    pools: list[tuple[float, float, int]] = []  # mean, weight, count
    for target, weight, offset in zip(wanted, weights, offsets, strict=False):
        mean, total, count = target - offset, weight, 1
        while pools and pools[-1][0] >= mean:
            other_mean, other_total, other_count = pools.pop()
            mean = (mean * total + other_mean * other_total) / (total + other_total)
            total += other_total
            count += other_count
        pools.append((mean, total, count))
    means = [mean for mean, _, count in pools for _ in range(count)]
    return [mean + offset for mean, offset in zip(means, offsets, strict=False)]


def _separations(graph: LayeredGraph, layers: Layers, extents: Extents) -> list[list[float]]:
    def gap(left: int, right: int) -> float:
        one, other = sorted((graph.kinds[left], graph.kinds[right]))
        return extents[left][1] + extents[right][0] + GAPS.get((one, other), BORDER_GAP)

    return [[gap(left, right) for left, right in pairwise(layer)] for layer in layers]


def _pulls(graph: LayeredGraph, neighbours: Sequence[Sequence[int]]) -> list[Pull]:
    strength = [STRAIGHTNESS[kind] for kind in graph.kinds]
    for vertex in range(graph.num_vertices):
        if len(graph.above[vertex]) + len(graph.below[vertex]) == 1:
            strength[vertex] *= LEAF  # leaves make way for the trunk
    return [
        [(other, strength[vertex] * strength[other]) for other in neighbours[vertex]]
        for vertex in range(graph.num_vertices)
    ]


def _settle(x: list[float], layer: Sequence[int], gaps: Sequence[float], pulls: Sequence[Pull]) -> None:
    """Move one layer as near to its neighbours as the gaps allow."""
    wanted, weights = [], []
    for vertex in layer:
        total = sum(weight for _, weight in pulls[vertex])
        wanted.append(sum(x[other] * weight for other, weight in pulls[vertex]) / total if total else x[vertex])
        weights.append(total or 0.05)
    for vertex, center in zip(layer, space_out(wanted, weights, gaps), strict=True):
        x[vertex] = center
