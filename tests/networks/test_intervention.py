"""`do`: the mutilated network."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import juncture as jt
from juncture.errors import UnknownState, UnknownVariable
from support.builders import joint_table, random_network

A, B, C = (jt.Variable(name, 2) for name in "abc")
STICKY = [[0.9, 0.1], [0.2, 0.8]]


@given(st.integers(0, 2**32), st.data())
def test_do_cuts_the_parents_and_leaves_the_rest(seed, data):
    """The set variables are certain, and p of every other one given its parents is unchanged."""
    model = random_network(np.random.default_rng(seed))
    chosen = data.draw(st.lists(st.sampled_from(model.variables), unique=True, max_size=3))
    values = {variable.name: data.draw(st.sampled_from(variable.labels)) for variable in chosen}
    cut = jt.do(model, values)
    assert set(cut.graph.edges) == {edge for edge in model.graph.edges if edge[1] not in values}
    assert cut.variables == model.variables
    others = [part for part in model.conditionals if part.child.name not in values]
    assert all(cut[part.child.name] is part for part in others)
    certain = [jt.Factor([v], np.eye(v.num_states)[v.code(values[v.name])]) for v in chosen]
    expected = jt.MarkovNetwork([*(part.to_factor() for part in others), *certain], model.variables)
    assert joint_table(cut) == pytest.approx(joint_table(expected))
    assert joint_table(cut).sum() == pytest.approx(1)


def test_doing_is_not_seeing():
    rain, wet = jt.Variable("rain", 2), jt.Variable("wet", 2)
    model = jt.BayesianNetwork([jt.Conditional(rain, [], [0.8, 0.2]), jt.Conditional(wet, [rain], STICKY)])
    assert joint_table(jt.do(model, {"wet": 1})).tolist() == [[0.0, 0.8], [0.0, 0.2]]


def test_do_on_real_variables():
    h = jt.Variable("h")
    parts = [jt.Conditional(A, [], [0.5, 0.5]), jt.LinearGaussian(h, [A], [[], []], [0.0, 1.0], [1.0, 1.0])]
    assert jt.do(jt.BayesianNetwork(parts), {"h": 2.5})["h"] == jt.results.Constant(h, 2.5)


def test_do_unties_what_it_sets():
    parts = [jt.Conditional(A, [], [0.5, 0.5]), jt.Conditional(B, [], [0.5, 0.5]), jt.Conditional(C, [], [0.5, 0.5])]
    model = jt.BayesianNetwork(parts, tied=[["a", "b", "c"]])
    assert jt.do(model, {"b": 1}).tied == (("a", "c"),)
    assert jt.do(model, {"b": 1, "c": 0}).tied == ()
    assert jt.do(model, {}) == model


def test_do_refuses():
    model = jt.BayesianNetwork([jt.Conditional(A, [], [0.5, 0.5])])
    with pytest.raises(UnknownVariable, match="'z'"):
        jt.do(model, {"z": 1})
    for nonsense in (2, None, [0.5, 0.5]):
        with pytest.raises(UnknownState, match="'a' has no state"):
            jt.do(model, {"a": nonsense})
