"""Laws as HTML for notebooks: a row for each."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from itertools import islice
from typing import Any

from juncture.factors.html import MAX_ROWS


def laws_html(labels: Iterable[Any], laws: Iterable[Any], heads: tuple[str, str]) -> str:
    """A table of labels and laws, cut short where it is long."""
    pairs = list(islice(zip(labels, laws, strict=False), MAX_ROWS + 1))
    rows = (f"<tr><th>{escape(str(label))}</th><td>{escape(repr(law))}</td></tr>" for label, law in pairs[:MAX_ROWS])
    names = "".join(f"<th>{escape(head)}</th>" for head in heads)
    cut = f"<p>… the first {MAX_ROWS}</p>" if len(pairs) > MAX_ROWS else ""
    return f"<table><thead><tr>{names}</tr></thead><tbody>{''.join(rows)}</tbody></table>{cut}"
