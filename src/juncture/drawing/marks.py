"""Elements of SVG: numbers, rectangles, polylines and lines of text."""

from __future__ import annotations

from collections.abc import Iterable

from juncture.drawing.palette import GROUND
from juncture.drawing.text import FONT, escape


def number(value: float) -> str:
    """A coordinate with at most one decimal.

    >>> number(12.04), number(-0.01), number(7.25)
    ('12', '0', '7.2')
    """
    shown = f"{value:.1f}".removesuffix(".0")
    return "0" if shown == "-0" else shown


def opening(wide: float, high: float, title: str = "") -> str:
    """How a picture of this size begins: the element that holds all, its title, and the light ground."""
    size = f'width="{number(wide)}" height="{number(high)}"'
    box = f'viewBox="0 0 {number(wide)} {number(high)}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} {box} font-family="{FONT}" role="img">'
    heading = [f"<title>{escape(title)}</title>"] if title else []
    return "\n".join([head, *heading, f'<rect class="ground" {size} rx="8" fill="{GROUND}"/>'])


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
