"""KL divergences of gamma, Dirichlet and Wishart distributions as sums of terms that are never negative.

log Γ(x) = x log x - x + g(x). The first part and the scales make a deviance, a log b/m + m - b; what is left is the
Bregman divergence of the convex g. Nothing large cancels, neither between like distributions nor at large parameters.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import xlogy

from juncture.families.log_factorial import stirling_error
from juncture.families.matching import log_minus_digamma, trigamma_excess

TINY = float(np.finfo(float).tiny)
NEAR = 0.1  # below this, series; their terms fall by this factor
ORDERS = np.arange(2, 20)
WIDE = 4.0  # up to this ratio the integral is exact to rounding
NODES, WEIGHTS = np.polynomial.legendre.leggauss(20)


def ratio_excess(value: Any, other: Any) -> np.ndarray:
    """r - 1 - log r, about (r - 1)²/2, for the ratio of two positive numbers."""
    with np.errstate(over="ignore"):
        x = np.subtract(value, other) / np.asarray(other)
        far = np.divide(value, other) - 1 - (np.log(value) - np.log(other))
    return np.where(np.abs(x) <= NEAR, _series(np.clip(x, -NEAR, NEAR), 1 / ORDERS), far)


def relative_deviance(shift: Any) -> np.ndarray:
    """(1 + s) log(1 + s) - s, about s²/2."""
    s = np.asarray(shift, dtype=float)
    near, far = np.clip(s, -NEAR, NEAR), np.where(np.abs(s) <= NEAR, 0.0, s)
    return np.where(np.abs(s) <= NEAR, _series(near, 1 / (ORDERS * (ORDERS - 1))), xlogy(1 + far, 1 + far) - far)


def _series(x: np.ndarray, factors: np.ndarray) -> np.ndarray:
    """Σ factor_k (-x)^k, from k = 2."""
    total = np.zeros_like(x)
    for factor in factors[::-1]:
        total = factor - x * total
    return np.asarray(total * x * x)


def gamma_divergence(shape: Any, rate: Any, other_shape: Any, other_rate: Any) -> np.ndarray:
    """KL(Gamma(a, r) ‖ Gamma(b, s)): the deviance of b from a s/r, and the divergence of g."""
    a, r, b, s = (np.asarray(value, dtype=float) for value in (shape, rate, other_shape, other_rate))
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        shift = ((b - a) / a) * (r / s) - (s - r) / s
        return np.asarray(_deviance_at(b, a * (s / r), shift, np.log(b / a) - np.log(s / r)) + bregman(a, b, b - a))


def dirichlet_divergence(counts: np.ndarray, others: np.ndarray) -> np.ndarray:
    """KL(Dirichlet(α) ‖ Dirichlet(β)): the deviances of β from α Σβ/Σα, and the divergences of g."""
    counts, others = np.broadcast_arrays(counts, others)
    change, total, other_total = others - counts, counts.sum(axis=-1), others.sum(axis=-1)
    growth = change.sum(axis=-1)[..., None]
    total, other_total = total[..., None], other_total[..., None]
    shift = (change * (total / other_total) - counts * (growth / other_total)) / counts
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        log_ratio = np.log(others / counts) - np.log(other_total / total)
        deviances = _deviance_at(others, counts * (other_total / total), shift, log_ratio)
        of_g = bregman(
            *(np.concatenate(pair, axis=-1) for pair in ((counts, total), (others, other_total), (change, growth)))
        )
    return np.maximum((deviances + of_g[..., :-1]).sum(axis=-1) - of_g[..., -1], 0.0)


def wishart_divergence(
    half: np.ndarray, other_half: np.ndarray, excesses: np.ndarray, log_determinant: np.ndarray
) -> np.ndarray:
    """KL of two Wisharts with halves of their degrees, and the eigenvalues of V'⁻¹V less 1 along the last axis.

    For each axis a gamma divergence, whose shape is by i/2 less than half the degrees. Where scales are far apart, the
    logarithms of the eigenvalues come from log |V'⁻¹V|.
    """
    a, b = half[..., None], other_half[..., None]
    dimension = excesses.shape[-1]
    shift = ((b - a) / a - excesses) / np.maximum(1 + excesses, TINY)
    near = (a * (1 + excesses) * relative_deviance(np.clip(shift, -0.5, 0.5))).sum(axis=-1)
    log_ratios = dimension * np.log(other_half / half) - log_determinant
    far = other_half * log_ratios + (a * (1 + excesses) - b).sum(axis=-1)
    deviance = np.where((np.abs(shift) <= 0.5).all(axis=-1), near, far)
    return np.asarray(deviance + bregman(a, b, b - a, np.arange(dimension)).sum(axis=-1))


def bregman(a: Any, b: Any, change: Any, axes: Any = 0) -> np.ndarray:
    """g(b) - g(a) - g'(a) (b - a) for the change b - a, of g(x) = log Γ(x - i/2) - (x log x - x) for each axis i.

    Near each other it is ∫ (b - t) g''(t) dt from a to b, of which no digit cancels.
    """
    a, b, change, axes = np.broadcast_arrays(*(np.asarray(value, dtype=float) for value in (a, b, change, axes)))
    below, above = a - 0.5 * axes, b - 0.5 * axes
    is_near = (above >= below / WIDE) & (above <= WIDE * below)
    if is_near.all():
        return _integrate_curvature(a, change, axes)
    gap = log_minus_digamma(below) - np.log1p(-0.5 * axes / a)
    found = np.asarray(_rest(b, above) - _rest(a, below) + change * gap)
    found[is_near] = _integrate_curvature(a[is_near], change[is_near], axes[is_near])
    return found


def _integrate_curvature(a: np.ndarray, change: np.ndarray, axes: np.ndarray) -> np.ndarray:
    """∫ (b - t) g''(t) dt from a to b = a + change, with g''(t) = ψ'(t - i/2) - 1/t."""
    t, half_axes = a[..., None] + change[..., None] * (0.5 * (1 + NODES)), 0.5 * axes[..., None]
    below = t - half_axes
    curvature = trigamma_excess(below) + half_axes / below / t
    return change**2 * (curvature * (1 - NODES) * WEIGHTS).sum(axis=-1) / 4


def _rest(x: np.ndarray, below: np.ndarray) -> np.ndarray:
    """log Γ(y) - (x log x - x) - log √(2π), for y = x - i/2."""
    step = x - below
    shifted = x * np.log1p(-step / x) - step * np.log(below) + step
    return np.asarray(stirling_error(below) - 0.5 * np.log(below) + shifted)


def _deviance_at(b: np.ndarray, mean: np.ndarray, shift: np.ndarray, log_ratio: np.ndarray) -> np.ndarray:
    """b log(b/m) + m - b, from b/m - 1 where that is small, and from log b/m elsewhere."""
    near = mean * relative_deviance(np.clip(shift, -0.5, 0.5))
    return np.where(np.abs(shift) <= 0.5, near, b * log_ratio + (mean - b))
