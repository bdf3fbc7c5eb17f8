"""The numbers behind a picture of a distribution: where most of its mass lies, and its density there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from juncture.errors import InvalidData, Unsupported

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


def density_points(family: Family, num: int = 200) -> tuple[np.ndarray, np.ndarray]:
    """Points x in ascending order and the density at each, or the mass at each of up to `num` whole numbers.

    Of a single distribution of single numbers. An infinite peak is cut at the highest finite value.

    >>> from juncture.families.discrete.bernoulli import Bernoulli
    >>> density_points(Bernoulli(0.25))
    (array([0., 1.]), array([0.75, 0.25]))
    """
    if num < 2:
        raise InvalidData(f"a picture needs at least 2 points; got num={num}")
    if family.batch_shape or family.event_shape or not hasattr(family.support, "low"):
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
