"""Numbers over steps as SVG text: a panel each, with a line, a band around it and points where there are any.

>>> to_svg(Course((Panel("level", np.array([1.0, 2.0, 4.0])),))).count("<polyline") > 1
True
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from juncture.drawing.boxes import LABEL_SIZE, SMALL_SIZE
from juncture.drawing.chart import AXIS_HEIGHT, HEADROOM, axis_marks, labels, move_apart, name_axis, ticks
from juncture.drawing.marks import opening, polyline, rectangle, text
from juncture.drawing.palette import BAR_FILL, BAR_GROUND, EDGE, INK, MUTED, OBSERVED_BAR_FILL
from juncture.drawing.svg import MARGIN, to_svg
from juncture.drawing.text import shorten_to_width, text_width

WIDTH, HEIGHT, TITLE, BETWEEN = 640.0, 110.0, 22.0, 10.0
NUM_ROWS = 4  # of numbers beside a panel, about
MAX_POINTS = 600  # across
LARGEST = 1e300  # a number beyond is drawn there
RADIUS, OPACITY = 2.2, 0.18  # of points; of a band
INSET = 8.0  # between the sides of a frame and the first and the last step
KEY_HEIGHT, SAMPLE, KEY_GAP = 22.0, 22.0, 18.0


@dataclass(frozen=True, eq=False)
class Panel:
    """Numbers at each step, with the ends of a band around them, and points beside them; NaN where there is none."""

    title: str
    values: np.ndarray  # (step,)
    low: np.ndarray | None = None  # (step,)
    high: np.ndarray | None = None  # (step,)
    points: tuple[np.ndarray, ...] = ()  # (step,) each

    @property
    def parts(self) -> list[np.ndarray]:
        return [self.values, *(part for part in (self.low, self.high) if part is not None), *self.points]

    def take(self, steps: np.ndarray) -> Panel:
        """Some steps, with numbers that can be drawn."""
        low, high = (None if part is None else as_drawn(part[steps]) for part in (self.low, self.high))
        return Panel(
            self.title, as_drawn(self.values[steps]), low, high, tuple(as_drawn(p[steps]) for p in self.points)
        )


@dataclass(frozen=True, eq=False)
class Course:
    """Panels below each other over the same steps, which the index names; the key says what line, band and points are.

    `note` is a line of text below.
    """

    panels: tuple[Panel, ...]
    index: Any = None
    key: tuple[str, str, str] = ("", "", "")
    note: str = ""

    @property
    def nodes(self) -> tuple[Panel, ...]:
        return self.panels

    @property
    def num_lines(self) -> int:
        return len(self.panels)

    @property
    def num_steps(self) -> int:
        return max((len(panel.values) for panel in self.panels), default=0)


class Frame(NamedTuple):
    """Where a panel is, and which numbers its upper and lower end stand for."""

    left: float
    top: float
    low: float
    high: float
    last: int  # step

    def across(self, step: float) -> float:
        """Where a step is; the first and the last leave room for the points at the sides of the frame."""
        room = WIDTH - MARGIN - self.left - 2 * INSET
        return self.left + INSET + room * (step / self.last if self.last else 0.5)

    def down(self, value: float) -> float:
        return self.top + HEIGHT * (1 - (value - self.low) / (self.high - self.low))


@to_svg.register
def course_svg(course: Course) -> str:
    return "\n".join(draw_document(course)) + "\n"


def draw_document(course: Course) -> Iterator[str]:
    num_steps = course.num_steps
    steps = np.unique(np.linspace(0, max(num_steps - 1, 0), min(num_steps, MAX_POINTS)).round().astype(int))
    panels = [panel.take(steps) for panel in course.panels]
    ranges = [find_range(panel) for panel in panels]
    left = MARGIN + 6 + max((width_of_numbers(*each) for each in ranges), default=0.0)
    tops = [MARGIN + TITLE + position * (HEIGHT + TITLE + BETWEEN) for position in range(len(panels))]
    bottom = MARGIN + len(panels) * (HEIGHT + TITLE + BETWEEN) - BETWEEN
    note = note_below(course, len(steps))
    base = bottom + AXIS_HEIGHT + KEY_HEIGHT / 2
    yield opening(WIDTH, base + (KEY_HEIGHT if note else 0.0) + MARGIN)
    for panel, top, (low, high) in zip(panels, tops, ranges, strict=True):
        yield from panel_marks(panel, steps, Frame(left, top, low, high, num_steps - 1))
    axis = Frame(left, bottom, 0.0, 1.0, num_steps - 1)
    yield from axis_marks(num_steps, course.index, axis.across, bottom, (left - 10, WIDTH - 4))
    yield from key_marks(course, left, base)
    yield text(WIDTH - MARGIN, base, name_axis(course.index, "step"), SMALL_SIZE, fill=MUTED, anchor="end")
    if note:
        yield text(left, base + KEY_HEIGHT, note, SMALL_SIZE, fill=MUTED, anchor="start")
    yield "</svg>"


def note_below(course: Course, num_drawn: int) -> str:
    """The note of the course, and how many of its steps are drawn if not all are."""
    steps = f"{num_drawn:,} of {course.num_steps:,} steps are drawn" if num_drawn < course.num_steps else ""
    return shorten_to_width(
        "; ".join(filter(None, [course.note, steps])), SMALL_SIZE, WIDTH - 120.0
    )  # beside the widest numbers


def as_drawn(numbers: np.ndarray) -> np.ndarray:
    """Numbers that are not finite as NaN, and huge ones cut."""
    return np.clip(np.where(np.isfinite(numbers), numbers, np.nan), -LARGEST, LARGEST)


def find_range(panel: Panel) -> tuple[float, float]:
    """The numbers at the lower and the upper end of a panel."""
    numbers = np.concatenate(panel.parts)
    numbers = numbers[np.isfinite(numbers)]
    low, high = move_apart(float(numbers.min()), float(numbers.max())) if len(numbers) else (0.0, 1.0)
    room = HEADROOM * (high - low)
    return low - room, high + room


def width_of_numbers(low: float, high: float) -> float:
    return max(text_width(label, SMALL_SIZE) for label in labels(ticks(low, high, NUM_ROWS)))


def panel_marks(panel: Panel, steps: np.ndarray, frame: Frame) -> Iterator[str]:
    title = shorten_to_width(panel.title, LABEL_SIZE, WIDTH - MARGIN - frame.left)
    yield text(frame.left, frame.top - 7, title, LABEL_SIZE, fill=INK, anchor="start", bold=True)
    rows = ticks(frame.low, frame.high, NUM_ROWS)
    for tick, label in zip(rows, labels(rows), strict=True):
        y = frame.down(tick)
        yield polyline([(frame.left, y), (WIDTH - MARGIN, y)], f'stroke="{BAR_GROUND}"')
        yield text(frame.left - 6, y + 4, label, SMALL_SIZE, fill=MUTED, anchor="end")
    yield from band_marks(panel, steps, frame)
    for run in runs_of(panel.values):
        line = [(frame.across(steps[at]), frame.down(panel.values[at])) for at in run]
        yield point_mark(*line[0], BAR_FILL) if len(line) == 1 else polyline(line, LINE)
    for series in panel.points:
        for at in np.flatnonzero(np.isfinite(series)):
            yield point_mark(frame.across(steps[at]), frame.down(series[at]), OBSERVED_BAR_FILL)
    base = frame.top + HEIGHT
    yield polyline([(frame.left, base), (WIDTH - MARGIN, base)], f'stroke="{EDGE}"')


LINE = f'class="line" fill="none" stroke="{BAR_FILL}" stroke-width="1.8"'
BAND = f'class="band" fill="{BAR_FILL}" fill-opacity="{OPACITY}"'


def band_marks(panel: Panel, steps: np.ndarray, frame: Frame) -> Iterator[str]:
    if panel.low is None or panel.high is None:
        return
    for run in runs_of(panel.low + panel.high):
        above = [(frame.across(steps[at]), frame.down(panel.high[at])) for at in run]
        below = [(frame.across(steps[at]), frame.down(panel.low[at])) for at in run]
        if len(run) == 1:
            yield polyline([*above, *below], f'class="band" fill="none" stroke="{BAR_FILL}" stroke-width="1.2"')
        else:
            yield polyline([*above, *reversed(below)], BAND)


def point_mark(x: float, y: float, colour: str) -> str:
    look = f'class="point" rx="{RADIUS}" fill="{colour}"'
    return rectangle(x - RADIUS, y - RADIUS, 2 * RADIUS, 2 * RADIUS, look)


def runs_of(numbers: np.ndarray) -> list[np.ndarray]:
    """The positions of numbers, in runs without NaN between them."""
    known = np.flatnonzero(np.isfinite(numbers))
    return [run for run in np.split(known, np.flatnonzero(np.diff(known) > 1) + 1) if len(run)]


def key_marks(course: Course, left: float, y: float) -> Iterator[str]:
    """A sample of line, band and points, each with its text."""
    x = left
    for kind, shown in zip(("line", "band", "point"), course.key, strict=True):
        if not shown:
            continue
        if kind == "point":
            yield point_mark(x + SAMPLE / 2, y - 4, OBSERVED_BAR_FILL)
        elif kind == "line":
            yield polyline([(x, y - 4), (x + SAMPLE, y - 4)], LINE)
        else:
            yield rectangle(x, y - 10, SAMPLE, 12, BAND)
        yield text(x + SAMPLE + 6, y, shown, SMALL_SIZE, fill=MUTED, anchor="start")
        x += SAMPLE + 6 + text_width(shown, SMALL_SIZE) + KEY_GAP
