"""Means and covariances of Gaussian emissions: of maximum likelihood with a lower bound on variances, and under priors.

A state that shrinks to a point would have an infinite density there. So in every direction the variance must be at
least FLOOR of the variance of the data, in units in which each column of the data has variance 1. That is the variance
of what is seen of the column, which no step changes: were expected values of holes counted, it would shrink with the
states. The variance must also be large enough that the rounding of the column's values does not decide between states.
A state whose variance was below the bound before may keep it: the previous emissions stay among the candidates, so no
step of EM makes the fit worse.

Under conjugate priors the estimate is the mode of the posterior, and `log_prior` is the density of the prior there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from juncture.base.notes import NO_NOTES, Note, Notes
from juncture.components.contract import DEAD, raise_wrong_prior
from juncture.components.family import log_prior_of
from juncture.errors import RegularizedWarning
from juncture.families.continuous.gaussian import Gaussian
from juncture.families.continuous.inverse_gamma import InverseGamma
from juncture.families.vectors.inverse_wishart import InverseWishart
from juncture.families.vectors.multivariate_gaussian import MultivariateGaussian
from juncture.families.vectors.normal_gamma import NormalGamma, NormalInverseGamma
from juncture.families.vectors.normal_inverse_wishart import NormalInverseWishart

if TYPE_CHECKING:
    from juncture.components.gaussian import GaussianEmissions
    from juncture.families.statistics.statistics import Moments

FLOOR = 1e-8  # of the data's variance
EPSILON = float(np.finfo(float).eps)
CONSTANT = 4 * EPSILON  # of the mean: a column with a smaller deviation differs by rounding only
ROUNDING = 64 * EPSILON  # of the mean: deviations from which the rounding of a value or a mean does not count
LEAST = float(np.finfo(float).tiny) / FLOOR  # of data whose squares vanish: its floor is an ordinary number still
Estimate = tuple[np.ndarray, np.ndarray]  # means (state, d), and the covariance of the structure
Held = tuple[np.ndarray, Notes]  # the covariance of the structure, and where the floor holds it up


def best_fit(emissions: GaussianEmissions, moments: Any, columns: Any = None) -> tuple[np.ndarray, np.ndarray, Notes]:
    """The means and the covariance that fit the moments best; what has no data stays as it is."""
    means = np.where(wide(moments.weight > DEAD, moments), moments.center, emissions.means)
    return means, *BY_MOMENTS[emissions.structure](emissions, moments, *reference_moments(moments, columns))


def diagonal_variances(emissions: GaussianEmissions, moments: Any, center: np.ndarray, variance: np.ndarray) -> Held:
    found = divide_scatter(moments.scatter, moments.weight, emissions.variances)
    return raise_to_floor(found, np.maximum(FLOOR * variance, (ROUNDING * center) ** 2), emissions.variances)


def spherical_variances(emissions: GaussianEmissions, moments: Any, center: np.ndarray, variance: np.ndarray) -> Held:
    found = divide_scatter(moments.scatter.sum(axis=1), moments.weight.sum(axis=1), emissions.covariance)
    floor = np.maximum(FLOOR * variance.mean(), np.max((ROUNDING * center) ** 2))
    return raise_to_floor(found, floor, emissions.covariance)


def full_covariances(emissions: GaussianEmissions, moments: Any, center: np.ndarray, variance: np.ndarray) -> Held:
    found = divide_scatter(moments.scatter, moments.weight[:, None, None], emissions.full.covariance)
    lifted, low = lifted_matrices(found, center, variance, emissions.full.covariance)
    return lifted, note_floor(int(np.argmax(low))) if low.any() else NO_NOTES


def tied_covariance(emissions: GaussianEmissions, moments: Any, center: np.ndarray, variance: np.ndarray) -> Held:
    own = emissions.covariance.reshape(1, emissions.dimension, emissions.dimension)
    found = divide_scatter(moments.scatter.sum(axis=0)[None], moments.weight.sum()[None, None, None], own)
    lifted, low = lifted_matrices(found, center, variance, own)
    return np.asarray(lifted[0]), note_floor("all states") if low.any() else NO_NOTES


def divide_scatter(scatter: np.ndarray, weight: np.ndarray, kept: np.ndarray) -> np.ndarray:
    """scatter / weight; what is kept where nothing weighs anything."""
    return np.divide(scatter, weight, out=np.broadcast_to(kept, scatter.shape).copy(), where=weight > DEAD)


def raise_to_floor(variances: np.ndarray, floor: np.ndarray, before: np.ndarray) -> Held:
    """Variances that are at least the floor, or what they were."""
    floor = np.minimum(floor, before)
    low = variances < floor
    notes = note_floor(int(np.nonzero(low)[0][0])) if low.any() else NO_NOTES
    return np.where(low, floor, variances), notes


def lifted_matrices(
    covariances: np.ndarray, center: np.ndarray, data_variance: np.ndarray, before: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Covariances whose eigenvalues, in units of the data's deviations, are at least the floor, or their old least.

    The second array says which of them the floor holds up.
    """
    units = np.sqrt(data_variance)
    scale = units[:, None] * units
    values, vectors = np.linalg.eigh(covariances / scale)
    least = max(FLOOR, float(np.max((ROUNDING * center / units) ** 2)))
    suspect = values[:, 0] < least
    if not suspect.any():
        return covariances, suspect
    floor = np.minimum(least, np.linalg.eigvalsh(before / scale)[:, 0])
    low = values[:, 0] < floor
    if low.any():
        kept = np.maximum(values[low], floor[low, None])
        covariances = covariances.copy()
        covariances[low] = (vectors[low] * kept[:, None, :]) @ np.swapaxes(vectors[low], 1, 2) * scale
    return covariances, low


def note_floor(about: int | str) -> Notes:
    end = f" shrank below {FLOOR:g} of the data's variance and was kept there; give a prior, more data or fewer states"
    return Notes((Note(RegularizedWarning, "the variance of ", about, end),))


BY_MOMENTS = {
    "diagonal": diagonal_variances,
    "spherical": spherical_variances,
    "full": full_covariances,
    "tied": tied_covariance,
}


def wide(mask: np.ndarray, moments: Any) -> np.ndarray:
    """A truth value for each coordinate."""
    return mask if mask.shape == moments.center.shape else mask[:, None]


def reference_moments(moments: Any, columns: Any = None) -> Estimate:
    """(d,): the mean of what is seen of each column, whatever the state, and the variance that floors are shares of.

    `columns` has these moments; where coordinates are independent, those of the states add up to them.
    """
    if columns is None:
        return all_states(moments)
    total = np.maximum(columns.weight, np.finfo(float).tiny)
    return columns.center, reference_variance(columns.center, columns.scatter / total)


def all_states(moments: Any) -> Estimate:
    """The moments of reference from those of independent coordinates in each state, (state, d).

    Means of states are compared by their distances to the heaviest state's, which are exact where they are small.
    """
    heaviest = np.argmax(moments.weight, axis=0)[None]
    first, rest = (np.take_along_axis(part, heaviest, axis=0) for part in (moments.center, moments.residual))
    shift = np.where(moments.weight > 0, (moments.center - first) + (moments.residual - rest), 0.0)
    total = np.maximum(moments.weight.sum(axis=0), np.finfo(float).tiny)
    mean_shift = (moments.weight * shift).sum(axis=0) / total
    variance = (moments.scatter + moments.weight * (shift - mean_shift) ** 2).sum(axis=0) / total
    center = first[0] + mean_shift
    return center, reference_variance(center, variance)


def reference_variance(center: np.ndarray, variance: np.ndarray) -> np.ndarray:
    """The variance that floors are shares of: of a column that is constant, the square of its mean, or 1."""
    square = np.where(center != 0, center**2, 1.0)
    return np.maximum(np.where(is_constant(center, variance), square, variance), LEAST)


def is_constant(center: np.ndarray, variance: np.ndarray) -> np.ndarray:
    """Whether a column with this mean and variance differs by rounding only."""
    return ~(variance > CONSTANT**2 * np.where(center != 0, center**2, 1.0))


def first_variance(center: np.ndarray, variance: np.ndarray) -> np.ndarray:
    """The variance of each column that EM starts from: the data's, and the floor for a column that is constant.

    EM takes a constant column with holes down to the floor step by step, faster in states with fewer holes; on the way
    those would attract rows that are none of theirs.
    """
    reference = reference_variance(center, variance)
    return np.where(is_constant(center, variance), FLOOR * reference, reference)


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


MODES = {
    "diagonal": diagonal_by_prior,
    "spherical": spherical_by_prior,
    "full": full_by_prior,
    "tied": tied_by_prior,
}


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
