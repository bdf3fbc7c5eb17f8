"""The modified Bessel functions I0 and I1 as the von Mises distribution needs them: in logarithm and as a ratio.

Both also along a complex step, z = κ + iε, for derivatives: the imaginary part is ε times the derivative at κ.
"""

from __future__ import annotations

import numpy as np
from scipy.special import i0e, i1e

LARGE = 40.0  # from here on the series in 1/κ are exact to rounding
NUM_TERMS = 24


def _ratio_factors() -> list[float]:
    """a_k of I1(κ)/I0(κ) = Σ a_k κ^-k, from its differential equation A' = 1 - A/κ - A²."""
    factors = [1.0]
    for n in range(1, NUM_TERMS):
        crossed = sum(factors[i] * factors[n - i] for i in range(1, n))
        factors.append(0.5 * ((n - 2) * factors[n - 1] - crossed))
    return factors


SHORTFALL = [-factor for factor in _ratio_factors()[1:]]
LOG_SERIES = [factor / (k + 1) for k, factor in enumerate(SHORTFALL[1:])]


def log_bessel(z: np.ndarray) -> np.ndarray:
    """log I0(z), for real z ≥ 0 of any size and along a complex step from there."""
    length, big = z.real, np.maximum(z.real, LARGE)
    series = -0.5 * np.log(2 * np.pi * big) + _inverse_series(big, LOG_SERIES)
    value = length + np.where(length > LARGE, series, np.log(i0e(length)))
    return _add_complex_step(z, value, _ratio(length))


def bessel_ratio(z: np.ndarray) -> np.ndarray:
    """A = I1/I0 at z ≥ 0, whose derivative is 1 - A/z - A²."""
    length, ratio = z.real, _ratio(z.real)
    some = np.where(length > 0, length, 1.0)
    direct = 1 - np.where(length > 0, ratio / some, 0.5) - ratio**2
    big, rises = np.maximum(length, LARGE), [k * factor for k, factor in enumerate(SHORTFALL, start=1)]
    return _add_complex_step(z, ratio, np.where(length > LARGE, _inverse_series(big, rises) / big, direct))


def ratio_shortfall(length: np.ndarray) -> np.ndarray:
    """1 - I1/I0 at length ≥ 0, about 1/2κ for large κ."""
    series = _inverse_series(np.maximum(length, LARGE), SHORTFALL)
    return np.where(length > LARGE, series, 1 - _ratio(length))


def _ratio(length: np.ndarray) -> np.ndarray:
    return np.asarray(i1e(length) / i0e(length))


def _inverse_series(length: np.ndarray, factors: list[float]) -> np.ndarray:
    """Σ factor_k / κ^k, from k = 1."""
    total = np.zeros_like(length)
    for factor in reversed(factors):
        total = (total + factor) / length
    return total


def _add_complex_step(z: np.ndarray, value: np.ndarray, derivative: np.ndarray) -> np.ndarray:
    return np.asarray(value + 1j * z.imag * derivative) if np.iscomplexobj(z) else np.asarray(value)
