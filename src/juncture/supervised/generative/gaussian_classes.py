"""Gaussian classes of discriminant analysis: a covariance is full, diagonal or spherical, shared by all classes or not.

Learning starts from classes that are equal. A shared covariance that is diagonal or spherical is the diagonal, or its
mean, of the shared full one: that is its maximum likelihood estimate too.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from juncture.base.checks import check_choice
from juncture.components.contract import Emissions
from juncture.components.gaussian import GaussianEmissions
from juncture.supervised.generative.learning import Restrict

COVARIANCES = ("full", "diagonal", "spherical")


def equal_gaussians(rows: np.ndarray, covariance: Any, num_classes: int, *, is_shared: bool) -> GaussianEmissions:
    """Gaussian classes with the means and variances of the columns; a constant column has the variance 1."""
    kind = check_choice(covariance, COVARIANCES, "covariance")
    known = np.where(np.isnan(rows), 0.0, 1.0)
    total = np.maximum(known.sum(axis=0), 1.0)
    mean = np.where(known > 0, rows, 0.0).sum(axis=0) / total
    variance = np.square(np.where(known > 0, rows - mean, 0.0)).sum(axis=0) / total
    variance = np.where(variance > 0, variance, 1.0)
    means = np.repeat(mean[None], num_classes, axis=0)
    if is_shared:
        return GaussianEmissions(means, np.diag(variance), "tied")
    if kind == "full":
        return GaussianEmissions(means, np.repeat(np.diag(variance)[None], num_classes, axis=0), "full")
    if kind == "diagonal":
        return GaussianEmissions(means, np.repeat(variance[None], num_classes, axis=0), "diagonal")
    return GaussianEmissions(means, np.full(num_classes, variance.mean()), "spherical")


def restriction(covariance: Any, *, is_shared: bool) -> Restrict | None:
    """What a shared covariance is restricted to; None where nothing is."""
    kind = check_choice(covariance, COVARIANCES, "covariance")
    if not is_shared or kind == "full":
        return None
    return only_diagonal if kind == "diagonal" else only_spherical


def only_diagonal(densities: Emissions) -> Emissions:
    variances = np.diagonal(densities.covariance)  # type: ignore[attr-defined]
    return GaussianEmissions(densities.mean, np.diag(variances), "tied")  # type: ignore[attr-defined]


def only_spherical(densities: Emissions) -> Emissions:
    covariance = densities.covariance  # type: ignore[attr-defined]
    own = np.eye(len(covariance)) * np.diagonal(covariance).mean()
    return GaussianEmissions(densities.mean, own, "tied")  # type: ignore[attr-defined]


def num_shared_parameters(densities: GaussianEmissions, covariance: str) -> int:
    """The free numbers of means and of one covariance of this kind."""
    size = densities.dimension
    own = {"full": size * (size + 1) // 2, "diagonal": size, "spherical": 1}
    return densities.num_states * size + own[covariance]
