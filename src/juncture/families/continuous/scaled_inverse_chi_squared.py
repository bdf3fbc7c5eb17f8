"""ScaledInverseChiSquared: an inverse gamma by its degrees of freedom and a typical variance."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np

from juncture.base.checks import check_kind
from juncture.errors import InvalidModel
from juncture.families.conjugacy import ConjugatePrior, Pair
from juncture.families.constraints import POSITIVE
from juncture.families.continuous.gaussian import Gaussian
from juncture.families.continuous.inverse_gamma import InverseGamma
from juncture.families.continuous.student_t import StudentT
from juncture.families.exponential_family import ExponentialFamily
from juncture.families.family import Real
from juncture.families.statistics.statistics import Known
from juncture.families.supports import Interval


class ScaledInverseChiSquared(ExponentialFamily, ConjugatePrior):
    """degrees · scale / χ², for a χ² with these degrees: InverseGamma(degrees / 2, degrees · scale / 2).

    The conjugate prior of the variance of a Gaussian whose mean is known; the prior is worth `degrees` values with the
    variance `scale`.

    Parameters
    ----------
    degrees
        The degrees of freedom, positive.
    scale
        The scale, positive: a variance, not a standard deviation.

    Examples
    --------
    >>> ScaledInverseChiSquared(degrees=6, scale=2).to_inverse_gamma()
    InverseGamma(shape=3.0, scale=6.0)
    """

    parameters: ClassVar = {"degrees": POSITIVE, "scale": POSITIVE}
    optional: ClassVar = {"degrees": POSITIVE}
    degrees: Real
    scale: Real

    def __init__(self, degrees: Any, scale: Any = 1.0) -> None:
        self._declare(degrees=degrees, scale=scale)

    def _check(self) -> None:
        half = 0.5 * self._given["degrees"]
        with np.errstate(over="ignore"):
            sums = half * self._given["scale"]  # what it has for a scale as an inverse gamma
        if not ((half > 0) & (sums > 0) & np.isfinite(sums)).all():
            raise InvalidModel(
                f"half of the degrees of {self!r}, and this times its scale, must be positive finite numbers, and leave"
                " the range of doubles"
            )

    def to_inverse_gamma(self) -> InverseGamma:
        """The same distribution, by shape and scale."""
        half = 0.5 * self._given["degrees"]
        return InverseGamma(half, half * self._given["scale"])

    @classmethod
    def from_inverse_gamma(cls, same: InverseGamma) -> Self:
        """The same distribution, by degrees of freedom and a typical variance."""
        check_kind(same, InverseGamma, "the same distribution")
        return cls(2 * same._given["shape"], same._given["scale"] / same._given["shape"])

    @classmethod
    def _support_given(cls, known: Known) -> Interval:
        return InverseGamma._support_given(known)

    def _natural(self) -> np.ndarray:
        return self.to_inverse_gamma()._natural()

    @classmethod
    def _from_natural(cls, natural: np.ndarray, known: Known) -> Self:
        return cls.from_inverse_gamma(InverseGamma._from_natural(natural, {}))

    @classmethod
    def _mean_of(cls, natural: np.ndarray, known: Known) -> np.ndarray:
        return InverseGamma._mean_of(natural, {})

    def _mean(self) -> np.ndarray:
        return self.to_inverse_gamma()._mean()

    @classmethod
    def _from_mean(cls, mean: np.ndarray, known: Known) -> Self:
        halved = {"shape": 0.5 * known["degrees"]} if "degrees" in known else {}
        return cls.from_inverse_gamma(InverseGamma._from_mean(mean, halved))

    @classmethod
    def _log_partition_of(cls, natural: np.ndarray, known: Known) -> np.ndarray:
        return InverseGamma._log_partition_of(natural, {})

    @classmethod
    def _sufficient(cls, x: np.ndarray, known: Known) -> np.ndarray:
        return InverseGamma._sufficient(x, {})

    def _log_prob(self, x: np.ndarray) -> np.ndarray:
        return self.to_inverse_gamma()._log_prob(x)

    def kl_divergence(self, other: Any) -> Real:
        """The divergence of the two as inverse gamma distributions."""
        if type(other) is not ScaledInverseChiSquared:
            return super().kl_divergence(other)
        return self.to_inverse_gamma().kl_divergence(other.to_inverse_gamma())

    def _draw(self, shape: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
        return self.to_inverse_gamma()._draw(shape, rng)

    @property
    def mean(self) -> Real:
        """degrees · scale / (degrees - 2); infinite for at most 2 degrees."""
        return self.to_inverse_gamma().mean

    @property
    def variance(self) -> Real:
        """2 mean² / (degrees - 4); infinite for at most 4 degrees."""
        return self.to_inverse_gamma().variance

    @property
    def mode(self) -> Real:
        return self.to_inverse_gamma().mode

    def _inside(self) -> Real:
        return self.to_inverse_gamma()._inside()

    def _mean_point(self) -> Real:
        return self.to_inverse_gamma()._mean_point()

    def _cdf(self, x: np.ndarray) -> np.ndarray:
        return self.to_inverse_gamma()._cdf(x)

    def _sf(self, x: np.ndarray) -> np.ndarray:
        return self.to_inverse_gamma()._sf(x)

    def _log_cdf(self, x: np.ndarray) -> np.ndarray:
        return self.to_inverse_gamma()._log_cdf(x)

    def _log_sf(self, x: np.ndarray) -> np.ndarray:
        return self.to_inverse_gamma()._log_sf(x)

    def _quantile(self, probability: np.ndarray) -> np.ndarray:
        return self.to_inverse_gamma()._quantile(probability)


def average_scales(prior: ScaledInverseChiSquared, statistics: Any) -> ScaledInverseChiSquared:
    """Degrees ν + n, and the average of the prior's ν squares and the n new ones."""
    degrees = prior.degrees + statistics.weight
    squares = prior.degrees * prior.scale + statistics.scatter_about(statistics.known["mean"])
    return ScaledInverseChiSquared(degrees, squares / degrees)


ScaledInverseChiSquared.pairs = (
    Pair(
        ScaledInverseChiSquared, Gaussian, "variance", average_scales,
        at=lambda point, known: Gaussian(known["mean"], point),
        sample_size=lambda prior, known: prior.degrees,
        known=frozenset({"mean"}),
        closed_form_predictive=lambda posterior, known: StudentT(
            posterior.degrees, known["mean"], np.sqrt(posterior.scale)
        ),
    ),
)  # fmt: skip
