"""Elements of SVG: numbers, rectangles, polylines, lines of text and small curves.

A small curve is a density as shares of equal steps along a line, the largest of them 1.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from juncture.drawing.palette import BAR_FILL, BAR_GROUND, GROUND, INK, OUTLINE, PICTURE, style_sheet
from juncture.drawing.text import FONT, escape, text_width

TITLE_SIZE, TITLE_HEIGHT, TITLE_INSET = 16.0, 30.0, 18.0
SIZE = re.compile(r'width="([0-9.]+)" height="([0-9.]+)"')  # the first of a picture is its own
GROUND_END = f'rx="8" fill="{GROUND}"/>\n'  # where the marks of a picture begin


def number(value: float) -> str:
    """A coordinate with at most one decimal.

    >>> number(12.04), number(-0.01), number(7.25)
    ('12', '0', '7.2')
    """
    shown = f"{value:.1f}".removesuffix(".0")
    return "0" if shown == "-0" else shown


def opening(wide: float, high: float, title: str = "") -> str:
    """How a picture of this size begins: the element that holds all, its title, its style sheet and its ground."""
    size = f'width="{number(wide)}" height="{number(high)}"'
    box = f'viewBox="0 0 {number(wide)} {number(high)}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} {box} font-family="{FONT}" class="{PICTURE}" role="img">'
    heading = [f"<title>{escape(title)}</title>"] if title else []
    return "\n".join([head, *heading, style_sheet(), f'<rect class="ground" {size} rx="8" fill="{GROUND}"/>'])


def add_title(svg: str, title: str) -> str:
    """The picture with a line of text above it."""
    wide, high = (float(side) for side in SIZE.findall(svg)[0])
    room = max(wide, text_width(title, TITLE_SIZE) + 2 * TITLE_INSET)
    marks = svg.partition(GROUND_END)[2].rstrip().removesuffix("</svg>")
    line = text(TITLE_INSET, TITLE_INSET + TITLE_SIZE - 3, title, TITLE_SIZE, fill=INK, anchor="start", bold=True)
    moved = f'<g transform="translate({number((room - wide) / 2)} {number(TITLE_HEIGHT)})">\n{marks}</g>'
    return "\n".join([opening(room, high + TITLE_HEIGHT, title), line, moved, "</svg>"]) + "\n"


def scale_to_width(svg: str, width: float) -> str:
    """The picture shown with this width; coordinates stay as they are."""
    wide, high = (float(side) for side in SIZE.findall(svg)[0])
    size = f'width="{number(width)}" height="{number(high * width / wide)}"'
    return SIZE.sub(size, svg, count=1)


def polyline(points: Iterable[tuple[float, float]], look: str) -> str:
    return f'<polyline points="{" ".join(f"{number(x)},{number(y)}" for x, y in points)}" {look}/>'


def rectangle(left: float, top: float, wide: float, high: float, look: str) -> str:
    return f'<rect x="{number(left)}" y="{number(top)}" width="{number(wide)}" height="{number(high)}" {look}/>'


def text(
    x: float,
    y: float,
    shown: str,
    size: float,
    *,
    fill: str,
    anchor: str = "middle",
    bold: bool = False,
    halo: str = "",
) -> str:
    """One line of text on this base line; a halo keeps lines off the letters."""
    weight = ' font-weight="600"' if bold else ""
    attributes = f'x="{number(x)}" y="{number(y)}" font-size="{number(size)}" text-anchor="{anchor}"{weight}'
    letters = f"{escape(shown)}</text>"
    ground = (
        f'<text {attributes} fill="{halo}" stroke="{halo}" stroke-width="4" stroke-linejoin="round" aria-hidden="true">'
    )
    return (ground + letters if halo else "") + f'<text {attributes} fill="{fill}">{letters}'


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
    """The curve alone, to be set into a line of text; the style sheet of pictures stands before it once."""
    size = f'width="{number(CURVE_WIDTH)}" height="{number(CURVE_HEIGHT)}"'
    marks = "".join(curve_marks(heights, 1.0, CURVE_HEIGHT - 1, CURVE_WIDTH - 2, CURVE_HEIGHT - 3))
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size} class="{PICTURE}" role="img">{marks}</svg>'
