"""What a notebook shows: tables as HTML, in which every text is escaped; and a line of words with a picture.

The picture of something that can be drawn is left out where it is too large.
"""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from juncture.drawing.diagram import Drawing

MAX_NODES, MAX_LINES = 300, 10_000


def diagram_html(words: str, diagram: Drawing) -> str:
    """The words, and the picture unless it would be too large to read."""
    from juncture.drawing.svg import to_svg

    shown = f"<p><code>{escape(words)}</code></p>"
    is_small = len(diagram.nodes) <= MAX_NODES and num_lines(diagram) <= MAX_LINES
    return shown + to_svg(diagram) if is_small else shown


def num_lines(diagram: Drawing) -> int:
    """The lines of a picture and their bends, counted without drawing it."""
    from juncture.drawing.diagram import Diagram
    from juncture.drawing.layout.arrange import num_bends

    bends = num_bends(diagram) if isinstance(diagram, Diagram) else 0
    return diagram.num_lines + bends


class Markup(str):
    """HTML that is used as it is."""

    __slots__ = ()


def html_table(
    heads: Iterable[object], rows: Iterable[Iterable[object]], note: str = "", *, num_labels: int = 0
) -> str:
    """A table with a line of heads; the first `num_labels` cells of each row are its labels.

    Cells are any objects, shown by their text; None is an empty cell. The `note` stands below the table.

    >>> html_table(["page", "rank"], [["a<b", 0.5]], num_labels=1)
    '<table><thead><tr><th>page</th><th>rank</th></tr></thead><tbody><tr><th>a&lt;b</th><td>0.5</td></tr></tbody></table>'
    """
    head = "".join(f"<th>{_text(cell)}</th>" for cell in heads)
    body = "".join(f"<tr>{_cells(row, num_labels)}</tr>" for row in rows)
    below = f"<p>{_text(note)}</p>" if note else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{below}"


def _cells(row: Iterable[object], num_labels: int) -> str:
    tags = (("th" if index < num_labels else "td", cell) for index, cell in enumerate(row))
    return "".join(f"<{tag}>{_text(cell)}</{tag}>" for tag, cell in tags)


def _text(cell: object) -> str:
    if isinstance(cell, Markup):
        return cell
    return "" if cell is None else escape(str(cell))
