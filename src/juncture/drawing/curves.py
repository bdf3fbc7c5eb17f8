"""Densities as small curves: shares of equal steps along a line, the largest of them 1."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from juncture.drawing.marks import number, polyline
from juncture.drawing.palette import BAR_FILL, BAR_GROUND, OUTLINE

CURVE_WIDTH, CURVE_HEIGHT = 110.0, 30.0


def curve_marks(heights: Sequence[float], left: float, bottom: float, wide: float, high: float) -> Iterator[str]:
    """The area under a curve whose heights, from 0 to 1, are those of equal steps; and the line that it stands on."""
    step = wide / len(heights)
    points = [(left, bottom)]
    for index, height in enumerate(heights):
        points.append((left + (index + 0.5) * step, bottom - high * height))
    points.append((left + wide, bottom))
    yield polyline(points, f'fill="{BAR_GROUND}" stroke="{BAR_FILL}" stroke-width="1.2"')
    ends = (left, bottom), (left + wide, bottom)
    yield polyline(ends, f'fill="none" stroke="{OUTLINE}" stroke-width="1"')


def curve_svg(heights: Sequence[float]) -> str:
    """The curve alone, to be set into a line of text."""
    size = f'width="{number(CURVE_WIDTH)}" height="{number(CURVE_HEIGHT)}"'
    marks = "".join(curve_marks(heights, 1.0, CURVE_HEIGHT - 1, CURVE_WIDTH - 2, CURVE_HEIGHT - 3))
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img">{marks}</svg>'
