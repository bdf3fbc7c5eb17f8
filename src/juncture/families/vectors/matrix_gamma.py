"""The multivariate gamma function, and functions that Wishart, InverseWishart and the joint priors of a Gaussian share.

exp(-tr BX) |X|^(a - (d+1)/2) integrates to Γ_d(a) |B|^-a over the positive definite X; for d = 1 this is the Gamma
integral.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import digamma, loggamma

from juncture.families.gamma_divergence import wishart_divergence
from juncture.families.vectors import block_matrices as blocks

LOG_PI = float(np.log(np.pi))
SMALLEST = 1e-150
SMALLEST_SHARE = 1e-6


def log_multigamma(a: np.ndarray, dimension: int) -> np.ndarray:
    """log Γ_d(a) = ¼ d (d-1) log π + Σ_i log Γ(a - i/2), i from 0 to d-1; a may be complex."""
    return np.asarray(dimension * (dimension - 1) / 4 * LOG_PI + loggamma(_steps(a, dimension)).sum(axis=-1))


def multidigamma(a: np.ndarray, dimension: int) -> np.ndarray:
    """The derivative of log Γ_d."""
    return np.asarray(digamma(_steps(a, dimension)).sum(axis=-1))


def log_partition(a: np.ndarray, inverse_scale: np.ndarray) -> np.ndarray:
    """log Γ_d(a) - a log |B|."""
    dimension = inverse_scale.shape[-1]
    return np.asarray(log_multigamma(a, dimension) - a * blocks.log_determinant(inverse_scale))


def expected_log_determinant(a: np.ndarray, inverse_scale: np.ndarray) -> np.ndarray:
    """E log |X|."""
    return np.asarray(multidigamma(a, inverse_scale.shape[-1]) - blocks.log_determinant(inverse_scale))


def expected_matrix(a: np.ndarray, inverse_scale: np.ndarray) -> np.ndarray:
    """E X = a B⁻¹."""
    return a[..., None, None] * np.linalg.inv(inverse_scale)


def divergence(member: Any, other: Any, scaled: Any, base: Any) -> np.ndarray:
    """KL of two Wisharts, or inverses of Wisharts, from the scale of `scaled` as the scale of `base` makes it."""
    axes, change = base._whitening.inverse_factor, scaled._given["scale"] - base._given["scale"]
    excesses = np.linalg.eigvalsh(axes @ change @ np.swapaxes(axes, -2, -1))
    log_determinant = scaled._whitening.log_determinant - base._whitening.log_determinant
    half, other_half = (0.5 * family._given["degrees"] for family in (member, other))
    return np.asarray(np.maximum(wishart_divergence(half, other_half, excesses, log_determinant), 0.0))


def triangular_draws(
    degrees: np.ndarray, dimension: int, shape: tuple[int, ...], rng: np.random.Generator
) -> np.ndarray:
    """Lower triangular T with T Tᵀ from the standard Wishart (Bartlett): normal below a diagonal of χ.

    A χ that vanishes beside its row, as with few degrees, is held at the smallest share of it that leaves T Tᵀ definite
    in floating-point numbers, and at SMALLEST in a row of its own.
    """
    found = np.tril(rng.standard_normal((*shape, dimension, dimension)), -1)
    index = np.arange(dimension)
    chi = np.sqrt(rng.chisquare(degrees[..., None] - index, (*shape, dimension)))
    beside = np.sqrt((found**2).sum(axis=-1))
    found[..., index, index] = np.maximum(chi, np.maximum(SMALLEST_SHARE * beside, SMALLEST))
    return np.asarray(found)


def _steps(a: np.ndarray, dimension: int) -> np.ndarray:
    return np.asarray(a)[..., None] - 0.5 * np.arange(dimension)
