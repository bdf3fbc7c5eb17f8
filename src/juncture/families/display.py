"""Pictures of distributions: HTML for notebooks, with the parameters as a table and the density as a small picture.

The numbers behind a picture are `density_points` for single numbers: where most of the mass lies, and the density
there. For pairs they are loops of equal density or a grid (`density_loops`, `density_grid`), and for three shares the
points of a triangle (`density_triangle`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from juncture.drawing.chart import Series, chart_svg
from juncture.drawing.notebook import Markup, html_table
from juncture.drawing.palette import SERIES
from juncture.errors import InvalidData, TooLarge, Unsupported
from juncture.families.supports import Integers, Interval, Simplex, Vectors

if TYPE_CHECKING:
    from juncture.families.family import Family

TAIL = 5e-4  # the mass left out on either side of a picture
PROBABILITIES = np.array([TAIL, 0.05, 0.25, 0.5, 0.75, 0.95, 1 - TAIL])
HEAVY = 5.0  # how many interquartile ranges beyond the quartiles a heavy tail is followed
NEAR = 0.25  # an end of the support this near, as a part of the width, is shown
MAX_STATES = 30  # a support of up to this many whole numbers is shown from end to end
MAX_BARS = 60  # more whole numbers than this are drawn as a curve
NUM_DRAWS = 2000  # what stands in for quantiles that a family does not have, or not cheaply
LARGEST, SMALLEST = 1e300, 1e-300
ROUNDING, SPIKE = 1e-12, 1e-6  # relative
SHARES = (0.5, 0.8, 0.95)
MARGIN = 0.15  # of the range of the draws, on each side
HALVINGS = 40
CORNERS = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, np.sqrt(0.75)]])  # of the triangle of three shares


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
    return Markup(escape(shown).replace("\n", "<br/>"))


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


def density_points(family: Family, num: int = 200) -> tuple[np.ndarray, np.ndarray]:
    """Points x in ascending order and the density at each, or the mass at each of up to `num` whole numbers.

    Of a single distribution of single numbers. An infinite peak is cut at the highest finite value.

    >>> from juncture.families.discrete.bernoulli import Bernoulli
    >>> density_points(Bernoulli(0.25))
    (array([0., 1.]), array([0.75, 0.25]))
    """
    if num < 2:
        raise InvalidData(f"a picture needs at least 2 points; got num={num}")
    if family.batch_shape or family.event_shape or not isinstance(family.support, Interval | Integers):
        raise Unsupported(f"points are computed for one distribution of single numbers, which {family!r} is not")
    x = _whole_numbers(family, num) if family.support.is_discrete else _real_numbers(family, num)
    density = np.asarray(family.prob(x))
    finite = density[np.isfinite(density)]
    density = np.minimum(density, finite.max(initial=0.0) or 1.0)
    check_range(family, x, density)
    return x, density


def check_range(family: Family, *points: np.ndarray) -> None:
    """Refuse points so near each other or so far apart that a picture cannot measure them in doubles."""
    for axis in points:
        largest = float(np.abs(axis).max()) if np.isfinite(axis).all() else np.inf
        if largest > LARGEST or 0 < np.ptp(axis) < SMALLEST:
            raise Unsupported(f"{family!r} has no picture: its numbers are too near the ends of doubles")


def is_bars(family: Family, x: np.ndarray) -> bool:
    """Whether the masses at the points x are drawn as bars, not as a curve."""
    return bool(family.support.is_discrete) and len(x) <= MAX_BARS


def first_members(family: Family, most: int) -> Iterator[Any]:
    """The distributions of a batch one by one, up to `most`; a single one is its own."""
    if not family.batch_shape:
        return iter([family])
    size = int(np.prod(family.batch_shape))
    return (family[np.unravel_index(index, family.batch_shape)] for index in range(min(size, most)))


def _whole_numbers(family: Family, num: int) -> np.ndarray:
    low, high = float(family.support.low), float(family.support.high)
    if high - low >= min(MAX_STATES, num):
        cuts = _sample_cuts(family)  # a quantile may cost a sum over all the whole numbers below
        low, high = _range(family.support, cuts, width=max(cuts[4] - cuts[2], 1.0))
    return np.unique(np.round(np.linspace(low, high, int(min(high - low + 1, num)))))


def _real_numbers(family: Family, num: int) -> np.ndarray:
    """An even grid that meets the median, where many peaks are; open ends of the support are not on it."""
    cuts, support = _cuts(family), family.support
    low, high = _range(support, cuts, width=cuts[4] - cuts[2])
    if high - low <= ROUNDING * abs(low):  # so narrow that floating point does not resolve it: a spike
        room = max(1.0, SPIKE * abs(low))
        low, high = low - room, high + room
    x = np.linspace(low, high, num)
    half = (x[1] - x[0]) / 2
    x[np.abs(x - cuts[3]).argmin()] = cuts[3]
    x[0] = low + half if low == support.low and not support.closed_low else low
    x[-1] = high - half if high == support.high and not support.closed_high else high
    return x


def _cuts(family: Family) -> np.ndarray:
    """The quantiles at PROBABILITIES."""
    try:
        return np.asarray(np.clip(family.quantile(PROBABILITIES), -LARGEST, LARGEST))
    except Unsupported:
        return _sample_cuts(family)


def _sample_cuts(family: Family) -> np.ndarray:
    """The quantiles of some draws, always the same."""
    draws = np.asarray(family.sample(NUM_DRAWS, rng=0), dtype=float)
    return np.asarray(np.clip(np.quantile(draws, PROBABILITIES, method="inverted_cdf"), -LARGEST, LARGEST))


def _range(support: Any, cuts: np.ndarray, width: float) -> tuple[float, float]:
    """All but the tails, which end early where they are heavy; up to the end of the support where that is near."""
    low = max(cuts[0], min(cuts[1], cuts[2] - HEAVY * width))
    high = min(cuts[-1], max(cuts[-2], cuts[4] + HEAVY * width))
    near = NEAR * (high - low)
    low, high = (end if abs(end - cut) <= near else cut for end, cut in ((support.low, low), (support.high, high)))
    return float(low), float(high)


def density_loops(family: Family, shares: Sequence[float] = SHARES, num: int = 72) -> list[np.ndarray]:
    """Loops (point, 2) of equal density around the mode, the widest first, that hold about these shares of the mass.

    Along each ray from the mode the density falls; the ray is halved until the loop is met.
    """
    _check_support(family, Vectors(2))
    draws = family.sample(NUM_DRAWS, rng=0)
    check_range(family, *draws.T)
    levels = np.quantile(family.log_prob(draws), 1 - np.sort(shares)[::-1])
    angles = np.linspace(0, 2 * np.pi, num, endpoint=False)
    _, lengths, axes = np.linalg.svd(draws - draws.mean(axis=0), full_matrices=False)
    rays = np.stack([np.cos(angles), np.sin(angles)], axis=-1) * lengths @ axes
    return [_loop(family, rays, level) for level in levels]


def _loop(family: Family, rays: np.ndarray, level: float) -> np.ndarray:
    """The rays are as long as no draw is far: the number of draws times the variance is the sum of their squares."""
    mode, inner, outer = np.asarray(family.mode), np.zeros(len(rays)), np.full(len(rays), 2.0)
    for _ in range(HALVINGS):
        middle = (inner + outer) / 2
        is_inside = np.asarray(family.log_prob(mode + middle[:, None] * rays)) > level
        inner, outer = np.where(is_inside, middle, inner), np.where(is_inside, outer, middle)
    return mode + inner[:, None] * rays


def density_grid(family: Family, num: int = 100) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """x, y and the density (y, x) on a grid that holds most of the mass of a distribution of pairs."""
    _check_support(family, Vectors(2))
    low, high = np.quantile(family.sample(NUM_DRAWS, rng=0), [0.005, 0.995], axis=0)
    room = MARGIN * (high - low)
    x, y = np.linspace(low - room, high + room, num).T
    points = np.stack(np.meshgrid(x, y), axis=-1)
    return x, y, np.asarray(family.prob(points))


def density_triangle(family: Family, num: int = 80) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """x, y and the density at points inside the triangle of three shares, whose corners are CORNERS."""
    _check_support(family, Simplex(3))
    first, second = np.indices((num, num)).reshape(2, -1)
    kept = first + second < num
    counts = np.stack([first, second, num - 1 - first - second], axis=-1)[kept]
    shares = (counts + 1 / 3) / num  # off the edges, where the density may be infinite
    x, y = (shares @ CORNERS).T
    return x, y, np.asarray(family.prob(shares))


def _check_support(family: Family, support: Vectors | Simplex) -> None:
    if family.batch_shape or family.support != support:
        raise Unsupported(f"this picture is of one distribution of {support}, which {family!r} is not")
