"""States on a circle, with an arrow for each way from one to another or back to itself, as SVG text.

>>> diagram = StateDiagram((Node("dry"), Node("wet")), (Arrow(0, 1, "0.2"), Arrow(1, 1, "0.7")))
>>> to_svg(diagram).count('class="edge"')
2
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import atan2, cos, hypot, pi, sin
from typing import NamedTuple

from juncture.drawing.boxes import SMALL_SIZE, Box, extent
from juncture.drawing.diagram import Edge, Node
from juncture.drawing.layout.splines import Curve, Point
from juncture.drawing.marks import number, opening, rectangle, text
from juncture.drawing.palette import GROUND, INK
from juncture.drawing.svg import MARGIN, edge_mark, node_marks, to_svg
from juncture.drawing.text import text_width

BETWEEN = 110.0  # pixels from node to node along the circle, at least
BEND, LABEL_AT = 0.16, 0.42  # of the way: how far an arrow leaves the straight line, and where its label is
LOOP_ANGLE, LOOP_SPREAD, LOOP_LENGTH = 0.42, 0.75, 46.0
GAP = 2.0  # between a node and its arrows
NUM_POINTS = 200  # at which a curve is looked at for the border of a node


class Arrow(NamedTuple):
    """An arrow from one node to another, or to itself, by their positions, with a label."""

    source: int
    target: int
    label: str


class Line(NamedTuple):
    """The course of an arrow, and where its label is centred."""

    curve: Curve
    label: Point


@dataclass(frozen=True)
class StateDiagram:
    """Nodes and the arrows between them."""

    nodes: tuple[Node, ...]
    arrows: tuple[Arrow, ...]

    @property
    def num_lines(self) -> int:
        return len(self.arrows)


@to_svg.register
def states_svg(diagram: StateDiagram) -> str:
    return "\n".join(draw_document(diagram)) + "\n"


def draw_document(diagram: StateDiagram) -> Iterator[str]:
    boxes = place_on_circle(diagram.nodes)
    lines = [draw_arrow(arrow, boxes) for arrow in diagram.arrows]
    corner, size = bounds(boxes, lines, diagram.arrows)
    yield opening(size.x + 2 * MARGIN, size.y + 2 * MARGIN)
    yield f'<g transform="translate({number(MARGIN - corner.x)} {number(MARGIN - corner.y)})">'
    for arrow, course in zip(diagram.arrows, lines, strict=True):
        yield edge_mark(Edge(diagram.nodes[arrow.source].name, diagram.nodes[arrow.target].name), course.curve)
    for node, box in zip(diagram.nodes, boxes, strict=True):
        yield from node_marks(node, box)
    for arrow, course in zip(diagram.arrows, lines, strict=True):
        yield from label_marks(arrow.label, course.label)
    yield "</g>"
    yield "</svg>"


def label_marks(label: str, point: Point) -> Iterator[str]:
    """The label in a gap of its line."""
    half = text_width(label, SMALL_SIZE) / 2
    yield rectangle(point.x - half, point.y - 7, 2 * half, 14, f'fill="{GROUND}"')
    yield text(point.x, point.y + 4, label, SMALL_SIZE, fill=INK)


def place_on_circle(nodes: tuple[Node, ...]) -> list[Box]:
    """Two beside each other; more clockwise from the top, far enough apart for the labels of arrows."""
    count, sizes = len(nodes), [extent(node) for node in nodes]
    apart = BETWEEN + max((size.left + size.right for size in sizes), default=0.0)
    radius = apart / (2 * sin(pi / count)) if count > 1 else 0.0
    first = -pi if count == 2 else -pi / 2
    boxes = []
    for index, size in enumerate(sizes):
        x, y = radius * cos(first + 2 * pi * index / count), radius * sin(first + 2 * pi * index / count)
        boxes.append(Box(x - size.left, y - size.half_height, x + size.right, y + size.half_height, x))
    return boxes


def draw_arrow(arrow: Arrow, boxes: list[Box]) -> Line:
    source, target = boxes[arrow.source], boxes[arrow.target]
    return draw_loop(source, len(boxes), arrow) if arrow.source == arrow.target else draw_arc(source, target)


def draw_arc(source: Box, target: Box) -> Line:
    """A parabola that keeps to the left on its way, so that the way back lies beside it, from border to border."""
    start, end = Point(source.center, source.middle), Point(target.center, target.middle)
    way = Point(end.x - start.x, end.y - start.y)
    middle = Point((start.x + end.x) / 2 + BEND * 2 * way.y, (start.y + end.y) / 2 - BEND * 2 * way.x)
    shares = [step / NUM_POINTS for step in range(NUM_POINTS + 1)]
    outside = [share for share in shares if is_free(parabola_point(start, middle, end, share, share), source, target)]
    first, last = (outside[0], outside[-1]) if outside else (0.0, 1.0)
    begin, finish = (parabola_point(start, middle, end, share, share) for share in (first, last))
    bow = parabola_point(start, middle, end, first, last)
    curve = (begin, interpolate(begin, bow, 2 / 3), interpolate(finish, bow, 2 / 3), finish)
    return Line(curve, parabola_point(begin, bow, finish, LABEL_AT, LABEL_AT))


def draw_loop(box: Box, count: int, arrow: Arrow) -> Line:
    """Away from the middle of the circle and back; upwards where there are no more than two nodes."""
    angle = -pi / 2 if count < 3 else atan2(box.middle, box.center)
    center = Point(box.center, box.middle)
    begin, finish = (border_point(box, angle + side * LOOP_ANGLE) for side in (-1, 1))
    out, back = (
        move_along(point, angle + side * LOOP_SPREAD, LOOP_LENGTH) for point, side in ((begin, -1), (finish, 1))
    )
    tip = interpolate(interpolate(begin, finish, 0.5), interpolate(out, back, 0.5), 0.75)
    room = 8 + abs(cos(angle)) * text_width(arrow.label, SMALL_SIZE) / 2
    return Line((begin, out, back, finish), move_along(tip, atan2(tip.y - center.y, tip.x - center.x), room))


def parabola_point(start: Point, middle: Point, end: Point, one: float, other: float) -> Point:
    """The point at a share of the way; of two shares, the control point of the part between them."""
    return interpolate(interpolate(start, middle, one), interpolate(middle, end, one), other)


def interpolate(one: Point, other: Point, share: float) -> Point:
    return Point(one.x + share * (other.x - one.x), one.y + share * (other.y - one.y))


def move_along(point: Point, angle: float, distance: float) -> Point:
    return Point(point.x + distance * cos(angle), point.y + distance * sin(angle))


def border_point(box: Box, angle: float) -> Point:
    """Where a ray from the middle of a node leaves it."""
    center = Point(box.center, box.middle)
    reach = box.right - box.left + box.bottom - box.top
    points = (move_along(center, angle, reach * step / NUM_POINTS) for step in range(NUM_POINTS + 1))
    return next(point for point in points if is_free(point, box))


def is_free(point: Point, *boxes: Box) -> bool:
    """Whether a point lies outside these nodes, which are round at their ends."""
    for box in boxes:
        radius = (box.bottom - box.top) / 2
        beyond = max(abs(point.x - box.center) - ((box.right - box.left) / 2 - radius), 0.0)
        if hypot(beyond, point.y - box.middle) < radius + GAP:
            return False
    return True


def bounds(boxes: list[Box], lines: list[Line], arrows: tuple[Arrow, ...]) -> tuple[Point, Point]:
    """The upper left corner of all that is drawn, and its size."""
    points = [Point(x, y) for box in boxes for x, y in ((box.left, box.top), (box.right, box.bottom))]
    points += [interpolate(course.curve[1], course.curve[2], share) for course in lines for share in (0.0, 0.5, 1.0)]
    for arrow, course in zip(arrows, lines, strict=True):
        half = text_width(arrow.label, SMALL_SIZE) / 2
        points += [course.label.move(-half, -SMALL_SIZE), course.label.move(half, SMALL_SIZE)]
    left, top = min(point.x for point in points), min(point.y for point in points)
    return Point(left, top), Point(max(point.x for point in points) - left, max(point.y for point in points) - top)
