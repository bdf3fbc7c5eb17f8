"""How each kind of node is drawn: pills and tables for variables, dots for parameters, small squares for factors.

The nodes of decision networks hold their text: decisions are rectangles, utilities are diamonds.
"""

from __future__ import annotations

from collections.abc import Iterator

from juncture.drawing import boxes
from juncture.drawing.boxes import LABEL_SIZE, MAX_LABEL, NOTE_HEIGHT, ROW_HEIGHT, SMALL_SIZE, Box, Row
from juncture.drawing.curves import CURVE_HEIGHT, CURVE_WIDTH, curve_marks
from juncture.drawing.diagram import SYMBOLS, Node
from juncture.drawing.marks import number, polyline, rectangle, text
from juncture.drawing.palette import (
    BAR_FILL,
    BAR_GROUND,
    INK,
    MUTED,
    OBSERVED_BAR_FILL,
    OPEN_FILL,
    OUTLINE,
    SHADED_FILL,
)
from juncture.drawing.text import escape, format_percentage, quote_attribute, shorten_middle

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


def _label(node: Node, x: float, base: float, anchor: str, bold: bool = False) -> Iterator[str]:
    yield text(
        x, base, shorten_middle(node.text, LABEL_SIZE, MAX_LABEL), LABEL_SIZE, fill=INK, anchor=anchor, bold=bold
    )
    if node.note:
        shown = shorten_middle(node.note, SMALL_SIZE, MAX_LABEL)
        yield text(x, base + NOTE_HEIGHT, shown, SMALL_SIZE, fill=MUTED, anchor=anchor)


def _symbol(node: Node, box: Box) -> Iterator[str]:
    radius = boxes.symbol_radius(node)
    rounding = 1.5 if node.kind == "factor" else radius  # a square, or so round that it is a dot
    look = f'rx="{number(rounding)}" fill="{SHADED_FILL if node.shaded else INK}" stroke="{INK}"'
    yield rectangle(box.center - radius, box.middle - radius, 2 * radius, 2 * radius, look)
    yield from _label(node, box.center + radius + boxes.SYMBOL_GAP, _base_line(node, box), "start")


def _table(node: Node, box: Box) -> Iterator[str]:
    yield _outline(node, box, CORNER_RADIUS)
    yield from _label(node, box.center, box.top + 17, "middle", bold=True)
    bars = box.left + 2 * boxes.BOX_PADDING + boxes.state_width(node)
    first = box.top + boxes.header_height(node)
    colour = OBSERVED_BAR_FILL if node.shaded else BAR_FILL
    for index, (row, shown) in enumerate(zip(boxes.rows(node), boxes.state_texts(node), strict=True)):
        top = first + index * ROW_HEIGHT
        yield text(box.left + boxes.BOX_PADDING, top + 12, shown, SMALL_SIZE, fill=INK, anchor="start")
        yield from _row(row, box, bars, top, colour)


def _density(node: Node, box: Box) -> Iterator[str]:
    """The name, the note below it, and the curve."""
    yield _outline(node, box, CORNER_RADIUS)
    yield from _label(node, box.center, box.top + 17, "middle", bold=True)
    left, bottom = box.center - CURVE_WIDTH / 2, box.bottom - boxes.BOX_PADDING
    yield from curve_marks(node.curve, left, bottom, CURVE_WIDTH, CURVE_HEIGHT)


def _row(row: Row, box: Box, bars: float, top: float, colour: str) -> Iterator[str]:
    """Bar and percentage; the bar begins at `bars`."""
    last = box.right - boxes.BOX_PADDING
    if row.has_bar:
        room = last - boxes.PERCENT_WIDTH - bars
        yield rectangle(bars, top + 3, room, 10, f'rx="2" fill="{BAR_GROUND}"')
        yield rectangle(bars, top + 3, room * row.share, 10, f'rx="2" fill="{colour}"')
    yield text(last, top + 12, format_percentage(row.share), SMALL_SIZE, fill=MUTED, anchor="end")
