"""NormalGamma: a Gaussian's mean and precision, uncertain together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

import numpy as np
from scipy.special import digamma

from juncture.errors import InvalidData, Unsupported
from juncture.families.constraints import POSITIVE, REAL
from juncture.families.continuous.gamma import Gamma, log_normalizer
from juncture.families.continuous.student_t import StudentT
from juncture.families.exponential_family import columns
from juncture.families.family import Real, plain
from juncture.families.matching import match_shape
from juncture.families.statistics.statistics import Known
from juncture.families.supports import Interval, Pairs
from juncture.families.vectors.joint_prior import JointPrior
from juncture.numerics import LOG_TWO_PI

if TYPE_CHECKING:
    from juncture.families.vectors.normal_inverse_gamma import NormalInverseGamma

ROUNDING = 16 * float(np.finfo(float).eps)


class MeanAndPrecision(NamedTuple):
    mean: Any
    precision: Any


class NormalGamma(JointPrior):
    """τ from Gamma(shape, rate), and μ given τ from a Gaussian with the mean `mean` and the precision strength · τ.

    u = (log τ, τ, τμ, τμ²), η = (shape - ½, -rate - ½ strength mean², strength mean, -½ strength). As a prior, of a
    Gaussian's mean and precision.

    >>> NormalGamma(mean=0.0, strength=1.0, shape=2.0, rate=4.0).expected_precision
    0.5
    """

    parameters: ClassVar = {"mean": REAL, "strength": POSITIVE, "shape": POSITIVE, "rate": POSITIVE}
    pair_type: ClassVar = MeanAndPrecision
    mean: Real
    strength: Real
    shape: Real
    rate: Real

    def __init__(self, mean: Any, strength: Any, shape: Any, rate: Any) -> None:
        self._declare(mean=mean, strength=strength, shape=shape, rate=rate)

    @classmethod
    def _supports(cls, event_shape: tuple[int, ...]) -> Pairs:
        return Pairs(Interval(), Interval(0.0, closed_low=False))

    # -- the exponential family

    def _natural(self) -> np.ndarray:
        return natural_of(*parameters_of(self))

    @classmethod
    def _from_natural(cls, natural: np.ndarray, known: Known) -> Self:
        return cls(*parameters_at(natural))

    @classmethod
    def _mean_of(cls, natural: np.ndarray, known: Known) -> np.ndarray:
        return expectations(*parameters_at(natural))

    def _mean(self) -> np.ndarray:
        return expectations(*parameters_of(self))

    @classmethod
    def _from_mean(cls, mean: np.ndarray, known: Known) -> Self:
        return cls(*matched(mean, name=cls.__name__))

    @classmethod
    def _log_partition_of(cls, natural: np.ndarray, known: Known) -> np.ndarray:
        return log_partition(*parameters_at(natural))

    @classmethod
    def _sufficient(cls, x: Any, known: Known) -> np.ndarray:
        return statistics_of(x[0], x[1])

    # -- its two parts

    def _law_of_second(self) -> Gamma:
        return self.precision_marginal

    @classmethod
    def _log_precision(cls, second: np.ndarray) -> np.ndarray:
        return np.asarray(np.log(second))

    @classmethod
    def _squared_distance(cls, shift: np.ndarray, second: np.ndarray) -> np.ndarray:
        return np.asarray((np.sqrt(second) * shift) ** 2)

    @classmethod
    def _colored(cls, noise: np.ndarray, second: np.ndarray) -> np.ndarray:
        return np.asarray(noise / np.sqrt(second))

    def _expected_square(self, shift: np.ndarray) -> np.ndarray:
        return np.asarray(self.expected_precision * shift**2)

    def _expected_log_precision(self) -> np.ndarray:
        return np.asarray(digamma(self._given["shape"]) - np.log(self._given["rate"]))

    @property
    def precision_marginal(self) -> Gamma:
        """The law of the precision alone."""
        return Gamma(self._given["shape"], self._given["rate"])

    @property
    def mean_marginal(self) -> StudentT:
        """The law of the mean alone."""
        return mean_marginal(*parameters_of(self))

    @property
    def expected_precision(self) -> Real:
        return plain(self._given["shape"] / self._given["rate"])

    @property
    def mode(self) -> MeanAndPrecision:
        """The pair where the density is largest: precision (shape - ½) / rate, for a shape above ½."""
        excess = self._given["shape"] - 0.5
        if not (excess > 0).all():
            raise Unsupported(f"{self!r} has no joint mode: it needs a shape above ½")
        found: MeanAndPrecision = self._pair(excess / self._given["rate"])
        return found

    def _inside(self) -> MeanAndPrecision:
        found: MeanAndPrecision = self._pair(self._given["shape"] / self._given["rate"])
        return found

    def _mean_point(self) -> MeanAndPrecision:
        return self._inside()

    def to_normal_inverse_gamma(self) -> NormalInverseGamma:
        """The same prior, of the mean and the variance 1/τ."""
        from juncture.families.vectors.normal_inverse_gamma import NormalInverseGamma

        return NormalInverseGamma(*parameters_of(self))


Parameters = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]  # mean, strength, shape, rate


def parameters_of(prior: JointPrior) -> Parameters:
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


def matched(expected: np.ndarray, *, name: str) -> Parameters:
    """The parameters with these expectations of (log τ, τ, τμ, τμ²)."""
    log_precision, precision, first, second = np.moveaxis(expected, -1, 0)
    spread = second - first**2 / precision
    gap = np.log(precision) - log_precision
    differ = (spread > ROUNDING * second) & (gap > ROUNDING * np.maximum(np.abs(log_precision), 1.0))
    if not differ.all():
        raise InvalidData(f"{name} cannot be estimated from equal pairs: give at least two that differ in both values")
    shape = match_shape(gap)
    return first / precision, 1 / spread, shape, shape / precision


def mean_marginal(mean: np.ndarray, strength: np.ndarray, shape: np.ndarray, rate: np.ndarray) -> StudentT:
    """Student's t with 2 · shape degrees and the squared scale rate / (strength · shape)."""
    return StudentT(2 * shape, mean, np.sqrt(rate / (strength * shape)))
