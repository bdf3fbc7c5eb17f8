"""Distribution functions of counts by adding up masses, where special functions have none."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from juncture.errors import TooLarge
from juncture.families.cumulative import log_of_smaller
from juncture.families.discrete.whole_numbers import whole_quantile
from juncture.families.family import Family
from juncture.families.incomplete import FAR

MOST_TERMS = 2_000_000
FEW = 4096  # masses of a support so small are added up once


class Summed(Family):
    """A family of counts whose distribution functions are sums of masses."""

    def _cdf(self, x: np.ndarray) -> np.ndarray:
        return sum_cdf(self, x)

    def _sf(self, x: np.ndarray) -> np.ndarray:
        return sum_sf(self, x)

    def _log_cdf(self, x: np.ndarray) -> np.ndarray:
        return sum_log_cdf(self, x)

    def _log_sf(self, x: np.ndarray) -> np.ndarray:
        return sum_log_sf(self, x)

    def _quantile(self, probability: np.ndarray) -> np.ndarray:
        return whole_quantile(self, probability)


def sum_cdf(family: Any, x: np.ndarray) -> np.ndarray:
    """P(X ≤ x) by adding up the masses from the lower end of the support; above ½, what P(X > x) leaves of 1."""
    low, high = (np.asarray(end, dtype=float) for end in (family.support.low, family.support.high))
    offsets = np.floor(np.where(x >= high, low - 1, np.maximum(x, low - 1)) - low)  # -1 below the support
    if not _is_short(family, offsets):
        raise TooLarge(f"P(X ≤ x) of {family!r} would add up more than {MOST_TERMS:,} masses; ask for a smaller x")
    below = np.where(x >= high, 1.0, _sums(family, offsets, upwards=True))
    is_upper = (below > 0.5) & (x < high)
    if is_upper.any() and _is_short(family, high - low):
        return np.where(is_upper, 1 - sum_sf(family, np.where(is_upper, x, high)), below)
    return below


def sum_sf(family: Any, x: np.ndarray) -> np.ndarray:
    """P(X > x) by adding up the masses from the upper end; where that is far, what P(X ≤ x) leaves of 1."""
    low, high = (np.asarray(end, dtype=float) for end in (family.support.low, family.support.high))
    offsets = high - 1 - np.floor(np.clip(x, low - 1, high))  # -1 at and above the upper end
    if not _is_short(family, offsets):
        return np.asarray(1 - sum_cdf(family, x))
    return np.where(x < low, 1.0, _sums(family, np.where(x < low, -1.0, offsets), upwards=False))


def _sums(family: Any, offsets: np.ndarray, *, upwards: bool) -> np.ndarray:
    """The sum of the masses at the offsets 0 to the given one from an end of the support; 0 for the offset -1."""
    num_members, size = _num_members(family), np.asarray(family.support.high - family.support.low) + 1
    if (size <= FEW).all():
        sums = family.derived.get(("sums", upwards))
        if sums is None:
            sums = family.derived[("sums", upwards)] = _all_sums(family, np.max(size), upwards=upwards)
    else:
        sums = _sums_of(family, offsets.max(initial=-1.0) + 1, upwards=upwards)
    members = np.arange(num_members).reshape(family.batch_shape)
    return np.asarray(sums.reshape(len(sums), num_members)[(offsets + 1).astype(np.intp), members], dtype=float)


def _all_sums(family: Any, num_steps: float, *, upwards: bool) -> np.ndarray:
    """The sums over the whole support, divided by the last: what rounding does to all masses alike does not add up."""
    sums = _sums_of(family, num_steps, upwards=upwards)
    return np.asarray(sums / sums[-1])


def _sums_of(family: Any, num_steps: float, *, upwards: bool) -> np.ndarray:
    steps = np.arange(num_steps).reshape(-1, *(1,) * len(family.batch_shape))
    masses = np.asarray(family.prob(family.support.low + steps if upwards else family.support.high - steps))
    return np.cumsum(np.concatenate([np.zeros((1, *masses.shape[1:])), masses]), axis=0, dtype=np.longdouble)


def sum_log_cdf(family: Any, x: np.ndarray) -> np.ndarray:
    """log P(X ≤ x), from the logarithms of the masses where it underflows."""
    below, above = np.asarray(family._cdf(x)), np.asarray(family._sf(x))
    low = np.asarray(family.support.low, dtype=float)
    far = (below < FAR) & (x >= low)
    found = log_of_smaller(below, above)
    return np.where(far, _log_sums(family, np.where(far, np.floor(x) - low, -1.0), 1.0), found) if far.any() else found


def sum_log_sf(family: Any, x: np.ndarray) -> np.ndarray:
    """log P(X > x), from the logarithms of the masses where it underflows."""
    below, above = np.asarray(family._cdf(x)), np.asarray(family._sf(x))
    high = np.asarray(family.support.high, dtype=float)
    far = (above < FAR) & (x < high)
    found = log_of_smaller(above, below)
    offsets = np.where(far, high - 1 - np.floor(np.where(far, x, 0.0)), -1.0)
    return np.where(far, _log_sums(family, offsets, -1.0), found) if far.any() else found


def _log_sums(family: Any, offsets: np.ndarray, step: float) -> np.ndarray:
    """log of the sum of the masses from an end of the support to each offset."""
    if not _is_short(family, offsets):
        raise TooLarge(f"a tail of {family!r} would add up more than {MOST_TERMS:,} masses; ask nearer to its end")
    end = family.support.low if step > 0 else family.support.high
    steps = np.arange(offsets.max(initial=-1.0) + 1).reshape(-1, *(1,) * len(family.batch_shape))
    masses = np.asarray(family.log_prob(end + step * steps))
    sums = np.logaddexp.accumulate(np.concatenate([np.full((1, *masses.shape[1:]), -np.inf), masses]), axis=0)
    members = np.arange(_num_members(family)).reshape(family.batch_shape)
    return np.asarray(sums.reshape(len(sums), -1)[(offsets + 1).astype(np.intp), members])


def _is_short(family: Any, num_terms: np.ndarray) -> bool:
    return bool((num_terms * _num_members(family) < MOST_TERMS).all())


def _num_members(family: Any) -> int:
    return int(np.prod(family.batch_shape))


def sum_expectation(family: Any, function: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    """E function(X) for each of a batch, over supports from 0 to an upper end."""
    most = float(np.max(family.support.high))
    if most * np.prod(family.batch_shape) > MOST_TERMS:
        raise TooLarge(f"an expectation under {family!r} would add up more than {MOST_TERMS:,} terms")
    x = np.arange(most + 1).reshape(-1, *(1,) * len(family.batch_shape))
    return np.asarray((family.prob(x) * function(x)).sum(axis=0))
