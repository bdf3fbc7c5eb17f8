"""A diagram as SVG text: no scripts, no references, the same bytes every time.

Colours stand in attributes on a light ground, so that the picture looks the same in a word processor and a converter;
on a dark page it is dark (`drawing/palette.py`). Nodes are pills and tables for variables, dots for parameters, small
squares for factors; those of decision networks hold their text: decisions are rectangles, utilities are diamonds. The
legend below has a sample of each kind of line, and what it means.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import singledispatch
from math import hypot
from typing import TYPE_CHECKING, Any

from juncture.drawing import boxes
from juncture.drawing.boxes import LABEL_SIZE, MAX_LABEL, NOTE_HEIGHT, ROW_HEIGHT, SMALL_SIZE, Box, Row
from juncture.drawing.diagram import SYMBOLS, Diagram, Edge, Group, Node, Stroke
from juncture.drawing.layout.frames import LABEL_INSET, MAX_FRAME_LABEL
from juncture.drawing.layout.splines import Curve, Point
from juncture.drawing.marks import (
    CURVE_HEIGHT,
    CURVE_WIDTH,
    TITLE_HEIGHT,
    TITLE_SIZE,
    curve_marks,
    number,
    opening,
    polyline,
    rectangle,
    text,
)
from juncture.drawing.palette import (
    BAR_FILL,
    BAR_GROUND,
    FRAME_FILL,
    FRAME_HALO,
    FRAME_LINE,
    GROUND,
    INK,
    MUTED,
    OBSERVED_BAR_FILL,
    OPEN_FILL,
    OUTLINE,
    SHADED_FILL,
)
from juncture.drawing.text import (
    escape,
    format_percentage,
    quote_attribute,
    shorten_middle,
    shorten_to_width,
    text_width,
)

if TYPE_CHECKING:
    from juncture.drawing.layout.arrange import Layout

MARGIN = 18.0
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


CORNER_RADIUS = 7.0


def node_marks(node: Node, box: Box) -> Iterator[str]:
    """The elements of one node, with its full text as a tooltip."""
    tip = "\n".join([node.text, *([node.note] if node.note else []), *_states(node)])
    yield f'<g class="{node.kind}" data-name={quote_attribute(node.name)}><title>{escape(tip)}</title>'
    if node.kind in SYMBOLS:
        yield from _symbol(node, box)
    elif node.kind == "decision":
        yield _outline(node, box, 1.5)
        yield from _label(node, box.center, _base_line(node, box), "middle")
    elif node.kind == "utility":
        yield from _diamond(node, box)
    elif node.bars:
        yield from _table(node, box)
    elif node.curve:
        yield from _density(node, box)
    else:
        yield from _pill(node, box)
    yield "</g>"


def _states(node: Node) -> list[str]:
    return [f"{state}: {format_percentage(share)}" for state, share in node.bars]


def _outline(node: Node, box: Box, rounding: float) -> str:
    fill = SHADED_FILL if node.shaded else OPEN_FILL
    look = f'rx="{number(rounding)}" fill="{fill}" stroke="{OUTLINE}" stroke-width="1.3"'
    return rectangle(box.left, box.top, box.right - box.left, box.bottom - box.top, look)


def _pill(node: Node, box: Box) -> Iterator[str]:
    yield _outline(node, box, (box.bottom - box.top) / 2)
    yield from _label(node, box.center, _base_line(node, box), "middle")


def _diamond(node: Node, box: Box) -> Iterator[str]:
    corners = [(box.center, box.top), (box.right, box.middle), (box.center, box.bottom), (box.left, box.middle)]
    fill = SHADED_FILL if node.shaded else OPEN_FILL
    yield polyline([*corners, corners[0]], f'fill="{fill}" stroke="{OUTLINE}" stroke-width="1.3"')
    yield from _label(node, box.center, _base_line(node, box), "middle")


def _base_line(node: Node, box: Box) -> float:
    return box.middle + LABEL_SIZE * 0.35 - (NOTE_HEIGHT / 2 if node.note else 0)


def _label(node: Node, x: float, base: float, anchor: str, bold: bool = False, halo: str = "") -> Iterator[str]:
    shown = shorten_middle(node.text, LABEL_SIZE, MAX_LABEL)
    if shown:
        yield text(x, base, shown, LABEL_SIZE, fill=INK, anchor=anchor, bold=bold, halo=halo)
    if node.note:
        shown = shorten_middle(node.note, SMALL_SIZE, MAX_LABEL)
        yield text(x, base + NOTE_HEIGHT, shown, SMALL_SIZE, fill=MUTED, anchor=anchor)


def _symbol(node: Node, box: Box) -> Iterator[str]:
    radius = boxes.symbol_radius(node)
    rounding = 1.5 if node.kind == "factor" else radius  # a square, or so round that it is a dot
    look = f'rx="{number(rounding)}" fill="{SHADED_FILL if node.shaded else INK}" stroke="{INK}"'
    yield rectangle(box.center - radius, box.middle - radius, 2 * radius, 2 * radius, look)
    yield from _label(node, box.center + radius + boxes.SYMBOL_GAP, _base_line(node, box), "start", halo=GROUND)


def _table(node: Node, box: Box) -> Iterator[str]:
    yield _outline(node, box, CORNER_RADIUS)
    yield from _label(node, box.center, box.top + 17, "middle", bold=True)
    bars = box.left + 2 * boxes.BOX_PADDING + boxes.state_width(node)
    first = box.top + boxes.header_height(node)
    colour = OBSERVED_BAR_FILL if node.shaded else BAR_FILL
    for index, (row, shown) in enumerate(zip(boxes.rows(node), boxes.state_texts(node), strict=True)):
        top = first + index * ROW_HEIGHT
        yield text(box.left + boxes.BOX_PADDING, top + 12, shown, SMALL_SIZE, fill=INK, anchor="start")
        yield from _row(row, box, bars, top, colour, boxes.percent_width(node))


def _density(node: Node, box: Box) -> Iterator[str]:
    """The name, the note below it, and the curve."""
    yield _outline(node, box, CORNER_RADIUS)
    yield from _label(node, box.center, box.top + 17, "middle", bold=True)
    left, bottom = box.center - CURVE_WIDTH / 2, box.bottom - boxes.BOX_PADDING
    yield from curve_marks(node.curve, left, bottom, CURVE_WIDTH, CURVE_HEIGHT)


def _row(row: Row, box: Box, bars: float, top: float, colour: str, percent_width: float) -> Iterator[str]:
    """Bar and percentage; the bar begins at `bars`, and a line over its end is as long as the error."""
    last = box.right - boxes.BOX_PADDING
    if row.has_bar:
        room = last - percent_width - bars
        yield rectangle(bars, top + 3, room, 10, f'rx="2" fill="{BAR_GROUND}"')
        yield rectangle(bars, top + 3, room * row.share, 10, f'rx="2" fill="{colour}"')
        if row.error:
            low, high = (bars + room * end for end in row.ends)
            yield polyline([(low, top + 8), (high, top + 8)], f'class="error" stroke="{INK}" stroke-width="1.6"')
    yield text(last, top + 12, row.percentage, SMALL_SIZE, fill=MUTED, anchor="end")


Legend = tuple[tuple[str, Stroke], ...]  # what each kind of line means
LINE_HEIGHT, SAMPLE, GAP, ABOVE = 18.0, 28.0, 8.0, 12.0


def legend_size(legend: Legend) -> tuple[float, float]:
    """How wide and how high the legend is; nothing without one."""
    wide = max((SAMPLE + GAP + text_width(shown, SMALL_SIZE) for shown, _ in legend), default=0.0)
    return wide, len(legend) * LINE_HEIGHT + (ABOVE if legend else 0.0)


def legend_marks(legend: Legend, left: float, top: float) -> Iterator[str]:
    for index, (shown, stroke) in enumerate(legend):
        y = top + ABOVE + (index + 0.5) * LINE_HEIGHT
        line = f"M{number(left)} {number(y)}H{number(left + SAMPLE)}"
        yield f'<path class="legend" d="{line}" fill="none" {stroke_attributes(stroke)}/>'
        yield text(left + SAMPLE + GAP, y + SMALL_SIZE * 0.35, shown, SMALL_SIZE, fill=MUTED, anchor="start")


def stroke_attributes(stroke: Stroke) -> str:
    dashes = ' stroke-dasharray="5 4"' if stroke.dashed else ""
    return f'stroke="{stroke.colour}" stroke-width="{number(stroke.width)}"{dashes}'
