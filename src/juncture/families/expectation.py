"""E f(X) under one distribution of single numbers: summation over whole numbers, quadrature over an interval.

Of batches, the number for each member; `common_shape` is the batch to which several families broadcast.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from juncture.errors import InvalidData, TooLarge, Unsupported
from juncture.families.cumulative import Cumulative
from juncture.families.supports import Integers, Interval
from juncture.numerics.quadrature.changes import Straight, change_for
from juncture.numerics.quadrature.gauss_legendre import integrate, integrate_to_infinity

if TYPE_CHECKING:
    from juncture.families.family import Family

SMALL = 1e-17  # a term is left out when its probability has fallen below this
MOST_TERMS = 20_000_000
CUTS = (1e-6, 1e-3, 0.05, 0.25, 0.5, 0.75, 0.95, 1 - 1e-3, 1 - 1e-6)  # quantiles that split the range of a quadrature
NEAR, NEAR_ZERO = 1e-12, 1e-300  # of the width of an interval, and of 0: so close to an end numbers keep their digits
NEGLIGIBLE = 1e-14  # mass at an end that is left out
FAR = np.array([1e60, 1e90])  # widths away from the middle: what has not begun to fall there never does
Function = Callable[[np.ndarray], Any]


def expectation(family: Family, function: Function) -> float:
    """E function(X) for a single distribution; infinite when the function is, on a set that has mass."""
    _check_single_numbers(family)
    return _sum_terms(family, function) if family.support.is_discrete else _integrate(family, function)


def map_members(function: Callable[..., float], *families: Family) -> np.ndarray:
    """A number for each member of the batch that the families broadcast to."""
    shape = common_shape(*families)
    indices = [np.broadcast_to(np.arange(int(np.prod(f.batch_shape))).reshape(f.batch_shape), shape) for f in families]
    found = np.empty(shape)
    for index in np.ndindex(shape):
        members = [
            family[np.unravel_index(own[index], family.batch_shape)] if family.batch_shape else family
            for family, own in zip(families, indices, strict=True)
        ]
        found[index] = function(*members)
    return found


def expected_log_ratio(family: Family, other: Family) -> np.ndarray:
    """E log p(X)/q(X), member by member."""

    def single(p: Family, q: Family) -> float:
        _check_single_numbers(p)
        _check_same_kind(p, q)
        if not p.support.is_discrete and any(edge.mass for edge in _edges(p)):
            share = _share_of_steepness(p, q)
            rest = expectation(p, lambda x: q.log_prob(x) - share * np.asarray(p.log_prob(x)))
            return float(max((share - 1) * p.entropy() - rest, 0.0))
        return max(expectation(p, lambda x: p.log_prob(x) - np.asarray(q.log_prob(x))), 0.0)

    return map_members(single, family, other)


def _check_single_numbers(family: Family) -> None:
    if family.event_shape or family.batch_shape or not isinstance(family.support, Interval | Integers):
        raise Unsupported(f"expectations under {type(family).__name__} are computed for single numbers, one at a time")


def _check_same_kind(family: Family, other: Family) -> None:
    if family.support.is_discrete != other.support.is_discrete:
        raise Unsupported(
            f"{type(family).__name__} and {type(other).__name__}, one discrete and one continuous, have no ratio of "
            "probabilities"
        )


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


def _sum_terms(family: Family, function: Function) -> float:
    x = terms_of(family)
    p = np.asarray(family.prob(x))
    x, p = x[p > 0], p[p > 0]
    return float(np.sum(p * np.asarray(function(x))))


def _integrate(family: Family, function: Function) -> float:
    """∫ p(x) f(x) dx, piece by piece between quantiles, over a line on which the ends of the support lie at infinity.

    There a density that is infinite at an end, or that covers many orders of magnitude, falls off like an exponential.
    """
    low, high = float(family.support.low), float(family.support.high)
    line = Straight() if np.isinf(low) and np.isinf(high) else change_for(low, high)
    quantiles = np.unique(family.quantile(np.array(CUTS)))
    if divergence := _divergence(family, function, quantiles):
        return divergence
    first, last = _edges(family)
    total = sum(edge.mass * float(function(np.asarray(edge.x))) for edge in (first, last) if edge.mass)
    cuts = line.coordinate(quantiles[(quantiles > first.x) & (quantiles < last.x)])
    if not len(cuts):
        if first.mass + last.mass < 0.5:
            raise Unsupported(f"{family!r} has its mass where floating point has no numbers")
        return float(total)
    scale = max(float(cuts[-1] - cuts[0]), np.finfo(float).tiny)

    def integrand(z: np.ndarray) -> np.ndarray:
        """p(x) f(x) dx/dz; 0 where x is rounded to an end, which has no mass."""
        with np.errstate(over="ignore", invalid="ignore"):
            x = line.point(z)
            p = np.where((low < x) & (x < high), np.exp(family.log_prob(x) + line.log_slope(z)), 0.0)
        found, has_mass = np.zeros(z.shape), p > 0
        if has_mass.any():
            found[has_mass] = p[has_mass] * function(x[has_mass])
        return found

    def integrate_tail(start: float, sign: float, stop: float) -> float:
        """From a cut to the end of the support, or to the edge beyond which its mass is known."""
        length = abs(stop - start) / scale

        def along(z: np.ndarray) -> np.ndarray:
            return integrand(start + sign * scale * z) * scale

        return integrate_to_infinity(along) if np.isinf(length) else integrate(along, np.array([0.0, length]))

    stops = [float(line.coordinate(np.asarray(edge.x))) if edge.mass else np.inf for edge in (first, last)]
    between = integrate(integrand, cuts) if len(cuts) > 1 else 0.0
    return float(total + between + integrate_tail(cuts[0], -1.0, stops[0]) + integrate_tail(cuts[-1], 1.0, stops[1]))


class _Edge(NamedTuple):
    """The last number that keeps its digits next to an end of the support, and the mass beyond it if it counts."""

    x: float
    mass: float
    inward: float  # a thousand times as far from the end


def _edges(family: Family) -> tuple[_Edge, _Edge]:
    low, high = float(family.support.low), float(family.support.high)
    first = NEAR_ZERO if low == 0 else float(np.nextafter(low, np.inf))
    width = high - low if np.isfinite(high - low) else 0.0
    last = min(high - NEAR * width, float(np.nextafter(high, -np.inf)))
    below = family.cdf(first) if np.isfinite(low) else 0.0
    above = 1 - family.cdf(last) if np.isfinite(high) else 0.0
    return _edge(low, first, below), _edge(high, last, above)


def _edge(end: float, x: float, mass: float) -> _Edge:
    if not np.isfinite(end):
        return _Edge(x, 0.0, x)
    return _Edge(x, mass if mass > NEGLIGIBLE else 0.0, end + 1e3 * (x - end))


def _share_of_steepness(p: Family, q: Family) -> float:
    """c such that log q - c log p is level at the end with the most mass, where x has too few digits to follow it."""
    edge = max(_edges(p), key=lambda edge: edge.mass)
    own, others = (np.asarray(each.log_prob(np.array([edge.x, edge.inward]))) for each in (p, q))
    if not np.isfinite([*own, *others]).all() or abs(own[0] - own[1]) < 1e-3:  # or log p is level itself
        return 0.0
    return float((others[0] - others[1]) / (own[0] - own[1]))


def _divergence(family: Family, function: Function, quantiles: np.ndarray) -> float:
    """±inf where ∫ p f has no finite value, as quadrature would not notice; else 0.

    Towards an end at infinity or 0, p(x) f(x) x is the integrand along log x. It falls if the integral exists. A
    function that grows like a logarithm only is no danger: p falls like a power at least.
    """
    quantiles = quantiles[np.isfinite(quantiles)]
    middle = float(np.median(quantiles)) if len(quantiles) else 0.0
    width = float(np.ptp(quantiles)) if len(quantiles) > 1 else abs(middle)
    if not 0 < width < 1 / NEAR_ZERO / FAR[-1]:
        return 0.0
    far_points = [(family.support.low, middle - width * FAR), (family.support.high, middle + width * FAR)]
    if family.support.low == 0:
        far_points[0] = (-np.inf, width / FAR)
    for end, x in far_points:
        if np.isfinite(end):
            continue
        with np.errstate(all="ignore"):
            values = np.asarray(function(x))
            terms = np.asarray(family.log_prob(x)) + np.log(np.abs(values * x))
        grows = abs(values[1]) > 2 * abs(values[0])
        if grows and np.isfinite(terms).all() and terms[1] >= terms[0] - 1e-6:
            return float(np.copysign(np.inf, values[1]))
    return 0.0


def common_shape(*families: Any) -> tuple[int, ...]:
    """The batch that the families broadcast to."""
    for family in families:
        if not isinstance(family, Cumulative):
            raise InvalidData(f"a distribution is compared with another; got {family!r}")
    shapes = [family.batch_shape for family in families]
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        raise InvalidData(f"batches of the shapes {' and '.join(map(str, shapes))} do not broadcast") from None
