"""How the commands print: tables for people, JSON for programs."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from juncture.errors import FormatError
from juncture.formats.files import format_of, write

if TYPE_CHECKING:
    from rich.table import Table

BAR_CELLS = 20
CSV = (".csv", ".txt")


def console(stream: TextIO | None = None) -> Any:
    """Standard output, or another stream; no colour and no cut lines when piped."""
    from rich.console import Console

    class Printer(Console):
        def on_broken_pipe(self) -> None:
            raise BrokenPipeError  # rich would exit with 1

    file = stream or sys.stdout
    width = None if file.isatty() else 10_000
    return Printer(file=file, width=width, highlight=False, markup=False, emoji=False)


def table(title: str, *columns: str, numeric: tuple[str, ...] = ()) -> Table:
    from rich import box
    from rich.table import Table

    head = any(columns)
    result = Table(title=title, title_justify="left", title_style="bold", box=box.SIMPLE, show_header=head)
    result.min_width = 0 if head else len(title)  # else a long title is broken
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


def save(model: Any, target: str) -> None:
    """Write a model to a file, or as JSON to standard output."""
    if target != "-":
        write(model, target)
        return
    from juncture.formats.json import write_json

    sys.stdout.write(write_json(model))


def check_target(target: str, suffixes: tuple[str, ...] = ()) -> None:
    """Refuse a file that could not be written, before the work is done and not after; without suffixes, a model's."""
    if target == "-":
        return
    if not Path(target).parent.is_dir():
        raise FormatError(f"there is no folder {str(Path(target).parent)!r} to write to", file=target)
    if not suffixes:
        format_of(Path(target))
    elif not target.lower().removesuffix(".gz").endswith(suffixes):
        raise FormatError("rows are written as CSV; give --out a name that ends in .csv or .csv.gz", file=target)
