"""Baum-Welch: what it expects, that it rises for every kind of emission, and what it must come down to."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import juncture as jt
from juncture.base.notes import NO_NOTES
from juncture.components.gaussian import GaussianEmissions
from juncture.learning.em import steps
from juncture.sequences.hidden_markov.fit import expect_statistics
from juncture.sequences.hidden_markov.model import HiddenMarkovModel
from juncture.sequences.hidden_markov.options import HiddenMarkovPrior
from support.emission_examples import (
    CAN_MISS_IN_PART,
    EMISSIONS,
    PRIORS,
    random_hidden_markov,
    some_sequences,
    walk,
)
from support.hidden_markov_oracles import assert_rises, beliefs_by_enumeration, calmly, expected_slowly, few

SEEDS = st.integers(0, 2**32 - 1)
KINDS = list(EMISSIONS)


@pytest.fixture
def _every_step_counts(monkeypatch):
    """Steps that lower the objective are not taken back, so that the loop itself refuses them."""
    monkeypatch.setattr(steps, "has_fallen", lambda old, new: False)


# --- expected statistics -------------------------------------------------------------------------------------------


@given(seed=SEEDS, kind=st.sampled_from(["categorical", "gaussian numbers"]))
def test_expected_statistics_against_every_path(seed, kind):
    """S4-199, S1-134, S1-140, S0-250: with zeros, missing steps, labelled states, weights; and of no or one step."""
    rng = np.random.default_rng(seed)
    hmm = random_hidden_markov(rng, kind, zeros=0.3)
    data = hmm.sequences(some_sequences(hmm, rng, lengths=(4, 0, 1, 5), share=0.2, labels=0.2))
    found, slow = expect_statistics(hmm, data), expected_slowly(hmm, data, beliefs_by_enumeration)
    assert found.log_evidence == pytest.approx(slow.log_evidence, abs=1e-9)
    assert found.initial == pytest.approx(slow.initial, abs=1e-10)
    assert found.transitions == pytest.approx(slow.transitions, abs=1e-10)
    assert found.emissions.weight == pytest.approx(slow.emissions.weight, abs=1e-10)


@pytest.mark.parametrize("seed", range(5))
def test_one_step_is_that_of_the_textbook(seed):
    """S1-136, S1-137, S0-253: from every path's weight, by hand; sums over sequences above and below the line."""
    rng = np.random.default_rng(seed)
    hmm = random_hidden_markov(rng, "gaussian numbers")
    parts = [walk(hmm, length, rng)[1] for length in (5, 4)]
    beliefs = [beliefs_by_enumeration(hmm, part) for part in hmm.sequences(parts)]
    moves = sum(moved for _, _, moved in beliefs)
    shares, rows = np.concatenate([smoothed for _, smoothed, _ in beliefs]), np.concatenate(parts)
    means = shares.T @ rows / shares.sum(axis=0)
    found = calmly(jt.fit, hmm, parts, method=few(1), rng=0).model
    assert found.initial == pytest.approx((beliefs[0][1][0] + beliefs[1][1][0]) / 2)
    assert found.transition == pytest.approx(moves / moves.sum(axis=1, keepdims=True))
    visited = shares.sum(axis=0) > 1e-6
    assert found.emissions.mean[visited] == pytest.approx(means[visited])
    variances = (shares * (rows[:, None] - means) ** 2).sum(axis=0) / shares.sum(axis=0)
    assert found.emissions.covariance[visited] == pytest.approx(variances[visited], rel=1e-5)


def expected_complete(model, smoothed, moves, rows):
    """Q: what the paths' weights expect of the complete log-likelihood."""
    begun = smoothed[0] @ np.log(model.initial)
    return begun + (moves * np.log(model.transition)).sum() + (smoothed * model.emissions.log_prob(rows)).sum()


@pytest.mark.parametrize("kind", ["categorical", "gaussian numbers", "full", "poisson", "exponential", "laplace"])
def test_a_step_maximises_the_expected_complete_likelihood(kind):
    """S1-135, S0-252: no other model has a larger Q, and Q is what enumeration says."""
    rng = np.random.default_rng(KINDS.index(kind))
    hmm = random_hidden_markov(rng, kind)
    rows = walk(hmm, 6, rng)[1]
    _, smoothed, moves = beliefs_by_enumeration(hmm, hmm.sequences([rows]))
    found = calmly(jt.fit, hmm, [rows], prior=1e-9, method=few(1), rng=0).model
    best = expected_complete(found, smoothed, moves, rows)
    for _ in range(30):
        assert expected_complete(random_hidden_markov(rng, kind), smoothed, moves, rows) <= best + 1e-6
    assert expected_complete(hmm, smoothed, moves, rows) <= best + 1e-6


# --- the objective never falls -------------------------------------------------------------------------------------


@pytest.mark.usefixtures("_every_step_counts")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(3))
def test_every_step_raises_the_likelihood(kind, seed):
    """S0-253, S1-141: whatever the emissions, with zeros in the tables and states labelled here and there."""
    rng = np.random.default_rng([seed, KINDS.index(kind)])
    hmm = random_hidden_markov(rng, kind, zeros=0.2)
    data = some_sequences(hmm, rng, lengths=(25, 0, 1, 15), labels=0.1 * (seed == 2))
    start = HiddenMarkovModel(hmm.initial, hmm.transition, random_hidden_markov(rng, kind).emissions)
    fitted = calmly(jt.fit, start, data, method=few(12), rng=0)
    assert_rises(fitted.trace)
    assert fitted.trace.values[-1] > fitted.trace.values[0]
    slow = expected_slowly(fitted.model, hmm.sequences(data))
    weights = [part.weight for part in data]
    assert fitted.log_likelihood == pytest.approx(weights @ slow.log_evidence, rel=1e-9)


@pytest.mark.usefixtures("_every_step_counts")
@pytest.mark.parametrize("kind", sorted(CAN_MISS_IN_PART))
def test_every_step_raises_the_likelihood_of_what_was_seen(kind):
    """Vectors of which parts are missing: what is missing is expected too."""
    rng = np.random.default_rng(KINDS.index(kind))
    hmm = random_hidden_markov(rng, kind)
    data = some_sequences(hmm, rng, lengths=(30, 20), share=0.3, in_part=True)
    assert_rises(calmly(jt.fit, hmm, data, method=few(10), rng=0).trace)


@pytest.mark.usefixtures("_every_step_counts")
@pytest.mark.parametrize("kind", sorted(PRIORS))
@pytest.mark.parametrize("seed", range(2))
def test_every_step_raises_the_likelihood_with_a_prior(kind, seed):
    """MAP: the objective is the log-likelihood plus the log prior, which no step lowers."""
    rng = np.random.default_rng([seed, KINDS.index(kind)])
    hmm = random_hidden_markov(rng, kind, zeros=0.2)
    data = some_sequences(hmm, rng, lengths=(12, 0, 1), share=0.1)
    prior = HiddenMarkovPrior(jt.Dirichlet([2.0, 1.0, 1.5]), 0.7, PRIORS[kind])
    fitted = calmly(jt.fit, random_hidden_markov(rng, kind), data, prior=prior, method=few(12))
    assert_rises(fitted.trace)
    assert fitted.trace.values[-1] != fitted.log_likelihood


@given(seed=SEEDS, kind=st.sampled_from(KINDS))
def test_whatever_is_wished_is_finite_and_rises(seed, kind):
    """Few steps, holes, labels, zeros, shared and kept parts, all starts: numbers come out, or a sentence."""
    rng = np.random.default_rng(seed)
    size = int(rng.integers(1, 5))
    hmm = random_hidden_markov(rng, kind, size, zeros=rng.choice([0.0, 0.3]))
    data = some_sequences(hmm, rng, lengths=rng.integers(0, 20, 3), share=rng.choice([0.0, 0.3]), labels=0.2)
    options = {
        "prior": rng.choice([None, 0.5]),
        "fixed": [name for name in ("initial", "transition", "emissions") if rng.random() < 0.2],
        "tied": {name: rng.integers(2, size=size) for name in ("transition", "emissions") if rng.random() < 0.2},
        "start": str(rng.choice(["given", "random", "k-means", "left-to-right"])),
        "on_unvisited": str(rng.choice(["hold", "reseed"])),
    }
    method = jt.ExpectationMaximization(max_steps=5, restarts=1, acceleration=rng.choice([None, "squarem"]))
    try:
        fitted = calmly(jt.fit, hmm, data, **options, method=method, rng=rng)
    except (jt.errors.InvalidData, jt.errors.Unsupported, jt.ImpossibleEvidence):
        return
    assert_rises(fitted.trace)
    assert fitted.log_likelihood == pytest.approx(
        np.array([part.weight for part in data]) @ expected_slowly(fitted.model, hmm.sequences(data)).log_evidence
    )


@given(seed=SEEDS)
def test_leaps_never_lower_the_likelihood(seed):
    rng = np.random.default_rng(seed)
    hmm = random_hidden_markov(rng, "categorical", zeros=0.2)
    data = some_sequences(hmm, rng)
    start = random_hidden_markov(rng, "categorical")
    plain = calmly(jt.fit, start, data, method=few(10), rng=0)
    method = jt.ExpectationMaximization(max_steps=5, tolerance=0.0, acceleration="squarem")
    leaping = calmly(jt.fit, start, data, method=method, fixed=["initial"], rng=0)
    assert_rises(leaping.trace)
    assert np.array_equal(leaping.model.initial, start.initial)
    assert plain.trace.num_steps <= 10


def test_a_law_that_would_be_worse_stays_where_it_was(monkeypatch):
    """Rounding may make it so at the floor of covariances: the objective must not fall."""
    rng = np.random.default_rng(1)
    hmm = random_hidden_markov(rng, "gaussian numbers")
    worse = GaussianEmissions(hmm.emissions.mean + 3.0, hmm.emissions.covariance)
    answer = (worse, NO_NOTES)
    monkeypatch.setattr(GaussianEmissions, "estimate_with_notes", lambda self, statistics, prior=None: answer)
    fitted = calmly(jt.fit, hmm, some_sequences(hmm, rng), method=few(4))
    assert_rises(fitted.trace)
    assert fitted.model.emissions == hmm.emissions
    assert not np.allclose(fitted.model.transition, hmm.transition)


UNITS = {"full": [np.eye(2)] * 2, "diagonal": np.ones((2, 2)), "spherical": np.ones(2), "tied": np.eye(2)}
POINTS = [[0.0, 0.0]] * 4 + [[5.0, 5.0]] * 3 + [[0.0, np.nan], [np.nan, 5.0], [1.0, 2.0], [7.0, 5.0]]


@pytest.mark.usefixtures("_every_step_counts")
@pytest.mark.parametrize("structure", UNITS)
@pytest.mark.parametrize("width", [1.0, 1e-5, 1e-8])
def test_no_step_loses_at_the_floor_of_variances(structure, width):
    """Also from variances below it, and where holes let the data's own variance move from step to step."""
    emissions = GaussianEmissions([[0, 0], [5, 5]], width * np.array(UNITS[structure]), structure)
    hmm = HiddenMarkovModel([0.5, 0.5], [[0.6, 0.4], [0.3, 0.7]], emissions)
    fitted = calmly(jt.fit, hmm, [POINTS, POINTS[::-1]], method=few(30), rng=0)
    assert_rises(fitted.trace)


@pytest.mark.usefixtures("_every_step_counts")
def test_no_step_loses_where_only_some_states_are_gaussian():
    """Then the floor is of the data that these believe to be theirs."""
    numbers = [0.0, 0.0, 0.0, 1e-3, 4.0, 9.0, 0.0, 0.0, 30.0, 2.0, 0.0]
    hmm = HiddenMarkovModel([0.5, 0.5], [[0.6, 0.4], [0.3, 0.7]], [jt.Gaussian(0.0, 1.0), jt.Laplace(3.0, 2.0)])
    assert_rises(calmly(jt.fit, hmm, [numbers, numbers[::-1]], method=few(30), rng=0).trace)


def test_a_variance_at_the_floor_is_told_of_once():
    data = [0.0] * 8 + [5.0, 6.0, 7.0, 5.5, 6.5, 7.5] + [0.0] * 8
    hmm = HiddenMarkovModel([0.5, 0.5], [[0.8, 0.2], [0.2, 0.8]], jt.Gaussian([0.0, 6.0], [1.0, 1.0]))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        jt.fit(hmm, data)
    regularized = [each for each in caught if issubclass(each.category, jt.errors.RegularizedWarning)]
    assert len(regularized) == 1
    assert "the variance of state 0" in str(regularized[0].message)
    assert regularized[0].filename == __file__


# --- what it comes down to -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in {"mixture", "shared"}])
def test_one_state_is_plain_estimation(kind):
    """S0-253, S1-141: K = 1 reduces to the maximum likelihood of independent observations, in one step."""
    rng = np.random.default_rng(5)
    hmm = random_hidden_markov(rng, kind, num_states=1)
    data = [walk(hmm, length, rng)[1] for length in (20, 1, 30)]
    fitted = calmly(jt.fit, random_hidden_markov(rng, kind, num_states=1), data, method=few(5))
    rows = np.concatenate(data)
    plain = hmm.emissions.estimate(hmm.emissions.statistics(rows, np.ones((len(rows), 1))))
    assert fitted.log_likelihood == pytest.approx(float(plain.log_prob(rows).sum()), rel=1e-9)
    assert fitted.model.transition == pytest.approx(1.0)


def test_one_gaussian_state_has_the_mean_and_covariance_of_the_data():
    """S1-137, S1-141."""
    rows = np.random.default_rng(0).normal(size=(40, 3)) @ np.array([[1.0, 0.5, 0], [0, 1, 0.2], [0, 0, 2]]) + 5
    hmm = HiddenMarkovModel([1.0], [[1.0]], GaussianEmissions(np.zeros((1, 3)), np.eye(3)[None], "full"))
    fitted = jt.fit(hmm, rows)
    assert fitted.model.emissions.mean[0] == pytest.approx(rows.mean(axis=0))
    assert fitted.model.emissions.covariance[0] == pytest.approx(np.cov(rows.T, bias=True))


def test_rows_all_equal_to_initial_are_a_mixture():
    """S0-253, S1-141: with transition rows = initial the states are independent; EM is that of a mixture."""
    rng = np.random.default_rng(1)
    rows = np.concatenate([rng.normal(-2, 1, 60), rng.normal(2, 0.5, 40)])
    rng.shuffle(rows)
    weights, distributions = np.array([0.3, 0.7]), jt.Gaussian([-1.0, 1.0], [1.0, 1.0])
    for _ in range(8):  # EM of a mixture, by hand
        joint = weights * np.exp(distributions.log_prob(rows[:, None]))
        shares = joint / joint.sum(axis=1, keepdims=True)
        weights = shares.mean(axis=0)
        distributions = jt.Gaussian.estimate(jt.Gaussian.statistics(rows, shares))
    start = HiddenMarkovModel([0.3, 0.7], [[0.3, 0.7]] * 2, jt.Gaussian([-1.0, 1.0], [1.0, 1.0]))
    fitted = calmly(jt.fit, start, [[row] for row in rows], method=few(8), rng=0)  # sequences of one step
    assert fitted.model.initial == pytest.approx(weights)
    assert fitted.model.emissions.mean == pytest.approx(distributions.mean)
    assert fitted.model.emissions.covariance == pytest.approx(distributions.variance)


def test_long_sequences_give_the_model_back():
    """S1-133: up to the order of the states."""
    rng = np.random.default_rng(2)
    truth = HiddenMarkovModel(
        [0.2, 0.3, 0.5],
        [[0.8, 0.15, 0.05], [0.1, 0.7, 0.2], [0.25, 0.05, 0.7]],
        jt.Gaussian([-4.0, 0.0, 4.0], [1.0, 0.5, 2.0]),
    )
    data = [walk(truth, 2000, rng)[1] for _ in range(4)]
    start = HiddenMarkovModel(truth.initial, np.full((3, 3), 1 / 3), jt.Gaussian([2.0, -1.0, 0.5], [4.0, 4.0, 4.0]))
    found = jt.fit(start, data, fixed=["initial"]).model
    order = np.argsort(found.emissions.mean)
    assert found.emissions.mean[order] == pytest.approx([-4.0, 0.0, 4.0], abs=0.1)
    assert found.emissions.covariance[order] == pytest.approx([1.0, 0.5, 2.0], abs=0.15)
    assert found.transition[order][:, order] == pytest.approx(truth.transition, abs=0.03)
