"""Nodes in lanes from left to right, a column for each step, joined by arrows from step to step, as SVG text.

>>> nodes = Cell(0, 0, "0.5", is_marked=True), Cell(1, 1, "0.2")
>>> to_svg(Lattice(("dry", "wet"), ("0", "1"), nodes, (Link(0, 1),))).count('class="edge"')
1
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from juncture.drawing.boxes import LABEL_SIZE, SMALL_SIZE
from juncture.drawing.diagram import Edge, Stroke
from juncture.drawing.layout.splines import Curve, Point
from juncture.drawing.marks import number, opening, rectangle, text
from juncture.drawing.palette import BAR_FILL, INK, MARKED_FILL, MUTED, OPEN_FILL, OUTLINE
from juncture.drawing.svg import MARGIN, Legend, edge_mark, legend_marks, legend_size, to_svg
from juncture.drawing.text import escape, shorten_texts, text_width

LANE, PILL, PADDING = 46.0, 26.0, 10.0  # the height of a lane and of its nodes, and the room beside their text
BETWEEN, HEAD = 44.0, 24.0  # the room for arrows between columns, and for the names of steps
MAX_LANE_NAME, MAX_LONG_NAME, GAP = 110.0, 250.0, 16.0
MARKED, PLAIN = Stroke(3.0, BAR_FILL), Stroke()


class Cell(NamedTuple):
    """A node at a step in a lane, by their positions; the tip is its tooltip."""

    step: int
    lane: int
    shown: str
    tip: str = ""
    is_marked: bool = False


class Link(NamedTuple):
    """An arrow from one cell to another, by their positions."""

    source: int
    target: int
    is_marked: bool = False


@dataclass(frozen=True)
class Lattice:
    """Cells in lanes and steps, with arrows between them; the legend explains the arrows."""

    lanes: tuple[str, ...]
    steps: tuple[str, ...]
    nodes: tuple[Cell, ...]
    links: tuple[Link, ...] = ()
    legend: tuple[str, str] | None = None  # what arrows are that are marked, and those that are not
    note: str = ""

    @property
    def num_lines(self) -> int:
        return len(self.links)


@dataclass(frozen=True)
class Columns:
    """Where the columns are: the names of the lanes before them, and the width of each."""

    names: tuple[str, ...]
    left: float
    wide: float

    @classmethod
    def of(cls, lattice: Lattice) -> Columns:
        names = tuple(shorten_texts(lattice.lanes, LABEL_SIZE, MAX_LANE_NAME, MAX_LONG_NAME))
        beside = max((text_width(name, LABEL_SIZE) for name in (*names, "step")), default=0.0)
        heads = [text_width(step, SMALL_SIZE) - BETWEEN / 2 for step in lattice.steps]
        shown = [text_width(cell.shown, SMALL_SIZE) + 2 * PADDING for cell in lattice.nodes]
        return cls(names, MARGIN + beside + GAP, max([PILL, *heads, *shown]))

    def center(self, step: int) -> float:
        return self.left + step * (self.wide + BETWEEN) + self.wide / 2


@to_svg.register
def lattice_svg(lattice: Lattice) -> str:
    return "\n".join(draw_document(lattice)) + "\n"


def draw_document(lattice: Lattice) -> Iterator[str]:
    columns, legend = Columns.of(lattice), as_legend(lattice)
    legend_width, legend_height = legend_size(legend)
    bottom = MARGIN + HEAD + len(lattice.lanes) * LANE
    below = legend_height + (HEAD if lattice.note else 0.0)
    right = columns.center(len(lattice.steps) - 1) + columns.wide / 2
    notes = MARGIN + max(legend_width, text_width(lattice.note, SMALL_SIZE))
    yield opening(max(right, notes) + MARGIN, bottom + below + MARGIN)
    yield from name_marks(lattice, columns)
    for link in lattice.links:
        yield link_mark(lattice, link, columns)
    for cell in lattice.nodes:
        yield from cell_marks(cell, columns)
    yield from legend_marks(legend, MARGIN, bottom)
    if lattice.note:
        yield text(MARGIN, bottom + below - 4, lattice.note, SMALL_SIZE, fill=MUTED, anchor="start")
    yield "</svg>"


def as_legend(lattice: Lattice) -> Legend:
    return () if lattice.legend is None else tuple(zip(lattice.legend, (MARKED, PLAIN), strict=True))


def name_marks(lattice: Lattice, columns: Columns) -> Iterator[str]:
    """The names of the steps above their columns, those of the lanes before them."""
    yield text(MARGIN, MARGIN + 12, "step", SMALL_SIZE, fill=MUTED, anchor="start")
    for step, name in enumerate(lattice.steps):
        yield text(columns.center(step), MARGIN + 12, name, SMALL_SIZE, fill=MUTED)
    for lane, name in enumerate(columns.names):
        yield text(MARGIN, middle(lane) + LABEL_SIZE * 0.35, name, LABEL_SIZE, fill=INK, anchor="start")


def cell_marks(cell: Cell, columns: Columns) -> Iterator[str]:
    x, y = columns.center(cell.step), middle(cell.lane)
    look = f'stroke="{BAR_FILL}" stroke-width="2"' if cell.is_marked else f'stroke="{OUTLINE}" stroke-width="1.2"'
    look = f'rx="{number(PILL / 2)}" fill="{MARKED_FILL if cell.is_marked else OPEN_FILL}" {look}'
    yield f'<g class="cell" data-marked="{str(cell.is_marked).lower()}"><title>{escape(cell.tip or cell.shown)}</title>'
    yield rectangle(x - columns.wide / 2, y - PILL / 2, columns.wide, PILL, look)
    yield text(x, y + SMALL_SIZE * 0.35, cell.shown, SMALL_SIZE, fill=INK, bold=cell.is_marked)
    yield "</g>"


def link_mark(lattice: Lattice, link: Link, columns: Columns) -> str:
    """A straight arrow between the sides of two cells."""
    source, target = lattice.nodes[link.source], lattice.nodes[link.target]
    start = Point(columns.center(source.step) + columns.wide / 2 + 1, middle(source.lane))
    end = Point(columns.center(target.step) - columns.wide / 2 - 2, middle(target.lane))
    third = Point((end.x - start.x) / 3, (end.y - start.y) / 3)
    curve: Curve = (start, start.move(*third), end.move(-third.x, -third.y), end)
    first, second = (f"{cell.step}: {lattice.lanes[cell.lane]}" for cell in (source, target))
    return edge_mark(Edge(first, second, stroke=MARKED if link.is_marked else PLAIN), curve)


def middle(lane: int) -> float:
    return MARGIN + HEAD + (lane + 0.5) * LANE
