"""Limits for a block of a test: processor time, which a busy machine does not change, and additional memory."""

from __future__ import annotations

import resource
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

MEGABYTE = 2**20
STATISTICS = Path("/proc/self/statm")  # its first number counts the pages in use


class TookTooLong(AssertionError):
    """The block used more processor time than it may."""


@contextmanager
def bounded(seconds: float, megabytes: float = 1024) -> Iterator[None]:
    """`TookTooLong` after so many seconds of work; `MemoryError` when so much more memory is asked for."""
    old_handler = signal.signal(signal.SIGPROF, give_up)
    old_limits = resource.getrlimit(resource.RLIMIT_AS)
    set_memory_limit(megabytes, old_limits[1])
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, old_handler)
        resource.setrlimit(resource.RLIMIT_AS, old_limits)


def give_up(_signal: int, _frame: FrameType | None) -> NoReturn:
    raise TookTooLong("the time allowed is over")


def set_memory_limit(megabytes: float, hard: Any) -> None:
    if STATISTICS.exists():  # elsewhere than on Linux only the time is limited
        in_use = int(STATISTICS.read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (in_use + int(megabytes * MEGABYTE), hard))
