"""Tables as HTML for notebooks: every text is escaped."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape


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
