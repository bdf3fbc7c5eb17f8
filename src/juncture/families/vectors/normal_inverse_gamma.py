"""NormalInverseGamma: a Gaussian's mean and variance, uncertain together."""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from scipy.special import digamma

from juncture.errors import Unsupported
from juncture.families.constraints import POSITIVE, REAL
from juncture.families.continuous.inverse_gamma import InverseGamma
from juncture.families.continuous.student_t import StudentT
from juncture.families.family import Real, plain
from juncture.families.statistics.statistics import Known
from juncture.families.supports import Interval, Pairs
from juncture.families.vectors import normal_gamma
from juncture.families.vectors.joint_prior import JointPrior
from juncture.families.vectors.normal_gamma import NormalGamma, parameters_of


class MeanAndVariance(NamedTuple):
    mean: Any
    variance: Any


class NormalInverseGamma(JointPrior):
    """σ² from InverseGamma(shape, scale), and μ given σ² from a Gaussian with the variance σ² / strength.

    u = (log σ², 1/σ², μ/σ², μ²/σ²), η = (-shape - 3/2, -scale - ½ strength mean², strength mean, -½ strength). As a
    prior, of a Gaussian's mean and variance.

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

    @classmethod
    def _supports(cls, event_shape: tuple[int, ...]) -> Pairs:
        return Pairs(Interval(), Interval(0.0, closed_low=False))

    # -- the exponential family: that of NormalGamma, with log σ² = -log τ and the density of 1/τ

    def _natural(self) -> np.ndarray:
        return _turned(normal_gamma.natural_of(*parameters_of(self)), shift=2.0)

    @classmethod
    def _from_natural(cls, natural: np.ndarray, known: Known) -> Self:
        return cls(*normal_gamma.parameters_at(_turned(natural, shift=2.0)))

    @classmethod
    def _mean_of(cls, natural: np.ndarray, known: Known) -> np.ndarray:
        return _turned(normal_gamma.expectations(*normal_gamma.parameters_at(_turned(natural, shift=2.0))))

    def _mean(self) -> np.ndarray:
        return _turned(normal_gamma.expectations(*parameters_of(self)))

    @classmethod
    def _from_mean(cls, mean: np.ndarray, known: Known) -> Self:
        return cls(*normal_gamma.matched(_turned(mean), name=cls.__name__))

    @classmethod
    def _log_partition_of(cls, natural: np.ndarray, known: Known) -> np.ndarray:
        return normal_gamma.log_partition(*normal_gamma.parameters_at(_turned(natural, shift=2.0)))

    @classmethod
    @np.errstate(over="ignore")
    def _sufficient(cls, x: Any, known: Known) -> np.ndarray:
        return _turned(normal_gamma.statistics_of(x[0], 1 / x[1]))

    # -- its two parts

    def _law_of_second(self) -> InverseGamma:
        return self.variance_marginal

    @classmethod
    def _log_precision(cls, second: np.ndarray) -> np.ndarray:
        return np.asarray(-np.log(second))

    @classmethod
    def _squared_distance(cls, shift: np.ndarray, second: np.ndarray) -> np.ndarray:
        return np.asarray((shift / np.sqrt(second)) ** 2)

    @classmethod
    def _colored(cls, noise: np.ndarray, second: np.ndarray) -> np.ndarray:
        return np.asarray(noise * np.sqrt(second))

    def _expected_square(self, shift: np.ndarray) -> np.ndarray:
        return np.asarray(self._given["shape"] / self._given["scale"] * shift**2)

    def _expected_log_precision(self) -> np.ndarray:
        return np.asarray(digamma(self._given["shape"]) - np.log(self._given["scale"]))

    @property
    def variance_marginal(self) -> InverseGamma:
        """The law of the variance alone."""
        return InverseGamma(self._given["shape"], self._given["scale"])

    @property
    def mean_marginal(self) -> StudentT:
        """The law of the mean alone."""
        return normal_gamma.mean_marginal(*parameters_of(self))

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


def _turned(vector: np.ndarray, shift: float = 0.0) -> np.ndarray:
    """The first entry v as -v - shift: its own inverse."""
    turned = vector.copy()
    turned[..., 0] = -vector[..., 0] - shift
    return turned
