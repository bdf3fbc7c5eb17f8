"""A progress bar for iterative methods: on a terminal only, removed at the end."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from juncture.cli.printing.output import escape_controls
from juncture.iteration import ProgressCallback


@contextmanager
def show_progress(what: str, objective_name: str, num_starts: int = 1) -> Iterator[ProgressCallback | None]:
    """A callback for the number and the objective of each step; None where standard error is no terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.fields[state]}", markup=False),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(escape_controls(what), total=None, state="")  # the number of steps is not known
        start = 0

        def show(step: int, objective: float) -> None:
            nonlocal start
            start += step == 1  # each start counts its steps from 1
            which = f"start {start} of {num_starts}, " if num_starts > 1 else ""
            bar.update(task, state=f"{which}step {step}, {objective_name} {objective:,.4f}")

        yield show


@contextmanager
def show_rows(what: str, num_rows: int | None) -> Iterator[Callable[[int], None]]:
    """A function that takes the number of further rows that were read; it draws on a terminal only."""
    if not sys.stderr.isatty():
        yield lambda rows: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.completed:,.0f} rows"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(escape_controls(what), total=num_rows)
        yield lambda rows: bar.advance(task, rows)
