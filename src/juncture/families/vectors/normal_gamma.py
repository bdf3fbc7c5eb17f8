"""NormalGamma and NormalInverseGamma: a Gaussian's mean with its precision, or its variance, uncertain together.

`GammaJointPrior` is the exponential form and the update that both share.
"""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from scipy.special import digamma

from juncture.base.checks import check_array
from juncture.errors import InvalidData, Unsupported
from juncture.families.conjugacy import Pair
from juncture.families.constraints import POSITIVE, REAL
from juncture.families.continuous.gamma import Gamma
from juncture.families.continuous.gamma_form import log_normalizer
from juncture.families.continuous.gaussian import Gaussian
from juncture.families.continuous.inverse_gamma import InverseGamma
from juncture.families.continuous.student_t import StudentT
from juncture.families.exponential_family import columns
from juncture.families.family import Real, plain
from juncture.families.matching import match_shape
from juncture.families.statistics.statistics import Known
from juncture.families.supports import Interval, Pairs
from juncture.families.vectors.joint_prior import JointPrior, as_pair, strength_of
from juncture.numerics.stable import LOG_TWO_PI

ROUNDING = 16 * float(np.finfo(float).eps)
Parameters = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]  # mean, strength, shape, rate


class MeanAndPrecision(NamedTuple):
    mean: Any
    precision: Any


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


class NormalGamma(GammaJointPrior):
    """τ from Gamma(shape, rate), and μ given τ from a Gaussian with the mean `mean` and the precision strength · τ.

    u = (log τ, τ, τμ, τμ²), η = (shape - ½, -rate - ½ strength mean², strength mean, -½ strength).

    The conjugate prior of a Gaussian's mean and precision.

    Parameters
    ----------
    mean
        The mean of μ.
    strength
        How many observations the prior mean is worth, positive.
    shape, rate
        The parameters of the Gamma distribution of the precision τ, positive.

    Examples
    --------
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
        return cls(*match_pairs(mean, name=cls.__name__))

    @classmethod
    def _log_partition_of(cls, natural: np.ndarray, known: Known) -> np.ndarray:
        return log_partition(*parameters_at(natural))

    @classmethod
    def _sufficient(cls, x: Any, known: Known) -> np.ndarray:
        return statistics_of(x[0], x[1])

    # -- its two parts

    def _marginal_of_second(self) -> Gamma:
        return self.precision_marginal

    @classmethod
    def _log_precision(cls, second: np.ndarray) -> np.ndarray:
        return np.asarray(np.log(second))

    @classmethod
    def _squared_distance(cls, shift: np.ndarray, second: np.ndarray) -> np.ndarray:
        return np.asarray((np.sqrt(second) * shift) ** 2)

    @classmethod
    def _color(cls, noise: np.ndarray, second: np.ndarray) -> np.ndarray:
        return np.asarray(noise / np.sqrt(second))

    @property
    def precision_marginal(self) -> Gamma:
        """The distribution of the precision alone."""
        return Gamma(self._given["shape"], self._given["rate"])

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
        return NormalInverseGamma(*parameters_of(self))


class MeanAndVariance(NamedTuple):
    mean: Any
    variance: Any


class NormalInverseGamma(GammaJointPrior):
    """σ² from InverseGamma(shape, scale), and μ given σ² from a Gaussian with the variance σ² / strength.

    u = (log σ², 1/σ², μ/σ², μ²/σ²), η = (-shape - 3/2, -scale - ½ strength mean², strength mean, -½ strength).

    The conjugate prior of a Gaussian's mean and variance.

    Parameters
    ----------
    mean
        The mean of μ.
    strength
        How many observations the prior mean is worth, positive.
    shape, scale
        The parameters of the InverseGamma distribution of the variance σ², positive.

    Examples
    --------
    >>> NormalInverseGamma(mean=0.0, strength=1.0, shape=3.0, scale=4.0).expected_variance
    2.0
    """

    parameters: ClassVar = {"mean": REAL, "strength": POSITIVE, "shape": POSITIVE, "scale": POSITIVE}
    pair_type: ClassVar = MeanAndVariance
    mean: Real
    strength: Real
    shape: Real
    scale: Real

    def __init__(self, mean: Any, strength: Any, shape: Any, scale: Any) -> None:
        self._declare(mean=mean, strength=strength, shape=shape, scale=scale)

    # -- the exponential family: that of NormalGamma, with log σ² = -log τ and the density of 1/τ

    def _natural(self) -> np.ndarray:
        return _negate_first(natural_of(*parameters_of(self)), shift=2.0)

    @classmethod
    def _from_natural(cls, natural: np.ndarray, known: Known) -> Self:
        return cls(*parameters_at(_negate_first(natural, shift=2.0)))

    @classmethod
    def _mean_of(cls, natural: np.ndarray, known: Known) -> np.ndarray:
        return _negate_first(expectations(*parameters_at(_negate_first(natural, shift=2.0))))

    def _mean(self) -> np.ndarray:
        return _negate_first(expectations(*parameters_of(self)))

    @classmethod
    def _from_mean(cls, mean: np.ndarray, known: Known) -> Self:
        return cls(*match_pairs(_negate_first(mean), name=cls.__name__))

    @classmethod
    def _log_partition_of(cls, natural: np.ndarray, known: Known) -> np.ndarray:
        return log_partition(*parameters_at(_negate_first(natural, shift=2.0)))

    @classmethod
    @np.errstate(over="ignore")
    def _sufficient(cls, x: Any, known: Known) -> np.ndarray:
        return _negate_first(statistics_of(x[0], 1 / x[1]))

    # -- its two parts

    def _marginal_of_second(self) -> InverseGamma:
        return self.variance_marginal

    @classmethod
    def _log_precision(cls, second: np.ndarray) -> np.ndarray:
        return np.asarray(-np.log(second))

    @classmethod
    def _squared_distance(cls, shift: np.ndarray, second: np.ndarray) -> np.ndarray:
        return np.asarray((shift / np.sqrt(second)) ** 2)

    @classmethod
    def _color(cls, noise: np.ndarray, second: np.ndarray) -> np.ndarray:
        return np.asarray(noise * np.sqrt(second))

    @property
    def variance_marginal(self) -> InverseGamma:
        """The distribution of the variance alone."""
        return InverseGamma(self._given["shape"], self._given["scale"])

    @property
    def expected_variance(self) -> Real:
        """scale / (shape - 1); infinite for a shape of at most 1."""
        excess = np.maximum(self._given["shape"] - 1, 0.0)
        with np.errstate(divide="ignore"):
            return plain(self._given["scale"] / excess)

    @property
    def mode(self) -> MeanAndVariance:
        """The pair where the density is largest: variance scale / (shape + 3/2)."""
        found: MeanAndVariance = self._pair(self._given["scale"] / (self._given["shape"] + 1.5))
        return found

    def _inside(self) -> MeanAndVariance:
        return self.mode

    def _mean_point(self) -> MeanAndVariance:
        if not np.isfinite(self.expected_variance).all():
            raise Unsupported(f"the expected variance of {self!r} is infinite: it needs a shape above 1")
        found: MeanAndVariance = self._pair(np.asarray(self.expected_variance))
        return found

    def to_normal_gamma(self) -> NormalGamma:
        """The same prior, of the mean and the precision 1/σ²."""
        return NormalGamma(*parameters_of(self))


def _negate_first(vector: np.ndarray, shift: float = 0.0) -> np.ndarray:
    """The first entry v as -v - shift: its own inverse."""
    turned = vector.copy()
    turned[..., 0] = -vector[..., 0] - shift
    return turned


def gaussian_at_precision(mean: Any, precision: Any) -> Gaussian:
    return Gaussian(mean, 1 / check_array(precision, "a precision"))


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


NormalGamma.pairs = (
    Pair(
        NormalGamma, Gaussian, "mean and precision", update,
        at=lambda point, known: gaussian_at_precision(*as_pair(point, "precision")), sample_size=strength_of,
        closed_form_predictive=predict,
    ),
)  # fmt: skip
NormalInverseGamma.pairs = (
    Pair(
        NormalInverseGamma, Gaussian, "mean and variance", update,
        at=lambda point, known: Gaussian(*as_pair(point, "variance")), sample_size=strength_of,
        closed_form_predictive=predict,
    ),
)  # fmt: skip
