"""Limits of time for tests, in processor time: other work on the machine does not count."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def takes_at_most(seconds: float) -> Iterator[None]:
    """The block uses at most so many seconds of this process's processors, and does not fail."""
    start = time.process_time()
    yield
    used = time.process_time() - start
    assert used <= seconds, f"{used:.2f} seconds of processor time; allowed are {seconds:g}"


def time_of(call: Callable[[], object], *, times: int = 3) -> float:
    """The processor time of a call, the least of several."""
    found = []
    for _ in range(times):
        start = time.process_time()
        call()
        found.append(time.process_time() - start)
    return min(found)
