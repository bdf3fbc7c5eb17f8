"""MultivariateGaussian: the normal distribution of vectors, by mean and covariance."""

from __future__ import annotations

from collections.abc import Iterable
from math import isqrt
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from juncture.data.observations import as_values
from juncture.errors import InvalidData
from juncture.families.conjugacy.conjugate_prior import ConjugatePrior
from juncture.families.conjugacy.pair import Pair
from juncture.families.constraints import POSITIVE_DEFINITE, REAL_VECTOR
from juncture.families.exponential_family import ExponentialFamily
from juncture.families.family import Real, plain
from juncture.families.statistics.compiled import MOST_COORDINATES, Fill, gaussian_fill
from juncture.families.statistics.known import Known
from juncture.families.statistics.statistics import Moments, Statistics
from juncture.families.supports import Vectors
from juncture.families.vectors import block_matrices as blocks
from juncture.families.vectors.ellipse import Ellipse, ellipse_of
from juncture.families.vectors.gaussian_function import GaussianFunction
from juncture.families.vectors.gaussian_graph import graph_of, partial_correlations
from juncture.families.vectors.gaussian_updates import average_precision, update_mean
from juncture.families.vectors.scatter import covariance_from, sum_moments
from juncture.families.vectors.vector_family import VectorFamily, check_same_dimension
from juncture.families.vectors.whitening import Whitening, apply, whitening_of
from juncture.numerics.stable import LOG_TWO_PI

if TYPE_CHECKING:
    from juncture.graphs.undirected import UndirectedGraph


class MultivariateGaussian(VectorFamily, ExponentialFamily, ConjugatePrior):
    """p(x) = |2πΣ|^-½ exp(-½ (x-μ)ᵀΣ⁻¹(x-μ)): u = (x, vec xxᵀ), η = (Σ⁻¹μ, -½ vec Σ⁻¹).

    The conjugate prior of the mean of a MultivariateGaussian whose covariance is known. An estimate from a singular
    scatter matrix adds 1e-6 of the average variance to the diagonal, with a RegularizedWarning.

    Parameters
    ----------
    mean
        μ, (…, d).
    covariance
        Σ, (…, d, d), positive definite.

    Examples
    --------
    >>> MultivariateGaussian([0.0, 0.0], [[2.0, 1.0], [1.0, 2.0]]).conditional([0], [1.0])
    MultivariateGaussian(mean=[0.5], covariance=[[1.5]])
    """

    parameters: ClassVar = {"mean": REAL_VECTOR, "covariance": POSITIVE_DEFINITE}
    optional: ClassVar = {"mean": REAL_VECTOR, "covariance": POSITIVE_DEFINITE}
    mean: np.ndarray
    covariance: np.ndarray

    def __init__(self, mean: Any, covariance: Any) -> None:
        self._declare(mean=mean, covariance=covariance)

    def _check(self) -> None:
        super()._check()
        _ = self._whitening  # a covariance that is singular to working precision is refused here

    @classmethod
    def _support_of(cls, dimension: int) -> Vectors:
        return Vectors(dimension)

    @property
    def _whitening(self) -> Whitening:
        return whitening_of(self, "covariance")

    # -- the exponential family

    def _natural(self) -> np.ndarray:
        precision = self.precision
        loading = apply(precision, self._given["mean"])
        return blocks.side_by_side(loading, blocks.vec(-0.5 * precision))

    @classmethod
    def _from_natural(cls, natural: np.ndarray, known: Known) -> Self:
        covariance = Whitening.of(_precision(natural), name="minus twice the second natural parameter").inverse
        return cls(apply(covariance, natural[..., : covariance.shape[-1]]), covariance)

    @classmethod
    def _mean_of(cls, natural: np.ndarray, known: Known) -> np.ndarray:
        covariance = np.linalg.inv(_precision(natural))
        mean = apply(covariance, natural[..., : covariance.shape[-1]])
        return blocks.side_by_side(mean, blocks.vec(covariance + _outer(mean)))

    def _mean(self) -> np.ndarray:
        mean = self._given["mean"]
        return blocks.side_by_side(mean, blocks.vec(self._given["covariance"] + _outer(mean)))

    @classmethod
    def _from_mean(cls, mean: np.ndarray, known: Known) -> Self:
        center = mean[..., : _dimension(mean)]
        covariance = blocks.unvec(mean[..., center.shape[-1] :]) - _outer(center)
        if not POSITIVE_DEFINITE.is_met(covariance).all():
            raise InvalidData(
                "no MultivariateGaussian has these moments: E xxᵀ - E x E xᵀ must be positive definite, as it is for "
                f"at least {center.shape[-1] + 1} rows with no column that the others determine"
            )
        return cls(center, covariance)

    @classmethod
    def _log_partition_of(cls, natural: np.ndarray, known: Known) -> np.ndarray:
        precision = _precision(natural)
        loading = natural[..., : precision.shape[-1]]
        fit = (loading * np.linalg.solve(precision, loading[..., None])[..., 0]).sum(axis=-1)
        return np.asarray(0.5 * (fit - blocks.log_determinant(precision) + precision.shape[-1] * LOG_TWO_PI))

    @classmethod
    def _sufficient(cls, x: np.ndarray, known: Known) -> np.ndarray:
        values = np.asarray(x, dtype=float)
        return blocks.side_by_side(values, blocks.vec(_outer(values)))

    # -- densities, in centred form: xxᵀ would cancel far from 0

    def _log_prob(self, x: np.ndarray) -> np.ndarray:
        squares = self._whitening.squared_distance(x - self._given["mean"])
        return np.asarray(-0.5 * (squares + self._whitening.log_determinant + self.dimension * LOG_TWO_PI))

    def _compiled_log_prob(self, values: np.ndarray) -> Fill | None:
        if self.batch_shape or values.ndim != 2 or self.dimension > MOST_COORDINATES:
            return None
        constant = -0.5 * (self._whitening.log_determinant + self.dimension * LOG_TWO_PI)
        return gaussian_fill(values.size, self._given["mean"], self._whitening.inverse_factor, constant)

    def log_likelihood(self, statistics: Statistics) -> Real:
        """Σ w log p(x), from the scatter about the mean."""
        self._check_statistics(statistics)
        scatter = statistics.scatter_about(self._given["mean"])  # type: ignore[attr-defined]
        squares = (self.precision * scatter).sum(axis=(-2, -1))
        log_volume = self._whitening.log_determinant + self.dimension * LOG_TWO_PI
        return plain(-0.5 * (squares + statistics.weight * log_volume))

    def entropy(self) -> Real:
        """½ log |2πeΣ|."""
        entropy = 0.5 * (self._whitening.log_determinant + self.dimension * (LOG_TWO_PI + 1))
        return plain(np.broadcast_to(entropy, self.batch_shape))

    def cross_entropy(self, other: Any) -> Real:
        """-E log q(X): entropy and divergence."""
        return plain(np.asarray(self.entropy()) + self.kl_divergence(other))

    def kl_divergence(self, other: Any) -> Real:
        """½ (tr Σ'⁻¹Σ - d - log |Σ'⁻¹Σ| + (μ-μ')ᵀΣ'⁻¹(μ-μ')), summed of terms none of which is negative."""
        if type(other) is not MultivariateGaussian:
            return super().kl_divergence(other)
        check_same_dimension(self, other)
        relative = other._whitening.inverse_factor @ self._whitening.factor  # triangular: Σ'⁻¹Σ is like its square
        squares = np.square(np.diagonal(relative, axis1=-2, axis2=-1))
        below = np.square(np.tril(relative, -1)).sum(axis=(-2, -1))
        shift = other._whitening.squared_distance(self._given["mean"] - other._given["mean"])
        return plain(0.5 * (shift + below + (squares - 1 - np.log(squares)).sum(axis=-1)))

    def _draw(self, shape: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
        return np.asarray(self._given["mean"] + self._whitening.color(rng.standard_normal((*shape, self.dimension))))

    @property
    def variance(self) -> np.ndarray:
        return np.diagonal(self._given["covariance"], axis1=-2, axis2=-1).copy()

    @property
    def mode(self) -> np.ndarray:
        return self.mean

    # -- geometry

    @property
    def precision(self) -> np.ndarray:
        """Σ⁻¹."""
        return self._whitening.inverse

    def squared_mahalanobis(self, x: Any) -> Real:
        """(x-μ)ᵀΣ⁻¹(x-μ)."""
        values = as_values(x, self.event_shape, name=type(self).__name__)
        return plain(self._whitening.squared_distance(values - self._given["mean"]))

    def mahalanobis(self, x: Any) -> Real:
        """The distance from the mean, in standard deviations of the direction."""
        return plain(np.sqrt(self.squared_mahalanobis(x)))

    def ellipse(self, probability: float) -> Ellipse:
        """The ellipsoid of constant density that holds this probability."""
        return ellipse_of(self._given["mean"], self._given["covariance"], probability)

    # -- parts

    def marginal(self, indices: Any) -> MultivariateGaussian:
        """The distribution of these entries, in this order."""
        kept, _ = blocks.split(indices, self.dimension)
        covariance = blocks.block(self._given["covariance"], kept, kept)
        return MultivariateGaussian(self._given["mean"][..., kept], covariance)

    def conditional(self, indices: Any, values: Any) -> MultivariateGaussian:
        """The distribution of the other entries, in order, where those at the indices have these values.

        Mean μ2 + Σ21 Σ11⁻¹ (x1 - μ1), covariance Σ22 - Σ21 Σ11⁻¹ Σ12; rows of values give a batch.
        """
        given, rest = blocks.split(indices, self.dimension)
        found = as_values(values, given.shape, name="the entries that are given")
        mean, covariance = self._given["mean"], self._given["covariance"]
        weights = np.linalg.solve(blocks.block(covariance, given, given), blocks.block(covariance, given, rest))
        shift = apply(np.swapaxes(weights, -2, -1), found - mean[..., given])
        complement = blocks.symmetric(blocks.schur_complement(covariance, given))
        return MultivariateGaussian(mean[..., rest] + shift, complement)

    def partial_correlations(self) -> np.ndarray:
        """-λij / √(λii λjj) of the precision: the correlation of two entries given all others; 1 on the diagonal."""
        return partial_correlations(self.precision)

    def graph(self, tolerance: float = 1e-9, names: Iterable[str] | None = None) -> UndirectedGraph:
        """An edge where the partial correlation is beyond the tolerance; the rest are zeros of the precision.

        Nodes are the names, or the indices as text.
        """
        return graph_of(self.partial_correlations(), tolerance, names)

    def to_canonical(self) -> CanonicalGaussian:
        """The same density as exp(log_scale + ηᵀx - ½ xᵀΛx), with Λ = Σ⁻¹ and η = Σ⁻¹μ."""
        return CanonicalGaussian(apply(self.precision, self._given["mean"]), self.precision)

    # -- learning

    @classmethod
    def _summarise(cls, rows: np.ndarray, weights: np.ndarray | None, known: Known) -> Moments:
        return sum_moments(cls, rows, weights, known)

    @classmethod
    def _single(cls, x: np.ndarray, known: Known) -> Moments:
        shape, dimension = x.shape[:-1], x.shape[-1]
        scatter = np.zeros((*shape, dimension, dimension))
        return Moments(cls, weight=np.ones(shape), center=x, scatter=scatter, known=known)

    @classmethod
    def _estimate(cls, statistics: Any) -> Self:
        known = statistics.known
        mean = known.get("mean", statistics.center)
        if "covariance" in known:
            return cls(mean, known["covariance"])
        return cls(mean, covariance_from(statistics.scatter_about(mean), statistics.weight))


def _outer(vector: np.ndarray) -> np.ndarray:
    return vector[..., :, None] * vector[..., None, :]


def _dimension(flat: np.ndarray) -> int:
    """d of d + d² numbers."""
    return (isqrt(4 * flat.shape[-1] + 1) - 1) // 2


def _precision(natural: np.ndarray) -> np.ndarray:
    return -2 * blocks.unvec(natural[..., _dimension(natural) :])


MultivariateGaussian.pairs = (
    Pair(
        MultivariateGaussian, MultivariateGaussian, "mean",
        lambda prior, statistics: MultivariateGaussian(*update_mean(prior, statistics)),
        at=lambda point, known: MultivariateGaussian(point, known["covariance"]),
        sample_size=average_precision,
        known=frozenset({"covariance"}),
        closed_form_predictive=lambda posterior, known: MultivariateGaussian(
            posterior.mean, posterior.covariance + known["covariance"]
        ),
    ),
)  # fmt: skip


class CanonicalGaussian(GaussianFunction):
    """A Gaussian function by its loading η and precision Λ, or a batch of them; without a log_scale, a density.

    Λ need not be positive definite (a constant has Λ = 0), except where a density or an integral is asked for.

    Parameters
    ----------
    loading
        η = Λμ, (…, d).
    precision
        Λ, (…, d, d), symmetric.
    log_scale
        The constant term of the logarithm of the function; by default the one of a density.

    Examples
    --------
    >>> one = CanonicalGaussian([2.0], [[2.0]])
    >>> (one * one).to_moments()
    MultivariateGaussian(mean=[1.0], covariance=[[0.25]])
    """

    def to_moments(self) -> MultivariateGaussian:
        """The normalised function by its mean Λ⁻¹η and covariance Λ⁻¹."""
        return MultivariateGaussian(*self._moments())
