"""VonMises: an angle around a mean direction, the circle's counterpart of the Gaussian."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from scipy.special import i0e

from juncture.errors import InvalidData, Unsupported
from juncture.families.constraints import NON_NEGATIVE, REAL
from juncture.families.continuous.bessel import bessel_ratio, log_bessel, ratio_shortfall
from juncture.families.continuous.von_mises_integral import angle_below, log_turns_between, turns_below
from juncture.families.exponential_family import ExponentialFamily, columns
from juncture.families.family import Real, plain
from juncture.families.matching import match_concentration
from juncture.families.statistics.known import Known
from juncture.families.supports import Angles
from juncture.numerics.stable import LOG_TWO_PI

ROUNDING = 4 * float(np.finfo(float).eps)
SMALL = 1e-3
LOG_HALF = float(np.log(0.5))


class VonMises(ExponentialFamily):
    """p(x) = exp(κ cos(x - mean)) / 2π I0(κ), κ the concentration: u = (cos x, sin x), η = κ (cos mean, sin mean).

    Angles count modulo one turn; densities are per turn, quantiles from -π to π.

    Parameters
    ----------
    mean
        The mean direction, an angle in radians.
    concentration
        κ, at least 0; with 0 all directions are equally probable.

    Examples
    --------
    >>> round(VonMises(0.0, 2.0).entropy(), 6)
    1.266321
    """

    parameters: ClassVar = {"mean": REAL, "concentration": NON_NEGATIVE}
    mean: Real
    concentration: Real

    def __init__(self, mean: Any = 0.0, concentration: Any = 1.0) -> None:
        self._declare(mean=mean, concentration=concentration)

    @classmethod
    def _support_given(cls, known: Known) -> Angles:
        return Angles()

    def _natural(self) -> np.ndarray:
        concentration = self._given["concentration"]
        return columns(concentration * np.cos(self._given["mean"]), concentration * np.sin(self._given["mean"]))

    @classmethod
    def _from_natural(cls, natural: np.ndarray, known: Known) -> Self:
        return cls(np.arctan2(natural[..., 1], natural[..., 0]), np.hypot(natural[..., 0], natural[..., 1]))

    @classmethod
    def _mean_of(cls, natural: np.ndarray, known: Known) -> np.ndarray:
        length, direction = _polar(natural)
        return bessel_ratio(length)[..., None] * direction

    @classmethod
    def _from_mean(cls, mean: np.ndarray, known: Known) -> Self:
        resultant = np.hypot(mean[..., 0], mean[..., 1])
        if not (resultant < 1 - ROUNDING).all():
            raise InvalidData("a VonMises cannot be estimated from equal angles: give at least two different ones")
        return cls(np.arctan2(mean[..., 1], mean[..., 0]), match_concentration(resultant))

    @classmethod
    def _log_partition_of(cls, natural: np.ndarray, known: Known) -> np.ndarray:
        return np.asarray(LOG_TWO_PI + log_bessel(_polar(natural)[0]))

    @classmethod
    def _sufficient(cls, x: np.ndarray, known: Known) -> np.ndarray:
        return columns(np.cos(x), np.sin(x))

    def _log_prob(self, x: np.ndarray) -> np.ndarray:  # from the peak downwards: κ cos(x - mean) - log I0(κ) cancels
        drop = np.sin(0.5 * (x - self._given["mean"]))
        return np.asarray(-2 * self._given["concentration"] * (drop * drop) - self._log_height())

    def _log_height(self) -> np.ndarray:
        """-log p at the mean."""
        return np.asarray(LOG_TWO_PI + np.log(i0e(self._given["concentration"])))

    def entropy(self) -> Real:
        """log 2π I0(κ) - κ I1(κ)/I0(κ), in nats, without the part e^κ that cancels."""
        concentration = self._given["concentration"]
        entropy = self._log_height() + concentration * ratio_shortfall(concentration)
        return plain(np.broadcast_to(entropy, self.batch_shape))

    def kl_divergence(self, other: Any) -> Real:
        """log I0(κ')/I0(κ) + A(κ) (κ - κ' cos d), with A = I1/I0 and d between the means, as entropy is computed."""
        if type(other) is not VonMises:
            return super().kl_divergence(other)
        own, others = self._given["concentration"], other._given["concentration"]
        shortfall = ratio_shortfall(own)
        apart = 2 * np.sin(0.5 * (self._given["mean"] - other._given["mean"])) ** 2
        heights = other._log_height() - self._log_height()
        return plain(np.maximum(heights + (others - own) * shortfall + (1 - shortfall) * others * apart, 0.0))

    def _draw(self, shape: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
        return rng.vonmises(self._given["mean"], self._given["concentration"], shape)

    @property
    def variance(self) -> Real:
        raise Unsupported("an angle has no variance that is the same from every origin; see circular_variance")

    @property
    def circular_variance(self) -> Real:
        """1 - |E exp(iX)| = 1 - I1(κ)/I0(κ): from 0, all angles equal, to 1."""
        return plain(np.broadcast_to(ratio_shortfall(self._given["concentration"]), self.batch_shape))

    @property
    def mode(self) -> Real:
        if not (self._given["concentration"] > 0).all():
            raise Unsupported(f"{self!r} has no mode: all angles are alike unless the concentration is above 0")
        return plain(np.broadcast_to(self._given["mean"], self.batch_shape))

    def _cdf(self, x: np.ndarray) -> np.ndarray:
        mean, concentration = self._given["mean"], self._given["concentration"]
        below = turns_below(-np.pi - mean, concentration)
        found = turns_below(np.clip(x, -np.pi, np.pi) - mean, concentration) - below
        small = found < SMALL  # a difference of numbers near 1, which has lost digits
        return np.asarray(np.where(small, np.exp(self._log_between(-np.pi, x)), found) if small.any() else found)

    def _sf(self, x: np.ndarray) -> np.ndarray:
        found = 1 - self._cdf(x)
        small = found < SMALL
        return np.where(small, np.exp(self._log_between(x, np.pi)), found) if small.any() else found

    def _log_cdf(self, x: np.ndarray) -> np.ndarray:
        found = self._log_between(-np.pi, x)
        return np.where(found < LOG_HALF, found, super()._log_cdf(x))

    def _log_sf(self, x: np.ndarray) -> np.ndarray:
        found = self._log_between(x, np.pi)
        return np.where(found < LOG_HALF, found, super()._log_sf(x))

    def _log_between(self, low: Any, high: Any) -> np.ndarray:
        """log P(low < X ≤ high)."""
        low, high = (np.clip(end, -np.pi, np.pi) - self._given["mean"] for end in (low, high))
        return log_turns_between(low, high, self._given["concentration"])

    def _quantile(self, probability: np.ndarray) -> np.ndarray:
        mean, concentration = self._given["mean"], self._given["concentration"]
        turns = probability + turns_below(-np.pi - mean, concentration)
        inner = np.clip(mean + angle_below(turns, concentration), -np.pi, np.pi)
        return np.where(probability <= 0, -np.pi, np.where(probability >= 1, np.pi, inner))


def _polar(natural: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The length of η, whose square might overflow, and its direction; both also along a complex step."""
    largest = np.abs(natural).max(axis=-1)
    unit = np.where(largest > 0, largest, 1.0)
    scaled = natural / unit[..., None]
    length = np.sqrt((scaled**2).sum(axis=-1))
    direction = scaled / np.where(largest > 0, length, 1.0)[..., None]
    return np.asarray(unit * length), direction
