"""VonMises: an angle around a mean direction, the circle's counterpart of the Gaussian.

The modified Bessel functions I0 and I1 come in logarithm and as a ratio, both also along a complex step, z = κ + iε,
for derivatives: the imaginary part is ε times the derivative at κ. The distribution function of an angle around 0, and
its inverse, are exact to rounding.
"""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from scipy.special import gammainc, i0e, i1e, ive

from juncture.errors import InvalidData, Unsupported
from juncture.families.constraints import NON_NEGATIVE, REAL
from juncture.families.exponential_family import ExponentialFamily, columns
from juncture.families.family import Real, plain
from juncture.families.incomplete import log_integral
from juncture.families.matching import increasing_root, match_concentration
from juncture.families.statistics.statistics import Known
from juncture.families.supports import Angles
from juncture.numerics.stable import LOG_TWO_PI

ROUNDING = 4 * float(np.finfo(float).eps)
SMALL = 1e-3
LOG_HALF = float(np.log(0.5))
LARGE = 40.0  # from here on the series in 1/κ are exact to rounding
NUM_TERMS = 24
FEW = 50.0  # up to this concentration the Fourier series is short
NUM_WAVES, NUM_NARROW_TERMS = 72, 16


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


def _ratio_factors() -> list[float]:
    """a_k of I1(κ)/I0(κ) = Σ a_k κ^-k, from its differential equation A' = 1 - A/κ - A²."""
    factors = [1.0]
    for n in range(1, NUM_TERMS):
        crossed = sum(factors[i] * factors[n - i] for i in range(1, n))
        factors.append(0.5 * ((n - 2) * factors[n - 1] - crossed))
    return factors


SHORTFALL = [-factor for factor in _ratio_factors()[1:]]
LOG_SERIES = [factor / (k + 1) for k, factor in enumerate(SHORTFALL[1:])]


def log_bessel(z: np.ndarray) -> np.ndarray:
    """log I0(z), for real z ≥ 0 of any size and along a complex step from there."""
    length, big = z.real, np.maximum(z.real, LARGE)
    series = -0.5 * np.log(2 * np.pi * big) + _inverse_series(big, LOG_SERIES)
    value = length + np.where(length > LARGE, series, np.log(i0e(length)))
    return _add_complex_step(z, value, _ratio(length))


def bessel_ratio(z: np.ndarray) -> np.ndarray:
    """A = I1/I0 at z ≥ 0, whose derivative is 1 - A/z - A²."""
    length, ratio = z.real, _ratio(z.real)
    some = np.where(length > 0, length, 1.0)
    direct = 1 - np.where(length > 0, ratio / some, 0.5) - ratio**2
    big, rises = np.maximum(length, LARGE), [k * factor for k, factor in enumerate(SHORTFALL, start=1)]
    return _add_complex_step(z, ratio, np.where(length > LARGE, _inverse_series(big, rises) / big, direct))


def ratio_shortfall(length: np.ndarray) -> np.ndarray:
    """1 - I1/I0 at length ≥ 0, about 1/2κ for large κ."""
    series = _inverse_series(np.maximum(length, LARGE), SHORTFALL)
    return np.where(length > LARGE, series, 1 - _ratio(length))


def _ratio(length: np.ndarray) -> np.ndarray:
    return np.asarray(i1e(length) / i0e(length))


def _inverse_series(length: np.ndarray, factors: list[float]) -> np.ndarray:
    """Σ factor_k / κ^k, from k = 1."""
    total = np.zeros_like(length)
    for factor in reversed(factors):
        total = (total + factor) / length
    return total


def _add_complex_step(z: np.ndarray, value: np.ndarray, derivative: np.ndarray) -> np.ndarray:
    return np.asarray(value + 1j * z.imag * derivative) if np.iscomplexobj(z) else np.asarray(value)


def turns_below(angle: np.ndarray, concentration: np.ndarray, amplitudes: list[np.ndarray] | None = None) -> np.ndarray:
    """P(X ≤ angle) for -π ≤ angle ≤ π; a whole turn further it is one more.

    The amplitudes of the waves are those of `wave_amplitudes`, where they serve several calls.
    """
    amplitudes = wave_amplitudes(concentration) if amplitudes is None else amplitudes
    angle, concentration = np.broadcast_arrays(angle, concentration)
    turns = np.round(angle / (2 * np.pi))
    rest = angle - 2 * np.pi * turns
    few = concentration <= FEW
    series = _fourier(rest, amplitudes) if few.any() else rest
    narrow = _narrow(rest, np.where(few, FEW, concentration)) if not few.all() else rest
    return np.asarray(turns + np.where(few, series, narrow))


def angle_below(turns: np.ndarray, concentration: np.ndarray) -> np.ndarray:
    """The angle with that many turns below it."""
    whole, amplitudes = np.floor(turns), wave_amplitudes(concentration)
    wanted, concentration = np.broadcast_arrays(turns - whole, concentration)

    def excess(angle: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        drop = 2 * concentration * np.sin(0.5 * angle) ** 2
        density = np.exp(-drop - LOG_TWO_PI) / i0e(concentration)
        return turns_below(angle, concentration, amplitudes) - wanted, density

    ends = np.full(wanted.shape, np.pi)
    return np.asarray(2 * np.pi * whole + increasing_root(excess, -ends, ends, start=np.zeros(wanted.shape)))


def log_turns_between(low: np.ndarray, high: np.ndarray, concentration: np.ndarray) -> np.ndarray:
    """log P(low < X ≤ high), exact to rounding however small, for angles at most one turn apart.

    The density rises or falls between neighbouring multiples of π: each such piece is integrated from its higher end.
    """
    low, high, concentration = np.broadcast_arrays(low, high, concentration)
    first = np.floor(low / np.pi)
    total = np.full(low.shape, -np.inf)
    for step in range(3):
        half_turn = first + step
        left, right = np.clip(half_turn * np.pi, low, high), np.clip((half_turn + 1) * np.pi, low, high)
        falls = half_turn % 2 == 0
        start = np.where(falls, left - half_turn * np.pi, (half_turn + 1) * np.pi - right)
        total = np.logaddexp(total, _log_piece(np.clip(start, 0.0, np.pi), right - left, concentration))
    return np.asarray(total - LOG_TWO_PI - np.log(i0e(concentration)))


def _log_piece(start: np.ndarray, length: np.ndarray, concentration: np.ndarray) -> np.ndarray:
    """log ∫ exp(-2κ sin²(θ/2)) dθ from start, over a length, with both ends between 0 and π."""
    wide, twice = start[..., None], 2 * concentration[..., None]
    rate = np.maximum(concentration * np.sin(start), np.maximum(np.sqrt(concentration), 1.0))
    inner = log_integral(lambda v: -twice * np.sin(wide + 0.5 * v) * np.sin(0.5 * v), rate, length)
    return np.asarray(inner - 2 * concentration * np.sin(0.5 * start) ** 2)


def wave_amplitudes(concentration: np.ndarray) -> list[np.ndarray]:
    """I_j(κ) / I0(κ) for the waves j = 1, 2, …; only up to FEW they are asked for."""
    few = np.where(concentration <= FEW, concentration, 1.0)
    return [ive(wave, few) / i0e(few) for wave in range(1, NUM_WAVES)]


def _fourier(angle: np.ndarray, amplitudes: list[np.ndarray]) -> np.ndarray:
    """½ + θ/2π + Σ I_j(κ)/I0(κ) sin(jθ) / jπ."""
    total = 0.5 + angle / (2 * np.pi)
    for wave, amplitude in enumerate(amplitudes, 1):
        total = total + amplitude * np.sin(wave * angle) / (wave * np.pi)
    return np.asarray(total)


def _narrow(angle: np.ndarray, concentration: np.ndarray) -> np.ndarray:
    """By the substitution s = sin(θ/2): ∫ exp(-2κs²) (1-s²)^(-½) ds, term by term of the root's binomial series."""
    power = 2 * concentration * np.sin(0.5 * angle) ** 2
    inside, total, factor = np.zeros(angle.shape), np.zeros(angle.shape), np.ones(angle.shape)
    for term in range(NUM_NARROW_TERMS):
        inside = inside + factor * gammainc(term + 0.5, power)
        total = total + factor
        factor = factor * (term + 0.5) ** 2 / ((term + 1) * 2 * concentration)
    return np.asarray(0.5 + 0.5 * np.sign(angle) * inside / total)
