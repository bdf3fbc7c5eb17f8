"""Cumulants and moments of sufficient statistics: derivatives of the log-partition A and of Z = exp A, to order 3.

κ = ∇A and ∇²A are exact. ∇³A is a difference of ∇²A, extrapolated to the step 0 (Richardson); the step is a small part
of 1 / std of each statistic, and shrinks until the extrapolation settles.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from juncture.base.checks import check_count
from juncture.errors import InvalidData, Unsupported

HIGHEST_ORDER = 3
COMPLEX_STEP = 1e-30
FIRST_STEP, SHRINK, MOST_TRIALS = 0.02, 8.0, 8  # of 1 / std
LEAST_NOISE = 1e-12  # added to squared correlations
SETTLED = 1e-11  # the change by the last extrapolation, relative to the product of the standard deviations

Information = Callable[[np.ndarray], np.ndarray]  # natural parameters (*batch, i) → ∇²A (*batch, i, j)


def check_order(order: int) -> int:
    """The order of a cumulant or moment: 1, 2 or 3."""
    if check_count(order, "the order") not in range(1, HIGHEST_ORDER + 1):
        raise InvalidData(f"cumulants and moments are computed for the orders 1 to {HIGHEST_ORDER}; got {order}")
    return order


def differentiate(function: Information, natural: np.ndarray) -> np.ndarray:
    """The derivatives (*batch, i, j) of a vector function of η in each η_j, by complex steps: exact to rounding."""
    columns = []
    for index in range(natural.shape[-1]):
        stepped = natural.astype(complex)
        stepped[..., index] += 1j * COMPLEX_STEP
        columns.append(function(stepped).imag / COMPLEX_STEP)
    return np.stack(columns, axis=-1)


def third_cumulants(information: Information, natural: np.ndarray) -> np.ndarray:
    """∇³A: (*batch, i, j, k)."""
    if not np.isfinite(natural).all():
        raise Unsupported(
            "on the edge of the parameter space, where natural parameters are infinite, A has no derivatives"
        )
    covariance = information(natural)
    std = np.sqrt(np.maximum(np.diagonal(covariance, axis1=-2, axis2=-1), np.finfo(float).tiny))
    columns = [_differentiate(information, natural, index, std) for index in range(natural.shape[-1])]
    correlation = covariance / (std[..., :, None] * std[..., None, :])
    weights = 1 / (correlation**2 + LEAST_NOISE)
    return _symmetrize(np.stack(columns, axis=-1), weights[..., None])


def _symmetrize(found: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """The average of ∂_k Cov_ij, ∂_j Cov_ik and ∂_i Cov_kj: the less two statistics correlate, the less is rounded."""
    found, weights = (found + np.swapaxes(found, -2, -3)) / 2, np.broadcast_to(weights, found.shape)
    total, weight = (
        part + np.swapaxes(part, -1, -2) + np.swapaxes(part, -1, -3) for part in (weights * found, weights)
    )
    return total / weight


def _differentiate(information: Information, natural: np.ndarray, index: int, std: np.ndarray) -> np.ndarray:
    """∂/∂η_index of ∇²A: the extrapolation, of those with smaller and smaller steps, that changes least."""
    scale = std[..., :, None] * std[..., None, :] * std[..., index, None, None]
    best, least = np.empty(scale.shape), np.full(scale.shape[:-2], np.inf)
    for trial in range(MOST_TRIALS):
        step = FIRST_STEP / SHRINK**trial / std[..., index]
        found, change = _extrapolate(information, natural, index, step)
        error = np.max(np.where(np.isfinite(change), np.abs(change), np.inf) / scale, axis=(-2, -1))
        best = np.where((error < least)[..., None, None], found, best)
        least = np.minimum(error, least)
        if (least <= SETTLED).all():
            break
    if not np.isfinite(least).all():
        raise Unsupported("the third derivatives of the log-partition could not be computed so near to its edge")
    return best


def _extrapolate(
    information: Information, natural: np.ndarray, index: int, step: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Central differences with the steps h, h/2 and h/4, extrapolated to 0, and the last change of the result."""
    coarse, middle, fine = (_difference(information, natural, index, step / 2**level) for level in range(3))
    first, second = (4 * middle - coarse) / 3, (4 * fine - middle) / 3
    found = (16 * second - first) / 15
    return found, found - second


def _difference(information: Information, natural: np.ndarray, index: int, step: np.ndarray) -> np.ndarray:
    above, below = natural.copy(), natural.copy()
    above[..., index] += step
    below[..., index] -= step
    width = (above - below)[..., index, None, None]
    with np.errstate(all="ignore"):  # a step beyond the edge gives NaN: the next one is smaller
        return (information(above) - information(below)) / width


def moments_from_cumulants(cumulants: list[np.ndarray]) -> np.ndarray:
    """E u_i, E u_i u_j or E u_i u_j u_k from the cumulants of all orders up to that one."""
    mean = cumulants[0]
    if len(cumulants) == 1:
        return mean
    second = cumulants[1] + np.einsum("...i,...j->...ij", mean, mean)
    if len(cumulants) == 2:
        return second
    mixed = np.einsum("...ij,...k->...ijk", cumulants[1], mean)
    sums = mixed + np.swapaxes(mixed, -1, -2) + np.swapaxes(mixed, -1, -3)
    return cumulants[2] + sums + np.einsum("...i,...j,...k->...ijk", mean, mean, mean)
