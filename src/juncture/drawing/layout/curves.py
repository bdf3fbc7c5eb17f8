"""The course of the edges: from border to border, attached side by side, through their bends."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import sqrt
from typing import NamedTuple

from juncture.drawing.boxes import Box, symbol_radius
from juncture.drawing.diagram import SYMBOLS, Node
from juncture.drawing.layout.placement import space_out
from juncture.drawing.layout.splines import Curve, Gate, Point, smooth

PORT_GAP, PORT_LEAN, CORNER, STRAIGHT_WEIGHT = 11.0, 0.16, 12.0, 20.0


class End(NamedTuple):
    """One end of an edge: its node, where it goes from there, and whether it passes other layers."""

    node: int
    towards: float
    is_long: bool


def draw_curves(
    nodes: Sequence[Node], boxes: Sequence[Box], chains: Sequence[Sequence[int]], gates: Sequence[Gate]
) -> list[Curve]:
    """A curve downwards for each chain of a node, bends and a node; `gates` are where all vertices lie."""
    starts = _attach(nodes, boxes, [End(chain[0], gates[chain[1]].x, len(chain) > 2) for chain in chains])
    ends = _attach(nodes, boxes, [End(chain[-1], gates[chain[-2]].x, len(chain) > 2) for chain in chains])
    lines = []
    for chain, start_x, end_x in zip(chains, starts, ends, strict=True):
        upper, lower = chain[0], chain[-1]
        start = Point(start_x, boxes[upper].middle + border(nodes[upper], boxes[upper], start_x))
        end = Point(end_x, boxes[lower].middle - border(nodes[lower], boxes[lower], end_x))
        passed = merge_gates(gates[bend] for bend in chain[1:-1])
        below = _middle(passed[0]) if passed else end
        above = _middle(passed[-1]) if passed else start
        if gates[upper].bottom - start.y > CORNER:  # the node is lower than its neighbours: curve only past them
            passed.insert(0, _way_out(start, below, gates[upper].bottom, gates[upper].room))
        if end.y - gates[lower].top > CORNER:
            passed.append(_way_out(end, above, gates[lower].top, gates[lower].room))
        lines.append(smooth(start, passed, end))
    return lines


def merge_gates(gates: Iterable[Gate]) -> list[Gate]:
    """The gates with those straight under each other made one."""
    result: list[Gate] = []
    for gate in gates:
        if result and abs(result[-1].x - gate.x) < 0.01:
            result[-1] = Gate(gate.x, result[-1].top, gate.bottom, min(result[-1].room, gate.room))
        else:
            result.append(gate)
    return result


def _middle(gate: Gate) -> Point:
    return Point(gate.x, (gate.top + gate.bottom) / 2)


def _way_out(port: Point, towards: Point, y: float, room: float) -> Gate:
    """Where an edge leaves the layer of its node at y: a little on its way, within the room."""
    step = (towards.x - port.x) * (y - port.y) / (towards.y - port.y) / 2
    x = port.x + min(max(step, -room), room)
    return Gate(x, y - 1, y + 1, 1.0)


def border(node: Node, box: Box, x: float) -> float:
    """How far above and below its middle the outline of a node lies at this x."""
    half_height = (box.bottom - box.top) / 2
    if node.bars:
        return half_height
    if node.kind == "factor":
        return symbol_radius(node)
    half_width = (box.right - box.left) / 2
    if node.kind == "decision":
        return half_height
    if node.kind == "utility":
        return half_height * max(1 - abs(x - box.center) / half_width, 0.0)
    if node.kind != "variable":
        return sqrt(max(symbol_radius(node) ** 2 - (x - box.center) ** 2, 0.0))
    radius = min(half_width, half_height)  # of the round ends of a pill, which may stand upright
    beyond = max(abs(x - box.center) - (half_width - radius), 0.0)
    return half_height - radius + sqrt(max(radius**2 - beyond**2, 0.0))


def reach(node: Node, box: Box) -> float:
    """How far from the centre of a node its edges may attach."""
    if node.kind in SYMBOLS:
        return symbol_radius(node) * 0.6
    half_width = (box.right - box.left) / 2
    if node.kind == "utility":
        return 0.3 * half_width
    half_height = (box.bottom - box.top) / 2
    return half_width - CORNER if node.bars else half_width - 0.5 * min(half_width, half_height)


def _attach(nodes: Sequence[Node], boxes: Sequence[Box], ends: Sequence[End]) -> list[float]:
    """The x where each edge meets its node."""
    by_node: dict[int, list[int]] = {}
    for number, end in enumerate(ends):
        by_node.setdefault(end.node, []).append(number)
    xs = [0.0] * len(ends)
    for node, numbers in by_node.items():
        side = ports(boxes[node].center, reach(nodes[node], boxes[node]), [ends[number] for number in numbers])
        for number, x in zip(numbers, side, strict=True):
            xs[number] = x
    return xs


def ports(center: float, reach: float, ends: Sequence[End]) -> list[float]:
    """Places along a side of a node: leaning towards where the edges go, in that order, side by side."""
    ranked = sorted(range(len(ends)), key=lambda index: (ends[index].towards, index))
    gap = min(PORT_GAP, 2 * reach / max(len(ends) - 1, 1))
    wanted = [_wanted(ends[index].towards - center, reach, ends[index].is_long) for index in ranked]
    weights = [STRAIGHT_WEIGHT if abs(ends[index].towards - center) < 1 else 1.0 for index in ranked]
    xs = space_out(wanted, weights, [gap] * (len(wanted) - 1))
    result = [0.0] * len(ends)
    for order, (index, x) in enumerate(zip(ranked, xs, strict=True)):
        first, last = order * gap - reach, reach - (len(ends) - 1 - order) * gap
        result[index] = center + min(max(x, first), last)
    return result


def _wanted(step: float, reach: float, is_long: bool) -> float:
    if is_long and abs(step) <= reach:
        return step  # a long edge that can come in straight does
    return min(max(step * PORT_LEAN, -reach), reach)
