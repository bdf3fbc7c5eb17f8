"""E f(X) under one distribution of single numbers: summation over whole numbers, quadrature over an interval."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np

from juncture.errors import TooLarge, Unsupported
from juncture.families.family import Family

SMALL = 1e-17  # a term is left out when its probability has fallen below this
MOST_TERMS = 20_000_000
CUTS = (1e-6, 1e-3, 0.05, 0.25, 0.5, 0.75, 0.95, 1 - 1e-3, 1 - 1e-6)  # quantiles that split the range of a quadrature

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
    if np.isfinite(low) and np.isfinite(high):
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
    from scipy.integrate import quad

    cuts = np.unique(family.quantile(np.array(CUTS)))
    ends = [float(family.support.low), *cuts.tolist(), float(family.support.high)]
    scale = max(float(cuts[-1] - cuts[0]), np.finfo(float).tiny)

    def integrand(z: float, start: float, sign: float) -> float:
        x = np.asarray(start + sign * scale * z)
        p = family.prob(x)
        return p * float(function(x)) * scale if p > 0 else 0.0

    total = 0.0
    for a, b in pairwise(ends):
        if not a < b:
            continue
        start, sign, length = (b, -1.0, np.inf) if np.isinf(a) else (a, 1.0, (b - a) / scale)
        if np.isinf(integrand(min(length, 1.0) / 2, start, sign)):
            return float(np.copysign(np.inf, integrand(min(length, 1.0) / 2, start, sign)))
        total += quad(integrand, 0.0, length, args=(start, sign), epsabs=1e-13, epsrel=1e-11, limit=200)[0]
    return float(total)
