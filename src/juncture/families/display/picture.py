"""A distribution as HTML for notebooks: its parameters as a table, and its density as a small picture."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from juncture.drawing.chart import Series, chart_svg
from juncture.drawing.html import Markup, html_table
from juncture.drawing.palette import SERIES
from juncture.errors import TooLarge, Unsupported
from juncture.families.display.density_planes import density_loops
from juncture.families.display.density_points import check_range, density_points, first_members, is_bars

if TYPE_CHECKING:
    from juncture.families.family import Family


def as_html(family: Family) -> str:
    """The name, the parameters and the density; of a batch, those of the first few members."""
    members = list(first_members(family, len(SERIES)))
    picture = _picture(members, repr(family))
    is_keyed = bool(picture and family.batch_shape)
    return _table(family, members, SERIES if is_keyed else ("",) * len(SERIES)) + picture


def _table(family: Family, members: Sequence[Family], colours: Sequence[str]) -> str:
    """A row for each member, with the colour that it has in the picture."""
    name = type(family).__name__
    if not family.parameters:
        return f"<p><code>{escape(repr(family))}</code></p>"
    rows = (_row(member, colour) for member, colour in zip(members, colours, strict=False))
    size = int(np.prod(family.batch_shape))
    note = f"… the first {len(members)} of {size:,}" if size > len(members) else ""
    return html_table([name, *family.parameters], rows, note)


def _row(member: Family, colour: str) -> list[str]:
    key = Markup(f'<span style="color:{colour}">■</span>' if colour else "")
    return [key, *(_cell(getattr(member, parameter)) for parameter in member.parameters)]


def _cell(value: Any) -> str:
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return f"{value:.6g}"
    shown = np.array2string(value, precision=4, threshold=16, edgeitems=2, separator=", ")
    return Markup(escape(shown).replace("\n", "<br>"))


def _picture(members: Sequence[Family], name: str) -> str:
    """Curves, bars or loops; nothing for a family that has no picture."""
    try:
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            series = [each for member, colour in zip(members, SERIES, strict=False) for each in _series(member, colour)]
    except (TooLarge, Unsupported):
        return ""
    return chart_svg(series, title=f"the density of {name}") if series else ""


def _series(member: Family, colour: str) -> list[Series]:
    if member.event_shape == (2,):
        loops = density_loops(member)
        check_range(member, *np.concatenate(loops).T)
        return [Series(_pairs(loop), "loop", colour) for loop in loops]
    x, density = density_points(member)
    return [Series(_pairs(np.stack([x, density], axis=-1)), "bars" if is_bars(member, x) else "curve", colour)]


def _pairs(points: np.ndarray) -> tuple[tuple[float, float], ...]:
    return tuple((x, y) for x, y in points.tolist())
