"""Decision trees: boxes with a bar of shares in them, from the root at the top down, conditions on the lines."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from juncture.drawing.boxes import LABEL_SIZE, SMALL_SIZE
from juncture.drawing.marks import number, opening, rectangle, text
from juncture.drawing.palette import EDGE, GROUND, INK, MORE_SERIES, MUTED, OPEN_FILL, OUTLINE, SHADED_FILL
from juncture.drawing.svg import to_svg
from juncture.drawing.text import escape, shorten_middle, text_width

MARGIN, GAP, LEVEL_GAP, PADDING = 18.0, 18.0, 54.0, 10.0
BOX_HEIGHT, BAR_HEIGHT, LEGEND_HEIGHT = 46.0, 5.0, 30.0
MOST_TITLE, MOST_CONDITION = 150.0, 130.0


class DecisionBox(NamedTuple):
    """A node: its title, a note below it, its parent (-1 for the root), the condition of the line that leads to it."""

    title: str
    note: str
    parent: int
    condition: str
    shares: tuple[float, ...] = ()
    is_leaf: bool = False


@dataclass(frozen=True)
class DecisionDiagram:
    """The boxes of a tree, parents before children and siblings side by side; the labels of the shares."""

    nodes: tuple[DecisionBox, ...]
    labels: tuple[str, ...] = ()
    target: str = ""

    @property
    def num_lines(self) -> int:
        return len(self.nodes) - 1


class Place(NamedTuple):
    """The middle of a box, its top and its width."""

    middle: float
    top: float
    width: float


def box_width(box: DecisionBox) -> float:
    """The room of a box: that of its texts."""
    title = min(text_width(box.title, LABEL_SIZE), MOST_TITLE)
    condition = min(text_width(box.condition, SMALL_SIZE), MOST_CONDITION)
    return max(title, text_width(box.note, SMALL_SIZE), condition, 48.0) + 2 * PADDING


def place_boxes(diagram: DecisionDiagram) -> list[Place]:
    """Every leaf takes its own strip of the picture; a parent is in the middle of its first and its last child."""
    nodes = diagram.nodes
    widths = [box_width(box) for box in nodes]
    children: list[list[int]] = [[] for _ in nodes]
    depths = [0] * len(nodes)
    for index, box in enumerate(nodes[1:], 1):
        children[box.parent].append(index)
        depths[index] = depths[box.parent] + 1
    room = [0.0] * len(nodes)  # of the boxes below a node
    for index in reversed(range(len(nodes))):
        below = sum(max(room[child], widths[child]) for child in children[index])
        room[index] = below + GAP * max(0, len(children[index]) - 1)
    left = [0.0] * len(nodes)
    middles = [0.0] * len(nodes)
    for index in range(len(nodes)):
        strip = max(room[index], widths[index])
        middles[index] = left[index] + strip / 2
        start = left[index] + (strip - room[index]) / 2
        for child in children[index]:
            left[child] = start
            start += max(room[child], widths[child]) + GAP
    places = zip(middles, depths, widths, strict=True)
    return [Place(middle, depth * (BOX_HEIGHT + LEVEL_GAP), width) for middle, depth, width in places]


@to_svg.register
def decision_tree_svg(diagram: DecisionDiagram) -> str:
    """The picture of a decision tree."""
    return "\n".join(tree_marks(diagram)) + "\n"


def tree_marks(diagram: DecisionDiagram) -> Iterator[str]:
    places = place_boxes(diagram)
    legend = list(legend_entries(diagram))
    width = max(place.middle + place.width / 2 for place in places)
    wide = max(width, legend[-1][2] if legend else 0.0) + 2 * MARGIN
    high = max(place.top for place in places) + BOX_HEIGHT + 2 * MARGIN + (LEGEND_HEIGHT if legend else 0.0)
    yield opening(wide, high, f"decision tree for {diagram.target}")
    yield f'<g transform="translate({number((wide - width) / 2)} {number(MARGIN)})">'
    for box, place in zip(diagram.nodes[1:], places[1:], strict=True):
        yield line_mark(places[box.parent], place)
    for box, place in zip(diagram.nodes, places, strict=True):
        yield from box_marks(box, place, diagram.labels)
    for box, place in zip(diagram.nodes[1:], places[1:], strict=True):
        shown = shorten_middle(box.condition, SMALL_SIZE, MOST_CONDITION)
        yield text(place.middle, place.top - 12, shown, SMALL_SIZE, fill=INK, halo=GROUND)
    yield "</g>"
    for shown, left, _, colour in legend:
        base = high - MARGIN
        yield rectangle(MARGIN + left, base - 10, 11, 11, f'rx="2" fill="{colour}"')
        yield text(MARGIN + left + 16, base, shown, SMALL_SIZE, fill=INK, anchor="start")
    yield "</svg>"


def legend_entries(diagram: DecisionDiagram) -> Iterator[tuple[str, float, float, str]]:
    """(label, left end, right end, colour) of each class."""
    left = 0.0
    for position, label in enumerate(diagram.labels):
        shown = shorten_middle(f"{diagram.target} = {label}" if not position else label, SMALL_SIZE, MOST_TITLE)
        right = left + 16 + text_width(shown, SMALL_SIZE)
        yield shown, left, right, MORE_SERIES[position % len(MORE_SERIES)]
        left = right + GAP


def line_mark(above: Place, place: Place) -> str:
    """A curve from the bottom of the parent to the top of the child."""
    top, bend = above.top + BOX_HEIGHT, LEVEL_GAP * 0.6
    start, end = f"{number(above.middle)} {number(top)}", f"{number(place.middle)} {number(place.top)}"
    bends = f"{number(above.middle)} {number(top + bend)} {number(place.middle)} {number(place.top - bend)}"
    return f'<path class="edge" d="M{start}C{bends} {end}" fill="none" stroke="{EDGE}" stroke-width="1.3"/>'


def box_marks(box: DecisionBox, place: Place, labels: tuple[str, ...]) -> Iterator[str]:
    """The box of a node, its texts, and the shares of the classes along its lower end."""
    left = place.middle - place.width / 2
    shares = [f"{label}: {share:.1%}" for label, share in zip(labels, box.shares, strict=False)]
    yield f'<g class="node"><title>{escape(chr(10).join([box.title, box.note, *shares]))}</title>'
    look = f'rx="7" fill="{SHADED_FILL if box.is_leaf else OPEN_FILL}" stroke="{OUTLINE}" stroke-width="1.2"'
    yield rectangle(left, place.top, place.width, BOX_HEIGHT, look)
    title = shorten_middle(box.title, LABEL_SIZE, MOST_TITLE)
    yield text(place.middle, place.top + 17, title, LABEL_SIZE, fill=INK, bold=True)
    yield text(place.middle, place.top + 31, box.note, SMALL_SIZE, fill=MUTED)
    room, start = place.width - 2 * PADDING, left + PADDING
    for position, share in enumerate(box.shares):
        if share > 0:
            fill = f'fill="{MORE_SERIES[position % len(MORE_SERIES)]}"'
            yield rectangle(start, place.top + BOX_HEIGHT - BAR_HEIGHT - 4, room * share, BAR_HEIGHT, fill)
            start += room * share
    yield "</g>"
