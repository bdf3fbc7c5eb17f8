"""What a Gaussian, of one number or of several, is a prior for: the mean of a Gaussian whose variance is known."""

from __future__ import annotations

from typing import Any

import numpy as np

from juncture.families.conjugacy.pair import Pair
from juncture.families.continuous.gaussian import Gaussian
from juncture.families.statistics.statistics import Known
from juncture.families.vectors.multivariate_gaussian import MultivariateGaussian


def after_values(prior: Gaussian, statistics: Any) -> Gaussian:
    """Precisions add; the mean is the average of prior mean and data, weighted by their precisions."""
    weight, variance, spread = statistics.weight, statistics.known["variance"], prior.variance
    total = weight * spread + variance
    return Gaussian((weight * spread * statistics.center + variance * prior.mean) / total, variance * spread / total)


def after_vectors(prior: MultivariateGaussian, statistics: Any) -> MultivariateGaussian:
    """Σn = Σ (nΣ0 + Σ)⁻¹ Σ0 and μn = μ0 + nΣ0 (nΣ0 + Σ)⁻¹ (x̄ - μ0): the precisions Σ0⁻¹ and nΣ⁻¹ add."""
    weight, covariance, spread = statistics.weight[..., None, None], statistics.known["covariance"], prior.covariance
    total = weight * spread + covariance
    found = covariance @ np.linalg.solve(total, np.broadcast_to(spread, total.shape))
    shift = np.linalg.solve(total, (statistics.center - prior.mean)[..., None])
    mean = prior.mean + (weight * spread @ shift)[..., 0]
    return MultivariateGaussian(mean, (found + np.swapaxes(found, -2, -1)) / 2)


def average_precision(prior: MultivariateGaussian, known: Known) -> Any:
    """tr Σ Σ0⁻¹ / d: observations per direction, on average."""
    ratio = np.linalg.solve(prior.covariance, np.broadcast_to(known["covariance"], prior.covariance.shape))
    return np.trace(ratio, axis1=-2, axis2=-1) / prior.dimension


PAIRS = (
    Pair(
        Gaussian, Gaussian, "mean", after_values,
        at=lambda point, known: Gaussian(point, known["variance"]),
        sample_size=lambda prior, known: known["variance"] / prior.variance,
        known=frozenset({"variance"}),
        told_predictive=lambda posterior, known: Gaussian(posterior.mean, posterior.variance + known["variance"]),
    ),
    Pair(
        MultivariateGaussian, MultivariateGaussian, "mean", after_vectors,
        at=lambda point, known: MultivariateGaussian(point, known["covariance"]),
        sample_size=average_precision,
        known=frozenset({"covariance"}),
        told_predictive=lambda posterior, known: MultivariateGaussian(
            posterior.mean, posterior.covariance + known["covariance"]
        ),
    ),
)  # fmt: skip
