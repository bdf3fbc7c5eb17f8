"""What a BetaBinomial is a prior for: the targets in a finite population that is drawn from without replacement."""

from __future__ import annotations

import numpy as np
from scipy.special import betaln, gammaln

from juncture.errors import InvalidData
from juncture.families.conjugacy.pair import Pair
from juncture.families.discrete.beta_binomial import BetaBinomial
from juncture.families.discrete.hypergeometric import Hypergeometric
from juncture.families.statistics.statistics import Known, Statistics


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


PAIRS = (
    Pair(
        BetaBinomial, Hypergeometric, "targets", after_draws,
        at=lambda point, known: Hypergeometric(known["population"], point, known["draws"]),
        sample_size=lambda prior, known: (prior.a + prior.b) / known["draws"],
        known=frozenset({"population", "draws"}),
        told_predictive=next_draws, told_evidence=log_evidence,
    ),
)  # fmt: skip
