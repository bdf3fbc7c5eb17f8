"""Dirichlet: probabilities that are themselves uncertain."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from scipy.special import loggamma

from juncture.data.observations import as_values, check_inside
from juncture.errors import InvalidData, Unsupported
from juncture.families.conjugacy import ConjugatePrior, Pair
from juncture.families.constraints import POSITIVE_VECTOR
from juncture.families.discrete.categorical import Categorical
from juncture.families.exponential_family import ExponentialFamily, dot
from juncture.families.family import Real, plain
from juncture.families.gamma_divergence import dirichlet_divergence
from juncture.families.matching import log_means, match_log_means
from juncture.families.statistics.statistics import Known, Statistics
from juncture.families.supports import Simplex
from juncture.families.vectors.dirichlet_multinomial import DirichletMultinomial
from juncture.families.vectors.multinomial import Multinomial
from juncture.families.vectors.vector_family import VectorFamily
from juncture.numerics.stable import log, softmax

ROUNDING = 4 * float(np.finfo(float).eps)


class Dirichlet(VectorFamily, ExponentialFamily, ConjugatePrior):
    """p(x) = Γ(Σα) / ΠΓ(α_k) Π x_k^(α_k-1) on the simplex: u = log x, η = α - 1.

    The conjugate prior of the probabilities of a Categorical or Multinomial.

    >>> Dirichlet([1.0, 2.0, 5.0]).mean
    array([0.125, 0.25 , 0.625])
    """

    parameters: ClassVar = {"concentration": POSITIVE_VECTOR}
    concentration: np.ndarray

    def __init__(self, concentration: Any) -> None:
        self._declare(concentration=concentration)

    @classmethod
    def from_sample_size(cls, mean: Any, size: Any) -> Self:
        """The Dirichlet with this mean that is worth `size` observations."""
        center, worth = as_values(mean, (), name="a mean"), as_values(size, (), name="a sample size")
        return cls(worth[..., None] * center)

    @classmethod
    def _support_of(cls, dimension: int) -> Simplex:
        return Simplex(dimension)

    @classmethod
    def _check_rows(cls, rows: np.ndarray, known: Known, first_row: int = 0) -> None:
        inside = Simplex(rows.shape[-1]).contains(rows)
        if not rows.min(initial=1.0) > 0:  # log 0 is no statistic
            inside = inside & (rows > 0).all(axis=-1)
        support = f"{rows.shape[-1]} positive numbers that sum to 1"
        check_inside(rows, inside, name=cls.__name__, support=support, first_row=first_row)

    def _natural(self) -> np.ndarray:
        return self._given["concentration"] - 1.0

    @classmethod
    def _from_natural(cls, natural: np.ndarray, known: Known) -> Self:
        return cls(natural + 1.0)

    @classmethod
    def _mean_of(cls, natural: np.ndarray, known: Known) -> np.ndarray:
        return log_means(natural + 1)

    @classmethod
    def _from_mean(cls, mean: np.ndarray, known: Known) -> Self:
        if not (np.exp(mean).sum(axis=-1) < 1 - ROUNDING * mean.shape[-1]).all():
            raise InvalidData(
                "a Dirichlet cannot be estimated from equal rows: give at least two different ones, or a prior"
            )
        return cls(match_log_means(mean))

    @classmethod
    def _log_partition_of(cls, natural: np.ndarray, known: Known) -> np.ndarray:
        return log_normalizer(natural + 1)

    @classmethod
    def _sufficient(cls, x: np.ndarray, known: Known) -> np.ndarray:
        return log(x)

    def _log_prob(self, x: np.ndarray) -> np.ndarray:
        """Where a corner has zeros of both kinds, of powers below and above 0, the density counts as infinite."""
        powers, logs = self._natural(), log(x)
        total = dot(powers, logs)
        if not np.isfinite(total).all():
            with np.errstate(invalid="ignore"):
                infinite = ((powers != 0) & (powers * logs == np.inf)).any(axis=-1)
            total = np.where(infinite, np.inf, total)
        return np.asarray(total - log_normalizer(self.concentration))

    def kl_divergence(self, other: Any) -> Real:
        """The deviances of the other counts from these, scaled to their sum, and what the gamma functions add."""
        if type(other) is not Dirichlet:
            return super().kl_divergence(other)
        self._sibling(other)  # refuses another dimension or batch
        return plain(dirichlet_divergence(self._given["concentration"], other._given["concentration"]))

    def _draw(self, shape: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
        """Normalised Gamma draws, as logarithms: small concentrations would all be rounded to 0."""
        counts = self._given["concentration"]
        wide = (*shape, self.dimension)
        log_gammas = np.log(rng.standard_gamma(counts + 1, wide)) - rng.standard_exponential(wide) / counts
        return np.maximum(softmax(log_gammas), np.finfo(float).tiny)  # log 0 is no statistic

    @property
    def mean(self) -> np.ndarray:
        counts = self._given["concentration"]
        return counts / counts.sum(axis=-1, keepdims=True)

    @property
    def variance(self) -> np.ndarray:
        mean, total = self.mean, self._total()[..., None]
        return np.asarray(mean * (1 - mean) / (total + 1))

    @property
    def covariance(self) -> np.ndarray:
        """(diag mean - mean meanᵀ) / (Σα + 1); its rows sum to 0."""
        mean, total = self.mean, self._total()[..., None, None]
        outer = mean[..., :, None] * (np.eye(self.dimension) - mean[..., None, :])
        return np.asarray(outer / (total + 1))

    @property
    def mode(self) -> np.ndarray:
        """(α - 1) / (Σα - k), for α ≥ 1 that are not all 1."""
        excess = self._given["concentration"] - 1
        if not ((excess >= 0).all(axis=-1) & (excess > 0).any(axis=-1)).all():
            raise Unsupported(f"{self!r} has no single mode: it needs every α ≥ 1 and one larger than 1")
        return np.asarray(plain(excess / excess.sum(axis=-1, keepdims=True)))

    def _total(self) -> np.ndarray:
        return np.asarray(self._given["concentration"].sum(axis=-1))


def after_counts(prior: Dirichlet, statistics: Statistics) -> Dirichlet:
    """Dirichlet(α + counts)."""
    concentration = prior._given["concentration"]
    states, counted = concentration.shape[-1], statistics.total.shape[-1]
    if states != counted:
        raise InvalidData(f"this Dirichlet has {states} states, the statistics have {counted}")
    return Dirichlet(concentration + statistics.total)


def total(prior: Dirichlet, known: Known) -> Any:
    return np.asarray(prior.concentration.sum(axis=-1) / known.get("trials", 1.0))


Dirichlet.pairs = (
    Pair(
        Dirichlet, Categorical, "probabilities", after_counts,
        at=lambda point, known: Categorical(point),
        sample_size=total,
        known=frozenset({"num_states"}), implied=frozenset({"num_states"}), is_usual=True,
        closed_form_predictive=lambda posterior, known: Categorical(posterior.mean),
    ),
    Pair(
        Dirichlet, Multinomial, "probabilities", after_counts,
        at=lambda point, known: Multinomial(known["trials"], point),
        sample_size=total,
        known=frozenset({"trials"}),
        closed_form_predictive=lambda posterior, known: DirichletMultinomial(known["trials"], posterior.concentration),
    ),
)  # fmt: skip


def log_normalizer(concentration: np.ndarray) -> np.ndarray:
    """log B(concentration), the multivariate beta function, also where 1 + the natural parameter rounds to 0."""
    return np.asarray(loggamma(concentration).sum(axis=-1) - loggamma(concentration.sum(axis=-1)))
