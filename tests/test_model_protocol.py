"""Every kind of model says what it is called, what it is about, and how many free parameters it has: `Model`."""

from __future__ import annotations

import numpy as np
import pytest

import juncture as jt
from juncture.variables import Model, Scope
from support.model_kinds import KINDS, models_of

NETWORKS = ("BayesianNetwork", "MarkovNetwork", "FactorGraph", "PairwiseNetwork", "DecisionNetwork")
SEQUENCES = ("HiddenMarkovModel", "MarkovChain", "LinearGaussianStateSpace", "ConditionalRandomField")
MODELS = [model for model in models_of(KINDS) if type(model).__name__ in NETWORKS + SEQUENCES]
A, B, C = jt.Variable("a", 2), jt.Variable("b", 3), jt.Variable("c", 2)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_a_model_keeps_the_protocol(model):
    assert isinstance(model, Model)
    assert model.kind == type(model).kind
    assert model.kind.split()[0] in type(model).__name__ or model.kind[0].islower()
    assert isinstance(model.variables, Scope)
    assert len(model.variables) > 0
    assert model.variables is model.variables
    assert type(model.num_parameters) is int
    assert model.num_parameters > 0


def test_kinds_have_names_of_their_own():
    names = [jt.__dict__.get(name, getattr(jt, name)).kind for name in NETWORKS + SEQUENCES]
    assert len(set(names)) == len(names)


def test_beliefs_are_about_variables_of_the_model():
    for make in KINDS.values():
        entry = make()
        if type(entry.model).__name__ in NETWORKS + SEQUENCES:
            assert entry.variable in entry.model.variables.names


def test_parameters_of_undirected_models_are_those_of_the_minimal_form():
    rng = np.random.default_rng(0)
    scopes = [[A, B], [B, C], [B], [A, B, C]]
    factors = [jt.Factor(scope, rng.uniform(1, 2, [variable.num_states for variable in scope])) for scope in scopes]
    for kind in (jt.MarkovNetwork, jt.FactorGraph):
        for count in range(1, len(factors) + 1):
            model = kind(factors[:count])
            assert model.num_parameters == model.minimal_form().num_parameters
    spins = [jt.ising((3, 2), coupling=0.5, field=field) for field in (0.0, 0.1)]
    for pairwise in (*spins, jt.potts((2, 2), 3, coupling=1.0)):
        assert pairwise.num_parameters == pairwise.minimal_form().num_parameters


def test_parameters_in_closed_form():
    graph = jt.UndirectedGraph.parse("a -- b -- c")
    rows = dict(zip("abc", np.random.default_rng(1).normal(size=(3, 20)), strict=True))
    assert jt.fit(graph, rows).model.num_parameters == 3 + 3 + 2  # means, and a precision matrix with two links
    space = jt.LinearGaussianStateSpace(np.eye(2), np.ones((3, 2)), np.eye(2), np.eye(3), np.zeros(2), np.eye(2))
    assert space.num_parameters == 4 + 6 + 3 + 6 + 2 + 3
    assert space.variables.names == ("state", "observation")
    assert [variable.dimension for variable in space.variables] == [2, 3]
    weather = jt.HiddenMarkovModel([0.5, 0.5], [[0.9, 0.1], [0.2, 0.8]], [[0.7, 0.2, 0.1], [0.1, 0.8, 0.1]])
    assert weather.num_parameters == 1 + 2 + 4
    assert weather.variables == Scope([jt.Variable("state", 2), jt.Variable("symbol", 3)])
    vectors = jt.MultivariateGaussian(np.zeros((2, 3)), np.array([np.eye(3)] * 2))
    columns = jt.HiddenMarkovModel([0.5, 0.5], np.full((2, 2), 0.5), vectors)
    assert columns.variables.names == ("state", "x0", "x1", "x2")
    assert jt.MarkovChain.uniform(["s", "t", "u"], order=2).num_parameters == 8 + 9 * 2
    tagger = jt.ConditionalRandomField(["n", "v"], ["state", "x"])
    assert tagger.variables.names == ("state (feature)", "x", "state")
