"""E f(X) under one distribution of single numbers: summation over whole numbers, quadrature over an interval."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from juncture.errors import TooLarge, Unsupported
from juncture.families.family import Family
from juncture.numerics import sigmoid

SMALL = 1e-17  # a term is left out when its probability has fallen below this
MOST_TERMS = 20_000_000
CUTS = (1e-6, 1e-3, 0.05, 0.25, 0.5, 0.75, 0.95, 1 - 1e-3, 1 - 1e-6)  # quantiles that split the range of a quadrature
LARGEST_LOG = 700.0  # e to this is still a number

Function = Callable[[np.ndarray], Any]


def expectation(family: Family, function: Function) -> float:
    """E function(X) for a single distribution; infinite when the function is, on a set that has mass."""
    if family.event_shape or family.batch_shape:
        raise Unsupported(f"expectations under {type(family).__name__} are computed for single numbers, one at a time")
    return _summed(family, function) if family.support.is_discrete else _integrated(family, function)


def by_members(function: Callable[..., float], *families: Family) -> np.ndarray:
    """A number for each member of the batch that the families broadcast to."""
    shape = np.broadcast_shapes(*(family.batch_shape for family in families))
    places = [np.broadcast_to(np.arange(int(np.prod(f.batch_shape))).reshape(f.batch_shape), shape) for f in families]
    found = np.empty(shape)
    for index in np.ndindex(shape):
        members = [
            family[np.unravel_index(place[index], family.batch_shape)] if family.batch_shape else family
            for family, place in zip(families, places, strict=True)
        ]
        found[index] = function(*members)
    return found


def expected_log_ratio(family: Family, other: Family) -> np.ndarray:
    """E log p(X)/q(X), member by member."""

    def single(p: Family, q: Family) -> float:
        return max(expectation(p, lambda x: p.log_prob(x) - np.asarray(q.log_prob(x))), 0.0)

    return by_members(single, family, other)


def terms_of(family: Family) -> np.ndarray:
    """The whole numbers that hold all but a negligible part of the mass."""
    low, high = float(family.support.low), float(family.support.high)
    if high - low <= MOST_TERMS:
        return np.arange(low, high + 1)
    span = 64
    while family.prob(low + span) > SMALL or family.cdf(low + span) < 0.5:
        span *= 2
        if span > MOST_TERMS:
            raise TooLarge(
                f"an expectation under {family!r} needs more than {MOST_TERMS:,} terms: its tail is too heavy"
            )
    return np.arange(low, low + span + 1)


def _summed(family: Family, function: Function) -> float:
    x = terms_of(family)
    p = np.asarray(family.prob(x))
    x, p = x[p > 0], p[p > 0]
    return float(np.sum(p * np.asarray(function(x))))


def _integrated(family: Family, function: Function) -> float:
    """∫ p(x) f(x) dx, piece by piece between quantiles, over a line on which the ends of the support lie at infinity.

    There a density that is infinite at an end, or spread over many orders of magnitude, falls off like an exponential.
    """
    from scipy.integrate import quad

    low, high = float(family.support.low), float(family.support.high)
    line = _line_for(low, high)
    quantiles = np.unique(family.quantile(np.array(CUTS)))
    cuts = line.to_line(quantiles[(quantiles > low) & (quantiles < high)])
    scale = max(float(cuts[-1] - cuts[0]), np.finfo(float).tiny)

    def integrand(z: float, start: float, sign: float) -> float:
        place = np.asarray(start + sign * scale * z)
        x = line.to_support(place)
        if not low < x < high:  # rounded to an end, which has no mass
            return 0.0
        p = np.exp(family.log_prob(x) + line.log_slope(place))
        return float(p * function(x) * scale) if p > 0 else 0.0

    total = 0.0
    for a, b in pairwise([-np.inf, *cuts.tolist(), np.inf]):
        start, sign, length = (b, -1.0, np.inf) if np.isinf(a) else (a, 1.0, (b - a) / scale)
        middle = integrand(min(length, 1.0) / 2, start, sign)
        if np.isinf(middle):
            return middle
        options = {"epsabs": 1e-13, "epsrel": 1e-11, "limit": 200, "full_output": 1}  # no warning for rounded values
        total += quad(integrand, 0.0, length, args=(start, sign), **options)[0]
    return float(total)


class _Line(NamedTuple):
    """A change of variables from the inside of an interval to the whole line."""

    to_line: Callable[[np.ndarray], np.ndarray]
    to_support: Callable[[np.ndarray], np.ndarray]
    log_slope: Callable[[np.ndarray], Any]


def _line_for(low: float, high: float) -> _Line:
    if np.isfinite(low) and np.isfinite(high):
        width = high - low
        return _Line(
            lambda x: np.log((x - low) / (high - x)),
            lambda t: low + width * sigmoid(t),
            lambda t: np.log(width) - np.abs(t) - 2 * np.log1p(np.exp(-np.abs(t))),
        )
    if np.isfinite(low):
        return _Line(lambda x: np.log(x - low), lambda t: low + _exp(t), _log_exp)
    if np.isfinite(high):
        return _Line(lambda x: np.log(high - x), lambda t: high - _exp(t), _log_exp)
    return _Line(lambda x: x, lambda t: t, lambda t: 0.0)


def _exp(t: np.ndarray) -> np.ndarray:
    """e^t, up to the largest number."""
    return np.asarray(np.exp(np.minimum(t, LARGEST_LOG)))


def _log_exp(t: np.ndarray) -> np.ndarray:
    """t, as the log-slope of `_exp`: beyond the largest number there is none."""
    return np.where(t < LARGEST_LOG, t, -np.inf)
