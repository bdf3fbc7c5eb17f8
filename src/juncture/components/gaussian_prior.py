"""Means and covariances of Gaussian emissions under conjugate priors: modes of posteriors, and prior densities."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from juncture.components.contract import raise_wrong_prior
from juncture.components.family import log_prior_of
from juncture.components.gaussian_estimate import Estimate
from juncture.families.continuous.gaussian import Gaussian
from juncture.families.continuous.inverse_gamma import InverseGamma
from juncture.families.vectors.inverse_wishart import InverseWishart
from juncture.families.vectors.multivariate_gaussian import MultivariateGaussian
from juncture.families.vectors.normal_gamma import NormalGamma, NormalInverseGamma
from juncture.families.vectors.normal_inverse_wishart import NormalInverseWishart

if TYPE_CHECKING:
    from juncture.components.gaussian import GaussianEmissions
    from juncture.families.statistics.statistics import Moments


def posterior_mode(emissions: GaussianEmissions, moments: Any, prior: Any) -> Estimate:
    """The means and the covariance at the mode of the posterior of all of them."""
    return MODES[emissions.structure](emissions, moments, check_prior(emissions, prior))


def diagonal_by_prior(emissions: GaussianEmissions, moments: Any, prior: Any) -> Estimate:
    distributions = Gaussian.estimate(moments, prior)
    shape = emissions.means.shape
    return np.broadcast_to(distributions.mean, shape), np.broadcast_to(distributions.variance, shape)


def spherical_by_prior(emissions: GaussianEmissions, moments: Any, prior: Any) -> Estimate:
    """One variance has the squares and the weights of all d coordinates, and the d prior densities of their means."""
    means, squares = shifted_by_prior(moments, prior)
    shape, scale = np.asarray(prior.shape), np.asarray(prior.scale)
    weight = moments.weight.sum(axis=1) + emissions.dimension
    return means, (2 * scale + squares.sum(axis=1)) / (2 * shape + 2 + weight)


def full_by_prior(emissions: GaussianEmissions, moments: Any, prior: Any) -> Estimate:
    distributions = MultivariateGaussian.estimate(moments, prior)
    return distributions.mean, distributions.covariance


def tied_by_prior(emissions: GaussianEmissions, moments: Any, prior: Any) -> Estimate:
    """One covariance has the scatters and the weights of all states, and the prior densities of all their means."""
    weight, strength = moments.weight[:, None], np.asarray(prior.strength)
    shift = moments.center - prior.mean
    means = prior.mean + weight / (strength + weight) * shift
    share = strength * weight / (strength + weight)
    scatter = prior.scale + moments.scatter.sum(axis=0) + (share * shift).T @ shift
    size, states = emissions.dimension, emissions.num_states
    return means, scatter / (prior.degrees + size + 1 + states + moments.weight.sum())


MODES = {
    "diagonal": diagonal_by_prior,
    "spherical": spherical_by_prior,
    "full": full_by_prior,
    "tied": tied_by_prior,
}


def shifted_by_prior(moments: Moments, prior: Any) -> Estimate:
    """The means at the mode, and the squares about them of data and prior together: both (state, d)."""
    weight, strength, center = moments.weight, column(prior.strength), column(prior.mean)
    shift = moments.center - center
    means = center + weight / (strength + weight) * shift
    return means, moments.scatter + strength * weight / (strength + weight) * shift**2


def column(parameter: Any) -> np.ndarray:
    """A parameter of a prior as (state, 1), if each state has its own."""
    array = np.asarray(parameter)
    return array[:, None] if array.ndim else array


def check_prior(emissions: GaussianEmissions, prior: Any) -> Any:
    """A prior that fits the structure, or one sentence about which do."""
    kinds = PRIORS[emissions.structure]
    if not isinstance(prior, kinds):
        raise_wrong_prior(prior, emissions, " or ".join(kind.__name__ for kind in kinds))
    is_own = emissions.structure == "diagonal" and not emissions.event_shape and len(prior.batch_shape) == 1
    return prior[:, None] if is_own else prior


PRIORS: dict[str, tuple[Any, ...]] = {
    "diagonal": (NormalInverseGamma, NormalGamma),
    "spherical": (NormalInverseGamma,),
    "full": (NormalInverseWishart,),
    "tied": (NormalInverseWishart,),
}


def log_prior(emissions: GaussianEmissions, prior: Any) -> float:
    """log of the prior density of all means and covariances; what states share counts once."""
    prior = check_prior(emissions, prior)
    means = emissions.means
    if emissions.structure == "diagonal":
        return float(log_prior_of(prior, Gaussian(means, emissions.variances)).sum())
    if emissions.structure == "full":
        return float(log_prior_of(prior, emissions.full).sum())
    if emissions.structure == "spherical":
        variance = emissions.covariance
        of_means = Gaussian(column(prior.mean), variance[:, None] / column(prior.strength)).log_prob(means)
        return float(np.sum(InverseGamma(prior.shape, prior.scale).log_prob(variance)) + np.sum(of_means))
    covariance = emissions.full.covariance[0]
    of_means = MultivariateGaussian(prior.mean, covariance / prior.strength).log_prob(means)
    return float(InverseWishart(prior.degrees, prior.scale).log_prob(covariance) + np.sum(of_means))
