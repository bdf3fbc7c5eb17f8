"""Beliefs as text and as HTML."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from juncture.inference.beliefs import Beliefs

MAX_VARIABLES = 20
BAR_WIDTH = 120


def beliefs_text(beliefs: Beliefs) -> str:
    """How the answer was obtained, then a line per variable."""
    head = f"Beliefs({how(beliefs)}, {len(beliefs.targets)} variables"
    if not beliefs.is_single:
        return f"{head}, {beliefs.findings.num_rows} rows)"
    lines = [f"{head}, log evidence {beliefs.log_evidence:.6g})"]
    for name in beliefs.targets[:MAX_VARIABLES]:
        states = ", ".join(f"{label} {p:.4g}" for label, p in beliefs[name].to_dict().items())
        lines.append(f"  {name}: {states}")
    if len(beliefs.targets) > MAX_VARIABLES:
        lines.append(f"  … and {len(beliefs.targets) - MAX_VARIABLES} more")
    return "\n".join(lines)


def how(beliefs: Beliefs) -> str:
    return f"{beliefs.method}, {'exact' if beliefs.exact else 'approximate'}"


def beliefs_html(beliefs: Beliefs) -> str:
    """A table with a bar per state; for many rows, one line that says so."""
    if not beliefs.is_single:
        return f"<p><code>{escape(beliefs_text(beliefs))}</code></p>"
    rows = "".join(variable_html(beliefs, name) for name in beliefs.targets[:MAX_VARIABLES])
    more = len(beliefs.targets) - MAX_VARIABLES
    note = f"<p>… and {more} more variables</p>" if more > 0 else ""
    caption = f"<caption>{escape(how(beliefs))}, log evidence {beliefs.log_evidence:.6g}</caption>"
    return f"<table>{caption}{rows}</table>{note}"


def variable_html(beliefs: Beliefs, name: str) -> str:
    marginal = beliefs[name].to_dict()
    head = f'<th rowspan="{len(marginal)}">{escape(name)}</th>'
    rows = []
    for label, probability in marginal.items():
        bar = f'<div style="background:#4c78a8;height:0.8em;width:{probability * BAR_WIDTH:.0f}px"></div>'
        rows.append(f"<tr>{head}<td>{escape(str(label))}</td><td>{probability:.4f}</td><td>{bar}</td></tr>")
        head = ""
    return "".join(rows)
