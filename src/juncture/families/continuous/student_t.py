"""StudentT: a bell-shaped density with heavy tails; not an exponential family, so it is estimated from the sample."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from scipy.special import betaln, stdtr, stdtrit

from juncture.errors import Unsupported
from juncture.families.constraints import POSITIVE, REAL
from juncture.families.continuous.student_t_estimate import digamma_step, estimate
from juncture.families.cumulative import log_of_smaller
from juncture.families.family import Real, plain
from juncture.families.incomplete import FAR, log_integral
from juncture.families.sampled import Sampled
from juncture.families.statistics.known import Known
from juncture.families.statistics.sample_statistics import Sample
from juncture.families.supports import Interval
from juncture.numerics.stable import log


class StudentT(Sampled):
    """p(x) ∝ (1 + z²/degrees)^(-(degrees+1)/2) / scale, with z = (x - location) / scale: the scale is not squared.

    Parameters
    ----------
    degrees
        The degrees of freedom, positive.
    location
        The centre.
    scale
        The scale, positive; in the units of x, like a standard deviation.

    Examples
    --------
    >>> StudentT(degrees=5, location=1.0, scale=3.0).variance
    15.0
    """

    parameters: ClassVar = {"degrees": POSITIVE, "location": REAL, "scale": POSITIVE}
    optional: ClassVar = {"degrees": POSITIVE}
    degrees: Real
    location: Real
    scale: Real

    def __init__(self, degrees: Any, location: Any = 0.0, scale: Any = 1.0) -> None:
        self._declare(degrees=degrees, location=location, scale=scale)

    @classmethod
    def _support_given(cls, known: Known) -> Interval:
        return Interval()

    @np.errstate(over="ignore")
    def _log_prob(self, x: np.ndarray) -> np.ndarray:
        degrees, scale = self._given["degrees"], self._given["scale"]
        shift, unit = x - self._given["location"], scale * np.sqrt(degrees)
        z = shift / unit
        tail = np.log1p(z * z)
        if np.isinf(tail).any():
            tail = np.where(np.isinf(tail), 2 * (log(np.abs(shift)) - np.log(unit)), tail)
        return np.asarray(-0.5 * (degrees + 1) * tail - self._log_normalizer())

    def _log_normalizer(self) -> np.ndarray:
        """log scale √degrees B(degrees/2, ½)."""
        degrees = self._given["degrees"]
        return np.asarray(np.log(self._given["scale"]) + 0.5 * np.log(degrees) + betaln(0.5 * degrees, 0.5))

    def entropy(self) -> Real:
        """(ν+1)/2 (ψ((ν+1)/2) - ψ(ν/2)) + log scale √ν B(ν/2, ½), in nats."""
        degrees = self._given["degrees"]
        entropy = 0.5 * (degrees + 1) * digamma_step(0.5 * degrees) + self._log_normalizer()
        return plain(np.broadcast_to(entropy, self.batch_shape))

    def _draw(self, shape: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
        return np.asarray(
            self._given["location"] + self._given["scale"] * rng.standard_t(self._given["degrees"], shape)
        )

    @property
    def mean(self) -> Real:
        """The location, for more than 1 degree."""
        if not (self._given["degrees"] > 1).all():
            raise Unsupported(f"{self!r} has no mean: it takes more than 1 degree of freedom")
        return self.mode

    @property
    def variance(self) -> Real:
        """scale² degrees / (degrees - 2); infinite for at most 2 degrees."""
        degrees = self._given["degrees"]
        if not (degrees > 1).all():
            raise Unsupported(f"{self!r} has no variance: it takes more than 1 degree of freedom")
        light = np.where(degrees > 2, degrees, 3.0)
        variance = np.where(degrees > 2, self._given["scale"] ** 2 * (light / (light - 2)), np.inf)
        return plain(np.broadcast_to(variance, self.batch_shape))

    @property
    def mode(self) -> Real:
        return plain(np.broadcast_to(self._given["location"], self.batch_shape))

    @np.errstate(over="ignore")
    def _standard(self, x: np.ndarray) -> np.ndarray:
        return np.asarray((x - self._given["location"]) / self._given["scale"])

    def _cdf(self, x: np.ndarray) -> np.ndarray:
        return np.asarray(stdtr(self._given["degrees"], self._standard(x)))

    def _sf(self, x: np.ndarray) -> np.ndarray:
        return np.asarray(stdtr(self._given["degrees"], -self._standard(x)))

    def _log_cdf(self, x: np.ndarray) -> np.ndarray:
        return log_tail(self._given["degrees"], self._standard(x))

    def _log_sf(self, x: np.ndarray) -> np.ndarray:
        return log_tail(self._given["degrees"], -self._standard(x))

    @np.errstate(over="ignore")
    def _quantile(self, probability: np.ndarray) -> np.ndarray:
        lowest = np.where(probability > 0, 0.0, -np.inf)  # where SciPy says +inf
        standard = stdtrit(self._given["degrees"], np.where(probability > 0, probability, 0.5)) + lowest
        return np.asarray(self._given["location"] + self._given["scale"] * standard)

    @classmethod
    def _estimate(cls, statistics: Sample) -> Self:
        return cls(*estimate(statistics))


def log_tail(degrees: np.ndarray, z: np.ndarray) -> np.ndarray:
    """log P(Z ≤ z) of the standard t; where it underflows, the integral of its density over -z e^v, from z outwards."""
    degrees, z = np.broadcast_arrays(degrees, z)
    below = stdtr(degrees, z)
    found = log_of_smaller(below, stdtr(degrees, -z))
    if (far := (below < FAR) & np.isfinite(z)).any():
        nu, start = degrees[far], -z[far]
        share = 1 / (1 + nu / start / start)
        wide_nu, wide = nu[..., None], share[..., None]
        tail = log_integral(lambda v: v - 0.5 * (wide_nu + 1) * np.log1p(wide * np.expm1(2 * v)), (nu + 1) * share - 1)
        found = np.array(found)
        found[far] = np.asarray(StudentT(nu).log_prob(start)) + np.log(start) + tail
    return np.asarray(found)
