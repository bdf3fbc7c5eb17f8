"""Laws of plans, over all engines: a plan knows structure, a run knows numbers."""

from __future__ import annotations

import warnings
from functools import cache

import numpy as np
import pytest

import juncture as jt
from juncture.evidence import as_findings
from juncture.inference.engines.contract import BELIEFS, Query, Question
from juncture.inference.infer import METHODS, REAL_METHODS
from support.approximate_engines import ENGINES, MODELS, has_pairs, is_directed
from support.loops import loop_over
from support.zeros import PossibleCells

REAL = {
    "loopy": jt.LoopyBP(max_steps=500),
    "mean-field": jt.MeanField(),
    "likelihood-weighting": jt.LikelihoodWeighting(draws=300),
    "importance": jt.ImportanceSampling(draws=300),
}  # engines of METHODS that take real variables too
SETTINGS = {
    **{name: one.engine for name, one in ENGINES.items()},
    **{name: make() for name, make in METHODS.items() if name not in ENGINES},
    "possible cells": PossibleCells(),
    "prior": jt.ImportanceSampling(draws=300, proposal="prior"),
    "trees": jt.Gibbs(draws=50, chains=2, warmup=20, blocks="trees"),
}
DRAWN = {name for name, one in ENGINES.items() if one.draws} | {"prior", "trees"}
STRUCTURES = ("tree", "chain_with_zeros", "wide_factors", "asia", "noisy", "spins")


@pytest.fixture(autouse=True)
def _may_not_converge():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", jt.errors.NotConvergedWarning)
        yield


@cache
def other_numbers(name):
    """A small model of the same structure: no number is the same, and no table has a zero."""
    model, rng = MODELS[name].model, np.random.default_rng(5)
    if isinstance(model, jt.PairwiseNetwork):
        return jt.ising(model.shape, rng.normal(0.0, 0.4, model.num_edges), rng.normal(0.0, 0.3, model.shape))
    if isinstance(model, jt.BayesianNetwork):
        return jt.BayesianNetwork([other_conditional(part, rng) for part in model.conditionals])
    factors = [jt.Factor(part.scope, rng.random(part.scope.shape) + 0.05) for part in model.factors]
    return type(model)(factors, model.variables)


def other_conditional(part, rng):
    if isinstance(part, jt.NoisyOr):
        return jt.NoisyOr(part.child, part.parents, rng.random(len(part.parents)), leak=0.2)
    rows = rng.dirichlet(np.ones(part.child.num_states), size=part.parents.shape)
    return jt.Conditional(part.child, part.parents, rows)


def takes(name, model):
    """Whether an engine answers for a model; one that refuses names the reason."""
    if name in ENGINES:
        return ENGINES[name].takes(model)
    needed = {"max-flow": isinstance(model, jt.PairwiseNetwork), "trees": has_pairs(model), "prior": is_directed(model)}
    return needed.get(name, True)


def numbers_of(plan, model, row, questions):
    """All that the answers of a run say, as bytes; or why there are none."""
    findings = as_findings(row, model.variables)
    try:
        answers = plan.run(model, Query(findings, questions=questions, rng=np.random.default_rng(1)))
    except jt.errors.Unsupported as refusal:
        return str(refusal)
    if questions != BELIEFS:
        return [part.tobytes() for part in answers.best(model.variables.names, 1)]
    marginals = [answers.marginal((name,)).tobytes() for name in model.variables.names]
    return [*marginals, answers.log_evidence.tobytes(), repr(answers.diagnostics)]


@loop_over(
    "pair",
    {name: [(name, model) for model in STRUCTURES if takes(name, MODELS[model].model)] for name in SETTINGS},
)
def test_a_plan_of_one_model_answers_for_another_as_its_own_plan_does(pair):
    """Compiled for A and run on B, and the other way round: bit for bit what a plan for the model that is run gives."""
    name, model = pair
    engine, one, other, row = SETTINGS[name], MODELS[model].model, other_numbers(model), MODELS[model].rows[-1]
    questions = BELIEFS if engine.answers >= BELIEFS else frozenset({Question.MODE})
    for compiled, run in ((one, other), (other, one)):
        observed = as_findings(row, run.variables).names
        plans = (engine.compile(each, observed, each.variables.names) for each in (compiled, run))
        borrowed, own = (numbers_of(plan, run, row, questions) for plan in plans)
        assert borrowed == own


def real_model(seed):
    """Numbers that depend on each other and on a state; without the state for engines of Gaussians alone."""
    rng = np.random.default_rng(seed)
    k, x, y, z = jt.Variable("k", 2), *(jt.Variable(name) for name in "xyz")
    gaussian = [
        jt.LinearGaussian(x, [], [], rng.normal(), 1.0 + rng.random()),
        jt.LinearGaussian(y, [x], [rng.normal()], rng.normal(), 1.0 + rng.random()),
        jt.LinearGaussian(z, [x, y], rng.normal(size=2), rng.normal(), 1.0 + rng.random()),
    ]
    mixed = [
        jt.Conditional(k, [], rng.dirichlet([1.0, 1.0])),
        jt.LinearGaussian(x, [k], [[], []], rng.normal(size=2), 1.0 + rng.random(2)),
        *gaussian[1:],
    ]
    return {"gaussian": jt.BayesianNetwork(gaussian), "mixed": jt.BayesianNetwork(mixed)}


@pytest.mark.parametrize(
    ("method", "kind"),
    [(method, "gaussian") for method in (*REAL_METHODS, *REAL)]
    + [(method, "mixed") for method in ("strong-junction-tree", "likelihood-weighting", "importance")],
)
def test_a_plan_for_real_variables_answers_for_another_model(method, kind):
    engine = REAL[method] if method in REAL else REAL_METHODS[method]()
    one, other, row = real_model(1)[kind], real_model(2)[kind], {"z": 0.7}
    rng = {"rng": 3} if method in ("likelihood-weighting", "importance") else {}
    found = jt.compile(one, observed=["z"], method=engine).run(other, row, **rng)
    known = jt.infer(other, row, method=engine, **rng)
    assert found.log_evidence == pytest.approx(known.log_evidence, rel=1e-13)
    for name in other.variables.names:
        mine, theirs = (beliefs.to_dict()[name] for beliefs in (found, known))
        assert list(mine.values()) == pytest.approx(list(theirs.values()), rel=1e-13)


TAKE_ASIA = [
    name
    for name, one in SETTINGS.items()
    if one.answers >= BELIEFS and takes(name, MODELS["asia"].model) and name != "mean-field clusters"  # of x0, x1, x2
]


@pytest.mark.parametrize("method", TAKE_ASIA)
def test_a_plan_for_some_targets_answers_as_infer_does_of_the_part_that_they_need(method):
    """The part leaves variables out from among the others, so that each finding has to find its variable again."""
    one, other, engine = other_numbers("asia"), jt.example("asia"), SETTINGS[method]
    for row in ({"xray": "yes"}, {"xray": [0.3, 0.9]}):
        plan = jt.compile(one, observed=["xray"], targets=["either", "lung"], method=engine)
        part = jt.BayesianNetwork([other[name] for name in plan.variables])
        assert set(part.variables.names) < set(other.variables.names)
        rng = {"rng": 4} if engine.draws_at_random else {}
        found = plan.run(other, row, **rng)
        known = jt.infer(part, row, targets=["either", "lung"], method=engine, **rng)
        for name in ("either", "lung"):
            assert found[name].values == pytest.approx(known[name].values, abs=1e-13)
        assert found.log_evidence == pytest.approx(known.log_evidence, abs=1e-12)
