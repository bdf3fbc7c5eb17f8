"""Limits for a block of a test: processor time, which a busy machine does not change, and additional memory.

The time is only a guard against hanging, and should be many times what the block takes.
"""

from __future__ import annotations

import gc
import resource
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

MEGABYTE = 2**20
STATISTICS = Path("/proc/self/statm")  # its first number counts the pages in use
AGAIN = 0.05  # seconds until the next try where the first came at a bad moment


class TookTooLong(AssertionError):
    """The block used more processor time than it may."""


class Alarm:
    """Raises `TookTooLong`, except inside a garbage collection, which would swallow it: then soon afterwards."""

    def __init__(self) -> None:
        self.is_collecting = False

    def watch(self, phase: str, _info: dict[str, int]) -> None:
        self.is_collecting = phase == "start"

    def ring(self, _signal: int, _frame: FrameType | None) -> None:
        if not self.is_collecting:
            raise TookTooLong("the time allowed is over")


@contextmanager
def bounded(seconds: float, megabytes: float = 1024) -> Iterator[None]:
    """`TookTooLong` after so many seconds of work; `MemoryError` when so much more memory is asked for."""
    alarm = Alarm()
    gc.callbacks.append(alarm.watch)
    old_handler = signal.signal(signal.SIGPROF, alarm.ring)
    old_limits = resource.getrlimit(resource.RLIMIT_AS)
    set_memory_limit(megabytes, old_limits[1])
    signal.setitimer(signal.ITIMER_PROF, seconds, AGAIN)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, old_handler)
        resource.setrlimit(resource.RLIMIT_AS, old_limits)
        gc.callbacks.remove(alarm.watch)


def set_memory_limit(megabytes: float, hard: Any) -> None:
    if STATISTICS.exists():  # elsewhere than on Linux only the time is limited
        in_use = int(STATISTICS.read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (in_use + int(megabytes * MEGABYTE), hard))
