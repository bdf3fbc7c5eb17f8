"""What a Beta is a prior for: the probability of a trial."""

from __future__ import annotations

from juncture.families.conjugacy.pair import Pair
from juncture.families.continuous.beta import Beta
from juncture.families.discrete.bernoulli import Bernoulli
from juncture.families.statistics import Known, Statistics


def after_trials(prior: Beta, statistics: Statistics) -> Beta:
    """Beta(a + successes, b + failures)."""
    successes = statistics.total[..., 0]
    return Beta(prior.a + successes, prior.b + statistics.weight - successes)


def predicted_trial(posterior: Beta, known: Known) -> Bernoulli:
    return Bernoulli(posterior.mean)


PAIRS = (
    Pair(
        Beta, Bernoulli, frozenset(), update=after_trials, at=lambda point, known: Bernoulli(point),
        sample_size=lambda prior: prior.a + prior.b, told_predictive=predicted_trial,
    ),
)  # fmt: skip
