"""Dirichlet-process mixtures of Gaussians: mean-field variational inference with a truncated stick.

The weights are π_k = v_k Π_{j<k} (1 - v_j) with v_k ~ Beta(1, α), and v = 1 for the last of T components, which have
a normal-inverse-Wishart prior. q(z) q(v) q(μ, Σ) is improved by coordinate ascent (Blei and Jordan 2006): the bound
never falls. Given q(μ, Σ), exp E[log N(x)] is a Gaussian density times a constant, so that rows with holes, whose
missing cells are integrated out, take the pass of Gaussian mixtures.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np
from scipy.special import digamma

from juncture.base.checks import check_count, check_number, shown
from juncture.base.options import as_generator
from juncture.base.values import Value, number_of, read_only
from juncture.components.contract import EmissionStatistics, is_seen
from juncture.components.densities import mean_and_variance
from juncture.components.gaussian import GaussianEmissions, expected_moments, full_log_prob
from juncture.components.gaussian_estimate import reference_variance
from juncture.components.mixture import Mixture
from juncture.errors import Unsupported
from juncture.families.continuous.beta import Beta
from juncture.families.vectors.multivariate_gaussian import MultivariateGaussian
from juncture.families.vectors.normal_inverse_wishart import NormalInverseWishart
from juncture.latent.mixtures import gaussian_pass
from juncture.latent.mixtures.expectation import Block, MixtureStatistics
from juncture.latent.mixtures.starts import cluster_rows, distinct_rows, group_by_nearest
from juncture.learning.em.contract import Expected
from juncture.learning.em.expectation_maximization import ExpectationMaximization
from juncture.numerics import stable
from juncture.numerics.iteration import Trace


class MixturePosterior(Value):
    """The approximate posterior of a Dirichlet-process mixture: Beta(a, b) of each stick, and of each component.

    Attributes
    ----------
    a, b
        The parameters of the posterior of each share v of the stick that is left, (component - 1,).
    components
        The posterior of the means and covariances, a batch.
    """

    a: np.ndarray
    b: np.ndarray
    components: NormalInverseWishart

    def __init__(self, a: Any, b: Any, components: NormalInverseWishart) -> None:
        self._set(a=read_only(a, float), b=read_only(b, float), components=components)

    @property
    def num_components(self) -> int:
        return len(self.a) + 1

    @property
    def weights(self) -> np.ndarray:
        """The expected weights."""
        left = np.cumprod(np.append(1.0, self.b / (self.a + self.b)))
        return left * np.append(self.a / (self.a + self.b), 1.0)

    @cached_property
    def log_weights(self) -> np.ndarray:
        """E[log π]."""
        both = digamma(self.a + self.b)
        left = np.append(0.0, np.cumsum(digamma(self.b) - both))
        return left + np.append(digamma(self.a) - both, 0.0)

    @cached_property
    def expected(self) -> tuple[MultivariateGaussian, np.ndarray]:
        """exp E[log π N(x)] as Gaussian densities, and the logs of the constants that multiply them."""
        given = self.components._given
        degrees, scale = given["degrees"], given["scale"]
        size = scale.shape[-1]
        gaussian = MultivariateGaussian(given["mean"], scale / degrees[..., None, None])
        halves = 0.5 * (degrees[..., None] - np.arange(size))
        expected_log = digamma(halves).sum(axis=-1) - size * np.log(0.5 * degrees)  # E log|Λ| - log|E Λ|
        return gaussian, self.log_weights + 0.5 * (expected_log - size / given["strength"])

    def to_mixture(self) -> Mixture:
        """The mixture with the expected weights and precisions."""
        gaussian = self.expected[0]
        weights = self.weights / self.weights.sum()
        return Mixture(weights, GaussianEmissions(gaussian.mean, gaussian.covariance, "full"))

    def __repr__(self) -> str:
        return f"MixturePosterior({number_of(self.num_components, 'component')})"


@dataclass(frozen=True, eq=False)
class DirichletProcessProblem:
    """A Dirichlet-process mixture to learn: coordinate ascent has the form of EM, with -KL(q, prior) as log prior."""

    block: Block
    prior: NormalInverseWishart
    concentration: float
    num_components: int
    rng: np.random.Generator
    kind: Literal["random", "k-means"] = "k-means"
    models: ClassVar[str] = "Dirichlet-process mixtures"

    def start(self) -> MixturePosterior:
        """From clusters of the rows, the largest first."""
        counted = (self.block.weights > 0) & is_seen(self.block.rows)
        rows, weights = distinct_rows(self.block.rows[counted], self.block.weights[counted])
        group = cluster_rows if self.kind == "k-means" else group_by_nearest
        labels = group(rows, weights, self.num_components, self.rng)
        order = np.argsort(-np.bincount(labels, weights, self.num_components), kind="stable")
        shares = np.zeros((len(rows), self.num_components))
        shares[np.arange(len(rows)), np.argsort(order)[labels]] = weights
        gaussian = MultivariateGaussian(self.prior._given["mean"], self.prior._given["scale"])
        wide = MultivariateGaussian(*(np.stack([each] * self.num_components) for each in gaussian._given.values()))
        return self.update(expected_moments(rows, shares, wide))

    def another_start(self) -> MixturePosterior:
        return self.start()

    def blocks(self) -> list[Block]:
        return [self.block]

    def expect(self, model: MixturePosterior, block: Block) -> Expected[MixtureStatistics]:
        gaussian, log_weights = model.expected
        found = None
        if gaussian_pass.is_fast(block.rows.size, model.num_components) and block.patterns:
            found = gaussian_pass.gaussian_pass(gaussian, log_weights, block.patterns, block.columns)
        if found is not None:
            return Expected(MixtureStatistics(found[0].weight, found[0]), found[1])
        logs = full_log_prob(block.rows, gaussian) + log_weights
        totals = stable.log_sum_exp(logs, axis=1)
        counted = np.where(is_seen(block.rows), block.weights, 0.0)
        moments = expected_moments(block.rows, np.exp(logs - totals[:, None]) * counted[:, None], gaussian)
        statistics = EmissionStatistics(moments.weight, [moments, block.columns])
        return Expected(MixtureStatistics(moments.weight, statistics), float(counted @ totals))

    def maximize(self, statistics: MixtureStatistics, model: MixturePosterior) -> MixturePosterior:
        return self.update(statistics.components.parts[0])

    def update(self, moments: Any) -> MixturePosterior:
        """The posterior given the expected moments: conjugate, component by component and stick by stick."""
        counts = np.asarray(moments.weight)
        beyond = counts[::-1].cumsum()[::-1][1:]
        return MixturePosterior(1.0 + counts[:-1], self.concentration + beyond, self.prior.posterior(moments))

    def log_prior(self, model: MixturePosterior) -> float:
        sticks = Beta(model.a, model.b).kl_divergence(Beta(1.0, self.concentration)) if len(model.a) else 0.0
        return -float(np.sum(sticks) + np.sum(model.components.kl_divergence(self.prior)))


def fit_dirichlet_process(
    rows: np.ndarray,
    weights: np.ndarray,
    num_components: int,
    concentration: float,
    method: ExpectationMaximization,
    rng: np.random.Generator,
    prior: NormalInverseWishart | None = None,
    start: Literal["random", "k-means"] = "k-means",
) -> tuple[MixturePosterior, Trace]:
    """The approximate posterior, and the trace of the bound; without a prior of components, one centred on the data."""
    number = check_count(num_components, "the number of components", least=1)
    alpha = check_number(concentration, "the concentration", above=0.0, finite=True)
    own = data_prior(rows, weights) if prior is None else check_component_prior(prior, rows.shape[1])
    problem = DirichletProcessProblem(Block(rows, weights), own, alpha, number, rng, start)
    found, trace = method.run(problem)
    return found.model, trace


def check_component_prior(prior: Any, size: int) -> NormalInverseWishart:
    """A prior of the means and covariances of vectors of this size."""
    if not isinstance(prior, NormalInverseWishart) or prior.batch_shape or prior._given["mean"].shape != (size,):
        raise Unsupported(
            f"the prior of the components of a Dirichlet-process mixture is a NormalInverseWishart of {size} columns; "
            f"got {shown(prior)}"
        )
    return prior


def data_prior(rows: np.ndarray, weights: np.ndarray) -> NormalInverseWishart:
    """The mean of the data with the strength of one row, and d degrees with the variances of the columns."""
    mean, variance = mean_and_variance(rows, weights)
    return NormalInverseWishart(mean, 1.0, float(len(mean)), np.diag(reference_variance(mean, variance)))


def chinese_restaurant(num_customers: int, concentration: float, *, rng: Any = None) -> np.ndarray:
    """The table of each customer, numbered in the order in which tables are taken.

    Parameters
    ----------
    num_customers
        The number of customers, which are rows to cluster.
    concentration
        α > 0: the larger, the more tables.
    rng
        The source of random numbers.

    Returns
    -------
    numpy.ndarray
        (customer,)

    Examples
    --------
    >>> import juncture as jt
    >>> jt.clusters.chinese_restaurant(8, 1.0, rng=0).tolist()
    [0, 0, 0, 0, 1, 2, 1, 0]
    """
    count = check_count(num_customers, "the number of customers")
    alpha = check_number(concentration, "the concentration", above=0.0, finite=True)
    generator = as_generator(rng)
    is_new = generator.random(count) * (alpha + np.arange(count)) >= np.arange(count)  # with probability α/(α + i)
    friends = (generator.random(count) * np.arange(count)).astype(np.int64)  # a customer whose table is joined
    tables, num_tables = np.zeros(count, np.int64), 0
    for customer in range(count):
        if is_new[customer]:
            tables[customer] = num_tables
            num_tables += 1
        else:
            tables[customer] = tables[friends[customer]]
    return tables


def expected_tables(num_customers: int, concentration: float) -> float:
    """The expected number of tables in a Chinese restaurant, Σ α/(α + i) over the customers i = 0, 1, ….

    Parameters
    ----------
    num_customers
        The number of customers.
    concentration
        α > 0.

    Returns
    -------
    float
        The expected number of clusters of a Dirichlet process.

    Examples
    --------
    >>> import juncture as jt
    >>> round(jt.clusters.expected_tables(3, 1.0), 6)
    1.833333
    """
    count = check_count(num_customers, "the number of customers")
    alpha = check_number(concentration, "the concentration", above=0.0, finite=True)
    return float(np.sum(alpha / (alpha + np.arange(count))))
