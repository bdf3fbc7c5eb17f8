"""Laws of EM, over a problem of every kind of model."""

from __future__ import annotations

import operator
import warnings
from functools import reduce

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import juncture as jt
from juncture.learning.em.contract import Bounded, Vectorized
from juncture.learning.em.expectation_maximization import em_steps
from juncture.numerics.iteration import has_fallen
from support.em_problems import PROBLEMS

SEEDS = st.integers(0, 10_000)
kinds = pytest.mark.parametrize("kind", PROBLEMS)


def make(kind, seed):
    return PROBLEMS[kind](np.random.default_rng(seed))


@kinds
@given(seed=SEEDS)
def test_two_blocks_give_the_expectations_of_one(kind, seed):
    """The next model and the objective are those of one block: statistics and log-likelihoods add."""
    problem, halves = make(kind, seed)
    start = problem.start()
    whole = reduce(operator.add, (problem.expect(start, block) for block in problem.blocks()))
    both = reduce(operator.add, (problem.expect(start, block) for block in halves))
    assert both.log_likelihood == pytest.approx(whole.log_likelihood, rel=1e-10, abs=1e-10)
    steps = em_steps(problem, start)
    found = [steps.expect(problem.maximize(each.statistics, start)) for each in (whole, both)]
    assert found[1].objective == pytest.approx(found[0].objective, rel=1e-7, abs=1e-7)


@kinds
@given(seed=SEEDS)
def test_no_step_lowers_the_objective(kind, seed):
    problem, _ = make(kind, seed)
    steps = em_steps(problem, problem.start())
    state = steps.init()
    for _ in range(5):
        moved = steps.step(state)
        assert not has_fallen(state.objective, moved.objective)
        state = moved


@kinds
@given(seed=SEEDS)
def test_the_objective_is_the_log_likelihood_and_the_log_prior(kind, seed):
    problem, _ = make(kind, seed)
    state = em_steps(problem, problem.start()).init()
    assert state.objective == pytest.approx(state.log_likelihood + problem.log_prior(state.model), rel=1e-12)


@kinds
def test_squarem_ends_no_lower(kind):
    problem, _ = make(kind, 1)
    plain, _ = jt.ExpectationMaximization(tolerance=1e-10).run_from(problem.start(), problem)
    if not isinstance(problem, Vectorized):
        with pytest.raises(jt.JunctureError, match="not accelerated"):
            jt.ExpectationMaximization(acceleration="squarem").run_from(problem.start(), problem)
        return
    fast, trace = jt.ExpectationMaximization(tolerance=1e-10, acceleration="squarem").run_from(problem.start(), problem)
    assert trace.converged
    assert fast.objective >= plain.objective - 1e-4 * max(1.0, abs(plain.objective))


@kinds
@given(seed=SEEDS)
def test_vectors_lead_back_to_their_model(kind, seed):
    problem, _ = make(kind, seed)
    if isinstance(problem, Vectorized):
        state = em_steps(problem, problem.start()).init()
        again = problem.from_vector(problem.to_vector(state.model), state)
        assert problem.to_vector(again) == pytest.approx(problem.to_vector(state.model), rel=1e-12, abs=1e-15)


@kinds
def test_ctrl_c_keeps_the_best_so_far(kind):
    problem, _ = make(kind, 2)

    def interrupt(step, objective):
        if step == 2:
            raise KeyboardInterrupt

    learner = jt.ExpectationMaximization(tolerance=0.0, max_steps=50, restarts=3)
    with pytest.warns(jt.errors.NotConvergedWarning, match="interrupted"):
        state, trace = learner.run(problem, interrupt)
    assert trace.is_interrupted
    assert state.objective >= trace.values[0]


@kinds
def test_the_kept_models_have_the_objectives_of_the_trace(kind):
    """S4-185: of the start and of each step, from plain, accelerated and incremental EM."""
    problem, _ = make(kind, 3)
    options = [{}, *[{"acceleration": "squarem"}] * isinstance(problem, Vectorized)]
    options += [{"num_blocks": 2}] * isinstance(problem, Bounded)
    for each in options:
        _, trace = jt.ExpectationMaximization(max_steps=3, history=True, **each).run_from(problem.start(), problem)
        assert len(trace.models) == len(trace.values) >= 2
        again = [em_steps(problem, model).init().objective for model in trace.models]
        if "num_blocks" in each:  # the bound that incremental EM raises is below the objective of the model
            assert all(high >= low - 1e-9 * abs(low) for high, low in zip(again, trace.values, strict=True))
            continue
        assert again == pytest.approx(list(trace.values), rel=1e-12)


def test_a_problem_5_1_by_its_steps():
    """S4-185: Σ = 10 I, means that are rows: the log-likelihood of each kept model is that of the trace."""
    rng = np.random.default_rng(0)
    rows = np.concatenate([2 * rng.normal(size=(60, 3)), rng.normal([4.0, 3.0, 0.0], size=(40, 3))])
    start = jt.Mixture([0.5, 0.5], [jt.MultivariateGaussian(rows[at], 10 * np.eye(3)) for at in (3, 80)])
    fitted = jt.fit(start, dict(zip("xyz", rows.T, strict=True)), history=True)
    assert fitted.history[0].components == start.components
    assert fitted.history[-1] == fitted.model
    assert {model.feature_names for model in fitted.history} == {("x", "y", "z")}
    kept = [float(np.sum(model.log_prob(rows))) for model in fitted.history]
    assert kept == pytest.approx(list(fitted.trace.values), rel=1e-12)
    with pytest.raises(jt.JunctureError, match="kept no models"):
        _ = jt.fit(start, rows).history


def test_restarts_keep_the_steps_of_the_best_start():
    rows = np.concatenate([np.random.default_rng(seed).normal(4 * seed, 1.0, 40) for seed in range(3)])
    start = jt.Mixture([0.2, 0.3, 0.5], jt.Gaussian([0.0, 0.1, 0.2], 1.0))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", jt.errors.NotConvergedWarning)
        fitted = jt.fit(start, rows, restarts=3, max_steps=30, history=True, rng=0)
    kept = [float(np.sum(model.log_prob(rows))) for model in fitted.history]
    assert kept == pytest.approx(list(fitted.trace.values), rel=1e-12)


def test_complete_rows_are_learned_without_steps():
    fitted = jt.fit(jt.DirectedGraph.parse("a -> b"), {"a": [0, 1, 1], "b": [0, 1, 0]}, history=True)
    assert fitted.history == (fitted.model,)


def test_an_engine_that_draws_runs_the_model_of_each_step():
    """The E-step of EM by Gibbs sampling: from a start far away it ends within a standard error of the maximum.

    A parameter that is off by its standard error costs half a unit of log-likelihood.
    """
    fuel = jt.example("fuel")
    columns = jt.sample(fuel, 40, rng=1).to_dict()
    rows = [
        {**{name: columns[name][row] for name in "FG"}, "B": columns["B"][row] if row % 2 else None}
        for row in range(40)
    ]
    start = fuel.with_conditional(jt.Conditional(fuel.variable("B"), [], [0.99, 0.01]))
    best = jt.fit(start, rows)
    engine = jt.Gibbs(draws=50, chains=2, warmup=5)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", jt.errors.NotConvergedWarning)  # of the chains
        fits = [jt.fit(start, rows, engine=engine, rng=seed) for seed in (3, 3)]
    assert jt.log_prob(start, rows).sum() < best.log_likelihood - 5.0
    for found in fits:
        assert found.trace.converged
        assert jt.log_prob(found.model, rows).sum() > best.log_likelihood - 0.5
    assert fits[0].model == fits[1].model
