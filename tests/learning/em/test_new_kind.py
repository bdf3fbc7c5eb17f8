"""A new kind of model with hidden parts: an `EMProblem`, four functions, five registrations; then all verbs work."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

import juncture as jt
from juncture import verbs
from juncture.errors import Unsupported
from juncture.inference.most_probable import MostProbable
from juncture.learning.em.contract import Expected
from juncture.learning.fit import Fit

# --- zero-inflated counts: with probability `inflation` a row is 0, else it is Poisson ----------------------------


@dataclass(frozen=True)
class ZeroInflated:
    inflation: float
    rate: float


@dataclass(frozen=True)
class ZeroInflatedProblem:
    template: ZeroInflated
    counts: np.ndarray
    block_size: int = 100
    models = "zero-inflated counts"

    def start(self):
        return self.template

    def another_start(self):
        return ZeroInflated(0.5, float(self.counts.mean()) + 1.0)

    def blocks(self):
        return [self.counts[at : at + self.block_size] for at in range(0, len(self.counts), self.block_size)]

    def expect(self, model, block):
        inflated = responsibility(model, block)
        statistics = np.array([inflated.sum(), (1 - inflated).sum(), ((1 - inflated) * block).sum()])
        return Expected(statistics, float(np.sum(log_prob(model, block))))

    def maximize(self, statistics, model):
        inflated, others, total = statistics
        return ZeroInflated(inflated / (inflated + others), total / others)

    def log_prior(self, model):
        return 0.0


def log_prob(model, rows):
    poisson = np.log1p(-model.inflation) + jt.Poisson(model.rate).log_prob(np.asarray(rows))
    return np.where(np.asarray(rows) == 0, np.logaddexp(np.log(model.inflation), poisson), poisson)


def responsibility(model, rows):
    return np.where(np.asarray(rows) == 0, np.exp(np.log(model.inflation) - log_prob(model, 0)), 0.0)


def most_probable(model, row):
    share = float(responsibility(model, row))
    return MostProbable({"inflated": share > 0.5}, float(np.log(max(share, 1 - share))), float(log_prob(model, row)))


def fit(model, data, *, method="em", progress=None):
    found, trace = jt.ExpectationMaximization().run(ZeroInflatedProblem(model, np.asarray(data)), progress)
    return Fit(found.model, found.log_likelihood, trace, found.statistics)


def sample(model, n, *, rng=None):
    rng = np.random.default_rng(rng)
    return np.where(rng.random(n) < model.inflation, 0, rng.poisson(model.rate, n))


for verb, implementation in {
    verbs.infer: lambda model, row: {"inflated": float(responsibility(model, row))},
    verbs.most_probable: most_probable,
    verbs.sample: sample,
    verbs.log_prob: log_prob,
    verbs.fit: fit,
}.items():
    verb.register(ZeroInflated, implementation)


# --- what it does --------------------------------------------------------------------------------------------------


def test_all_verbs():
    truth = ZeroInflated(0.3, 4.0)
    rows = jt.sample(truth, 4000, rng=0)
    fitted = jt.fit(ZeroInflated(0.5, 1.0), rows)
    assert fitted.model.inflation == pytest.approx(0.3, abs=0.03)
    assert fitted.model.rate == pytest.approx(4.0, abs=0.15)
    assert fitted.trace.converged
    assert fitted.log_likelihood == pytest.approx(np.sum(jt.log_prob(fitted.model, rows)), rel=1e-12)
    assert fitted.log_likelihood > np.sum(jt.log_prob(truth, rows))
    assert jt.infer(truth, 0)["inflated"] == pytest.approx(0.3 / (0.3 + 0.7 * np.exp(-4)))
    assert jt.most_probable(truth, 0).assignment == {"inflated": True}


def test_blocks_of_any_size_give_the_same_model():
    rows = jt.sample(ZeroInflated(0.3, 4.0), 500, rng=0)
    found = [
        jt.ExpectationMaximization().run(ZeroInflatedProblem(ZeroInflated(0.5, 1.0), rows, size))[0].model
        for size in (1, 7, 500)
    ]
    for model in found[1:]:
        assert (model.inflation, model.rate) == pytest.approx((found[0].inflation, found[0].rate), rel=1e-9)


def test_acceleration_needs_vectors():
    problem = ZeroInflatedProblem(ZeroInflated(0.5, 1.0), np.array([0, 1, 2]))
    with pytest.raises(Unsupported, match="zero-inflated counts is not accelerated"):
        jt.ExpectationMaximization(acceleration="squarem").run(problem)
