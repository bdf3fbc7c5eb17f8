"""The lower bound of EM: incremental and generalised steps never lower it, over a problem of every kind of model."""

from __future__ import annotations

import operator
from functools import reduce

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import juncture as jt
from juncture.learning.em.contract import Bounded, Divisible, Vectorized
from juncture.learning.em.expectation_maximization import em_steps
from juncture.numerics.iteration import has_fallen
from support.em_problems import PROBLEMS


def make_problem(kind):
    return PROBLEMS[kind](np.random.default_rng(0))[0]


SEEDS = st.integers(0, 10_000)
COSTLY = ("Gaussian graph", "Gaussian network", "hybrid network")
# of a state space the statistics are residuals of the model that expected them; others refuse blocks in a sentence
WITHOUT_BOUND = {"state space", *(kind for kind in PROBLEMS if not isinstance(make_problem(kind), Bounded))}
bounded = pytest.mark.parametrize("kind", [kind for kind in PROBLEMS if kind not in WITHOUT_BOUND])


class InBlocks:
    """A problem whose data come in the given blocks."""

    def __init__(self, problem, blocks):
        self.problem, self.data = problem, blocks

    def blocks(self):
        return self.data

    def __getattr__(self, name):
        return getattr(self.problem, name)


def make(kind, seed):
    problem, halves = PROBLEMS[kind](np.random.default_rng(seed))
    return problem, InBlocks(problem, halves)


@bounded
@given(seed=SEEDS)
def test_the_bound_touches_the_objective_and_lies_below_it_elsewhere(kind, seed):
    """S1-154, S1-157: F(q, θ) ≤ log p(x | θ) for the posterior q under another model, with equality under its own."""
    problem, _ = make(kind, seed)
    steps = em_steps(problem, problem.start())
    state = steps.init()
    own = problem.expected_log_joint(state.statistics, state.model)
    moved = steps.step(state)
    below = state.log_likelihood - own + problem.expected_log_joint(state.statistics, moved.model)
    assert below + problem.log_prior(moved.model) >= state.objective - 1e-8 * max(1.0, abs(state.objective))
    assert below <= moved.log_likelihood + 1e-8 * max(1.0, abs(moved.log_likelihood))


@pytest.mark.parametrize("kind", [kind for kind in PROBLEMS if kind not in {*WITHOUT_BOUND, *COSTLY}])
@given(seed=SEEDS)
def test_no_pass_of_incremental_em_lowers_the_bound(kind, seed):
    check_passes(kind, seed, 3)


@pytest.mark.parametrize("kind", COSTLY)
def test_no_pass_of_incremental_em_lowers_the_bound_where_passes_are_costly(kind):
    check_passes(kind, 5, 2)


def check_passes(kind, seed, number):
    """Neal and Hinton: the statistics of a block are replaced, and the bound stays below the log-likelihood."""
    _, problem = make(kind, seed)
    steps = em_steps(problem, problem.start(), num_blocks=2)
    state = steps.init()
    assert state.objective == pytest.approx(steps.expect(state.model).objective, rel=1e-9)
    for _ in range(number):
        moved = steps.step(state)
        assert len(moved.parts) == len(problem.blocks())
        assert not has_fallen(state.objective, moved.objective)
        assert not has_fallen(moved.objective, steps.expect(moved.model).objective)
        state = moved


@pytest.mark.parametrize("kind", ["network", "hidden Markov", "Markov chain", "mixture", "factors with holes"])
def test_incremental_em_ends_at_a_fixed_point_of_em(kind):
    _, problem = make(kind, 3)
    learner = jt.ExpectationMaximization(tolerance=1e-9, max_steps=5000, num_blocks=2)
    state, trace = learner.run_from(problem.start(), problem)
    assert trace.converged
    assert state.objective == pytest.approx(trace.values[-1], rel=1e-6, abs=1e-6)
    moved = em_steps(problem, state.model).step(state)
    assert moved.objective == pytest.approx(state.objective, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("kind", ["network", "hidden Markov", "mixture"])
@given(seed=SEEDS, number=st.integers(1, 50))
def test_pieces_of_the_data_give_the_expectations_of_the_whole(kind, seed, number):
    problem, _ = make(kind, seed)
    assert isinstance(problem, Divisible)
    start, (whole,) = problem.start(), problem.blocks()
    pieces = list(problem.divide(whole, number))
    assert 1 <= len(pieces) <= number
    found = reduce(operator.add, (problem.expect(start, piece) for piece in pieces))
    wanted = problem.expect(start, whole)
    assert found.log_likelihood == pytest.approx(wanted.log_likelihood, rel=1e-10)
    logs = [problem.expected_log_joint(each.statistics, start) for each in (found, wanted)]
    assert logs[0] == pytest.approx(logs[1], rel=1e-9)


@bounded
@given(seed=SEEDS)
def test_fishers_identity(kind, seed):
    """S0-067, S4-160: ∇ log p(x | θ) = E ∇ log p(x, z | θ), under the posterior of z, by finite differences."""
    problem, _ = make(kind, seed)
    if not isinstance(problem, Vectorized):
        return
    steps = em_steps(problem, problem.start())
    state = steps.step(steps.init())  # inside the space of parameters
    center = problem.to_vector(state.model)
    toward = problem.to_vector(steps.step(state).model) - center
    size = 1e-4 / max(1e-12, np.linalg.norm(toward))
    if np.linalg.norm(toward) < 1e-7:
        return
    ends = [problem.from_vector(center + sign * size * toward, state) for sign in (1, -1)]
    likelihoods = [steps.expect(model).log_likelihood for model in ends]
    joints = [problem.expected_log_joint(state.statistics, model) for model in ends]
    slopes = [(up - down) / 2e-4 for up, down in (likelihoods, joints)]
    assert slopes[0] == pytest.approx(slopes[1], rel=1e-3, abs=1e-3)


@pytest.mark.parametrize("kind", PROBLEMS)
def test_an_m_step_of_ones_own(kind):
    """S4-159: an M-step that gives the best model is EM; one that stays half of the time never lowers the objective."""
    problem, _ = make(kind, 4)
    start = problem.start()
    plain, _ = jt.ExpectationMaximization(tolerance=0.0, max_steps=3).run_from(start, problem)
    best = jt.ExpectationMaximization(tolerance=0.0, max_steps=3, m_step=lambda model, best, statistics: best)
    assert best.run_from(start, problem)[0].objective == plain.objective
    turns = iter(range(100))
    lazy = jt.ExpectationMaximization(
        tolerance=0.0, max_steps=6, m_step=lambda model, best, statistics: best if next(turns) % 2 else model
    )
    state, trace = lazy.run_from(start, problem)
    assert trace.num_steps <= 6
    assert not has_fallen(trace.values[0], state.objective)


def test_state_spaces_are_not_incremental():
    problem, _ = make("state space", 0)
    assert not isinstance(problem, Bounded)
    with pytest.raises(jt.JunctureError, match="EM of state spaces is not incremental"):
        jt.ExpectationMaximization(num_blocks=2).run(problem)


def test_an_m_step_that_lowers_the_objective_is_an_error():
    rows = np.array([0.0, 0.1, 5.0, 5.2])
    start = jt.Mixture([0.5, 0.5], [jt.Gaussian(0.0, 1.0), jt.Gaussian(5.0, 1.0)])
    away = jt.Mixture([0.5, 0.5], [jt.Gaussian(50.0, 1.0), jt.Gaussian(60.0, 1.0)])
    worse = jt.ExpectationMaximization(m_step=lambda model, best, statistics: away)
    with pytest.raises(jt.JunctureError, match="lowered the objective"):
        jt.fit(start, rows, method=worse)
    other = jt.ExpectationMaximization(m_step=lambda model, best, statistics: best.weights)
    with pytest.raises(jt.JunctureError, match="what m_step returns must be a Mixture"):
        jt.fit(start, rows, method=other)


@pytest.mark.parametrize("options", [{"num_blocks": 2}, {"m_step": max}])
def test_acceleration_goes_alone(options):
    with pytest.raises(jt.JunctureError, match="extrapolates whole steps"):
        jt.ExpectationMaximization(acceleration="squarem", **options)


def test_blocks_and_m_steps_are_checked():
    with pytest.raises(jt.JunctureError, match="num_blocks"):
        jt.ExpectationMaximization(num_blocks=0)
    with pytest.raises(jt.JunctureError, match="m_step is a function"):
        jt.ExpectationMaximization(m_step="best")


@pytest.mark.parametrize(
    ("start", "first", "limit", "log_prob"),
    [
        (1.0, 1.40264931968, 1.4340402974, -1.11439904853),
        (2.0, 1.931338, 1.4340402974, -1.11439904853),
        (2.2, 2.389246, 2.7470546373, -1.26498427253),
        (5.0, 2.75, 2.7470546373, -1.26498427253),
    ],
)
def test_problem_5_2(start, first, limit, log_prob):
    """S4-185, S4-186: one observation 2.75 of N(kθ, ½), k = 1 or 2, each at ½ each; EM ends at either maximum."""

    def tied(theta):
        return jt.Mixture([0.5, 0.5], [jt.Gaussian(theta, 0.5), jt.Gaussian(2 * theta, 0.5)])

    def m_step(model, best, statistics):
        share = statistics.counts[1]
        return tied(2.75 * (1 + share) / (1 + 3 * share))

    once = jt.ExpectationMaximization(max_steps=1, tolerance=1e9, m_step=m_step)
    assert jt.fit(tied(start), [2.75], method=once).model[0].mean == pytest.approx(first, abs=1e-6)
    found = jt.fit(tied(start), [2.75], method=jt.ExpectationMaximization(1e-15, 10_000, m_step=m_step))
    assert found.model[0].mean == pytest.approx(limit, abs=1e-6)
    assert found.log_likelihood == pytest.approx(log_prob, abs=1e-11)
    assert (np.diff(found.trace.values) >= -1e-15).all()
    steps = jt.fit(tied(start), [2.75], method=jt.ExpectationMaximization(1e-15, 10_000, m_step=m_step, history=True))
    means = [model[0].mean for model in steps.history]
    assert (means[0], means[1], means[-1]) == pytest.approx((start, first, limit), abs=1e-6)
    assert [jt.log_prob(model, 2.75) for model in steps.history] == pytest.approx(list(steps.trace.values), rel=1e-12)


def test_complete_rows_take_an_m_step_of_ones_own_too():
    """A table that may not fall below 0.2 anywhere, from complete rows; and labelled steps of a hidden Markov model."""
    coin = jt.Variable("coin", 2)
    network = jt.BayesianNetwork([jt.Conditional(coin, [], [0.5, 0.5])])

    def clipped(model, best, statistics):
        values = np.clip(best["coin"].values, 0.2, 0.8)
        return jt.BayesianNetwork([jt.Conditional(coin, [], values)])

    learner = jt.ExpectationMaximization(m_step=clipped)
    assert jt.fit(network, {"coin": [0] * 19 + [1]}, method=learner).model["coin"].values[1] == pytest.approx(0.2)
    hmm = jt.HiddenMarkovModel([0.5, 0.5], [[0.5, 0.5], [0.5, 0.5]], [jt.Gaussian(0.0, 1.0), jt.Gaussian(3.0, 1.0)])
    stay = jt.ExpectationMaximization(m_step=lambda model, best, statistics: model)
    assert jt.fit(hmm, jt.Sequence([0.1, 3.1, 3.0], states=[0, 1, 1]), method=stay).model == hmm
