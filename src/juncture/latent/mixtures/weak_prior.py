"""A weak prior of Gaussian components from the data: with it no component shrinks to a point.

The prior of Fraley and Raftery (2007, Bayesian regularization for normal mixture estimation, J. Classification 24): the
mean of the data with the strength of a hundredth of a row, and d + 2 degrees with the data's variances divided by
K^(2/d), so that the K components together fill the volume of the data.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from juncture.components.contract import Emissions
from juncture.components.gaussian import GaussianEmissions
from juncture.components.independent import IndependentEmissions
from juncture.components.mixture import Mixture, MixturePrior
from juncture.families.vectors.normal_gamma import NormalInverseGamma
from juncture.families.vectors.normal_inverse_wishart import NormalInverseWishart

STRENGTH = 0.01  # rows that the prior of a mean weighs


def weak_prior(model: Mixture, rows: np.ndarray, weights: np.ndarray) -> MixturePrior:
    """The prior for the components of a mixture of these rows (row, *event); None for columns that are not Gaussian."""
    flat = np.asarray(rows, float).reshape(len(rows), -1)
    return MixturePrior(None, prior_of(model.components, *column_moments(flat, weights)))


def column_moments(rows: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The mean and the variance of what is seen of each column; a constant column has the variance 1."""
    own = np.where(np.isnan(rows), 0.0, weights[:, None])
    total = np.maximum(own.sum(axis=0), np.finfo(float).tiny)
    mean = (own * np.where(own > 0, rows, 0.0)).sum(axis=0) / total
    variance = (own * np.square(np.where(own > 0, rows - mean, 0.0))).sum(axis=0) / total
    return mean, np.where(variance > 0, variance, 1.0)


def prior_of(components: Emissions, mean: np.ndarray, variance: np.ndarray) -> Any:
    if isinstance(components, IndependentEmissions):
        columns = zip(components.parts, components.columns(mean[None]), components.columns(variance[None]), strict=True)
        return [prior_of(part, np.ravel(own), np.ravel(spread)) for part, own, spread in columns]
    if not isinstance(components, GaussianEmissions):
        return None
    size = components.dimension
    scale, degrees = variance / components.num_states ** (2 / size), size + 2
    if not components.is_diagonal:
        return NormalInverseWishart(mean, STRENGTH, degrees, np.diag(scale))
    if components.structure == "spherical":
        return NormalInverseGamma(mean.mean(), STRENGTH, 0.5 * degrees, 0.5 * scale.mean())
    if not components.event_shape:
        return NormalInverseGamma(mean[0], STRENGTH, 0.5 * degrees, 0.5 * scale[0])
    return NormalInverseGamma(mean, STRENGTH, 0.5 * degrees, 0.5 * scale)
