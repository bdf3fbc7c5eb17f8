"""`juncture warmup`: compile the kernels ahead."""

from __future__ import annotations

import time

from juncture.cli.output import console


def warmup() -> None:
    """Compile the numerical kernels now, so that the first query does not wait for them.

    Example: juncture warmup
    """
    from juncture.warmup import warm_up

    out = console()
    out.print("compiling the kernels; this is done once for each installation …")
    started = time.perf_counter()
    warm_up()
    out.print(f"done in {time.perf_counter() - started:.1f} s")
