"""Answers averaged over the posterior of tables: their mean is known, and intervals hold the truth as they say."""

from __future__ import annotations

import numpy as np
import pytest

import juncture as jt

SEEN = {"xray": "yes", "dysp": "yes"}


def test_the_mean_is_the_answer_at_the_mean_tables():
    """Tables are independent: E p(x, e | θ) = p(x, e | E θ), and p(e | θ) weighs the draws."""
    asia = jt.example("asia")
    rows = jt.sample(asia, 300, rng=0)
    counts = jt.statistics(asia, rows)
    beliefs = jt.families.infer_posterior(asia, jt.families.posterior(asia, counts), SEEN, draws=800, rng=0)
    at_means = jt.infer(jt.estimate(asia, counts, prior=1.0), SEEN)
    for name in asia.variables.names:
        assert (abs(beliefs[name].values - at_means[name].values) <= 4.5 * beliefs.standard_error(name) + 1e-9).all()
    assert beliefs.log_evidence == pytest.approx(at_means.log_evidence, abs=0.1)
    assert 100 < beliefs.effective_sample_size <= 800


def test_one_coin_has_the_interval_of_its_beta():
    coin = jt.Variable("coin", ["h", "t"])
    model = jt.BayesianNetwork([jt.Conditional(coin, [], [0.5, 0.5])])
    tables = jt.families.posterior(model, jt.statistics(model, {"coin": ["h"] * 7 + ["t"] * 3}))
    beliefs = jt.families.infer_posterior(model, tables, draws=2000, rng=0)
    low, high = beliefs.interval("coin", 0.9)
    assert [low[0], high[0]] == pytest.approx(jt.Beta(8, 4).quantile([0.05, 0.95]).tolist(), abs=0.02)
    assert beliefs["coin"]["h"] == pytest.approx(8 / 12, abs=0.015)
    assert beliefs.standard_deviation("coin")[0] == pytest.approx(np.sqrt(jt.Beta(8, 4).variance), abs=0.01)
    frame = beliefs.to_pandas()
    assert list(frame.columns) == ["variable", "state", "probability", "low", "high"]
    assert "coin: h 0.6" in repr(beliefs)


@pytest.mark.slow
def test_intervals_hold_the_truth():
    """Truths drawn from the prior: 90 % intervals of p(cause | effect) hold it nine times of ten."""
    a, b = jt.Variable("a", 2), jt.Variable("b", 2)
    rng, hits = np.random.default_rng(0), []
    for seed in range(150):
        parts = [jt.Conditional(a, [], rng.dirichlet([1, 1])), jt.Conditional(b, [a], rng.dirichlet([1, 1], size=2))]
        truth = jt.BayesianNetwork(parts)
        tables = jt.families.posterior(truth, jt.statistics(truth, jt.sample(truth, 60, rng=seed)))
        low, high = jt.families.infer_posterior(truth, tables, {"b": 1}, targets=["a"], draws=200, rng=seed).interval(
            "a"
        )
        hits.append(low[0] <= jt.infer(truth, {"b": 1})["a"][0] <= high[0])
    assert abs(np.mean(hits) - 0.9) < 3.3 * np.sqrt(0.09 / 150)


def test_threads_do_not_matter_and_wrong_posteriors_are_refused():
    asia = jt.example("asia")
    tables = jt.families.posterior(asia, jt.statistics(asia, jt.sample(asia, 100, rng=0)))
    found = []
    for threads in (1, 2):
        jt.set_num_threads(threads)
        found.append(jt.families.infer_posterior(asia, tables, SEEN, targets=["lung"], draws=130, rng=3).draws["lung"])
    jt.set_num_threads(None)
    assert np.array_equal(found[0], found[1])
    with pytest.raises(jt.errors.InvalidData, match="has the shape"):
        jt.families.infer_posterior(asia, {"lung": jt.Dirichlet([1.0, 1.0])})
    with pytest.raises(jt.errors.InvalidData, match="one row"):
        jt.families.infer_posterior(asia, tables, [SEEN, SEEN])
    beliefs = jt.families.infer_posterior(asia, {}, SEEN, targets=["lung"], draws=3)
    with pytest.raises(jt.UnknownVariable, match="not among the targets"):
        beliefs.interval("tub")
    assert beliefs["lung"].values == pytest.approx(jt.infer(asia, SEEN)["lung"].values)
