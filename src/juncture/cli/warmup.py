"""`juncture warmup`: compile the kernels ahead."""

from __future__ import annotations

import logging
import time
from typing import Any

from juncture.cli.output import console


def warmup() -> None:
    """Compile the numerical kernels now, so that the first query does not wait for them.

    Example: juncture warmup
    """
    out = console()
    out.print("compiling the kernels; this is done once for each installation …")
    logging.getLogger("juncture.compiling").setLevel(logging.ERROR)  # it would advise this very command
    started = time.perf_counter()
    if out.is_terminal:
        show_bar(out)
    else:
        list_subjects(out)
    out.print(f"done in {time.perf_counter() - started:.1f} s")


def show_bar(out: Any) -> None:
    """A bar with the subject that is compiled now."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    from juncture.warmup import SUBJECTS, warm_up

    columns = (BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("{task.description}"))
    with Progress(*columns, console=out, transient=True) as progress:
        task = progress.add_task("", total=len(SUBJECTS))
        subjects = list(SUBJECTS)
        warm_up(lambda subject: progress.update(task, completed=subjects.index(subject), description=subject))


def list_subjects(out: Any) -> None:
    """A line for each subject, for logs."""
    from juncture.warmup import warm_up

    warm_up(out.print)
