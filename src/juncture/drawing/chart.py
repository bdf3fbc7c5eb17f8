"""A small chart as SVG text: curves over a base line, bars and closed loops between two axes with numbers.

The names of steps below a picture are as many as there is room for, none over another.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import ceil, floor, log10
from typing import Any, Literal

from juncture.drawing.boxes import SMALL_SIZE
from juncture.drawing.marks import opening, polyline, rectangle, text
from juncture.drawing.palette import BAR_FILL, BAR_GROUND, EDGE, MUTED
from juncture.drawing.text import format_steps, text_width

WIDTH, HEIGHT = 340.0, 170.0
MARGIN, BELOW = 12.0, 24.0
NUM_ROWS = 4  # of numbers beside the picture, about
HEADROOM = 0.06  # of the height, above the highest point
BAR_GAP = 0.25  # of the distance between bars


@dataclass(frozen=True)
class Series:
    """Points to draw: a curve filled down to 0, bars from 0 up, or a loop that is filled."""

    points: tuple[tuple[float, float], ...]
    kind: Literal["curve", "bars", "loop"] = "curve"
    colour: str = BAR_FILL


@dataclass(frozen=True)
class Frame:
    """Where the data's range lies in the picture."""

    low: float
    high: float
    bottom: float
    top: float
    left: float

    def at(self, x: float, y: float) -> tuple[float, float]:
        across = (x - self.low) / (self.high - self.low)
        up = (y - self.bottom) / (self.top - self.bottom)
        room = HEIGHT - MARGIN - BELOW
        return self.left + across * (WIDTH - MARGIN - self.left), MARGIN + (1 - up) * room


def chart_svg(series: Sequence[Series], title: str = "") -> str:
    """The series over one another, as one SVG document.

    >>> chart_svg([Series(((0, 1), (1, 3)), "bars")]).count("<title>")
    2
    """
    bars = [each for each in series if each.kind == "bars"]
    step = min((_spacing(each) for each in bars), default=0.0)
    frame = _frame(series, step / 2)
    marks = [opening(WIDTH, HEIGHT, title), *_axes(frame, whole=bool(bars))]
    for each in series:
        if each.kind == "bars":
            marks += _bars(each, frame, step, bars.index(each), len(bars))
        else:
            marks += _line(each, frame)
    base = [frame.at(frame.low, frame.bottom), frame.at(frame.high, frame.bottom)]
    return "\n".join([*marks, polyline(base, f'stroke="{EDGE}"'), "</svg>"]) + "\n"


def _frame(series: Sequence[Series], beside: float) -> Frame:
    xs, ys = zip(*(point for each in series for point in each.points), strict=True)
    low, high = move_apart(min(xs) - beside, max(xs) + beside)
    is_plane = any(each.kind == "loop" for each in series)
    bottom, top = move_apart(min(ys) if is_plane else 0.0, max(ys))
    room = HEADROOM * (top - bottom)
    bottom, top = bottom - (room if is_plane else 0.0), top + room
    left = MARGIN + 5 + max(text_width(label, SMALL_SIZE) for label in labels(ticks(bottom, top, NUM_ROWS)))
    return Frame(low, high, bottom, top, left)


def move_apart(low: float, high: float) -> tuple[float, float]:
    """The two ends, moved apart where they are equal up to rounding."""
    return (low, high) if high - low > max(1e-12 * abs(low), 1e-300) else (low, high + max(1.0, 1e-6 * abs(high)))


def ticks(low: float, high: float, most: int, whole: bool = False) -> list[float]:
    """Round numbers between two numbers, at most one more than `most`, one at least.

    >>> ticks(-0.31, 1.2, 4), ticks(0, 3, 8, whole=True)
    ([0.0, 0.5, 1.0], [0.0, 1.0, 2.0, 3.0])
    """
    rough = (high - low) / most
    power = floor(log10(rough))
    step = next(factor * 10.0**power for factor in (1, 2, 5, 10) if factor * 10.0**power >= rough * (1 - 1e-9))
    step = max(step, 1.0) if whole else step
    decimals = max(-floor(log10(step)), 0)
    marks = [round(index * step, decimals) for index in range(ceil(low / step), floor(high / step) + 1)]
    return [mark for mark in marks if low <= mark <= high] or [low]  # rounding may have left the range


def labels(marks: Sequence[float]) -> list[str]:
    """The numbers with enough digits to distinguish them, at least six.

    >>> labels([0.0, 0.5]), labels([2e9, 4e9]), labels([1000000.1, 1000000.2])
    (['0', '0.5'], ['2e+09', '4e+09'], ['1000000.1', '1000000.2'])
    """
    step = min((right - left for left, right in pairwise(marks)), default=0.0)
    digits = ceil(log10(max(map(abs, marks)) / step)) + 1 if step else 6
    return [f"{mark:.{max(digits, 6)}g}" for mark in marks]


def _axes(frame: Frame, whole: bool) -> Iterator[str]:
    rows = ticks(frame.bottom, frame.top, NUM_ROWS)
    for tick, label in zip(rows, labels(rows), strict=True):
        (left, y), (right, _) = frame.at(frame.low, tick), frame.at(frame.high, tick)
        yield polyline([(left, y), (right, y)], f'stroke="{BAR_GROUND}"')
        yield text(left - 5, y + 4, label, SMALL_SIZE, fill=MUTED, anchor="end")
    columns = _columns(frame, whole)
    for tick, label in zip(columns, labels(columns), strict=True):
        x, y = frame.at(tick, frame.bottom)
        yield polyline([(x, y), (x, y + 4)], f'stroke="{EDGE}"')
        half = text_width(label, SMALL_SIZE) / 2 + MARGIN / 2
        yield text(min(max(x, half), WIDTH - half), y + 16, label, SMALL_SIZE, fill=MUTED)


def _columns(frame: Frame, whole: bool) -> list[float]:
    """As many numbers below as there is room for."""
    for most in (8, 6, 4, 3, 2):
        marks = ticks(frame.low, frame.high, most, whole)
        if sum(text_width(label, SMALL_SIZE) + MARGIN for label in labels(marks)) < WIDTH - frame.left:
            return marks
    return marks[:1]


def _line(series: Series, frame: Frame) -> Iterator[str]:
    points = [frame.at(x, y) for x, y in series.points]
    ends = [] if series.kind == "loop" else [(points[-1][0], frame.at(0, 0)[1]), (points[0][0], frame.at(0, 0)[1])]
    yield polyline([*points, *ends], f'fill="{series.colour}" fill-opacity="0.16"')
    closing = points[:1] if series.kind == "loop" else []
    yield polyline([*points, *closing], f'fill="none" stroke="{series.colour}" stroke-width="1.8"')


def _spacing(series: Series) -> float:
    return min((right - left for (left, _), (right, _) in pairwise(series.points)), default=1.0)


def _bars(series: Series, frame: Frame, step: float, index: int, num: int) -> Iterator[str]:
    """Bars side by side with those of the other series, each with its numbers as a tooltip."""
    room = frame.at(frame.low + step, 0)[0] - frame.at(frame.low, 0)[0]
    wide = room * (1 - BAR_GAP) / num
    for x, y in series.points:
        middle, top = frame.at(x, y)
        left = middle + (index - num / 2) * wide
        look = f'fill="{series.colour}"'
        tip = f"<title>{x:.12g}: {y:.6g}</title>"
        bar = rectangle(left, top, wide, frame.at(x, 0)[1] - top, look)
        yield f"{bar.removesuffix('/>')}>{tip}</rect>"


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
