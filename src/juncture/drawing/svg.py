"""A diagram as SVG text: no scripts, no style sheets, no references, the same bytes every time.

Colours stand in attributes on a light ground, so that the picture looks the same in a browser, a notebook with a
dark theme, a word processor and a converter.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import singledispatch
from math import hypot
from typing import TYPE_CHECKING, Any

from juncture.drawing.boxes import SMALL_SIZE, TITLE_SIZE, Box
from juncture.drawing.diagram import Diagram, Edge, Group, Stroke
from juncture.drawing.layout.frames import LABEL_INSET, MAX_FRAME_LABEL
from juncture.drawing.layout.splines import Curve, Point
from juncture.drawing.legend import legend_marks, legend_size, stroke_attributes
from juncture.drawing.marks import number, opening, rectangle, text
from juncture.drawing.nodes import node_marks
from juncture.drawing.palette import FRAME_FILL, FRAME_HALO, FRAME_LINE, INK, MUTED
from juncture.drawing.text import escape, quote_attribute, shorten_to_width, text_width

if TYPE_CHECKING:
    from juncture.drawing.layout.arrange import Layout

MARGIN, TITLE_HEIGHT = 18.0, 30.0
HEAD_LENGTH, HEAD_HALF_WIDTH = 9.0, 3.6


@singledispatch
def to_svg(diagram: Any) -> str:
    """The picture of a diagram as one SVG document.

    >>> to_svg(Diagram([])).startswith("<svg xmlns=")
    True
    """
    from juncture.drawing.layout.arrange import arrange

    layout = arrange(diagram)
    return "\n".join(_document(diagram, layout)) + "\n"


def _document(diagram: Diagram, layout: Layout) -> Iterator[str]:
    above = TITLE_HEIGHT if diagram.title else 0.0
    legend_width, below = legend_size(diagram.legend)
    wide = max(layout.width, legend_width, text_width(_title(diagram), TITLE_SIZE)) + 2 * MARGIN
    high = layout.height + 2 * MARGIN + above + below
    yield opening(wide, high, diagram.title or "")
    if diagram.title:
        yield text(MARGIN, MARGIN + TITLE_SIZE - 3, _title(diagram), TITLE_SIZE, fill=INK, anchor="start", bold=True)
    across = (wide - layout.width) / 2
    yield f'<g transform="translate({number(across)} {number(MARGIN + above)})">'
    for group, frame in sorted(zip(diagram.groups, layout.frames, strict=True), key=lambda pair: -_area(pair[1])):
        yield from _frame_marks(group, frame)
    for edge, curve in zip(diagram.edges, layout.curves, strict=True):
        yield edge_mark(edge, curve)
    for group, frame in zip(diagram.groups, layout.frames, strict=True):
        yield _frame_label(group, frame)
    for node, box in zip(diagram.nodes, layout.boxes, strict=True):
        yield from node_marks(node, box)
    yield "</g>"
    yield from legend_marks(diagram.legend, MARGIN, MARGIN + above + layout.height)
    yield "</svg>"


def _title(diagram: Diagram) -> str:
    return shorten_to_width(diagram.title or "", TITLE_SIZE, 600.0)


def _area(frame: Box) -> float:
    return (frame.right - frame.left) * (frame.bottom - frame.top)


def _frame_marks(group: Group, frame: Box) -> Iterator[str]:
    yield f'<g class="group" data-name={quote_attribute(group.label)}><title>{escape(group.label)}</title>'
    look = f'rx="10" fill="{FRAME_FILL}" fill-opacity="0.5" stroke="{FRAME_LINE}"'
    yield rectangle(frame.left, frame.top, frame.right - frame.left, frame.bottom - frame.top, look)
    yield "</g>"


def _frame_label(group: Group, frame: Box) -> str:
    shown = shorten_to_width(group.label, SMALL_SIZE, MAX_FRAME_LABEL)
    return text(
        frame.right - LABEL_INSET, frame.bottom - 7, shown, SMALL_SIZE, fill=MUTED, anchor="end", halo=FRAME_HALO
    )


def edge_mark(edge: Edge, curve: Curve) -> str:
    names = f"data-source={quote_attribute(edge.source)} data-target={quote_attribute(edge.target)}"
    look, tip = stroke_attributes(edge.stroke), f"<title>{escape(edge.note)}</title>" if edge.note else ""
    if not edge.directed:
        line = f'<path class="edge" {names} d="{_path(curve)}" fill="none" {look}'
        return f"{line}>{tip}</path>" if tip else f"{line}/>"
    head, notch = _head(curve, edge.stroke.width)
    return (
        f'<g class="edge" {names}>{tip}'
        f'<path d="{_path((*curve[:-1], notch))}" fill="none" {look}/>'
        f'<path d="{head}" fill="{edge.stroke.colour}"/></g>'
    )


def _head(curve: Curve, width: float) -> tuple[str, Point]:
    """The path of an arrow head, larger on a wide line, and where the line ends in it."""
    extra = max(0.0, width - Stroke().width)
    length, half = HEAD_LENGTH + 1.3 * extra, HEAD_HALF_WIDTH + extra
    tip, towards = curve[-1], _direction(curve)
    base = Point(tip.x - towards.x * length, tip.y - towards.y * length)
    side = Point(-towards.y * half, towards.x * half)
    head = f"M{_pair(tip)}L{_pair(base.move(*side))}L{_pair(base.move(-side.x, -side.y))}Z"
    return head, Point(base.x + towards.x * 2, base.y + towards.y * 2)


def _direction(curve: Curve) -> Point:
    """The unit vector in which the curve arrives."""
    tip = curve[-1]
    back = next((point for point in reversed(curve) if hypot(tip.x - point.x, tip.y - point.y) > 0.01), tip)
    length = hypot(tip.x - back.x, tip.y - back.y) or 1.0
    return Point((tip.x - back.x) / length, (tip.y - back.y) / length)


def _path(curve: Curve) -> str:
    cubics = [" ".join(_pair(point) for point in curve[index : index + 3]) for index in range(1, len(curve), 3)]
    return f"M{_pair(curve[0])}C" + "C".join(cubics)


def _pair(point: Point) -> str:
    return f"{number(point.x)} {number(point.y)}"
