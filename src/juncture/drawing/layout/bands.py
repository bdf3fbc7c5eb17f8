"""The top and bottom of every layer."""

from __future__ import annotations

from collections.abc import Sequence

from juncture.drawing.boxes import Extent
from juncture.drawing.layout.frames import Margins
from juncture.drawing.layout.layers import LayeredGraph

LAYER_GAP, SLANT, MAX_SLANT, LEAST_HALF_HEIGHT = 44.0, 0.1, 100.0, 5.0
Band = tuple[float, float]


def place_layers(graph: LayeredGraph, x: Sequence[float], extents: Sequence[Extent], margins: Margins) -> list[Band]:
    """The layers from the top down, farther apart where edges go far sideways and where frames begin or end."""
    half = [LEAST_HALF_HEIGHT] * graph.num_layers
    for own, layer in zip(extents, graph.layer_of, strict=False):
        half[layer] = max(half[layer], own.half_height)
    before, after = _frame_room(graph, margins)
    step = _longest_steps(graph, x)
    result: list[Band] = []
    bottom = 0.0
    for layer in range(graph.num_layers):
        top = bottom + before[layer]
        result.append((top, top + 2 * half[layer]))
        bottom = result[-1][1] + after[layer] + LAYER_GAP + min(step[layer] * SLANT, MAX_SLANT)
    return result


def _longest_steps(graph: LayeredGraph, x: Sequence[float]) -> list[float]:
    """How far sideways the edges below each layer go at most."""
    step = [0.0] * graph.num_layers
    for upper, layer in enumerate(graph.layer_of):
        step[layer] = max([step[layer], *(abs(x[upper] - x[lower]) for lower in graph.below[upper])])
    return step


def _frame_room(graph: LayeredGraph, margins: Margins) -> tuple[list[float], list[float]]:
    """What the frames that begin above and end below each layer take there."""
    before, after = [0.0] * graph.num_layers, [0.0] * graph.num_layers
    for (left, _), above, below in zip(graph.borders, margins.above, margins.below, strict=True):
        first, last = graph.layer_of[left[0]], graph.layer_of[left[-1]]
        before[first] = max(before[first], above)
        after[last] = max(after[last], below)
    return before, after
