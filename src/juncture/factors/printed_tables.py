"""Labelled tables as text, and as HTML for notebooks.

The last variable goes across, the others down; a large table is cut, and a note says so.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape
from itertools import islice, product

import numpy as np

from juncture.base.values import format_count, short
from juncture.drawing.notebook import html_table
from juncture.variables import Scope, Variable

MAX_ROWS, MAX_COLUMNS, MAX_LETTERS = 20, 10, 40
MAX_PARENTS, MAX_SIZE = 12, 2**62  # of a conditional that is shown as a table; positions of rows have 64 bits
GAP = "…"
MAX_HTML_ROWS = 32
MAX_HTML_COLUMNS = 12


def table_text(title: str, scope: Scope, read_rows: Callable[[np.ndarray], np.ndarray]) -> str:
    """The title, and below it the table; the middle of a long table is left out, and a line says how much.

    `read_rows` takes positions of rows and gives (row, state of the last variable). The states of a variable that
    stands alone go down.
    """
    *down, last = scope
    if not down:
        column = read_rows(np.zeros(1, np.int64))[0]
        return "\n".join([title, *grid_lines(scope, [""], lambda rows: column[rows, None])])
    heads = [f"{last.name}={label}" for label in last.labels]
    return "\n".join([title, *grid_lines(Scope(down), heads, read_rows)])


def grid_lines(down: Scope, heads: Sequence[str], read_rows: Callable[[np.ndarray], np.ndarray]) -> list[str]:
    """A line of heads, then a line for each joint state of `down`: its labels, then its numbers."""
    rows, columns = ends(down.size, MAX_ROWS), ends(len(heads), MAX_COLUMNS)
    numbers = read_rows(np.array(rows))[:, columns]
    lines = [[*down.names, *(heads[column] for column in columns)]]
    lines += [
        [*labels, *(f"{number:.4g}" for number in line)]
        for labels, line in zip(row_labels(down, rows), numbers.tolist(), strict=True)
    ]
    if len(columns) < len(heads):
        middle = len(down) + len(columns) // 2
        lines = [[*line[:middle], GAP, *line[middle:]] for line in lines]
    shown = align_columns(lines, len(down))
    if len(rows) < down.size:
        shown.insert(1 + len(rows) // 2, left_out(down.size - len(rows), "row"))
    if len(columns) < len(heads):
        shown.append(left_out(len(heads) - len(columns), "column"))
    return shown


def left_out(count: int, what: str) -> str:
    return f"{GAP} {format_count(count)} {what}{'' if count == 1 else 's'} left out"


def ends(count: int, most: int) -> list[int]:
    """All positions, or the first and the last of them.

    >>> ends(3, 4), ends(9, 4)
    ([0, 1, 2], [0, 1, 7, 8])
    """
    half = most // 2
    return list(range(count)) if count <= most else [*range(half), *range(count - half, count)]


def row_labels(scope: Scope, rows: Sequence[int]) -> list[tuple[str, ...]]:
    """The states of the variables in these rows of a table, of which the last variable goes fastest."""
    if not scope:
        return [()] * len(rows)
    codes = np.unravel_index(np.array(rows), scope.shape)
    columns = [[str(variable.labels[code]) for code in own] for variable, own in zip(scope, codes, strict=True)]
    return list(zip(*columns, strict=True))


def align_columns(lines: Sequence[Sequence[str]], num_labels: int) -> list[str]:
    """Lines of cells in columns: labels to the left, numbers to the right."""
    cut = [[short(cell, MAX_LETTERS) for cell in line] for line in lines]
    widths = [max(map(len, column)) for column in zip(*cut, strict=True)]
    aligned = (
        [cell.ljust(width) for cell, width in zip(line[:num_labels], widths, strict=False)]
        + [cell.rjust(width) for cell, width in zip(line[num_labels:], widths[num_labels:], strict=True)]
        for line in cut
    )
    return ["  ".join(cells).rstrip() for cells in aligned]


def table_html(scope: Scope, values: np.ndarray) -> str:
    """The table of a factor: the last variable across, the others down."""
    if not scope:
        return f"<code>{float(values):g}</code>"
    *down, across = scope
    heads = [variable.name for variable in down]
    heads += [f"{across.name}={label}" for label in across.labels[:MAX_HTML_COLUMNS]]
    rows = values.reshape(-1, across.num_states)
    states = islice(product(*(variable.labels for variable in down)), MAX_HTML_ROWS)
    numbers = ([f"{value:.4g}" for value in row[:MAX_HTML_COLUMNS]] for row in rows)
    body = ((*labels, *row) for labels, row in zip(states, numbers, strict=False))
    return html_table(heads, body, format_omitted(*rows.shape), num_labels=len(down))


def conditional_html(words: str, parents: Scope, child: Variable, read_rows: Callable[[np.ndarray], np.ndarray]) -> str:
    """The words, and the first rows of p(child | parents); a real-valued parent has no rows."""
    shown = f"<p><code>{escape(words)}</code></p>"
    if any(parent.is_real for parent in parents) or parents.size > MAX_SIZE:
        return shown
    positions = range(min(parents.size, MAX_HTML_ROWS))
    heads = [*parents.names, *(f"{child.name}={label}" for label in child.labels[:MAX_HTML_COLUMNS])]
    numbers = read_rows(np.array(positions))[:, :MAX_HTML_COLUMNS].tolist()
    rows = (
        (*labels, *(f"{number:.4g}" for number in line))
        for labels, line in zip(row_labels(parents, positions), numbers, strict=True)
    )
    note = format_omitted(parents.size, child.num_states)
    return shown + html_table(heads, rows, note, num_labels=len(parents))


def format_omitted(num_rows: int, num_columns: int | None = None) -> str:
    """The note below a table that is not shown in full; the number of columns where they may be cut, too."""
    if num_rows <= MAX_HTML_ROWS and (num_columns or 0) <= MAX_HTML_COLUMNS:
        return ""
    return f"… cut from {num_rows} rows{'' if num_columns is None else f' × {num_columns} columns'}"
