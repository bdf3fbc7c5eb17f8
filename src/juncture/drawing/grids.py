"""A table as SVG text: cells of text, some of them marked, some filled, some with a bar.

>>> to_svg(Grid(("a", "b"), ((GridCell("1"), GridCell("2", is_marked=True)),))).count("<text")
4
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from juncture.drawing.boxes import SMALL_SIZE
from juncture.drawing.marks import opening, polyline, rectangle, text
from juncture.drawing.palette import BAR_FILL, BAR_GROUND, EDGE, INK, MARKED_FILL, MUTED
from juncture.drawing.svg import MARGIN, to_svg
from juncture.drawing.text import escape, shorten_texts, text_width

ROW, HEAD, PADDING = 22.0, 26.0, 9.0
MAX_TEXT, MAX_LONG_TEXT = 130.0, 250.0
BAR, BAR_HEIGHT, SQUARE = 70.0, 10.0, 12.0
LINE_HEIGHT = 18.0


class GridCell(NamedTuple):
    """Text, marked with a colour or not; a share has a bar; a cell that is filled has a square."""

    shown: str = ""
    share: float | None = None
    is_marked: bool = False
    is_filled: bool = False


@dataclass(frozen=True)
class Grid:
    """Rows of cells below their heads; the lines of `notes` stand below."""

    heads: tuple[str, ...]
    nodes: tuple[tuple[GridCell, ...], ...]  # the rows
    notes: tuple[str, ...] = ()

    @property
    def num_lines(self) -> int:
        return len(self.nodes)


@dataclass(frozen=True)
class Column:
    """A column as it is shown: its head and texts, where it begins and ends."""

    head: str
    texts: tuple[str, ...]
    left: float
    right: float
    bar: float  # how wide a full bar is


@to_svg.register
def grid_svg(grid: Grid) -> str:
    return "\n".join(draw_document(grid)) + "\n"


def draw_document(grid: Grid) -> Iterator[str]:
    columns = place_columns(grid)
    right = max((column.right for column in columns), default=MARGIN)
    bottom = MARGIN + HEAD + ROW * len(grid.nodes)
    wide = max([right, *(MARGIN + text_width(note, SMALL_SIZE) for note in grid.notes)]) + MARGIN
    yield opening(wide, bottom + LINE_HEIGHT * len(grid.notes) + MARGIN)
    for column in columns:
        yield head_mark(column)
    for row in range(len(grid.nodes) + 1):
        y = MARGIN + HEAD + row * ROW
        yield polyline([(MARGIN, y), (right, y)], f'stroke="{BAR_GROUND if row else EDGE}"')
    for row, cells in enumerate(grid.nodes):
        for column, cell in zip(columns, cells, strict=True):
            yield from cell_marks(cell, column, row)
    for position, note in enumerate(grid.notes):
        y = bottom + LINE_HEIGHT * (position + 1)
        yield text(MARGIN, y, note, SMALL_SIZE, fill=MUTED, anchor="start")
    yield "</svg>"


def place_columns(grid: Grid) -> list[Column]:
    """Columns one after the other, each as wide as its widest text."""
    columns, left = [], MARGIN
    heads = shorten_texts(grid.heads, SMALL_SIZE, MAX_TEXT, MAX_LONG_TEXT)
    for position, head in enumerate(heads):
        cells = [row[position] for row in grid.nodes]
        texts = shorten_texts([cell.shown for cell in cells], SMALL_SIZE, MAX_TEXT, MAX_LONG_TEXT)
        inner = max((text_width(each, SMALL_SIZE) for each in texts), default=0.0)
        bar = BAR if any(cell.share is not None for cell in cells) else 0.0
        wide = max(1.1 * text_width(head, SMALL_SIZE), inner + (bar + PADDING if bar else 0.0), SQUARE) + 2 * PADDING
        columns.append(Column(head, tuple(texts), left, left + wide, bar))
        left += wide
    return columns


def head_mark(column: Column) -> str:
    middle = (column.left + column.right) / 2
    return text(middle, MARGIN + HEAD - 9, column.head, SMALL_SIZE, fill=INK, bold=True)


def cell_marks(cell: GridCell, column: Column, row: int) -> Iterator[str]:
    top, middle = MARGIN + HEAD + row * ROW, (column.left + column.right) / 2
    if cell.is_marked:
        wide = column.right - column.left
        yield rectangle(column.left + 1, top + 1, wide - 2, ROW - 2, f'class="marked" rx="3" fill="{MARKED_FILL}"')
    if cell.is_filled:
        look = f'class="filled" rx="2" fill="{BAR_FILL}"'
        mark = rectangle(middle - SQUARE / 2, top + (ROW - SQUARE) / 2, SQUARE, SQUARE, look)
        yield f"{mark.removesuffix('/>')}><title>{escape(column.head)}</title></rect>"
    if column.bar:
        yield from bar_marks(cell, column, row)
    elif column.texts[row]:
        yield text(middle, top + 15, column.texts[row], SMALL_SIZE, fill=INK)


def bar_marks(cell: GridCell, column: Column, row: int) -> Iterator[str]:
    """A number at the left end, and its bar."""
    top, left = MARGIN + HEAD + row * ROW, column.right - PADDING - column.bar
    yield text(left - PADDING, top + 15, column.texts[row], SMALL_SIZE, fill=INK, anchor="end")
    if cell.share is None:
        return
    share = min(max(cell.share, 0.0), 1.0)
    yield rectangle(left, top + 6, column.bar, BAR_HEIGHT, f'rx="2" fill="{BAR_GROUND}"')
    yield rectangle(left, top + 6, column.bar * share, BAR_HEIGHT, f'rx="2" fill="{BAR_FILL}"')
