"""Log-masses of counts as a distance from the mean, not as a difference of huge logarithms.

C. Loader, Fast and accurate computation of binomial probabilities (2000): x! by Stirling's formula with its error, and
what remains is the deviance x log(x/m) + m - x, which is small near the mean m.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from juncture.families.log_factorial import stirling_error
from juncture.numerics import stable
from juncture.numerics.stable import LOG_TWO_PI


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
