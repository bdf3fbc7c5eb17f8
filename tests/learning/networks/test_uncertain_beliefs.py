"""The posterior of tables, and answers averaged over it: means and margins are known, intervals hold the truth."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import juncture as jt

GRAPH = jt.DirectedGraph.parse("a -> b")
ROWS = {"a": [0] * 12 + [1] * 8, "b": ["x"] * 9 + ["y"] * 7 + ["z"] * 4}
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
    assert [low["h"], high["h"]] == pytest.approx(jt.Beta(8, 4).quantile([0.05, 0.95]).tolist(), abs=0.02)
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
        answer = jt.families.infer_posterior(truth, tables, {"b": 1}, targets=["a"], draws=200, rng=seed)
        low, high = answer.interval("a")
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


@given(st.integers(0, 2**32), st.sampled_from([0.5, 0.9, 0.99]))
def test_the_interval_of_an_entry_has_the_probability_of_its_beta(seed, confidence):
    """The rest of the row has the rest of the counts; as much lies below the interval as above."""
    rng = np.random.default_rng(seed)
    model = jt.BayesianNetwork.random("a -> b <- c", states={"b": int(rng.integers(2, 5)), "c": 3}, rng=rng)
    rows, prior = jt.sample(model, int(rng.integers(1, 80)), rng=rng), float(rng.uniform(0.1, 3.0))
    tables = jt.fit(model, rows, prior=prior).posterior
    assert tables == jt.families.posterior(model, jt.statistics(model, rows), prior)
    assert tables.model == jt.fit(model, rows, prior=prior).model
    low, high = tables.interval("b", confidence)
    assert low.scope.names == ("a", "c", "b")
    for cell in np.ndindex(low.values.shape):
        row = tables["b"].concentration[cell[:-1]]
        margin = jt.Beta(row[cell[-1]], row.sum() - row[cell[-1]])
        sides = [margin.cdf(low[cell]), 1 - margin.cdf(high[cell])]
        assert sides == pytest.approx([(1 - confidence) / 2] * 2, rel=1e-6)


def test_a_fit_without_a_prior_has_the_posterior_of_the_uniform_one():
    fitted = jt.fit(GRAPH, ROWS)
    assert fitted.posterior == jt.families.posterior(GRAPH, fitted.statistics, 1.0)
    some = jt.fit(GRAPH, ROWS, prior={"b": 3.0}).posterior
    assert some == jt.families.posterior(GRAPH, fitted.statistics, {"a": 1.0, "b": 3.0})
    frame = some.to_pandas("b", confidence=0.5)
    assert frame.index.names == ["a", "b"]
    assert (frame["low"] < frame["mean"]).all() & (frame["mean"] < frame["high"]).all()
    assert pickle.loads(pickle.dumps(some)) == some  # noqa: S301
    assert repr(some) == "TablePosterior(2 tables: a, b)"
    with pytest.raises(jt.UnknownVariable, match="no variable 'B'; did you mean 'b'"):
        some.interval("B")


def test_a_table_that_was_fixed_is_known():
    model = jt.fit(GRAPH, ROWS).model
    tables = jt.fit(model, ROWS, fixed=["a"]).posterior
    assert list(tables) == ["b"]
    beliefs = jt.families.infer_posterior(tables.model, tables, targets=["a"], draws=10, rng=0)
    for end in beliefs.interval("a"):
        assert end.values == pytest.approx(model["a"].values, rel=1e-12)


def test_one_family_has_the_interval_of_its_entry():
    """Given the parents, the answer is an entry of the table, and they say nothing of it."""
    tables = jt.fit(GRAPH, ROWS).posterior
    beliefs = jt.families.infer_posterior(tables.model, tables, {"a": 0}, targets=["b"], draws=4000, rng=0)
    for found, known in zip(beliefs.interval("b"), tables.interval("b"), strict=True):
        assert found.values == pytest.approx(known.values[0], abs=0.02)


@pytest.mark.parametrize(
    "fitted",
    [
        jt.fit(GRAPH, {**ROWS, "a": [None, *ROWS["a"][1:]]}),
        pickle.loads(pickle.dumps(jt.fit(GRAPH, ROWS))),  # noqa: S301
        jt.fit(jt.Gaussian, [1.0, 2.0]),
    ],
)
def test_a_fit_without_counts_says_so(fitted):
    with pytest.raises(jt.errors.Unsupported, match="tables that were fitted to rows without holes"):
        fitted.posterior  # noqa: B018


@pytest.mark.slow
def test_intervals_of_entries_hold_the_truth():
    """Truths drawn from the prior: 80 % intervals of an entry hold it eight times of ten."""
    hits = []
    for seed in range(400):
        truth = jt.BayesianNetwork.random("a -> b", states={"b": 3}, rng=seed)
        low, high = jt.fit(truth, jt.sample(truth, 30, rng=seed + 1000), prior=1.0).posterior.interval("b", 0.8)
        hits.append(low[1, 2] <= truth["b"][1, 2] <= high[1, 2])
    assert abs(np.mean(hits) - 0.8) < 3.3 * np.sqrt(0.16 / 400)
