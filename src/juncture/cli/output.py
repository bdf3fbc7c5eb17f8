"""How the commands print: tables for people, JSON for programs."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.table import Table

BAR_CELLS = 20


def console() -> Any:
    """Standard output; no colour and no cut lines when piped."""
    from rich.console import Console

    return Console(width=None if sys.stdout.isatty() else 10_000, highlight=False, markup=False, emoji=False)


def table(title: str, *columns: str, numeric: tuple[str, ...] = ()) -> Table:
    from rich import box
    from rich.table import Table

    head = any(columns)
    result = Table(title=title, title_justify="left", title_style="bold", box=box.SIMPLE, show_header=head)
    for column in columns:
        result.add_column(column, justify="right" if column in numeric else "left", overflow="fold")
    return result


def bar(probability: float) -> str:
    """A bar of eighths of a cell."""
    eighths = round(probability * BAR_CELLS * 8)
    return "█" * (eighths // 8) + ("", "▏", "▎", "▍", "▌", "▋", "▊", "▉")[eighths % 8]


def told(findings: dict[str, Any]) -> str:
    """`given xray=yes, smoke=no`, or nothing."""
    return f" given {', '.join(f'{name}={value}' for name, value in findings.items())}" if findings else ""


def print_json(document: Any) -> None:
    sys.stdout.write(json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False) + "\n")
