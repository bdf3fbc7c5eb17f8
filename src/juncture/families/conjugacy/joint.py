"""Priors of both parameters of a Gaussian: its mean with its precision, variance or covariance."""

from __future__ import annotations

from typing import Any

import numpy as np

from juncture.checks import check_array, is_iterable, shown
from juncture.errors import InvalidData
from juncture.families.conjugacy.pair import Pair
from juncture.families.continuous.gaussian import Gaussian
from juncture.families.continuous.student_t import StudentT
from juncture.families.statistics.statistics import Known
from juncture.families.vectors.multivariate_gaussian import MultivariateGaussian
from juncture.families.vectors.multivariate_student_t import MultivariateStudentT
from juncture.families.vectors.normal_gamma import NormalGamma
from juncture.families.vectors.normal_inverse_gamma import NormalInverseGamma
from juncture.families.vectors.normal_inverse_wishart import NormalInverseWishart


def after_values(prior: Any, statistics: Any) -> tuple[Any, ...]:
    """Mean (νμ0 + n x̄) / (ν + n), strength ν + n, shape α + n/2, and β + ½ Σ(x - x̄)² + ½ nν / (ν + n) (x̄ - μ0)²."""
    weight, before = statistics.weight, prior.strength
    strength = before + weight
    shift = statistics.center - prior.mean
    squares = statistics.scatter + before * (weight / strength) * shift**2
    return prior.mean + weight / strength * shift, strength, prior.shape + 0.5 * weight, 0.5 * squares


def after_values_by_precision(prior: NormalGamma, statistics: Any) -> NormalGamma:
    mean, strength, shape, squares = after_values(prior, statistics)
    return NormalGamma(mean, strength, shape, prior.rate + squares)


def after_values_by_variance(prior: NormalInverseGamma, statistics: Any) -> NormalInverseGamma:
    mean, strength, shape, squares = after_values(prior, statistics)
    return NormalInverseGamma(mean, strength, shape, prior.scale + squares)


def after_vectors(prior: NormalInverseWishart, statistics: Any) -> NormalInverseWishart:
    """Mean (κm + n x̄) / (κ + n), strength κ + n, degrees ν + n, Ψ + scatter + nκ / (κ + n) (x̄ - m)(x̄ - m)ᵀ."""
    weight, before = statistics.weight, np.asarray(prior.strength)
    strength = before + weight
    shift = statistics.center - prior.mean
    share = np.asarray(before * weight / strength)[..., None, None]
    scale = prior.scale + statistics.scatter + share * shift[..., :, None] * shift[..., None, :]
    mean = prior.mean + np.asarray(weight / strength)[..., None] * shift
    return NormalInverseWishart(mean, strength, prior.degrees + weight, scale)


def next_value(prior: Any, rate: Any) -> StudentT:
    """Student's t with 2α degrees and the squared scale β (ν + 1) / (ν α)."""
    squared = rate * (prior.strength + 1) / (prior.strength * prior.shape)
    return StudentT(2 * prior.shape, prior.mean, np.sqrt(squared))


def next_vector(prior: NormalInverseWishart, known: Known) -> MultivariateStudentT:
    """Student's t with ν - d + 1 degrees and the scale Ψ (κ + 1) / (κ (ν - d + 1))."""
    strength, degrees = np.asarray(prior.strength), np.asarray(prior.degrees) - prior.dimension + 1
    factor = np.asarray((strength + 1) / (strength * degrees))
    return MultivariateStudentT(degrees, prior.mean, prior.scale * factor[..., None, None])


def worth(prior: Any, known: Known) -> Any:
    return prior.strength


def pair_of(point: Any, second: str) -> tuple[Any, Any]:
    """The parameter value of a joint prior: a pair."""
    if not isinstance(point, tuple | list | np.ndarray) or not is_iterable(point) or len(point) != 2:
        raise InvalidData(f"the parameter is a pair of a mean and a {second}; got {shown(point)}")
    return point[0], point[1]


def gaussian_at_precision(mean: Any, precision: Any) -> Gaussian:
    return Gaussian(mean, 1 / check_array(precision, "a precision"))


PAIRS = (
    Pair(
        NormalGamma, Gaussian, "mean and precision", after_values_by_precision,
        at=lambda point, known: gaussian_at_precision(*pair_of(point, "precision")), sample_size=worth,
        told_predictive=lambda posterior, known: next_value(posterior, posterior.rate),
    ),
    Pair(
        NormalInverseGamma, Gaussian, "mean and variance", after_values_by_variance,
        at=lambda point, known: Gaussian(*pair_of(point, "variance")), sample_size=worth,
        told_predictive=lambda posterior, known: next_value(posterior, posterior.scale),
    ),
    Pair(
        NormalInverseWishart, MultivariateGaussian, "mean and covariance", after_vectors,
        at=lambda point, known: MultivariateGaussian(*pair_of(point, "covariance")), sample_size=worth,
        told_predictive=next_vector,
    ),
)  # fmt: skip
