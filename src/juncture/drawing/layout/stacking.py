"""Wide fans of leaves, such as the features of a naive Bayes model, stacked in several layers."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from math import sqrt

from juncture.drawing.layout.orientation import Arc

MIN_LIMIT, ROUNDNESS, BEND_WIDTH, NODE_GAP, LAYER_HEIGHT = 1000.0, 1.3, 12.0, 22.0, 90.0
SMALLEST_FAN = 6


def stack_leaves(ranks: Sequence[int], arcs: Sequence[Arc], widths: Sequence[float]) -> list[int]:
    """The same layers, but where one is too wide, part of its leaves in the next one, and so on down."""
    result = list(ranks)
    limit = max(MIN_LIMIT, ROUNDNESS * sqrt(sum(width + NODE_GAP for width in widths) * LAYER_HEIGHT))
    leaves, crossing = fans(len(ranks), arcs), passing(ranks, arcs)
    used = [0.0] * len(crossing)  # by the nodes of each layer
    for vertex, layer in enumerate(ranks):
        used[layer] += widths[vertex] + NODE_GAP
    number = 0
    while number < len(used):
        excess = used[number] + (crossing[number] if number < len(crossing) else 0) * BEND_WIDTH - limit
        for fan in leaves if excess > 0 else ():
            here = [leaf for leaf in fan if result[leaf] == number]
            if excess > 0 and len(here) >= SMALLEST_FAN:
                used += [0.0] * (number + 2 - len(used))
                for leaf in surplus(here, excess, widths):
                    result[leaf] += 1
                    used[number + 1] += widths[leaf] + NODE_GAP
                    excess -= widths[leaf] + NODE_GAP - BEND_WIDTH
        number += 1
    return result


def passing(ranks: Sequence[int], arcs: Sequence[Arc]) -> list[int]:
    """How many arcs pass each layer; the arc of a leaf that moves down ends in the layer where the leaf is counted."""
    changes = [0] * (max(ranks, default=-1) + 2)
    for upper, lower in arcs:
        changes[ranks[upper] + 1] += 1
        changes[ranks[lower]] -= 1
    return list(accumulate(changes))[:-1]


def surplus(fan: Sequence[int], excess: float, widths: Sequence[float]) -> list[int]:
    """Leaves to move out: all but every second, third or fourth, whichever first makes up for the excess."""
    moved: list[int] = []
    for step in (2, 3, 4):
        moved = [leaf for index, leaf in enumerate(fan) if index % step]
        if sum(widths[leaf] + NODE_GAP - BEND_WIDTH for leaf in moved) >= excess:
            break
    return moved


def fans(num_vertices: int, arcs: Sequence[Arc]) -> list[list[int]]:
    """The leaves below each vertex, the most numerous first; a leaf has one arc and that comes from above."""
    degree = [0] * num_vertices
    for upper, lower in arcs:
        degree[upper] += 1
        degree[lower] += 1
    below: dict[int, list[int]] = {}
    for upper, lower in arcs:
        if degree[lower] == 1:
            below.setdefault(upper, []).append(lower)
    return sorted(below.values(), key=len, reverse=True)
