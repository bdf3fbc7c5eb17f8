"""StudentT: a bell-shaped density with heavy tails; not an exponential family, so it is estimated from the sample.

The maximum likelihood estimate is EM over the hidden precision of each value. A value is from N(location, scale² / u)
with u from Gamma(ν/2, ν/2): the expected u of a value far out is small, and so is its weight. The degrees ν are then
moved to the best ones for the location and scale found (ECME: C. Liu, D. B. Rubin, 1994).
"""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from scipy.special import betaln, digamma, polygamma, stdtr, stdtrit

from juncture.errors import InvalidData, Unsupported
from juncture.families.constraints import POSITIVE, REAL
from juncture.families.cumulative import log_of_smaller
from juncture.families.family import Real, plain
from juncture.families.incomplete import FAR, log_integral
from juncture.families.matching import increasing_root
from juncture.families.sampled import Sampled
from juncture.families.statistics.sample_statistics import Sample
from juncture.families.statistics.statistics import Known
from juncture.families.supports import Interval
from juncture.numerics.stable import log

MAX_STEPS = 5000
TOLERANCE = 1e-12
FEWEST_DEGREES, MOST_DEGREES = 1e-2, 1e6
COLLAPSED = 1e-10  # a scale this small, as a part of the range of the data, is on its way to 0
LARGE = 1e3  # from here on ψ(y + ½) - ψ(y) is summed as a series, exact to rounding


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


class Parameters(NamedTuple):
    degrees: np.ndarray
    location: np.ndarray
    scale: np.ndarray


def estimate(sample: Sample) -> Parameters:
    """Degrees (unless known), location and scale of the largest likelihood near the median."""
    low, high = sample.ends()
    if not (low < high).all():
        raise InvalidData("a StudentT cannot be estimated from equal values: give at least two different ones")
    found = _start(sample, high - low)
    for _ in range(MAX_STEPS):
        old, found = found, _step(sample, found)
        if not (found.scale > COLLAPSED * (high - low)).all():
            raise InvalidData("the scale of a StudentT would be 0, too many values being equal: give different ones")
        if _change(old, found) <= TOLERANCE:
            break
    if "degrees" not in sample.known and not (found.degrees < 0.99 * MOST_DEGREES).all():
        raise InvalidData(
            "the degrees of a StudentT would be infinite, the tails being no heavier than a Gaussian's: "
            "estimate a Gaussian, or pass a known degrees="
        )
    return found


def _start(sample: Sample, width: np.ndarray) -> Parameters:
    location = sample.median()
    typical = sample.average(np.abs(sample.values - location))
    degrees = sample.known.get("degrees", np.full(location.shape, 4.0))
    return Parameters(degrees, location, np.where(typical > 0, typical, width))


def _step(sample: Sample, now: Parameters) -> Parameters:
    squares = _squares(sample, now)
    precisions = (now.degrees + 1) / (now.degrees + squares)
    total = sample.average(precisions)
    location = sample.average(precisions * sample.values) / total
    variance = sample.average(precisions * ((sample.values - location) / now.scale) ** 2) / total  # in units of now's
    moved = Parameters(now.degrees, location, now.scale * np.sqrt(variance))
    return moved if "degrees" in sample.known else moved._replace(degrees=_best_degrees(sample, moved))


def _change(old: Parameters, new: Parameters) -> float:
    shift = np.abs(new.location - old.location) / new.scale
    growth = np.abs(new.scale / old.scale - 1)
    return float(np.max(np.maximum(np.maximum(shift, growth), np.abs(new.degrees / old.degrees - 1))))


def _squares(sample: Sample, now: Parameters) -> np.ndarray:
    return np.asarray(((sample.values - now.location) / now.scale) ** 2)


def _best_degrees(sample: Sample, now: Parameters) -> np.ndarray:
    """The root of the derivative of the log-likelihood in the degrees, in their logarithm."""
    squares = _squares(sample, now)

    def fall(log_degrees: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        degrees = np.exp(log_degrees)
        part = squares / (degrees + squares)
        pull = sample.average((1 + 1 / degrees) * part - np.log1p(squares / degrees))
        bend = sample.average(part - part / degrees - (1 + 1 / degrees) * part * (1 - part))
        step, slope = digamma_step(0.5 * degrees), 0.5 * degrees * _trigamma_step(0.5 * degrees)
        return -(step - 1 / degrees + pull), -(slope + 1 / degrees + bend)

    low, high = np.log(FEWEST_DEGREES), np.log(MOST_DEGREES)
    return np.asarray(np.exp(increasing_root(fall, low, high, start=np.log(now.degrees))))


def digamma_step(y: np.ndarray) -> np.ndarray:
    """ψ(y + ½) - ψ(y)."""
    inverse = 1 / np.maximum(y, LARGE)
    series = inverse * (1 / 2 + inverse * (1 / 8 - inverse**2 / 64))
    small = np.minimum(y, LARGE)
    return np.where(y < LARGE, digamma(small + 0.5) - digamma(small), series)


def _trigamma_step(y: np.ndarray) -> np.ndarray:
    """ψ'(y + ½) - ψ'(y)."""
    inverse = 1 / np.maximum(y, LARGE)
    small = np.minimum(y, LARGE)
    direct = polygamma(1, small + 0.5) - polygamma(1, small)
    return np.where(y < LARGE, direct, -(inverse**2) * (1 / 2 + inverse / 4))
