"""MultivariateGaussian: the normal distribution of vectors, by mean and covariance.

`CanonicalGaussian` is its canonical form. Then follow the covariance of rows (centred moments, and a ridge where a
covariance has no full rank), the update of a Gaussian as the prior of the mean of one whose covariance is known, the
graph of partial correlations, in which no edge joins two entries that are independent given all others, and the ellipse
of the points of one density.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from math import isqrt
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from scipy.special import gammaincinv

from juncture.base.checks import as_float, check_iterable, check_number, shown
from juncture.data.observations import as_values
from juncture.errors import InvalidData, RegularizedWarning, warn_user
from juncture.families.conjugacy import ConjugatePrior, Pair
from juncture.families.constraints import POSITIVE_DEFINITE, REAL_VECTOR
from juncture.families.exponential_family import ExponentialFamily
from juncture.families.family import Real, plain
from juncture.families.statistics.long_data import MOST_COORDINATES, Fill, gaussian_fill, moments_of
from juncture.families.statistics.statistics import Known, Moments, Statistics
from juncture.families.statistics.sums import weighted_sum, with_batch
from juncture.families.supports import Vectors
from juncture.families.vectors import block_matrices as blocks
from juncture.families.vectors.gaussian_function import GaussianFunction
from juncture.families.vectors.vector_family import VectorFamily, check_same_dimension
from juncture.families.vectors.whitening import Whitening, apply, whitening_of
from juncture.graphs.undirected import UndirectedGraph
from juncture.numerics.stable import LOG_TWO_PI, where
from juncture.runtime.parallel import block_rows, map_blocks

RIDGE = 1e-6  # of the average variance
RANK_TOLERANCE = 1e-14  # for each dimension, of the correlations


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


def sum_moments(family: Any, rows: np.ndarray, weights: np.ndarray | None, known: Known) -> Moments:
    """Weight, mean and scatter of all rows: by a compiled pass over long data, else block by block."""
    found = moments_of(rows, weights)
    if found is not None:
        weight, center, residual, scatter = found
        return Moments(family, weight=weight, center=center, residual=residual, scatter=scatter, known=known)

    def moments(block: slice) -> Moments:
        part, weight = rows[block], None if weights is None else weights[block]
        family._check_rows(part, known, block.start)
        return vector_moments(family, part, weight, known)

    size = block_rows((*rows.shape[1:], *(() if weights is None else weights.shape[1:])))
    parts = map_blocks(moments, len(rows), size) or [moments(slice(0, 0))]
    return reduce(Moments.__add__, parts)


def vector_moments(family: Any, rows: np.ndarray, weights: np.ndarray | None, known: Known) -> Moments:
    """Weight, mean and scatter of one block of rows."""
    values = np.asarray(rows, dtype=float)
    ones = np.ones(len(values)) if weights is None else weights
    weight = weighted_sum(np.ones(values.shape[:-1]), ones, axes=0)
    total = weighted_sum(values, ones, axes=1)
    center = np.divide(total, weight[..., None], out=np.zeros_like(total), where=weight[..., None] > 0)
    num_batch = weight.ndim
    deviations = with_batch(values, num_batch, 1) - center
    shares = with_batch(ones, num_batch)[..., None]
    rest = (shares * deviations).sum(axis=0)
    residual = np.divide(rest, weight[..., None], out=np.zeros_like(total), where=weight[..., None] > 0)
    rooted = np.sqrt(shares) * (deviations - residual)  # (row, *batch, d)
    scatter = np.moveaxis(rooted, 0, -1) @ np.moveaxis(rooted, 0, -2)
    return Moments(family, weight=weight, center=center, residual=residual, scatter=scatter, known=known)


def covariance_from(scatter: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """scatter / weight; where that has no full rank, RIDGE times the average variance is added to the diagonal."""
    covariance = scatter / weight[..., None, None]
    dimension = covariance.shape[-1]
    average = np.trace(covariance, axis1=-2, axis2=-1) / dimension
    if not (average > 0).all():
        raise InvalidData(
            "the covariance of a MultivariateGaussian would be 0: "
            f"give at least {dimension + 1} different rows, a known covariance= or a prior"
        )
    ranks = rank(covariance)
    ridge = np.where(ranks < dimension, RIDGE * average, 0.0)
    if (ridge > 0).any():
        _report(ranks, ridge, dimension)
    return covariance + ridge[..., None, None] * np.eye(dimension)


def rank(covariance: np.ndarray) -> np.ndarray:
    """The rank of the correlations: it does not depend on units."""
    scale = np.sqrt(np.diagonal(covariance, axis1=-2, axis2=-1))
    safe = np.where(scale > 0, scale, 1.0)
    correlations = covariance / (safe[..., :, None] * safe[..., None, :])
    return np.asarray((np.linalg.eigvalsh(correlations) > RANK_TOLERANCE * covariance.shape[-1]).sum(axis=-1))


def _report(ranks: np.ndarray, ridge: np.ndarray, dimension: int) -> None:
    wrong = ridge > 0
    warn_user(
        f"the estimated covariance{where(wrong)} has rank {int(ranks[wrong][0])} of {dimension}; "
        f"{float(ridge[wrong][0]):.3g}, {RIDGE:g} of the average variance, was added to its diagonal: "
        f"give at least {dimension + 1} rows with no column that the others determine, or a prior",
        RegularizedWarning,
    )


def update_mean(prior: Any, statistics: Any) -> tuple[np.ndarray, np.ndarray]:
    """Σn = Σ (nΣ0 + Σ)⁻¹ Σ0 and μn = μ0 + nΣ0 (nΣ0 + Σ)⁻¹ (x̄ - μ0): the precisions Σ0⁻¹ and nΣ⁻¹ add."""
    weight, covariance, own = statistics.weight[..., None, None], statistics.known["covariance"], prior.covariance
    total = weight * own + covariance
    found = covariance @ np.linalg.solve(total, np.broadcast_to(own, total.shape))
    shift = np.linalg.solve(total, (statistics.center - prior.mean)[..., None])
    mean = prior.mean + (weight * own @ shift)[..., 0]
    return mean, (found + np.swapaxes(found, -2, -1)) / 2


def average_precision(prior: Any, known: Known) -> np.ndarray:
    """tr Σ Σ0⁻¹ / d: observations per direction, on average."""
    ratio = np.linalg.solve(prior.covariance, np.broadcast_to(known["covariance"], prior.covariance.shape))
    return np.asarray(np.trace(ratio, axis1=-2, axis2=-1) / prior.dimension)


def partial_correlations(precision: np.ndarray) -> np.ndarray:
    """-λij / √(λii λjj), and 1 on the diagonal."""
    scale = np.sqrt(np.diagonal(precision, axis1=-2, axis2=-1))
    found = -precision / (scale[..., :, None] * scale[..., None, :])
    diagonal = np.arange(precision.shape[-1])
    found[..., diagonal, diagonal] = 1.0
    return np.asarray(found)


def graph_of(correlations: np.ndarray, tolerance: float = 1e-9, names: Iterable[str] | None = None) -> UndirectedGraph:
    """An edge for each partial correlation beyond the tolerance."""
    if correlations.ndim != 2:
        raise InvalidData("a batch of Gaussians has a graph each; ask one member, as in family[0].graph()")
    size = len(correlations)
    nodes = [str(index) for index in range(size)] if names is None else check_iterable(names, "names")
    if len(nodes) != size:
        raise InvalidData(f"there are {size} entries to name; got {len(nodes)} names")
    check_number(tolerance, "tolerance", least=0)
    edges = np.argwhere(np.triu(np.abs(correlations) > tolerance, 1))
    return UndirectedGraph([(nodes[one], nodes[other]) for one, other in edges], nodes)


class Ellipse(NamedTuple):
    """center ± half_length · direction are its vertices; the longest axis comes first."""

    center: np.ndarray  # (*batch, d)
    half_lengths: np.ndarray  # (*batch, axis)
    directions: np.ndarray  # (*batch, axis, d), of length 1


def ellipse_of(center: np.ndarray, covariance: np.ndarray, probability: float) -> Ellipse:
    """Where the squared Mahalanobis distance is the quantile of χ² with d degrees of freedom."""
    if not 0 < as_float(probability) < 1:
        raise InvalidData(f"an ellipse holds a probability between 0 and 1; got {shown(probability)}")
    squared_distance = 2 * gammaincinv(covariance.shape[-1] / 2, probability)
    variances, vectors = np.linalg.eigh(covariance)
    half_lengths = np.sqrt(squared_distance * variances)[..., ::-1]
    return Ellipse(center, half_lengths, np.swapaxes(vectors, -2, -1)[..., ::-1, :])


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
