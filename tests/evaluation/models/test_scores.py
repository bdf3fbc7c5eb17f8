"""Bayes factors, posteriors over models, code lengths, and predictive scores of draws."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import beta as beta_function

import juncture as jt

evaluation = jt.evaluation
LOGS = st.floats(-300.0, 300.0)


@given(st.integers(0, 30), st.integers(0, 30))
def test_the_bayes_factor_of_a_fair_coin(heads, tails):
    """S0-341: K = 2^-n / B(k + 1, n - k + 1), and the posterior odds are K times the prior odds (E115)."""
    flips = [1] * heads + [0] * tails or [1]
    heads, number = sum(flips), len(flips)
    any_coin = jt.Beta(1, 1).log_evidence(jt.Bernoulli.statistics(flips))
    found = evaluation.bayes_factor(number * math.log(0.5), any_coin, prior_odds=3.0)
    assert found.value == pytest.approx(0.5**number / beta_function(heads + 1, number - heads + 1), rel=1e-9)
    assert found.probability == pytest.approx(3 * found.value / (1 + 3 * found.value), rel=1e-9)
    assert found.log_posterior_odds == pytest.approx(found.log + math.log(3.0))


def test_readings_of_bayes_factors():
    """Kass and Raftery (1995), on the scale of log K: 1, 3 and 5."""
    readings = [evaluation.bayes_factor(log, 0.0).reading for log in (0.5, 2.0, 4.0, -6.0)]
    assert readings == ["not worth more than a bare mention", "positive", "strong", "very strong"]
    assert [evaluation.bayes_factor(log, 0.0).favours for log in (1.0, -1.0, 0.0)] == ["first", "second", "neither"]


@given(st.lists(LOGS, min_size=1, max_size=6), st.data())
def test_the_posterior_over_models_sums_to_one(logs, data):
    """S0-340: proportional to evidence times prior."""
    masses = data.draw(st.lists(st.floats(0.1, 10.0), min_size=len(logs), max_size=len(logs)))
    names = [f"m{index}" for index in range(len(logs))]
    found = evaluation.model_posterior(dict(zip(names, logs, strict=True)), dict(zip(names, masses, strict=True)))
    assert sum(found.values()) == pytest.approx(1.0, abs=1e-12)
    weights = [mass * math.exp(log - max(logs)) for mass, log in zip(masses, logs, strict=True)]
    np.testing.assert_allclose(list(found.values()), np.array(weights) / sum(weights), rtol=1e-9, atol=1e-300)


@given(st.lists(st.floats(0.01, 1.0), min_size=2, max_size=8))
def test_code_lengths_are_minus_log2(masses):
    """S4-020: the mean code length is the entropy in bits, and rounded up lengths satisfy Kraft's inequality."""
    shares = np.array(masses) / sum(masses)
    bits = np.array([evaluation.description_length(math.log(share)) for share in shares])
    np.testing.assert_allclose(bits, -np.log2(shares), rtol=1e-12, atol=1e-12)
    assert shares @ bits == pytest.approx(jt.Categorical(shares).entropy() / math.log(2))
    assert (2.0 ** -np.ceil(bits - 1e-12)).sum() <= 1 + 1e-9
    assert evaluation.description_length(-2.0, -3.0) == pytest.approx(5.0 / math.log(2))


def simulate_draws(seed, num_draws=400, num_rows=25, width=0.2):
    rng = np.random.default_rng(seed)
    rows, draws = rng.normal(size=num_rows), width * rng.standard_t(4, size=(num_draws, 1))
    return -0.5 * (rows - draws) ** 2 - 0.5 * math.log(2 * math.pi)


@pytest.mark.parametrize("width", [0.2, 1.5])
def test_leave_one_out_is_that_of_arviz(width):
    """The score, the effective parameters and Pareto's k of each row, also where k is large."""
    stats = pytest.importorskip("arviz_stats.base")
    draws = simulate_draws(3, width=width)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = evaluation.psis_loo(draws.reshape(4, 100, -1))
        theirs = [stats.array_stats.loo(column.reshape(4, 100)) for column in draws.T]
    scores, shapes, effective = (np.array([row[part] for row in theirs]) for part in range(3))
    np.testing.assert_allclose(found.rows, scores, rtol=0, atol=1e-10)
    np.testing.assert_allclose(found.pareto_k, shapes, rtol=0, atol=1e-10)
    assert found.num_effective == pytest.approx(effective.sum(), abs=1e-8)
    assert found.value == pytest.approx(scores.sum(), abs=1e-9)
    assert found.num_unreliable == (shapes > 0.7).sum()


def test_unreliable_rows_are_reported():
    draws = simulate_draws(3, width=3.0)
    with pytest.warns(jt.errors.ApproximationWarning, match="Pareto k above"):
        found = evaluation.psis_loo(draws)
    assert found.num_unreliable > 0
    assert "unreliable" in repr(found)


def test_waic_by_its_definition():
    """log mean p(row | draw) - variance of log p(row | draw), and the standard error of the sum (Watanabe 2010)."""
    draws = simulate_draws(1)
    rows = [math.log(np.mean(np.exp(column))) - np.var(column, ddof=1) for column in draws.T]
    found = evaluation.waic(draws)
    np.testing.assert_allclose(found.rows, rows, rtol=1e-12)
    assert found.value == pytest.approx(sum(rows))
    assert found.standard_error == pytest.approx(math.sqrt(len(rows) * np.var(rows)))
    assert found.num_effective == pytest.approx(sum(np.var(column, ddof=1) for column in draws.T))


@pytest.mark.parametrize("given", [[0.0, 1.0], [[np.nan, 0.0], [0.0, 0.0]], [[-np.inf], [0.0]], np.zeros((0, 3))])
def test_draws_that_cannot_be_scored_are_refused(given):
    for score in (evaluation.waic, evaluation.psis_loo):
        with pytest.raises(jt.errors.InvalidData, match="draws"):
            score(given)


def test_priors_over_models_that_make_no_sense_are_refused():
    for prior in ({"a": 1.0}, {"a": 1.0, "c": 1.0}, {"a": -1.0, "b": 1.0}, {"a": 0.0, "b": 0.0}):
        with pytest.raises(jt.errors.InvalidData):
            evaluation.model_posterior({"a": -1.0, "b": -2.0}, prior)
    with pytest.raises(jt.errors.InvalidData, match="impossible under every model"):
        evaluation.model_posterior({"a": -math.inf, "b": -2.0}, {"a": 1.0, "b": 0.0})
