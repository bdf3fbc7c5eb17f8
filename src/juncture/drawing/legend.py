"""The legend below a picture: a sample of each kind of line, and what it means."""

from __future__ import annotations

from collections.abc import Iterator

from juncture.drawing.boxes import SMALL_SIZE
from juncture.drawing.diagram import Stroke
from juncture.drawing.marks import number, text
from juncture.drawing.palette import MUTED
from juncture.drawing.text import text_width

Legend = tuple[tuple[str, Stroke], ...]  # what each kind of line means

LINE_HEIGHT, SAMPLE, GAP, ABOVE = 18.0, 28.0, 8.0, 12.0


def legend_size(legend: Legend) -> tuple[float, float]:
    """How wide and how high the legend is; nothing without one."""
    wide = max((SAMPLE + GAP + text_width(shown, SMALL_SIZE) for shown, _ in legend), default=0.0)
    return wide, len(legend) * LINE_HEIGHT + (ABOVE if legend else 0.0)


def legend_marks(legend: Legend, left: float, top: float) -> Iterator[str]:
    for index, (shown, stroke) in enumerate(legend):
        y = top + ABOVE + (index + 0.5) * LINE_HEIGHT
        line = f"M{number(left)} {number(y)}H{number(left + SAMPLE)}"
        yield f'<path class="legend" d="{line}" fill="none" {stroke_attributes(stroke)}/>'
        yield text(left + SAMPLE + GAP, y + SMALL_SIZE * 0.35, shown, SMALL_SIZE, fill=MUTED, anchor="start")


def stroke_attributes(stroke: Stroke) -> str:
    dashes = ' stroke-dasharray="5 4"' if stroke.dashed else ""
    return f'stroke="{stroke.colour}" stroke-width="{number(stroke.width)}"{dashes}'
