"""Probabilities over steps as SVG text: a lane for each state, shaded at each step as it is probable.

>>> to_svg(ShareDiagram((Shares("state", ("dry", "wet"), np.array([[0.9, 0.1], [0.0, 1.0]])),))).count('class="share"')
3
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from juncture.drawing.boxes import LABEL_SIZE, SMALL_SIZE
from juncture.drawing.chart import AXIS_HEIGHT, axis_marks, name_axis
from juncture.drawing.marks import opening, rectangle, text
from juncture.drawing.palette import BAR_FILL, BAR_GROUND, INK, MUTED
from juncture.drawing.svg import MARGIN, to_svg
from juncture.drawing.text import escape, format_percentage, format_steps, shorten_texts, text_width

LANE, GAP, TITLE, BETWEEN = 18.0, 3.0, 20.0, 10.0
ROOM, WIDEST, MAX_COLUMNS = 540, 26, 180  # pixels for all columns, for one at most; so many columns at most
MAX_LANES = 24  # of one variable
MAX_NAME, MAX_LONG_NAME = 120.0, 250.0
NUM_SHADES = 50  # which the eye tells apart
GROUND = f'fill="{BAR_GROUND}" fill-opacity="0.5"'  # behind the shades
KEY = (0.0, 0.25, 0.5, 0.75, 1.0)
LINE_HEIGHT = 18.0


@dataclass(frozen=True, eq=False)
class Shares:
    """The probability of each state of something at each step; NaN where there is none."""

    title: str
    labels: tuple[str, ...]
    values: np.ndarray  # (step, state)


@dataclass(frozen=True, eq=False)
class ShareDiagram:
    """One or several distributions over the same steps or rows, which the index names; the `note` stands below."""

    nodes: tuple[Shares, ...]
    index: Any = None
    unit: str = "step"
    note: str = ""

    @property
    def num_lines(self) -> int:
        return sum(len(shares.labels) for shares in self.nodes)

    @property
    def num_steps(self) -> int:
        return max((len(shares.values) for shares in self.nodes), default=0)


@dataclass(frozen=True)
class Columns:
    """Where steps are: so many to a column, so many pixels wide, from the left."""

    num_steps: int
    size: int  # steps in a column
    wide: int
    left: float

    @classmethod
    def of(cls, num_steps: int, left: float) -> Columns:
        size = max(1, -(-num_steps // MAX_COLUMNS))
        count = max(1, -(-num_steps // size))
        return cls(num_steps, size, max(1, min(ROOM // count, WIDEST)), left)

    @property
    def num(self) -> int:
        return -(-self.num_steps // self.size)

    @property
    def right(self) -> float:
        return self.left + max(1, self.num) * self.wide

    def across(self, step: float) -> float:
        """The middle of the column of a step."""
        return self.left + (int(step) // self.size + 0.5) * self.wide

    def average(self, values: np.ndarray) -> np.ndarray:
        """The mean over the steps of each column: (column, state)."""
        if self.size == 1 or not len(values):
            return values
        starts = np.arange(0, len(values), self.size)
        counts = np.minimum(starts + self.size, len(values)) - starts
        return np.asarray(np.add.reduceat(values, starts, axis=0) / counts[:, None])


@to_svg.register
def shares_svg(diagram: ShareDiagram) -> str:
    return "\n".join(draw_document(diagram)) + "\n"


def draw_document(diagram: ShareDiagram) -> Iterator[str]:
    parts = [keep_largest(shares) for shares in diagram.nodes]
    names = [shorten_texts(shares.labels, SMALL_SIZE, MAX_NAME, MAX_LONG_NAME) for shares in parts]
    widest = max((text_width(name, SMALL_SIZE) for own in names for name in own), default=0.0)
    columns = Columns.of(diagram.num_steps, float(round(MARGIN + widest + 10)))
    heights = [TITLE + len(shares.labels) * (LANE + GAP) for shares in parts]
    bottom = MARGIN + sum(heights) + BETWEEN * (len(parts) - 1)
    notes = list(find_notes(diagram, columns))
    name = name_axis(diagram.index, diagram.unit)
    inner = [key_width() + text_width(name, SMALL_SIZE), *(text_width(note, SMALL_SIZE) for note in notes)]
    wide = max(columns.right, MARGIN + max(inner)) + MARGIN
    has_key = any(has_shades(shares) for shares in parts)
    base = bottom + AXIS_HEIGHT + (LINE_HEIGHT if has_key or name else 0.0)
    yield opening(wide, base + LINE_HEIGHT * len(notes) + MARGIN)
    top = MARGIN
    for shares, own, high in zip(parts, names, heights, strict=True):
        yield text(MARGIN, top + 12, shares.title, LABEL_SIZE, fill=INK, anchor="start", bold=True)
        yield from lane_marks(shares, own, top + TITLE, columns, diagram)
        top += high + BETWEEN
    yield from axis_marks(diagram.num_steps, diagram.index, columns.across, bottom, (MARGIN, wide - 4))
    if has_key:
        yield from key_marks(bottom + AXIS_HEIGHT)
    yield text(wide - MARGIN, bottom + AXIS_HEIGHT + 11, name, SMALL_SIZE, fill=MUTED, anchor="end")
    for position, note in enumerate(notes):
        yield text(MARGIN, base + LINE_HEIGHT * position + 14, note, SMALL_SIZE, fill=MUTED, anchor="start")
    yield "</svg>"


def keep_largest(shares: Shares) -> Shares:
    """The states that are most probable over all steps, in their order, and the rest of them in one lane."""
    if len(shares.labels) <= MAX_LANES:
        return shares
    totals = np.nan_to_num(shares.values).sum(axis=0)
    ranked = np.argsort(-totals, kind="stable")
    kept, left_out = np.sort(ranked[: MAX_LANES - 1]), ranked[MAX_LANES - 1 :]
    values = np.column_stack([shares.values[:, kept], shares.values[:, left_out].sum(axis=1)])
    return Shares(shares.title, (*(shares.labels[at] for at in kept), f"… {len(left_out)} more"), values)


def has_shades(shares: Shares) -> bool:
    """Whether some probability lies between 0 and 1."""
    return bool(((shares.values > 0) & (shares.values < 1)).any())


def find_notes(diagram: ShareDiagram, columns: Columns) -> Iterator[str]:
    if diagram.note:
        yield diagram.note
    if any(np.isnan(shares.values).all(axis=1).any() for shares in diagram.nodes):
        yield f"{diagram.unit}s without a shade are impossible"
    if columns.size > 1:
        yield f"a column is the mean of {columns.size} of the {diagram.num_steps:,} {diagram.unit}s"


def lane_marks(shares: Shares, names: list[str], top: float, columns: Columns, diagram: ShareDiagram) -> Iterator[str]:
    averages = columns.average(shares.values)
    for lane, (name, label) in enumerate(zip(names, shares.labels, strict=True)):
        y = top + lane * (LANE + GAP)
        yield text(columns.left - 8, y + 13, name, SMALL_SIZE, fill=INK, anchor="end")
        yield rectangle(columns.left, y, columns.right - columns.left, LANE, f'class="lane" {GROUND}')
        yield from run_marks(averages[:, lane], label, y, columns, diagram)


def run_marks(shares: np.ndarray, label: str, y: float, columns: Columns, diagram: ShareDiagram) -> Iterator[str]:
    """One rectangle for each run of columns of the same shade."""
    shades = np.round(np.nan_to_num(shares) * NUM_SHADES).astype(int)
    starts = np.flatnonzero(np.diff(shades, prepend=-1))
    ends = np.append(starts, len(shades))[1:]
    for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
        if not shades[start]:
            continue
        look = f'class="share" fill="{BAR_FILL}" fill-opacity="{min(shades[start] / NUM_SHADES, 1.0):g}"'
        mark = rectangle(columns.left + start * columns.wide, y, (end - start) * columns.wide, LANE, look)
        tip = describe_run(label, float(shares[start]), (start, end), columns, diagram)
        yield f"{mark.removesuffix('/>')}><title>{escape(tip)}</title></rect>"


def describe_run(label: str, share: float, run: tuple[int, int], columns: Columns, diagram: ShareDiagram) -> str:
    steps = [run[0] * columns.size, min(run[1] * columns.size, columns.num_steps) - 1]
    first, last = format_steps(diagram.index, steps)
    where = first if steps[0] == steps[1] else f"{first} to {last}"
    return f"{label}, {diagram.unit} {where}: {format_percentage(share)}"


def key_width() -> float:
    return text_width("0%", SMALL_SIZE) + len(KEY) * 22 + text_width("100%", SMALL_SIZE) + 32


def key_marks(top: float) -> Iterator[str]:
    """The shades from 0 to 1."""
    yield text(MARGIN, top + 11, "0%", SMALL_SIZE, fill=MUTED, anchor="start")
    left = round(MARGIN + text_width("0%", SMALL_SIZE) + 8)
    yield rectangle(left, top, 22 * len(KEY), 13, GROUND)
    for position, share in enumerate(KEY):
        yield rectangle(left + 22 * position, top, 22, 13, f'fill="{BAR_FILL}" fill-opacity="{share:g}"')
    yield text(left + 22 * len(KEY) + 8, top + 11, "100%", SMALL_SIZE, fill=MUTED, anchor="start")
