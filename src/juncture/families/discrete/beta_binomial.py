"""BetaBinomial: a Binomial whose probability has a Beta distribution; a prior of the targets in a population."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from scipy.special import betaln, gammaln

from juncture.errors import InvalidData
from juncture.families.conjugacy import ConjugatePrior, Pair
from juncture.families.constraints import COUNT, POSITIVE
from juncture.families.discrete.hypergeometric import Hypergeometric
from juncture.families.discrete.whole_numbers import Summed, as_counts, binomial_draws
from juncture.families.family import Real, plain
from juncture.families.log_factorial import log_weight, look_up
from juncture.families.statistics.statistics import Known, Statistics
from juncture.families.supports import Integers


class BetaBinomial(Summed, ConjugatePrior):
    """p(offset + k) = C(n, k) B(a+k, b+n-k) / B(a, b) for k = 0..n: the predictive of Beta for Binomial.

    The conjugate prior of the targets of a Hypergeometric; the offset is how many of them have been seen already.

    Parameters
    ----------
    trials
        The number of trials n.
    a, b
        The shapes of the Beta distribution of the probability.
    offset
        A number that is added to every count.

    Examples
    --------
    >>> BetaBinomial(trials=3, a=1, b=1).prob([0, 1, 2, 3]).round(12)
    array([0.25, 0.25, 0.25, 0.25])
    """

    parameters: ClassVar = {"trials": COUNT, "a": POSITIVE, "b": POSITIVE, "offset": COUNT}
    trials: Real
    a: Real
    b: Real
    offset: Real

    def __init__(self, trials: Any, a: Any, b: Any, offset: Any = 0) -> None:
        self._declare(trials=trials, a=a, b=b, offset=offset)

    @property
    def support(self) -> Integers:
        return Integers(self._given["offset"], self._given["offset"] + self._given["trials"])

    def _log_prob(self, x: np.ndarray) -> np.ndarray:
        return self._log_mass(x) if self.batch_shape else look_up(self._log_mass, x)

    def _log_mass(self, x: np.ndarray) -> np.ndarray:
        n, a, b, offset = (self._given[name] for name in self.parameters)
        k = x - offset
        return np.asarray(log_weight(k, a) + log_weight(n - k, b) - log_weight(n, a + b))

    def _draw(self, shape: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
        n, a, b, offset = (self._given[name] for name in self.parameters)
        return np.asarray(binomial_draws(n, rng.beta(a, b, shape), rng, shape) + as_counts(offset))

    @property
    def mean(self) -> Real:
        n, a, b, offset = (self._given[name] for name in self.parameters)
        return plain(offset + n * (a / (a + b)))

    @property
    def variance(self) -> Real:
        n, a, b, _ = (self._given[name] for name in self.parameters)
        share = a / (a + b)
        return plain(n * share * (1 - share) * ((a + b + n) / (a + b + 1)))

    @property
    def mode(self) -> Real:
        """The smallest of the most probable counts: an end, or floor of (n+1)(a-1)/(a+b-2) between them."""
        n, a, b, offset = np.broadcast_arrays(*(self._given[name] for name in self.parameters))
        width = np.where(a + b > 2, a + b - 2, np.inf)
        between = np.clip(np.ceil((n + 1) * (a - 1) / width) - 1, 0, n)
        candidates = offset + np.stack([np.zeros_like(n), between, n])
        best = np.asarray(self.log_prob(candidates)).argmax(axis=0)
        return plain(as_counts(np.take_along_axis(candidates, best[None], axis=0)[0]))

    # -- as a prior: a number of targets is whole

    def _inside(self) -> Any:
        return plain(np.floor(self.mean))

    def _mean_point(self) -> Any:
        return plain(np.round(self.mean))


def after_draws(prior: BetaBinomial, statistics: Statistics) -> BetaBinomial:
    """The draws leave the population, and the targets among them are certain. Rows are draws one after the other.

    The trials of the prior are the members not drawn yet, and the population of the statistics must be these.
    """
    hits, draws = _hits(statistics), statistics.weight * statistics.known["draws"]
    left = prior._given["trials"]
    if not (statistics.known["population"] == left).all():
        raise InvalidData(
            f"this prior is about {prior.trials} members that are not drawn yet; the statistics have a population of "
            f"{statistics.known['population']:g}: give the number of members before these draws"
        )
    if not (draws <= left).all():
        raise InvalidData(f"{draws} draws without replacement are more than the {prior.trials} members that are left")
    return BetaBinomial(left - draws, prior.a + hits, prior.b + draws - hits, prior.offset + hits)


def log_evidence(prior: BetaBinomial, statistics: Statistics) -> np.ndarray:
    """Σ log C(draws, x) + log B(a + hits, b + misses) / B(a, b): that of as many trials of a Beta."""
    posterior = after_draws(prior, statistics)
    draws = statistics.known["draws"]
    values = np.arange(statistics.total.shape[-1])
    log_ways = gammaln(draws + 1) - gammaln(values + 1) - gammaln(draws - values + 1)
    return np.asarray(statistics.total @ log_ways + betaln(posterior.a, posterior.b) - betaln(prior.a, prior.b))


def next_draws(posterior: BetaBinomial, known: Known) -> BetaBinomial:
    if not (known["draws"] <= posterior._given["trials"]).all():
        raise InvalidData(f"{known['draws']:g} draws are more than the {posterior.trials} members that are left")
    return BetaBinomial(known["draws"], posterior.a, posterior.b)


def _hits(statistics: Statistics) -> np.ndarray:
    return np.asarray(statistics.total @ np.arange(statistics.total.shape[-1]))


BetaBinomial.pairs = (
    Pair(
        BetaBinomial, Hypergeometric, "targets", after_draws,
        at=lambda point, known: Hypergeometric(known["population"], point, known["draws"]),
        sample_size=lambda prior, known: (prior.a + prior.b) / known["draws"],
        known=frozenset({"population", "draws"}),
        closed_form_predictive=next_draws, closed_form_evidence=log_evidence,
    ),
)  # fmt: skip
