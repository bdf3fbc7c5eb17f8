"""Logarithms of factorials, of their quotients, and of the masses of counts, without the cancellation of large gammas.

The log-masses are distances from the mean, not differences of huge logarithms. C. Loader, Fast and accurate computation
of binomial probabilities (2000): x! by Stirling's formula with its error, and what remains is the deviance
x log(x/m) + m - x, which is small near the mean m.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.special import gammaln

from juncture.numerics import stable
from juncture.numerics.stable import LOG_TWO_PI

LARGE = 16.0  # from here on, the first terms of Stirling's series are exact to rounding
LARGEST_STEP = 2**53  # up to here a number and the next differ
VALUES_PER_ENTRY = 4  # a table pays when each of its entries serves this many values


def look_up(function: Callable[[np.ndarray], np.ndarray], counts: np.ndarray) -> np.ndarray:
    """function(counts) for whole numbers: through a table of its values, when many counts lie in a small range."""
    if counts.size >= VALUES_PER_ENTRY:
        low, high = int(counts.min()), int(counts.max())
        if high < LARGEST_STEP and (high - low + 1) * VALUES_PER_ENTRY <= counts.size:
            indices = (counts - low if low else counts).astype(np.intp, copy=False)
            return np.asarray(function(np.arange(low, high + 1.0)).take(indices))
    return function(counts)


def log_factorial(counts: np.ndarray) -> np.ndarray:
    """The logarithm of x!, for each count."""
    return look_up(lambda x: np.asarray(gammaln(x + 1.0)), counts)


def log_choose(total: Any, chosen: Any) -> np.ndarray:
    """log n! / (k! (n-k)!).

    >>> round(float(np.exp(log_choose(5, 2))), 12)
    10.0
    """
    fewer = np.minimum(chosen, np.subtract(total, chosen))
    return np.asarray(log_rising(np.subtract(total, fewer) + 1.0, fewer) - gammaln(fewer + 1.0))


def log_rising(base: Any, steps: Any) -> np.ndarray:
    """log Γ(base + steps) / Γ(base) = log base (base + 1) ⋯ (base + steps - 1), for base > 0 and steps ≥ 0."""
    base, steps = np.asarray(base, dtype=float), np.asarray(steps, dtype=float)
    large = base >= LARGE
    small_base, large_base = np.where(large, 1.0, base), np.where(large, base, LARGE)
    by_gamma = gammaln(small_base + steps) - gammaln(small_base)
    last = large_base + steps
    by_stirling = steps * np.log(large_base) + ((last - 0.5) * np.log1p(steps / large_base) - steps)
    by_stirling += stirling_error(last) - stirling_error(large_base)
    return np.where(large, by_stirling, by_gamma)


def log_weight(counts: Any, concentration: Any) -> np.ndarray:
    """log Γ(x + α) / (x! Γ(α)): the ways to draw x balls, of a colour that starts with α, from Pólya's urn.

    It is symmetric in x + 1 and α: the smaller one counts the steps up from the larger, so nothing large cancels.
    """
    after, alpha = np.broadcast_arrays(np.asarray(counts, dtype=float) + 1, np.asarray(concentration, dtype=float))
    fewer, more = np.minimum(after, alpha), np.maximum(after, alpha)
    upwards = log_rising(more, np.maximum(fewer - 1, 0.0))
    downwards = log_rising(np.where(fewer < 1, more - 1 + fewer, 1.0), np.maximum(1 - fewer, 0.0))
    return np.asarray(np.where(fewer < 1, -downwards, upwards) - gammaln(fewer))


def stirling_error(x: np.ndarray) -> np.ndarray:
    """log x! - log √(2πx) (x/e)^x, for x > 0: about 1/12x."""
    large = x >= LARGE
    inverse = 1.0 / np.where(large, x, LARGE)
    square = inverse * inverse
    series = inverse * (1 / 12 - square * (1 / 360 - square * (1 / 1260 - square * (1 / 1680 - square / 1188))))
    if large.all():
        return np.asarray(series)
    small = np.where(large, 1.0, x)
    direct = gammaln(small + 1.0) - (small + 0.5) * np.log(small) + small - 0.5 * LOG_TWO_PI
    return np.where(large, series, direct)


def poisson_log_mass(x: Any, mean: Any) -> np.ndarray:
    """log e^-m m^x / x! for real x ≥ 0 and m ≥ 0."""
    x, mean = np.broadcast_arrays(np.asarray(x, dtype=float), np.asarray(mean, dtype=float))
    some = np.where(x > 0, x, 1.0)
    above = -stirling_error(some) - 0.5 * (LOG_TWO_PI + np.log(some)) - deviance(some, mean)
    return np.where(x > 0, above, -mean)


def binomial_log_mass(x: Any, trials: Any, p: Any) -> np.ndarray:
    """log n!/(x! (n-x)!) p^x (1-p)^(n-x) for real 0 ≤ x ≤ n."""
    x, n, p = np.broadcast_arrays(*(np.asarray(value, dtype=float) for value in (x, trials, p)))
    inner = (x > 0) & (x < n)
    hit, tried = np.where(inner, x, 1.0), np.where(inner, n, 2.0)
    missed = tried - hit
    errors = stirling_error(tried) - stirling_error(hit) - stirling_error(missed)
    log_width = 0.5 * (np.log(tried) - np.log(hit) - np.log(missed) - LOG_TWO_PI)
    between = errors + log_width - deviance(hit, tried * p) - deviance(missed, tried * (1 - p))
    at_end = times(x, stable.log(p)) + times(n - x, stable.log1p(-p))
    return np.where(inner, between, at_end)


def deviance(x: np.ndarray, mean: np.ndarray) -> np.ndarray:
    """x log(x/m) + m - x for x > 0: zero at the mean, infinite where m = 0."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        shift = (x - mean) / mean
        near = mean * ((1 + shift) * np.log1p(shift) - shift)
        ratio = x / mean
        is_held = (ratio > 0) & (ratio < np.inf)  # else the logarithms are subtracted
        far = x * np.where(is_held, np.log(ratio), np.log(x) - np.log(mean)) + mean - x
    return np.where(np.abs(shift) < 0.5, near, far)


def times(count: np.ndarray, log_value: np.ndarray) -> np.ndarray:
    """count · log_value, with 0 · -inf = 0."""
    return np.where(count == 0, 0.0, np.where(count == 0, 1.0, count) * log_value)
