"""The names of steps below a picture: as many as there is room for, none over another."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

from juncture.drawing.boxes import SMALL_SIZE
from juncture.drawing.chart import ticks
from juncture.drawing.marks import polyline, text
from juncture.drawing.palette import EDGE, MUTED
from juncture.drawing.text import format_steps, text_width

AXIS_HEIGHT = 24.0
APART = 10.0  # between two names, at least


def axis_marks(
    num_steps: int, index: Any, at: Callable[[float], float], top: float, room: tuple[float, float]
) -> Iterator[str]:
    """A short line and a name for some steps; `at` tells where a step is across, `room` where names may be."""
    for step, name, center in chosen_steps(num_steps, index, at, room):
        yield polyline([(at(step), top), (at(step), top + 4)], f'stroke="{EDGE}"')
        yield text(center, top + 16, name, SMALL_SIZE, fill=MUTED)


def name_axis(index: Any, unit: str) -> str:
    """What the names of an axis are: numbers of steps or rows, or what an index says."""
    return unit if index is None or isinstance(index, range) else str(getattr(index, "name", None) or "")


def chosen_steps(
    num_steps: int, index: Any, at: Callable[[float], float], room: tuple[float, float]
) -> list[tuple[int, str, float]]:
    """(step, its name, where the name is centred), evenly spread, the first alone if there is room for no more."""
    for most in (10, 8, 6, 4, 3, 2, 1):
        steps = [int(step) for step in ticks(0, max(num_steps - 1, 1), most, whole=True) if step < num_steps]
        names = format_steps(index, steps)
        halves = [text_width(name, SMALL_SIZE) / 2 for name in names]
        centers = [max(min(at(step), room[1] - half), room[0] + half) for step, half in zip(steps, halves, strict=True)]
        found = list(zip(steps, names, centers, strict=True))
        ends = list(zip(centers, halves, strict=True))
        if all(right - high - left - low >= APART for (left, low), (right, high) in pairwise(ends)):
            return found
    return found[:1]
