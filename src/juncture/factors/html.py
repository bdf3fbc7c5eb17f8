"""Tables as HTML for notebooks: every name escaped, large tables cut short and said to be."""

from __future__ import annotations

from html import escape
from itertools import islice, product

import numpy as np

from juncture.variables import Scope

MAX_ROWS = 32
MAX_COLUMNS = 12


def table_html(scope: Scope, values: np.ndarray) -> str:
    """The last variable across, the others down."""
    if not scope:
        return f"<code>{float(values):g}</code>"
    *down, across = scope
    names = "".join(f"<th>{escape(variable.name)}</th>" for variable in down)
    labels = across.labels[:MAX_COLUMNS]
    heads = "".join(f"<th>{escape(across.name)}={escape(str(label))}</th>" for label in labels)
    rows = values.reshape(-1, across.num_states)
    states = islice(product(*(variable.labels for variable in down)), MAX_ROWS)
    body = "".join(row_html(parents, row[:MAX_COLUMNS]) for parents, row in zip(states, rows, strict=False))
    return f"<table><thead><tr>{names}{heads}</tr></thead><tbody>{body}</tbody></table>{format_omitted(rows)}"


def row_html(parents: tuple[object, ...], row: np.ndarray) -> str:
    heads = "".join(f"<th>{escape(str(label))}</th>" for label in parents)
    return f"<tr>{heads}{''.join(f'<td>{value:.4g}</td>' for value in row)}</tr>"


def format_omitted(rows: np.ndarray) -> str:
    if rows.shape[0] <= MAX_ROWS and rows.shape[1] <= MAX_COLUMNS:
        return ""
    return f"<p>… cut from {rows.shape[0]} rows × {rows.shape[1]} columns</p>"
