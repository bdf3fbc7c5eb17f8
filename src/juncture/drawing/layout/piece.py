"""One connected part of a diagram, laid out from its own upper left corner."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from juncture.drawing.boxes import Box, Extent, extent
from juncture.drawing.diagram import Group, Node
from juncture.drawing.layout.alignment import free_room
from juncture.drawing.layout.bands import Band, place_layers
from juncture.drawing.layout.curves import draw_curves
from juncture.drawing.layout.frames import Margins, frame_margins, side_padding
from juncture.drawing.layout.layers import LayeredGraph, build_layers
from juncture.drawing.layout.nesting import Members
from juncture.drawing.layout.ordering import order
from juncture.drawing.layout.orientation import Arc, Link, orient
from juncture.drawing.layout.placement import assign_x
from juncture.drawing.layout.ranking import rank
from juncture.drawing.layout.splines import Curve, Gate, Point
from juncture.drawing.layout.stacking import stack_leaves


@dataclass(frozen=True)
class Part:
    """Nodes with the links and groups among them, by number."""

    nodes: Sequence[Node]
    links: Sequence[Link]
    groups: Sequence[Group]
    members: Sequence[Members]
    is_turned: bool = False  # whether its layers go from left to right


@dataclass(frozen=True)
class Piece:
    """Boxes of the nodes, curves of the links and frames of the groups, in the order of the part."""

    boxes: list[Box]
    curves: list[Curve]
    frames: list[Box]
    width: float
    height: float


def arrange_part(part: Part) -> Piece:
    """Layers, order, places, and from them all coordinates; what is to go to the right is laid out, and then turned."""
    upright = [extent(node) for node in part.nodes]
    extents = [turn_extent(own) for own in upright] if part.is_turned else upright
    ranks, arcs = layer(part, extents)
    graph = build_layers(ranks, arcs, part.members)
    layers = order(graph)
    sides = _vertex_extents(part, graph, extents)
    x = assign_x(graph, layers, sides)
    margins = frame_margins(part.members, ranks)
    vertical = place_layers(graph, x, extents, margins)
    boxes = [_box(x[vertex], vertical[layer], extents[vertex]) for vertex, layer in enumerate(ranks)]
    room = free_room(graph, layers, sides, x)
    gates = [Gate(x[v], *vertical[graph.layer_of[v]], room[v]) for v in range(graph.num_vertices)]
    lines = draw_curves(part.nodes, boxes, graph.chains, gates)
    along = [line if arc[0] == link[0] else line[::-1] for line, arc, link in zip(lines, arcs, part.links, strict=True)]
    piece = _from_corner(boxes, along, _frames(part, graph, x, boxes, margins))
    return turn_piece(piece, upright) if part.is_turned else piece


def turn_extent(own: Extent) -> Extent:
    """The room of a node where across and down change places; its symbol is in the middle."""
    return Extent(own.half_height, own.half_height, max(own.left, own.right))


def turn_piece(piece: Piece, extents: Sequence[Extent]) -> Piece:
    """The piece with across and down changed; the nodes stand upright at their places."""
    boxes = [
        Box(box.middle - own.left, box.center - own.half_height, box.middle + own.right, box.center + own.half_height,
            box.middle)
        for box, own in zip(piece.boxes, extents, strict=True)
    ]  # fmt: skip
    curves = [tuple(Point(point.y, point.x) for point in curve) for curve in piece.curves]
    frames = [Box(own.top, own.left, own.bottom, own.right, own.middle) for own in piece.frames]
    return Piece(boxes, curves, frames, piece.height, piece.width)


def layer(part: Part, extents: Sequence[Extent]) -> tuple[list[int], list[Arc]]:
    """The layer of each node and each link as an arc downwards; rows that are given are kept."""
    rows = [node.row for node in part.nodes if node.row is not None]
    if not rows:
        arcs = orient(len(part.nodes), part.links)
        widths = [own.left + own.right for own in extents]
        return stack_leaves(rank(len(part.nodes), arcs), arcs, widths), arcs
    number = {row: index for index, row in enumerate(sorted(set(rows)))}
    ranks = [number[row] for row in rows]
    return ranks, [(a, b) if ranks[a] < ranks[b] else (b, a) for a, b, _ in part.links]


def _vertex_extents(part: Part, graph: LayeredGraph, extents: Sequence[Extent]) -> list[tuple[float, float]]:
    sides = [(own.left, own.right) for own in extents]
    sides += [(0.0, 0.0)] * (graph.num_vertices - len(extents))
    for group, members, (left, right) in zip(part.groups, part.members, graph.borders, strict=True):
        padding = side_padding(group.label, members, extents, part.is_turned)
        for vertex in left:
            sides[vertex] = (0.0, padding)
        for vertex in right:
            sides[vertex] = (padding, 0.0)
    return sides


def _box(x: float, band: Band, own: Extent) -> Box:
    middle = (band[0] + band[1]) / 2
    return Box(x - own.left, middle - own.half_height, x + own.right, middle + own.half_height, x)


def _frames(part: Part, graph: LayeredGraph, x: Sequence[float], boxes: Sequence[Box], margins: Margins) -> list[Box]:
    frames = []
    for number, members in enumerate(part.members):
        left, right = (x[side[0]] for side in graph.borders[number])
        top = min(boxes[member].top for member in members) - margins.above[number]
        bottom = max(boxes[member].bottom for member in members) + margins.below[number]
        frames.append(Box(left, top, right, bottom, (left + right) / 2))
    return frames


def _from_corner(boxes: list[Box], lines: list[Curve], frames: list[Box]) -> Piece:
    """The piece moved so that nothing lies left of or above zero."""
    around = boxes + frames
    left = min([box.left for box in around] + [point.x for line in lines for point in line])
    right = max([box.right for box in around] + [point.x for line in lines for point in line])
    top, bottom = min(box.top for box in around), max(box.bottom for box in around)
    return Piece(
        [box.move(-left, -top) for box in boxes],
        [tuple(point.move(-left, -top) for point in line) for line in lines],
        [frame.move(-left, -top) for frame in frames],
        right - left,
        bottom - top,
    )
