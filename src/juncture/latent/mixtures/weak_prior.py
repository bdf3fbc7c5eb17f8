"""A weak prior of Gaussian components from the data: with it no component shrinks to a point.

The prior of Fraley and Raftery (2007, Bayesian regularization for normal mixture estimation, J. Classification 24): the
mean of the data with the strength of a hundredth of a row, and d + 2 degrees with the data's variances divided by
K^(2/d), so that the K components together fill the volume of the data.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from juncture.components.contract import Emissions
from juncture.components.densities import column_moments
from juncture.components.gaussian import GaussianEmissions
from juncture.components.gaussian_estimate import reference_variance
from juncture.components.independent import IndependentEmissions
from juncture.components.mixture import Mixture, MixturePrior
from juncture.families.vectors.normal_gamma import NormalInverseGamma
from juncture.families.vectors.normal_inverse_wishart import NormalInverseWishart

STRENGTH = 0.01  # rows that the prior of a mean weighs


def weak_prior(model: Mixture, rows: np.ndarray, weights: np.ndarray) -> MixturePrior:
    """The prior for the components of a mixture of these rows (row, *event); None for columns that are not Gaussian."""
    flat = np.asarray(rows, float).reshape(len(rows), -1)
    mean, variance = mean_and_variance(flat, weights)
    return MixturePrior(None, prior_of(model.components, mean, reference_variance(mean, variance)))


def mean_and_variance(rows: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The mean and the variance of what is seen of each column; 0 and 0 where nothing is seen."""
    found = column_moments(rows, weights)
    return found.center, found.scatter / np.maximum(found.weight, np.finfo(float).tiny)


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
