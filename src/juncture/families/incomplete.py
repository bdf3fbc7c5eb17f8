"""Logarithms of the incomplete gamma and beta functions, also where the functions themselves underflow.

Where they underflow, the tail is integrated from its edge outwards: the integrand starts at 1 and falls at a known
rate.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.special import betainc, betaincc, betaln, gammainc, gammaincc

from juncture.families.cumulative import log_of_smaller
from juncture.families.log_factorial import deviance, poisson_log_mass, stirling_error
from juncture.numerics.stable import LOG_TWO_PI, log

LARGE = 100.0  # from this shape on, the parts of a log-density cancel each other
SMALL = 1e-100  # below this shape, Γ(shape) is 1 / shape, to more digits than doubles have
FAR = 1e-280  # below this, a tail loses its digits to underflow
NODES, WEIGHTS = np.polynomial.legendre.leggauss(16)
NOTHING = 1e-18
DOUBLINGS = 2.0 ** np.arange(65) - 1  # panels of the widths 1, 2, 4, …, in units of the integrand's decay


def log_integral(log_f: Callable[[np.ndarray], np.ndarray], rate: Any, end: Any = np.inf) -> np.ndarray:
    """log ∫ exp(log_f(v)) dv from 0 to `end`, where log_f falls from 0 at this rate: Gauss and Legendre's rule.

    Panel by panel, until a panel adds nothing. log_f gets points along a further, last axis.
    """
    rate, end = np.broadcast_arrays(np.asarray(rate, float), np.asarray(end, float))
    total = np.zeros(rate.shape)
    for first, last in pairwise(DOUBLINGS):
        low, high = (np.minimum(edge / rate, end) for edge in (first, last))
        half = 0.5 * (high - low)
        with np.errstate(over="ignore"):
            heights = np.exp(log_f(low[..., None] + half[..., None] * (1 + NODES)))
        part = half * (heights @ WEIGHTS)
        total = total + part
        if (part <= NOTHING * total).all():
            break
    return log(total)


def log_gamma_below(shape: Any, x: Any) -> np.ndarray:
    """log P(shape, x), the lower incomplete gamma function over Γ(shape)."""

    def far(a: np.ndarray, x: np.ndarray) -> np.ndarray:  # t = x e^-v
        wide_a, wide_x = a[..., None], x[..., None]
        tail = log_integral(lambda v: -wide_a * v - wide_x * np.expm1(-v), a - x)
        return np.asarray(poisson_log_mass(a, x) + np.log(a) + tail)

    shape, x = np.broadcast_arrays(np.asarray(shape, float), np.asarray(x, float))
    below = gammainc(shape, x)
    return log_with_far(log_of_smaller(below, gammaincc(shape, x)), (below < FAR) & (x > 0), far, shape, x)


def log_gamma_above(shape: Any, x: Any) -> np.ndarray:
    """log Q(shape, x), the upper incomplete gamma function over Γ(shape)."""

    def far(a: np.ndarray, x: np.ndarray) -> np.ndarray:  # t = x e^v
        wide_a, wide_x = a[..., None], x[..., None]
        tail = log_integral(lambda v: wide_a * v - wide_x * np.expm1(v), x - a)
        return np.asarray(poisson_log_mass(a, x) + np.log(a) + tail)

    shape, x = np.broadcast_arrays(np.asarray(shape, float), np.asarray(x, float))
    above = gammaincc(shape, x)
    return log_with_far(log_of_smaller(above, gammainc(shape, x)), (above < FAR) & np.isfinite(x), far, shape, x)


def beta_parts(a: Any, b: Any, x: Any, rest: Any) -> tuple[np.ndarray, np.ndarray]:
    """I_x(a, b) and 1 - I_x(a, b), for `rest` = 1 - x: the larger of the two is what the smaller leaves of 1."""
    swapped = np.asarray(x) > 0.5  # of x and 1 - x, the smaller has the more digits
    below = np.where(swapped, betaincc(b, a, rest), betainc(a, b, x))
    above = np.where(swapped, betainc(b, a, rest), betaincc(a, b, x))
    is_lower = below <= 0.5
    return np.where(is_lower, below, 1 - above), np.where(is_lower, 1 - below, above)


def log_beta_below(a: Any, b: Any, x: Any, rest: Any) -> np.ndarray:
    """log I_x(a, b), the regularised incomplete beta function; `rest` is 1 - x, with all its digits."""

    def far(a: np.ndarray, b: np.ndarray, x: np.ndarray, rest: np.ndarray) -> np.ndarray:  # t = x e^-v
        odds = x / rest
        wide_a, wide_b, wide = a[..., None], b[..., None], odds[..., None]
        tail = log_integral(lambda v: -wide_a * v + (wide_b - 1) * np.log1p(-wide * np.expm1(-v)), a - (b - 1) * odds)
        return np.asarray(_log_beta_height(a, b, x, rest) + tail)

    a, b, x, rest = np.broadcast_arrays(*(np.asarray(value, float) for value in (a, b, x, rest)))
    below, above = beta_parts(a, b, x, rest)
    return log_with_far(log_of_smaller(below, above), (below < FAR) & (x > 0) & (rest > 0), far, a, b, x, rest)


def log_beta(a: Any, b: Any) -> np.ndarray:
    """log B(a, b), also where Γ of a shape is beyond doubles: of a tiny a it is 1/a, or 1/a + 1/b."""
    smaller, larger = np.minimum(a, b), np.maximum(a, b)
    tiny = np.where(larger < SMALL, np.log1p(smaller / larger), 0.0) - np.log(smaller)
    return np.where(smaller < SMALL, tiny, betaln(a, b))


def log_beta_density(a: np.ndarray, b: np.ndarray, x: np.ndarray, rest: np.ndarray) -> np.ndarray:
    """log x^(a-1) (1-x)^(b-1) / B(a, b) for 0 < x < 1, as a distance from the mean; `rest` is 1 - x."""
    return np.asarray(_log_beta_height(a, b, x, rest) - np.log(x))


def _log_beta_height(a: np.ndarray, b: np.ndarray, x: np.ndarray, rest: np.ndarray) -> np.ndarray:
    """log x^a (1-x)^(b-1) / B(a, b), as a distance from the mean."""
    total = a + b
    errors = stirling_error(total) - stirling_error(a) - stirling_error(b)
    log_width = 0.5 * (np.log(a) + np.log(b) - np.log(total) - LOG_TWO_PI)
    return np.asarray(errors + log_width - deviance(a, total * x) - deviance(b, total * rest) - np.log(rest))


def log_with_far(
    found: np.ndarray, is_far: np.ndarray, far: Callable[..., np.ndarray], *values: np.ndarray
) -> np.ndarray:
    """What was found, with the far tails computed their own way."""
    if is_far.any():
        found = np.array(found)
        found[is_far] = far(*(value[is_far] for value in values))
    return np.asarray(found)
