"""NormalGamma and NormalInverseGamma: a Gaussian's mean with its precision, or its variance, uncertain together."""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from juncture.base.checks import check_array
from juncture.errors import Unsupported
from juncture.families.conjugacy.pair import Pair
from juncture.families.constraints import POSITIVE, REAL
from juncture.families.continuous.gamma import Gamma
from juncture.families.continuous.gaussian import Gaussian
from juncture.families.continuous.inverse_gamma import InverseGamma
from juncture.families.family import Real, plain
from juncture.families.statistics.known import Known
from juncture.families.vectors import gamma_joint_prior as form
from juncture.families.vectors.gamma_joint_prior import GammaJointPrior
from juncture.families.vectors.joint_prior import as_pair, strength_of


class MeanAndPrecision(NamedTuple):
    mean: Any
    precision: Any


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
        return form.natural_of(*form.parameters_of(self))

    @classmethod
    def _from_natural(cls, natural: np.ndarray, known: Known) -> Self:
        return cls(*form.parameters_at(natural))

    @classmethod
    def _mean_of(cls, natural: np.ndarray, known: Known) -> np.ndarray:
        return form.expectations(*form.parameters_at(natural))

    def _mean(self) -> np.ndarray:
        return form.expectations(*form.parameters_of(self))

    @classmethod
    def _from_mean(cls, mean: np.ndarray, known: Known) -> Self:
        return cls(*form.match_pairs(mean, name=cls.__name__))

    @classmethod
    def _log_partition_of(cls, natural: np.ndarray, known: Known) -> np.ndarray:
        return form.log_partition(*form.parameters_at(natural))

    @classmethod
    def _sufficient(cls, x: Any, known: Known) -> np.ndarray:
        return form.statistics_of(x[0], x[1])

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
        return NormalInverseGamma(*form.parameters_of(self))


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
        return _negate_first(form.natural_of(*form.parameters_of(self)), shift=2.0)

    @classmethod
    def _from_natural(cls, natural: np.ndarray, known: Known) -> Self:
        return cls(*form.parameters_at(_negate_first(natural, shift=2.0)))

    @classmethod
    def _mean_of(cls, natural: np.ndarray, known: Known) -> np.ndarray:
        return _negate_first(form.expectations(*form.parameters_at(_negate_first(natural, shift=2.0))))

    def _mean(self) -> np.ndarray:
        return _negate_first(form.expectations(*form.parameters_of(self)))

    @classmethod
    def _from_mean(cls, mean: np.ndarray, known: Known) -> Self:
        return cls(*form.match_pairs(_negate_first(mean), name=cls.__name__))

    @classmethod
    def _log_partition_of(cls, natural: np.ndarray, known: Known) -> np.ndarray:
        return form.log_partition(*form.parameters_at(_negate_first(natural, shift=2.0)))

    @classmethod
    @np.errstate(over="ignore")
    def _sufficient(cls, x: Any, known: Known) -> np.ndarray:
        return _negate_first(form.statistics_of(x[0], 1 / x[1]))

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
        return NormalGamma(*form.parameters_of(self))


def _negate_first(vector: np.ndarray, shift: float = 0.0) -> np.ndarray:
    """The first entry v as -v - shift: its own inverse."""
    turned = vector.copy()
    turned[..., 0] = -vector[..., 0] - shift
    return turned


def gaussian_at_precision(mean: Any, precision: Any) -> Gaussian:
    return Gaussian(mean, 1 / check_array(precision, "a precision"))


NormalGamma.pairs = (
    Pair(
        NormalGamma, Gaussian, "mean and precision", form.update,
        at=lambda point, known: gaussian_at_precision(*as_pair(point, "precision")), sample_size=strength_of,
        closed_form_predictive=form.predict,
    ),
)  # fmt: skip

NormalInverseGamma.pairs = (
    Pair(
        NormalInverseGamma, Gaussian, "mean and variance", form.update,
        at=lambda point, known: Gaussian(*as_pair(point, "variance")), sample_size=strength_of,
        closed_form_predictive=form.predict,
    ),
)  # fmt: skip
