"""A MultivariateGaussian as the prior of the mean of one whose covariance is known: the update, and the sample size."""

from __future__ import annotations

from typing import Any

import numpy as np

from juncture.families.statistics.known import Known


def update_mean(prior: Any, statistics: Any) -> tuple[np.ndarray, np.ndarray]:
    """Σn = Σ (nΣ0 + Σ)⁻¹ Σ0 and μn = μ0 + nΣ0 (nΣ0 + Σ)⁻¹ (x̄ - μ0): the precisions Σ0⁻¹ and nΣ⁻¹ add."""
    weight, covariance, own = statistics.weight[..., None, None], statistics.known["covariance"], prior.covariance
    total = weight * own + covariance
    found = covariance @ np.linalg.solve(total, np.broadcast_to(own, total.shape))
    shift = np.linalg.solve(total, (statistics.center - prior.mean)[..., None])
    mean = prior.mean + (weight * own @ shift)[..., 0]
    return mean, (found + np.swapaxes(found, -2, -1)) / 2


def average_precision(prior: Any, known: Known) -> np.ndarray:
    """tr Σ Σ0⁻¹ / d: observations per direction, on average."""
    ratio = np.linalg.solve(prior.covariance, np.broadcast_to(known["covariance"], prior.covariance.shape))
    return np.asarray(np.trace(ratio, axis1=-2, axis2=-1) / prior.dimension)
