"""The maximum likelihood estimate of a Student t: EM over the hidden precision of each value.

A value is from N(location, scale² / u) with u from Gamma(ν/2, ν/2): the expected u of a value far out is small, and so
is its weight. The degrees ν are then moved to the best ones for the location and scale found (ECME: C. Liu, D. B.
Rubin, 1994).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import digamma, polygamma

from juncture.errors import InvalidData
from juncture.families.matching import increasing_root
from juncture.families.statistics.sample_statistics import Sample

MAX_STEPS = 5000
TOLERANCE = 1e-12
FEWEST_DEGREES, MOST_DEGREES = 1e-2, 1e6
COLLAPSED = 1e-10  # a scale this small, as a part of the range of the data, is on its way to 0
LARGE = 1e3  # from here on ψ(y + ½) - ψ(y) is summed as a series, exact to rounding


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
