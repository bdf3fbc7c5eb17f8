"""Gaussian: the normal distribution of one number, by mean and variance."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from scipy.special import log_ndtr, ndtr, ndtri

from juncture.base.values import read_only
from juncture.errors import InvalidData
from juncture.families.conjugacy import ConjugatePrior, Pair
from juncture.families.constraints import POSITIVE, REAL
from juncture.families.expectation import common_shape
from juncture.families.exponential_family import ExponentialFamily
from juncture.families.family import Real, plain
from juncture.families.gamma_divergence import ratio_excess
from juncture.families.statistics.long_data import Fill, gaussian_fill, moments_of
from juncture.families.statistics.statistics import Known, Moments, Statistics
from juncture.families.statistics.sums import weighted_sum, with_batch
from juncture.families.supports import Interval
from juncture.numerics.stable import LOG_TWO_PI
from juncture.runtime.parallel import block_rows, map_blocks


class Gaussian(ExponentialFamily, ConjugatePrior):
    """p(x) = exp(-(x - mean)² / 2 variance) / √(2π variance): u = (x, x²), η = (mean, -½) / variance.

    The conjugate prior of the mean of a Gaussian whose variance is known.

    Parameters
    ----------
    mean
        The mean, a number or an array.
    variance
        The variance σ², positive; not the standard deviation.

    Examples
    --------
    >>> Gaussian(mean=0.0, variance=1.0).kl_divergence(Gaussian(1.0, 1.0))
    0.5
    >>> Gaussian.estimate(Gaussian.statistics([1.0, 2.0, 3.0]))
    Gaussian(mean=2.0, variance=0.6666666666666666)
    """

    parameters: ClassVar = {"mean": REAL, "variance": POSITIVE}
    optional: ClassVar = {"mean": REAL, "variance": POSITIVE}
    mean: Real
    variance: Real

    def __init__(self, mean: Any = 0.0, variance: Any = 1.0) -> None:
        self._declare(mean=mean, variance=variance)

    @classmethod
    def _support_given(cls, known: Known) -> Interval:
        return Interval()

    def _natural(self) -> np.ndarray:
        mean, variance = np.broadcast_arrays(self._given["mean"], self._given["variance"])
        return np.stack([mean / variance, -0.5 / variance], axis=-1)

    @classmethod
    def _from_natural(cls, natural: np.ndarray, known: Known) -> Self:
        variance = -0.5 / natural[..., 1]
        return cls(natural[..., 0] * variance, variance)

    @classmethod
    def _mean_of(cls, natural: np.ndarray, known: Known) -> np.ndarray:
        variance = -0.5 / natural[..., 1]
        mean = natural[..., 0] * variance
        return np.stack([mean, variance + mean**2], axis=-1)

    @classmethod
    def _from_mean(cls, mean: np.ndarray, known: Known) -> Self:
        return cls(mean[..., 0], mean[..., 1] - mean[..., 0] ** 2)

    @classmethod
    def _log_partition_of(cls, natural: np.ndarray, known: Known) -> np.ndarray:
        first, second = natural[..., 0], natural[..., 1]
        return np.asarray(-(first**2) / (4 * second) - 0.5 * np.log(-2 * second) + 0.5 * LOG_TWO_PI)

    @classmethod
    def _sufficient(cls, x: np.ndarray, known: Known) -> np.ndarray:
        return np.stack([x, np.square(x, dtype=float)], axis=-1)

    def _log_prob(self, x: np.ndarray) -> np.ndarray:  # centred: x² would cancel far from 0
        mean, variance = self._given["mean"], self._given["variance"]
        with np.errstate(over="ignore"):  # so far out that the square is infinite: p is 0 there
            return np.asarray(-0.5 * ((x - mean) ** 2 / variance + np.log(variance) + LOG_TWO_PI))

    def _compiled_log_prob(self, values: np.ndarray) -> Fill | None:
        if self.batch_shape or values.ndim != 1:
            return None
        mean, variance = self._given["mean"], self._given["variance"]
        constant = -0.5 * (np.log(variance) + LOG_TWO_PI)
        return gaussian_fill(values.size, mean[None], 1 / np.sqrt(variance[None, None]), constant)

    def log_likelihood(self, statistics: Statistics) -> Real:
        """Σ w log p(x), from the scatter about the mean."""
        self._check_statistics(statistics)
        mean, variance = self._given["mean"], self._given["variance"]
        squares = statistics.scatter_about(mean)  # type: ignore[attr-defined]
        return plain(-0.5 * (squares / variance + statistics.weight * (np.log(variance) + LOG_TWO_PI)))

    def cross_entropy(self, other: Any) -> Real:
        """½ (log 2πv' + (v + (m - m')²) / v'), centred as log_prob is."""
        if type(other) is not Gaussian:
            return super().cross_entropy(other)
        common_shape(self, other)
        squares = self._given["variance"] + (self._given["mean"] - other._given["mean"]) ** 2
        return plain(0.5 * (LOG_TWO_PI + np.log(other._given["variance"]) + squares / other._given["variance"]))

    def kl_divergence(self, other: Any) -> Real:
        """½ (v/v' + (m - m')²/v' - 1 - log v/v')."""
        if type(other) is not Gaussian:
            return super().kl_divergence(other)
        common_shape(self, other)
        with np.errstate(over="ignore"):
            shift = (self._given["mean"] - other._given["mean"]) ** 2 / other._given["variance"]
        return plain(0.5 * (shift + ratio_excess(self._given["variance"], other._given["variance"])))

    def _draw(self, shape: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
        return np.asarray(self._given["mean"] + np.sqrt(self._given["variance"]) * rng.standard_normal(shape))

    @property
    def mode(self) -> Real:
        return self.mean

    @np.errstate(over="ignore")
    def _standard(self, x: np.ndarray) -> np.ndarray:
        return np.asarray((x - self._given["mean"]) / np.sqrt(self._given["variance"]))

    def _cdf(self, x: np.ndarray) -> np.ndarray:
        return np.asarray(ndtr(self._standard(x)))

    def _sf(self, x: np.ndarray) -> np.ndarray:
        return np.asarray(ndtr(-self._standard(x)))

    def _log_cdf(self, x: np.ndarray) -> np.ndarray:
        return np.asarray(log_ndtr(self._standard(x)))

    def _log_sf(self, x: np.ndarray) -> np.ndarray:
        return np.asarray(log_ndtr(-self._standard(x)))

    def _quantile(self, probability: np.ndarray) -> np.ndarray:
        return np.asarray(self._given["mean"] + np.sqrt(self._given["variance"]) * ndtri(probability))

    @classmethod
    def _summarise(cls, rows: np.ndarray, weights: np.ndarray | None, known: Known) -> Moments:
        found = moments_of(rows[..., None], weights)
        if found is not None:
            weight, center, residual, scatter = found
            return Moments(
                cls, weight=weight, center=center[..., 0], residual=residual[..., 0], scatter=scatter[..., 0, 0],
                known=known,
            )  # fmt: skip

        def moments(block: slice) -> Moments:
            part, weight = rows[block], None if weights is None else weights[block]
            cls._check_rows(part, known, block.start)
            return scalar_moments(cls, part, weight, known)

        size = block_rows((*rows.shape[1:], *(() if weights is None else weights.shape[1:])))
        parts = map_blocks(moments, len(rows), size) or [Moments(cls, weight=0, center=0, scatter=0, known=known)]
        merged = parts[0]
        for part in parts[1:]:
            merged = merged + part
        return merged

    @classmethod
    def _single(cls, x: np.ndarray, known: Known) -> Moments:
        return Moments(cls, weight=np.ones(x.shape), center=x, scatter=np.zeros(x.shape), known=known)

    @classmethod
    def _estimate(cls, statistics: Any) -> Self:
        known, weight = statistics.known, statistics.weight
        mean = known.get("mean", statistics.center)
        if "variance" in known:
            return cls(mean, known["variance"])
        squares = statistics.scatter_about(mean)
        if not (squares > 0).all():
            raise InvalidData(
                "the variance of a Gaussian would be 0: give two different values, a known variance= or a prior"
            )
        return cls(mean, squares / weight)


def scalar_moments(family: Any, rows: np.ndarray, weights: np.ndarray | None, known: Known) -> Moments:
    """Weight, mean and scatter of one block of rows."""
    values = np.asarray(rows, dtype=float)
    ones = np.ones(len(values)) if weights is None else weights
    weight = weighted_sum(np.ones(values.shape), ones, axes=0)
    total = weighted_sum(values, ones, axes=0)
    center = np.divide(total, weight, out=np.zeros_like(total), where=weight > 0)
    deviations = with_batch(values, center.ndim) - center
    shares = with_batch(ones, center.ndim)
    residual = np.divide((shares * deviations).sum(axis=0), weight, out=np.zeros_like(total), where=weight > 0)
    scatter = (shares * (deviations - residual) ** 2).sum(axis=0)
    return Moments(family, weight=weight, center=center, residual=residual, scatter=scatter, known=known)


def trusted_gaussian(mean: float, variance: float) -> Gaussian:
    """The distribution of a finite mean and a positive variance, which are not checked."""
    gaussian = Gaussian.__new__(Gaussian)
    gaussian._set(_given={"mean": read_only(mean + 0.0), "variance": read_only(variance)}, batch_shape=())
    return gaussian


def after_values(prior: Gaussian, statistics: Any) -> Gaussian:
    """Precisions add; the mean is the average of prior mean and data, weighted by their precisions."""
    weight, variance, own = statistics.weight, statistics.known["variance"], prior.variance
    total = weight * own + variance
    return Gaussian((weight * own * statistics.center + variance * prior.mean) / total, variance * own / total)


Gaussian.pairs = (
    Pair(
        Gaussian, Gaussian, "mean", after_values,
        at=lambda point, known: Gaussian(point, known["variance"]),
        sample_size=lambda prior, known: known["variance"] / prior.variance,
        known=frozenset({"variance"}),
        closed_form_predictive=lambda posterior, known: Gaussian(
            posterior.mean, posterior.variance + known["variance"]
        ),
    ),
)  # fmt: skip
