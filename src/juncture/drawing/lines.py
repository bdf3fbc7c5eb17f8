"""Lines, bands and points between two axes with numbers, as SVG text: curves of scores, rates and shares.

>>> chart = LineChart((Line("test", np.array([1.0, 2.0]), np.array([0.5, 0.8])),), ("rows", "score"))
>>> to_svg(chart).count('class="line"')
1
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from juncture.drawing.boxes import SMALL_SIZE
from juncture.drawing.chart import labels, move_apart, ticks
from juncture.drawing.marks import opening, polyline, rectangle, text
from juncture.drawing.palette import BAR_GROUND, EDGE, MUTED, SERIES
from juncture.drawing.svg import MARGIN, to_svg
from juncture.drawing.text import shorten_to_width, text_width

WIDTH, HEIGHT = 420.0, 260.0  # of the frame with its numbers, without the key
BELOW, KEY_LINE, SAMPLE = 40.0, 18.0, 22.0
HEADROOM = 0.05  # of the range, at each end
MAX_NAME = 90.0
MAX_POINTS = 1000  # of a line


@dataclass(frozen=True, eq=False)
class Line:
    """Points along x, joined by a line, by steps, or by none; around them a band, or a whisker each; or a band."""

    name: str
    x: np.ndarray
    y: np.ndarray
    low: np.ndarray | None = None
    high: np.ndarray | None = None
    kind: Literal["line", "steps", "points", "dashes", "band"] = "line"
    colour: str = SERIES[0]

    def thin(self) -> Line:
        """So many points as a picture has room for."""
        if len(self.x) <= MAX_POINTS:
            return self
        kept = np.unique(np.linspace(0, len(self.x) - 1, MAX_POINTS).round().astype(int))
        low, high = (None if part is None else part[kept] for part in (self.low, self.high))
        return Line(self.name, self.x[kept], self.y[kept], low, high, self.kind, self.colour)


@dataclass(frozen=True, eq=False)
class LineChart:
    """Lines over each other, with names of the axes; the `names` of the places 0, 1, … where x has no numbers.

    The `square` has both axes run from 0 to 1.
    """

    nodes: tuple[Line, ...]
    axes: tuple[str, str]
    names: tuple[str, ...] = ()
    square: bool = False

    @property
    def num_lines(self) -> int:
        return len(self.nodes)


class Frame(NamedTuple):
    """Where the range of the numbers lies in the picture."""

    left: float
    low: float
    high: float
    bottom: float
    top: float

    def across(self, x: float) -> float:
        return self.left + (WIDTH - MARGIN - self.left) * (x - self.low) / (self.high - self.low)

    def down(self, y: float) -> float:
        return MARGIN + (HEIGHT - MARGIN - BELOW) * (1 - (y - self.bottom) / (self.top - self.bottom))

    def at(self, x: float, y: float) -> tuple[float, float]:
        return self.across(float(x)), self.down(float(y))


@to_svg.register
def lines_svg(chart: LineChart) -> str:
    return "\n".join(draw_document(chart)) + "\n"


def draw_document(chart: LineChart) -> Iterator[str]:
    lines = [line.thin() for line in chart.nodes]
    frame = find_frame(chart, lines)
    named = [line for line in lines if line.name]
    yield opening(WIDTH, HEIGHT + KEY_LINE * len(named) + MARGIN / 2)
    yield from axes_marks(chart, frame)
    for marks in (range_marks, line_marks):
        for line in lines:
            yield from marks(line, frame)
    for position, line in enumerate(named):
        yield from key_marks(line, frame.left, HEIGHT + KEY_LINE * (position + 0.5))
    yield "</svg>"


def find_frame(chart: LineChart, lines: list[Line]) -> Frame:
    if chart.square:
        low, high, bottom, top = -0.02, 1.02, -0.02, 1.02
    else:
        ys = [part for line in lines for part in (line.y, line.low, line.high) if part is not None]
        low, high = span([line.x for line in lines])
        bottom, top = span(ys)
    left = MARGIN + 24 + max(text_width(label, SMALL_SIZE) for label in labels(ticks(bottom, top, 6)))
    return Frame(left, low, high, bottom, top)


def span(parts: list[np.ndarray]) -> tuple[float, float]:
    """The range of the finite numbers, with some room at its ends."""
    numbers = np.concatenate([np.ravel(part) for part in parts]) if parts else np.empty(0)
    numbers = numbers[np.isfinite(numbers)]
    low, high = move_apart(float(numbers.min()), float(numbers.max())) if len(numbers) else (0.0, 1.0)
    room = HEADROOM * (high - low)
    return low - room, high + room


def axes_marks(chart: LineChart, frame: Frame) -> Iterator[str]:
    right, base = WIDTH - MARGIN, frame.down(frame.bottom)
    rows = ticks(frame.bottom, frame.top, 6)
    for tick, label in zip(rows, labels(rows), strict=True):
        y = frame.down(tick)
        yield polyline([(frame.left, y), (right, y)], f'stroke="{BAR_GROUND}"')
        yield text(frame.left - 6, y + 4, label, SMALL_SIZE, fill=MUTED, anchor="end")
    for x, label in columns(chart, frame):
        yield polyline([(x, base), (x, base + 4)], f'stroke="{EDGE}"')
        yield text(x, base + 16, label, SMALL_SIZE, fill=MUTED)
    yield polyline([(frame.left, base), (right, base)], f'stroke="{EDGE}"')
    name, upright = (shorten_to_width(each, SMALL_SIZE, WIDTH / 2) for each in chart.axes)
    yield text(right, base + 31, name, SMALL_SIZE, fill=MUTED, anchor="end")
    yield text(frame.left, MARGIN - 6, upright, SMALL_SIZE, fill=MUTED, anchor="start")


def columns(chart: LineChart, frame: Frame) -> list[tuple[float, str]]:
    """Where numbers or names stand below, as many as there is room for."""
    room = WIDTH - MARGIN - frame.left
    if chart.names:
        shown = [shorten_to_width(name, SMALL_SIZE, MAX_NAME) for name in chart.names]
        widths = [text_width(name, SMALL_SIZE) + 12 for name in shown]
        step = next((step for step in range(1, len(shown)) if sum(widths[::step]) < room), len(shown))
        return [(frame.across(place), shown[place]) for place in range(0, len(shown), step)]
    for most in (8, 6, 4, 3, 2):
        marks = ticks(frame.low, frame.high, most)
        texts = labels(marks)
        if sum(text_width(label, SMALL_SIZE) + 12 for label in texts) < room:
            break
    return [(frame.across(mark), label) for mark, label in zip(marks, texts, strict=True)]


def range_marks(line: Line, frame: Frame) -> Iterator[str]:
    """The band around a line, or the whiskers of points."""
    if line.low is None or line.high is None:
        return
    known = np.isfinite(line.x) & np.isfinite(line.low + line.high)
    ends = [
        (frame.at(x, low), frame.at(x, high))
        for x, low, high in zip(line.x[known], line.low[known], line.high[known], strict=True)
    ]
    if line.kind == "points":
        for end in ends:
            yield polyline(end, f'class="whisker" stroke="{line.colour}" stroke-width="1.2"')
    elif ends:
        band = [high for _, high in ends] + [low for low, _ in reversed(ends)]
        yield polyline(band, f'class="band" fill="{line.colour}" fill-opacity="0.16"')


def line_marks(line: Line, frame: Frame) -> Iterator[str]:
    if line.kind == "band":
        return
    known = np.isfinite(line.x) & np.isfinite(line.y)
    points = [frame.at(x, y) for x, y in zip(line.x[known], line.y[known], strict=True)]
    if line.kind == "points" or len(points) == 1:
        for x, y in points:
            yield rectangle(x - 3, y - 3, 6, 6, f'class="point" rx="3" fill="{line.colour}"')
    elif points:
        yield polyline(as_steps(points) if line.kind == "steps" else points, look_of(line))


def as_steps(points: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Level up to the next point, then up or down."""
    found = points[:1]
    for x, y in points[1:]:
        found += [(x, found[-1][1]), (x, y)]
    return found


def look_of(line: Line) -> str:
    if line.kind == "dashes":
        return f'class="base" fill="none" stroke="{EDGE}" stroke-dasharray="5 4"'
    return f'class="line" fill="none" stroke="{line.colour}" stroke-width="1.8"'


def key_marks(line: Line, left: float, y: float) -> Iterator[str]:
    if line.kind == "points":
        yield rectangle(left + SAMPLE / 2 - 3, y - 7, 6, 6, f'rx="3" fill="{line.colour}"')
    elif line.kind == "band":
        yield rectangle(left, y - 10, SAMPLE, 12, f'fill="{line.colour}" fill-opacity="0.16"')
    else:
        yield polyline([(left, y - 4), (left + SAMPLE, y - 4)], look_of(line).replace('class="line" ', ""))
    shown = shorten_to_width(line.name, SMALL_SIZE, WIDTH - MARGIN - left - SAMPLE)
    yield text(left + SAMPLE + 6, y, shown, SMALL_SIZE, fill=MUTED, anchor="start")
