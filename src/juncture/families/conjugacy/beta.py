"""What a Beta is a prior for: the probability of a trial."""

from __future__ import annotations

from juncture.families.conjugacy.pair import Pair
from juncture.families.continuous.beta import Beta
from juncture.families.discrete.bernoulli import Bernoulli
from juncture.families.discrete.beta_binomial import BetaBinomial
from juncture.families.discrete.beta_negative_binomial import BetaNegativeBinomial
from juncture.families.discrete.binomial import Binomial
from juncture.families.discrete.geometric import Geometric
from juncture.families.discrete.negative_binomial import NegativeBinomial
from juncture.families.statistics.statistics import Statistics


def after_trials(prior: Beta, statistics: Statistics) -> Beta:
    """Beta(a + successes, b + failures), of n observations of so many trials each."""
    trials, successes = statistics.known.get("trials", 1.0), statistics.total[..., 0]
    return Beta(prior.a + successes, prior.b + statistics.weight * trials - successes)


def after_waiting(prior: Beta, statistics: Statistics) -> Beta:
    """Beta(a + successes, b + failures), of n observations that each waited for so many successes."""
    successes, failures = statistics.known.get("successes", 1.0), statistics.total[..., 0]
    return Beta(prior.a + statistics.weight * successes, prior.b + failures)


PAIRS = (
    Pair(
        Beta, Bernoulli, "probability", after_trials,
        at=lambda point, known: Bernoulli(point),
        sample_size=lambda prior, known: prior.a + prior.b,
        is_usual=True,
        told_predictive=lambda posterior, known: Bernoulli(posterior.mean),
    ),
    Pair(
        Beta, Binomial, "probability", after_trials,
        at=lambda point, known: Binomial(known["trials"], point),
        sample_size=lambda prior, known: (prior.a + prior.b) / known["trials"],
        known=frozenset({"trials"}),
        told_predictive=lambda posterior, known: BetaBinomial(known["trials"], posterior.a, posterior.b),
    ),
    Pair(
        Beta, NegativeBinomial, "probability", after_waiting,
        at=lambda point, known: NegativeBinomial(known["successes"], point),
        sample_size=lambda prior, known: prior.a / known["successes"],
        known=frozenset({"successes"}),
        told_predictive=lambda posterior, known: BetaNegativeBinomial(known["successes"], posterior.a, posterior.b),
    ),
    Pair(
        Beta, Geometric, "probability", after_waiting,
        at=lambda point, known: Geometric(point),
        sample_size=lambda prior, known: prior.a,
        told_predictive=lambda posterior, known: BetaNegativeBinomial(1.0, posterior.a, posterior.b),
    ),
)  # fmt: skip
