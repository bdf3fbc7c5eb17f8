"""How large each node is drawn, and where: the measures that layout and SVG share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from juncture.drawing.diagram import SYMBOLS, Node
from juncture.drawing.marks import CURVE_HEIGHT, CURVE_WIDTH
from juncture.drawing.text import format_percentage, shorten_middle, shorten_texts, text_width

LABEL_SIZE, SMALL_SIZE = 13.0, 11.0
PILL_HEIGHT, NOTE_HEIGHT, PILL_PADDING, MAX_LABEL = 36.0, 13.0, 14.0, 170.0
CIRCLE_TEXT = 25.0  # a symbol such as x_n sits in a circle
BAR_WIDTH, ROW_HEIGHT, HEADER_HEIGHT, BOX_PADDING = 64.0, 17.0, 24.0, 8.0
MAX_STATE, MAX_LONG_STATE = 84.0, 250.0  # of the names of states; the second where the first makes two the same
PERCENT_WIDTH = 47.0
MAX_ROWS = 8
LEAST_ERROR = 0.0005  # that is shown with one decimal of a per cent
SYMBOL_RADIUS, FACTOR_RADIUS, SYMBOL_GAP = 5.0, 7.0, 5.0


class Extent(NamedTuple):
    """How far a node reaches from the middle of its symbol."""

    left: float
    right: float
    half_height: float


class Box(NamedTuple):
    """A rectangle of the picture; `center` is where edges arrive, not always halfway."""

    left: float
    top: float
    right: float
    bottom: float
    center: float

    @property
    def middle(self) -> float:
        return (self.top + self.bottom) / 2

    def move(self, right: float, down: float) -> Box:
        return Box(self.left + right, self.top + down, self.right + right, self.bottom + down, self.center + right)


@dataclass(frozen=True)
class Row:
    """A state of a node with bars, as it is shown; a row without a bar sums up the states left out."""

    text: str
    share: float
    has_bar: bool = True
    error: float | None = None

    @property
    def percentage(self) -> str:
        """The share in per cent, with its standard error where it has one."""
        if self.error is None:
            return format_percentage(self.share)
        error = f"{100 * self.error:.1f}" if self.error == 0 or self.error >= LEAST_ERROR else "<0.1"
        return f"{100 * self.share:.1f} ± {error}%"

    @property
    def ends(self) -> tuple[float, float]:
        """The share less and plus its error, within 0 and 1."""
        error = self.error or 0.0
        return max(self.share - error, 0.0), min(self.share + error, 1.0)


def rows(node: Node) -> tuple[Row, ...]:
    """The bars to show: all of them, or the most probable ones in their order and the sum of the rest."""
    errors = node.errors or (None,) * len(node.bars)
    every = [
        Row(text, min(max(share, 0.0), 1.0), error=error)
        for (text, share), error in zip(node.bars, errors, strict=True)
    ]
    if len(every) <= MAX_ROWS:
        return tuple(every)
    ranked = sorted(range(len(every)), key=lambda index: (-every[index].share, index))
    kept, left_out = sorted(ranked[: MAX_ROWS - 1]), ranked[MAX_ROWS - 1 :]
    rest = min(sum(every[index].share for index in left_out), 1.0)
    return (*(every[index] for index in kept), Row(f"… {len(left_out)} more", rest, has_bar=False))


def state_texts(node: Node) -> list[str]:
    """The names of the states as they are shown: cut where they are long, but not so far that two become the same."""
    return shorten_texts([row.text for row in rows(node)], SMALL_SIZE, MAX_STATE, MAX_LONG_STATE)


def state_width(node: Node) -> float:
    """The width of the column of state names."""
    return max(text_width(text, SMALL_SIZE) for text in state_texts(node))


def percent_width(node: Node) -> float:
    """The width of the column of percentages, which is wider where they have errors."""
    return PERCENT_WIDTH if not node.errors else 10 + max(text_width(row.percentage, SMALL_SIZE) for row in rows(node))


def extent(node: Node) -> Extent:
    """The room a node needs around the middle of its symbol."""
    if node.kind in SYMBOLS:
        return _symbol_extent(node)
    inner = _text_width(node)
    if node.kind == "utility":
        return _diamond_extent(inner, LABEL_SIZE + (NOTE_HEIGHT if node.note else 0))
    if node.bars:
        table = state_width(node) + BAR_WIDTH + percent_width(node) + 2 * BOX_PADDING
        half = max(inner, table) / 2 + BOX_PADDING
        return Extent(half, half, (header_height(node) + ROW_HEIGHT * len(rows(node)) + BOX_PADDING) / 2)
    if node.curve:
        half = max(inner, CURVE_WIDTH) / 2 + BOX_PADDING
        return Extent(half, half, (header_height(node) + CURVE_HEIGHT + 2 * BOX_PADDING) / 2)
    height = PILL_HEIGHT + (NOTE_HEIGHT if node.note else 0)
    half = height / 2 if inner <= CIRCLE_TEXT else max(inner / 2 + PILL_PADDING, height / 2)
    return Extent(half, half, height / 2)


def _diamond_extent(inner: float, height: float) -> Extent:
    """A diamond with room for a text: half its width and height where the text ends."""
    half = inner / 2 + height + BOX_PADDING
    return Extent(half, half, max(height * half / (half - inner / 2) / 2 + 1, PILL_HEIGHT / 2))


def header_height(node: Node) -> float:
    return HEADER_HEIGHT + (NOTE_HEIGHT if node.note else 0)


def symbol_radius(node: Node) -> float:
    return FACTOR_RADIUS if node.kind == "factor" else SYMBOL_RADIUS


def _symbol_extent(node: Node) -> Extent:
    radius, inner = symbol_radius(node), _text_width(node)
    beside = SYMBOL_GAP + inner if inner else 0.0
    return Extent(radius, radius + beside, max(radius, (LABEL_SIZE + (NOTE_HEIGHT if node.note else 0)) / 2))


def _text_width(node: Node) -> float:
    label = text_width(shorten_middle(node.text, LABEL_SIZE, MAX_LABEL), LABEL_SIZE)
    note = text_width(shorten_middle(node.note or "", SMALL_SIZE, MAX_LABEL), SMALL_SIZE)
    return max(label, note)
