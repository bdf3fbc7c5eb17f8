"""Beta: a probability that is itself uncertain."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from scipy.special import betaincinv, loggamma, xlog1py, xlogy

from juncture.data.observations import as_values
from juncture.errors import InvalidData, Unsupported
from juncture.families.conjugacy import ConjugatePrior, Pair
from juncture.families.constraints import POSITIVE
from juncture.families.discrete.bernoulli import Bernoulli
from juncture.families.discrete.beta_binomial import BetaBinomial
from juncture.families.discrete.beta_negative_binomial import BetaNegativeBinomial
from juncture.families.discrete.binomial import Binomial
from juncture.families.discrete.geometric import Geometric
from juncture.families.discrete.negative_binomial import NegativeBinomial
from juncture.families.expectation import common_shape
from juncture.families.exponential_family import ExponentialFamily, columns
from juncture.families.family import Real, plain
from juncture.families.gamma_divergence import dirichlet_divergence
from juncture.families.incomplete import LARGE, beta_parts, log_beta, log_beta_below, log_beta_density, log_with_far
from juncture.families.matching import log_means, match_log_means
from juncture.families.statistics.statistics import Known, Statistics
from juncture.families.supports import Interval
from juncture.numerics.stable import log, log1p

TINY = float(np.finfo(float).tiny)


class Beta(ExponentialFamily, ConjugatePrior):
    """p(x) = x^(a-1) (1-x)^(b-1) / B(a, b) on [0, 1]: u = (log x, log(1-x)), η = (a-1, b-1).

    The conjugate prior of the probability of a Bernoulli, binomial, negative binomial or geometric.

    Parameters
    ----------
    a, b
        The shapes, positive numbers or arrays. As a prior they are pseudo-counts of ones and zeros.

    Examples
    --------
    >>> from juncture.families.discrete.bernoulli import Bernoulli
    >>> Beta(1, 1).posterior(Bernoulli.statistics([1, 1, 0, 0, 0, 1, 1])).predictive()
    Bernoulli(probability=0.5555555555555556)
    """

    parameters: ClassVar = {"a": POSITIVE, "b": POSITIVE}
    a: Real
    b: Real

    def __init__(self, a: Any, b: Any) -> None:
        self._declare(a=a, b=b)

    @classmethod
    def from_sample_size(cls, mean: Any, size: Any) -> Self:
        """The Beta with this mean that is worth `size` trials."""
        center, worth = as_values(mean, (), name="a mean"), as_values(size, (), name="a sample size")
        return cls(worth * center, worth * (1 - center))

    @property
    def support(self) -> Interval:
        return Interval(0.0, 1.0)

    @classmethod
    def _support_given(cls, known: Known) -> Interval:
        return Interval(0.0, 1.0, closed_low=False, closed_high=False)

    def _natural(self) -> np.ndarray:
        return _counts(self) - 1.0

    @classmethod
    def _from_natural(cls, natural: np.ndarray, known: Known) -> Self:
        return cls(natural[..., 0] + 1, natural[..., 1] + 1)

    @classmethod
    def _mean_of(cls, natural: np.ndarray, known: Known) -> np.ndarray:
        return log_means(natural + 1)

    @classmethod
    def _from_mean(cls, mean: np.ndarray, known: Known) -> Self:
        if not (np.exp(mean).sum(axis=-1) < 1).all():
            raise InvalidData(
                "a Beta cannot be estimated from equal values: give at least two different ones, or a prior"
            )
        counts = match_log_means(mean)
        return cls(counts[..., 0], counts[..., 1])

    @classmethod
    def _log_partition_of(cls, natural: np.ndarray, known: Known) -> np.ndarray:
        counts = natural + 1
        return np.asarray(loggamma(counts).sum(axis=-1) - loggamma(counts.sum(axis=-1)))

    @classmethod
    def _sufficient(cls, x: np.ndarray, known: Known) -> np.ndarray:
        return columns(log(x), log1p(-x))

    def _log_prob(self, x: np.ndarray) -> np.ndarray:
        """Not from η = (a - 1, b - 1), which loses small shapes; of large ones as a distance from the mean."""
        a, b, x = np.broadcast_arrays(self._given["a"], self._given["b"], x)
        direct = xlogy(a - 1, x) + xlog1py(b - 1, -x) - log_beta(a, b)
        is_far = (np.maximum(a, b) > LARGE) & (x > 0) & (x < 1)
        return log_with_far(direct, is_far, log_beta_density, a, b, x, 1 - x)

    def kl_divergence(self, other: Any) -> Real:
        """The divergence of the two as Dirichlet distributions."""
        if type(other) is not Beta:
            return super().kl_divergence(other)
        common_shape(self, other)
        return plain(dirichlet_divergence(_counts(self), _counts(other)))

    def _draw(self, shape: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
        return rng.beta(self._given["a"], self._given["b"], shape)

    @property
    def mean(self) -> Real:
        share, _ = self._shares()
        return plain(share)

    @property
    def variance(self) -> Real:
        share, rest = self._shares()
        return plain(share * rest / (self._given["a"] + self._given["b"] + 1))

    def _shares(self) -> tuple[np.ndarray, np.ndarray]:
        """a / (a + b) and b / (a + b), from multiples of the larger: a + b may be beyond doubles."""
        larger = np.maximum(self._given["a"], self._given["b"])
        a, b = self._given["a"] / larger, self._given["b"] / larger
        return a / (a + b), b / (a + b)

    @property
    def mode(self) -> Real:
        """(a - 1) / (a + b - 2) for a, b ≥ 1; 0 where a < 1 ≤ b, and 1 where b < 1 ≤ a: the density is infinite there.

        There is no single mode if both parameters are below 1 (both ends are modes), or if both are 1 (a constant).
        """
        a, b = np.broadcast_arrays(self._given["a"], self._given["b"])
        if not ((np.maximum(a, b) >= 1) & ((a != 1) | (b != 1))).all():
            raise Unsupported(f"{self!r} has no single mode: it needs a ≥ 1 or b ≥ 1, and not both 1")
        rises, falls = np.maximum(a - 1, 0.0), np.maximum(b - 1, 0.0)
        return plain(np.where(b < 1, 1.0, rises / np.where(b < 1, 1.0, np.maximum(rises + falls, TINY))))

    def _cdf(self, x: np.ndarray) -> np.ndarray:
        return self._parts(x)[0]

    def _sf(self, x: np.ndarray) -> np.ndarray:
        return self._parts(x)[1]

    def _parts(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        inside = np.clip(x, 0.0, 1.0)
        return beta_parts(self._given["a"], self._given["b"], inside, 1 - inside)

    def _log_cdf(self, x: np.ndarray) -> np.ndarray:
        inside = np.clip(x, 0.0, 1.0)
        return log_beta_below(self._given["a"], self._given["b"], inside, 1 - inside)

    def _log_sf(self, x: np.ndarray) -> np.ndarray:
        inside = np.clip(x, 0.0, 1.0)
        return log_beta_below(self._given["b"], self._given["a"], 1 - inside, inside)

    def _quantile(self, probability: np.ndarray) -> np.ndarray:
        return np.asarray(betaincinv(self._given["a"], self._given["b"], probability))


def _counts(member: Beta) -> np.ndarray:
    return np.stack(np.broadcast_arrays(member._given["a"], member._given["b"]), axis=-1)


def after_trials(prior: Beta, statistics: Statistics) -> Beta:
    """Beta(a + successes, b + failures), of n observations of so many trials each."""
    trials, successes = statistics.known.get("trials", 1.0), statistics.total[..., 0]
    return Beta(prior.a + successes, prior.b + statistics.weight * trials - successes)


def after_waiting(prior: Beta, statistics: Statistics) -> Beta:
    """Beta(a + successes, b + failures), of n observations that each waited for so many successes."""
    successes, failures = statistics.known.get("successes", 1.0), statistics.total[..., 0]
    return Beta(prior.a + statistics.weight * successes, prior.b + failures)


Beta.pairs = (
    Pair(
        Beta, Bernoulli, "probability", after_trials,
        at=lambda point, known: Bernoulli(point),
        sample_size=lambda prior, known: prior.a + prior.b,
        is_usual=True,
        closed_form_predictive=lambda posterior, known: Bernoulli(posterior.mean),
    ),
    Pair(
        Beta, Binomial, "probability", after_trials,
        at=lambda point, known: Binomial(known["trials"], point),
        sample_size=lambda prior, known: (prior.a + prior.b) / known["trials"],
        known=frozenset({"trials"}),
        closed_form_predictive=lambda posterior, known: BetaBinomial(known["trials"], posterior.a, posterior.b),
    ),
    Pair(
        Beta, NegativeBinomial, "probability", after_waiting,
        at=lambda point, known: NegativeBinomial(known["successes"], point),
        sample_size=lambda prior, known: prior.a / known["successes"],
        known=frozenset({"successes"}),
        closed_form_predictive=lambda posterior, known: BetaNegativeBinomial(
            known["successes"], posterior.a, posterior.b
        ),
    ),
    Pair(
        Beta, Geometric, "probability", after_waiting,
        at=lambda point, known: Geometric(point),
        sample_size=lambda prior, known: prior.a,
        closed_form_predictive=lambda posterior, known: BetaNegativeBinomial(1.0, posterior.a, posterior.b),
    ),
)  # fmt: skip
