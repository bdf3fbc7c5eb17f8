"""A progress bar for what takes steps: on a terminal only, gone when it is done."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from juncture.cli.output import escape_controls
from juncture.iteration import Watch


@contextmanager
def steps_shown(what: str, objective_name: str, num_starts: int = 1) -> Iterator[Watch | None]:
    """Something to call after each step with its number and the objective; None when nobody would see it."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.fields[told]}", markup=False),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(escape_controls(what), total=None, told="")  # nobody knows how many steps it takes
        start = 0

        def watch(step: int, objective: float) -> None:
            nonlocal start
            start += step == 1  # another start counts its steps anew
            which = f"start {start} of {num_starts}, " if num_starts > 1 else ""
            bar.update(task, told=f"{which}step {step}, {objective_name} {objective:,.4f}")

        yield watch
