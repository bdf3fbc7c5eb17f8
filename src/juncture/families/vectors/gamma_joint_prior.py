"""`GammaJointPrior`: the exponential form and the update that NormalGamma and NormalInverseGamma share."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import digamma

from juncture.errors import InvalidData
from juncture.families.continuous.gamma_form import log_normalizer
from juncture.families.continuous.student_t import StudentT
from juncture.families.exponential_family import columns
from juncture.families.matching import match_shape
from juncture.families.statistics.known import Known
from juncture.families.supports import Interval, Pairs
from juncture.families.vectors.joint_prior import JointPrior
from juncture.numerics.stable import LOG_TWO_PI

ROUNDING = 16 * float(np.finfo(float).eps)

Parameters = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]  # mean, strength, shape, rate


class GammaJointPrior(JointPrior):
    """A joint prior whose precision has a gamma distribution: what NormalGamma and NormalInverseGamma share.

    Its parameters are the mean, the strength, and the shape and the rate of the precision, in this order.
    """

    @classmethod
    def _supports(cls, event_shape: tuple[int, ...]) -> Pairs:
        return Pairs(Interval(), Interval(0.0, closed_low=False))

    def _expected_square(self, shift: np.ndarray) -> np.ndarray:
        _, _, shape, rate = parameters_of(self)
        return np.asarray(shape / rate * shift**2)

    def _expected_log_precision(self) -> np.ndarray:
        _, _, shape, rate = parameters_of(self)
        return np.asarray(digamma(shape) - np.log(rate))

    @property
    def mean_marginal(self) -> StudentT:
        """The distribution of the mean alone: a t of 2 · shape degrees and squared scale rate / (strength · shape)."""
        mean, strength, shape, rate = parameters_of(self)
        return StudentT(2 * shape, mean, np.sqrt(rate / (strength * shape)))


def parameters_of(prior: GammaJointPrior) -> Parameters:
    mean, strength, shape, rate = (prior._given[name] for name in prior.parameters)
    return mean, strength, shape, rate


def parameters_at(natural: np.ndarray) -> Parameters:
    """Mean, strength, shape and rate of the natural parameters, which may be complex."""
    strength = -2 * natural[..., 3]
    mean = natural[..., 2] / strength
    return mean, strength, natural[..., 0] + 0.5, -natural[..., 1] - 0.5 * mean * natural[..., 2]


def natural_of(mean: np.ndarray, strength: np.ndarray, shape: np.ndarray, rate: np.ndarray) -> np.ndarray:
    return columns(shape - 0.5, -rate - 0.5 * strength * mean**2, strength * mean, -0.5 * strength)


def statistics_of(mean: np.ndarray, precision: np.ndarray) -> np.ndarray:
    """(log τ, τ, τμ, τμ²)."""
    return columns(np.log(precision), precision, precision * mean, precision * mean * mean)


def expectations(mean: np.ndarray, strength: np.ndarray, shape: np.ndarray, rate: np.ndarray) -> np.ndarray:
    """E (log τ, τ, τμ, τμ²)."""
    precision = shape / rate
    log_precision = digamma(shape) - np.log(rate)
    return columns(log_precision, precision, precision * mean, 1 / strength + precision * mean**2)


def log_partition(mean: np.ndarray, strength: np.ndarray, shape: np.ndarray, rate: np.ndarray) -> np.ndarray:
    return np.asarray(log_normalizer(shape, rate) + 0.5 * (LOG_TWO_PI - np.log(strength)))


def match_pairs(expected: np.ndarray, *, name: str) -> Parameters:
    """The parameters with these expectations of (log τ, τ, τμ, τμ²)."""
    log_precision, precision, first, second = np.moveaxis(expected, -1, 0)
    variation = second - first**2 / precision
    gap = np.log(precision) - log_precision
    differ = (variation > ROUNDING * second) & (gap > ROUNDING * np.maximum(np.abs(log_precision), 1.0))
    if not differ.all():
        raise InvalidData(f"{name} cannot be estimated from equal pairs: give at least two that differ in both values")
    shape = match_shape(gap)
    return first / precision, 1 / variation, shape, shape / precision


def update(prior: Any, statistics: Any) -> Any:
    """Mean (νμ0 + n x̄) / (ν + n), strength ν + n, shape α + n/2, β + ½ Σ(x - x̄)² + ½ nν / (ν + n) (x̄ - μ0)²."""
    mean, before, shape, rate = parameters_of(prior)
    weight, strength, shift = statistics.weight, before + statistics.weight, statistics.center - mean
    squares = statistics.scatter + before * (weight / strength) * shift**2
    return type(prior)(mean + weight / strength * shift, strength, shape + 0.5 * weight, rate + 0.5 * squares)


def predict(prior: GammaJointPrior, known: Known) -> StudentT:
    """Student's t with 2α degrees and the squared scale β (ν + 1) / (ν α)."""
    mean, strength, shape, rate = parameters_of(prior)
    return StudentT(2 * shape, mean, np.sqrt(rate * (strength + 1) / (strength * shape)))
