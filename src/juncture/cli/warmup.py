"""`juncture warmup`: compile the kernels ahead."""

from __future__ import annotations

import logging
import time
from typing import Any

from juncture.cli.printing.output import console


def warmup() -> None:
    """Compile the numerical kernels now, so that the first large question does not wait for them.

    Example: juncture warmup
    """
    from juncture.base.compilation import can_compile
    from juncture.cli.compile_ahead import warm_up, warm_up_in_two_processes
    from juncture.kernels.machine_code import remove_old_folders
    from juncture.runtime.parallel import num_threads

    out = console()
    if not can_compile():
        out.print("there is nothing to compile: Numba is not installed, and kernels run interpreted")
        return
    out.print("compiling the kernels; this is done once for each installation …")
    logging.getLogger("juncture.compiling").setLevel(logging.ERROR)  # it would advise this very command
    started = time.perf_counter()
    run = warm_up if num_threads() == 1 else warm_up_in_two_processes
    if out.is_terminal:
        show_bar(out, run)
    else:
        run(out.print)  # a line for each subject, for logs
    remove_old_folders()
    out.print(f"done in {time.perf_counter() - started:.1f} s")


def show_bar(out: Any, run: Any) -> None:
    """A bar with the subject that is compiled now."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    from juncture.cli.compile_ahead import SUBJECTS

    columns = (BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("{task.description}"))
    with Progress(*columns, console=out, transient=True) as progress:
        task = progress.add_task("", total=len(SUBJECTS))
        begun: list[str] = []

        def begin(subject: str) -> None:
            progress.update(task, completed=len(begun), description=subject)
            begun.append(subject)

        run(begin)
