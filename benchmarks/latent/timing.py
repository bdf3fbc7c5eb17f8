"""Medians of times, and lines that compare them."""

from __future__ import annotations

import importlib.metadata
import statistics
import time
from collections.abc import Callable
from typing import Any, NamedTuple


class Options(NamedTuple):
    """What the command line says: rows of mixtures, and runs of which the median is taken."""

    rows: int = 1_000_000
    runs: int = 5


class Times(NamedTuple):
    """Medians of wall and of processor time, in seconds."""

    wall: float
    processor: float


def measure(run: Callable[[], Any], runs: int) -> Times:
    """The medians of several runs, after one that is not counted."""
    run()
    walls, works = [], []
    for _ in range(runs):
        wall, work = time.perf_counter(), time.process_time()
        run()
        walls.append(time.perf_counter() - wall)
        works.append(time.process_time() - work)
    return Times(statistics.median(walls), statistics.median(works))


def compare(ours: Times, theirs: Times, name: str) -> None:
    print(f"  juncture {ours.wall:8.3f} s, processor {ours.processor:8.3f} s")
    print(f"  {name} {theirs.wall:8.3f} s, processor {theirs.processor:8.3f} s")
    by_wall, by_processor = theirs.wall / ours.wall, theirs.processor / ours.processor
    print(f"  ratio: {by_wall:.2f} by wall time, {by_processor:.2f} by processor time")


def has(package: str) -> bool:
    """Whether a package is installed, and its version; a line says where it is not."""
    try:
        print(f"  {package} {importlib.metadata.version(package)}")
    except importlib.metadata.PackageNotFoundError:
        print(f"  {package} is not installed")
        return False
    return True
