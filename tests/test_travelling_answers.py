"""Every answer travels: copied, or pickled for another process, it is equal by content; over all engines and kinds."""

from __future__ import annotations

import copy
import pickle
import warnings

import numpy as np
import pytest

import juncture as jt
from juncture.inference.engines.contract import BELIEFS, Question
from juncture.inference.infer import METHODS, REAL_METHODS
from support.approximate_engines import ENGINES, MODELS
from support.loops import loop_over
from support.model_kinds import KINDS

TRAVELS = [copy.copy, copy.deepcopy, lambda value: pickle.loads(pickle.dumps(value))]  # noqa: S301
try:
    import cloudpickle
except ImportError:
    pass  # what pickles by name is pickled by value as well
else:
    TRAVELS.append(lambda value: cloudpickle.loads(cloudpickle.dumps(value)))
STRUCTURES = ("chain_with_zeros", "asia", "noisy", "spins")
SETTINGS = {
    **{name: (one.engine, one.takes, one.draws) for name, one in ENGINES.items()},
    **{
        name: (make(), lambda model: True, False)
        for name, make in METHODS.items()
        if name not in ENGINES and name != "max-flow"
    },
    "max-flow": (jt.messages.MaxFlow(), lambda model: isinstance(model, jt.PairwiseNetwork), False),
}


@pytest.fixture(autouse=True)
def _may_not_converge():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", jt.errors.NotConvergedWarning)
        warnings.simplefilter("ignore", jt.errors.ImpossibleEvidenceWarning)
        warnings.simplefilter("ignore", jt.errors.ApproximationWarning)
        yield


def check_travels(answer, other):
    """The answer is equal to its copies, and to no other answer."""
    for travel in TRAVELS:
        found = travel(answer)
        assert type(found) is type(answer)
        assert found == answer
        assert found != other
        assert repr(found) == repr(answer)
        if not isinstance(answer, list):
            assert hash(found) == hash(answer)


@loop_over(
    "pair",
    {
        name: [(name, model) for model in STRUCTURES if takes(MODELS[model].model)]
        for name, (engine, takes, _) in SETTINGS.items()
        if engine.answers >= BELIEFS
    },
)
def test_beliefs_of_every_engine(pair):
    name, model = pair
    (engine, _, draws), small = SETTINGS[name], MODELS[model]
    rng = {"rng": 0} if draws else {}
    one, other, many = (
        jt.infer(small.model, evidence, method=engine, **rng)
        for evidence in (small.rows[-1], small.rows[0], [small.rows[0], small.rows[-1]])
    )
    if model != "asia":  # else the copies compute it
        assert np.isfinite([one.log_evidence, *many.log_evidence]).all()
    check_travels(one, other)
    check_travels(many, one)
    pickled = TRAVELS[2](many)
    for name in small.model.variables.names:
        assert np.array_equal(pickled[name].values, many[name].values)


@pytest.mark.parametrize("name", [name for name, (engine, _, _) in SETTINGS.items() if Question.MODE in engine.answers])
def test_most_probable_assignments_of_every_engine(name):
    engine, takes, _ = SETTINGS[name]
    spins = jt.ising((2, 3), coupling=0.4, field=[[0.1, -0.2, 0.3], [0.0, -0.5, 0.2]])
    models = [spins, *(MODELS[model].model for model in ("triangle", "noisy") if takes(MODELS[model].model))]
    for model in models:
        labels = [(variable.name, label) for variable in model.variables[:1] for label in variable.labels]
        one, other = (jt.most_probable(model, {name: label}, method=engine) for name, label in labels[:2])
        many = jt.most_probable(model, [{}, {labels[0][0]: labels[0][1]}], method=engine)
        for travel in TRAVELS:
            assert travel(one) == one
            assert travel(one) != other
            assert travel(many) == many


@pytest.mark.parametrize(
    "name", [name for name, (engine, takes, _) in SETTINGS.items() if takes(MODELS["asia"].model) and "x0" not in name]
)
def test_plans_of_every_engine(name):
    (engine, _, draws), asia = SETTINGS[name], MODELS["asia"].model
    if not engine.answers >= BELIEFS:
        return
    plan = jt.compile(asia, observed=["xray"], method=engine)
    check_travels(plan, jt.compile(asia, observed=["xray"], targets=["lung"], method=engine))
    rng = {"rng": 2} if draws or name == "mean-field starts" else {}  # which draws where it starts
    known = plan.run(asia, {"xray": "yes"}, **rng)
    for travel in TRAVELS:
        assert travel(plan).run(asia, {"xray": "yes"}, **rng) == known


@pytest.mark.parametrize("method", [*REAL_METHODS, "loopy", "mean-field", "likelihood-weighting", "importance"])
def test_beliefs_about_real_variables(method):
    k, x, y = jt.Variable("k", 2), jt.Variable("x"), jt.Variable("y")
    line = jt.LinearGaussian(y, [x], [0.5], 1.0, 0.5)
    gaussian = jt.BayesianNetwork([jt.LinearGaussian(x, [], []), line])
    mixed = jt.BayesianNetwork(
        [jt.Conditional(k, [], [0.4, 0.6]), jt.LinearGaussian(x, [k], [[], []], [0.0, 2.0], [1.0, 0.5]), line]
    )
    takes_states = method in ("strong-junction-tree", "likelihood-weighting", "importance")
    rng = {"rng": 0} if method in ("likelihood-weighting", "importance") else {}
    for model in (gaussian, mixed) if takes_states else (gaussian,):
        one, other = (jt.infer(model, {"y": value}, method=method, **rng) for value in (0.3, 0.4))
        check_travels(one, other)
        check_travels(jt.infer(model, [{"y": 0.3}, {"x": 1.0}], method=method, **rng), one)


def test_answers_of_a_model_that_is_too_large():
    """What "auto" chooses where exact inference does not fit: its answers go to pools of processes as well."""
    model = jt.ising((8, 8), coupling=0.3, field=0.1)
    one, other = (jt.infer(model, {"x0_0": spin}, memory_limit=2**16, rng=0) for spin in (1, -1))
    assert not one.exact
    check_travels(one, other)


@pytest.mark.parametrize("name", [name for name, make in KINDS.items() if make().answers("infer")])
def test_answers_of_every_kind_of_model(name):
    kind = KINDS[name]()
    beliefs = [jt.infer(kind.model, rows, **kind.asked) for rows in (kind.one, kind.many)]
    check_travels(beliefs[0], beliefs[1])
    check_travels(beliefs[1], beliefs[0])
    assert jt.infer(kind.model, kind.one, **kind.asked) == beliefs[0]
    if kind.has_most_probable:
        best = [jt.most_probable(kind.model, kind.one), jt.most_probable(kind.model, kind.many)]
        for one, other in (best, best[::-1]):
            for travel in TRAVELS:
                assert travel(one) == one
                assert travel(one) != other
