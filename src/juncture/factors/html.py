"""Factors as HTML for notebooks; a large table is cut, and a note says so."""

from __future__ import annotations

from itertools import islice, product

import numpy as np

from juncture.drawing.html import html_table
from juncture.variables import Scope

MAX_ROWS = 32
MAX_COLUMNS = 12


def table_html(scope: Scope, values: np.ndarray) -> str:
    """The table of a factor: the last variable across, the others down."""
    if not scope:
        return f"<code>{float(values):g}</code>"
    *down, across = scope
    heads = [variable.name for variable in down]
    heads += [f"{across.name}={label}" for label in across.labels[:MAX_COLUMNS]]
    rows = values.reshape(-1, across.num_states)
    states = islice(product(*(variable.labels for variable in down)), MAX_ROWS)
    numbers = ([f"{value:.4g}" for value in row[:MAX_COLUMNS]] for row in rows)
    body = ((*labels, *row) for labels, row in zip(states, numbers, strict=False))
    return html_table(heads, body, format_omitted(*rows.shape), num_labels=len(down))


def format_omitted(num_rows: int, num_columns: int | None = None) -> str:
    """The note below a table that is not shown in full; the number of columns where they may be cut, too."""
    if num_rows <= MAX_ROWS and (num_columns or 0) <= MAX_COLUMNS:
        return ""
    return f"… cut from {num_rows} rows{'' if num_columns is None else f' × {num_columns} columns'}"
