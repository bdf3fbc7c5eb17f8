"""A progress bar for iterative methods: on a terminal only, removed at the end."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from typing import Any, NamedTuple

from juncture.errors import escape_controls
from juncture.numerics.iteration import ProgressCallback


def bar_with(text: str, *columns: Any) -> Any:
    """A bar on standard error with what is done, a text, the time so far and further columns."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    first = (TextColumn("{task.description}", markup=False), BarColumn(), TextColumn(text, markup=False))
    return Progress(*first, TimeElapsedColumn(), *columns, console=Console(stderr=True), transient=True)


@contextmanager
def show_progress(what: str, objective_name: str, num_starts: int = 1) -> Iterator[ProgressCallback | None]:
    """A callback for the number and the objective of each step; None where standard error is no terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    with bar_with("{task.fields[state]}") as bar:
        task = bar.add_task(escape_controls(what), total=None, state="")  # the number of steps is not known
        state = StepText(objective_name, num_starts)
        yield lambda step, objective: bar.update(task, state=state.of(step, objective))


class StepText:
    """The text of a step, with the number of its start where there are several."""

    def __init__(self, objective_name: str, num_starts: int) -> None:
        self.objective_name, self.num_starts, self.start = objective_name, num_starts, 0

    def of(self, step: int, objective: float) -> str:
        self.start += step == 1  # each start counts its steps from 1
        which = f"start {self.start} of {self.num_starts}, " if self.num_starts > 1 else ""
        return f"{which}step {step}, {self.objective_name} {objective:,.4f}"


class PassBar(NamedTuple):
    """What moves a bar of passes over rows: a pass begins, some rows were read, a step ended."""

    begin: Callable[[], None]
    watch: Callable[[int], None]
    show: ProgressCallback


@contextmanager
def show_passes(what: str, objective_name: str, num_rows: int | None, num_starts: int = 1) -> Iterator[PassBar | None]:
    """A bar of the rows of the present pass, beside the last step; None where standard error is no terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    with bar_with("pass {task.fields[number]}, {task.completed:,.0f} rows{task.fields[state]}") as bar:
        task = bar.add_task(escape_controls(what), total=num_rows, state="", number=0)
        state, numbers = StepText(objective_name, num_starts), count(1)
        yield PassBar(
            lambda: bar.update(task, completed=0, number=next(numbers)),
            lambda rows: bar.advance(task, rows),
            lambda step, objective: bar.update(task, state=f"; {state.of(step, objective)}"),
        )


@contextmanager
def show_rows(what: str, num_rows: int | None) -> Iterator[Callable[[int], None]]:
    """A function that takes the number of further rows that were read; it draws on a terminal only."""
    if not sys.stderr.isatty():
        yield lambda rows: None
        return
    from rich.progress import TimeRemainingColumn

    with bar_with("{task.completed:,.0f} rows", TimeRemainingColumn()) as bar:
        task = bar.add_task(escape_controls(what), total=num_rows)
        yield lambda rows: bar.advance(task, rows)
