"""What must not change an answer: names, orders, and how the same thing is said."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import juncture as jt
from support.builders import random_evidence, random_field, random_network

SEEDS = st.integers(0, 2**32 - 1)


def draw_case(seed, build=random_network):
    rng = np.random.default_rng(seed)
    model = build(rng)
    return rng, model, random_evidence(model, rng)


def same_beliefs(one, other, names=None):
    assert one.log_evidence == pytest.approx(other.log_evidence, abs=1e-11)
    for name in names or one.targets:
        assert one[name].values == pytest.approx(other[name].values, abs=1e-12)


@given(seed=SEEDS)
def test_the_order_of_conditionals_and_of_evidence(seed):
    rng, model, evidence = draw_case(seed)
    shuffled = jt.BayesianNetwork([model.conditionals[place] for place in rng.permutation(len(model.conditionals))])
    backwards = dict(reversed(evidence.items()))
    same_beliefs(jt.infer(model, evidence), jt.infer(shuffled, backwards))


@given(seed=SEEDS)
def test_the_order_of_parents(seed):
    _, model, evidence = draw_case(seed)
    turned = []
    for part in model.conditionals:
        factor = part.to_factor().reorder(*reversed(part.parents.names), part.child.name)
        turned.append(jt.Conditional(part.child, factor.scope[:-1], factor.values))
    same_beliefs(jt.infer(model, evidence), jt.infer(jt.BayesianNetwork(turned), evidence))


@given(seed=SEEDS)
def test_other_names_and_labels(seed):
    _, model, evidence = draw_case(seed)
    other = {v.name: jt.Variable(f"renamed {v.name}", [f"<{label}>" for label in v.labels]) for v in model.variables}
    parts = [
        jt.Conditional(other[p.child.name], [other[n] for n in p.parents.names], p.to_table().values)
        for p in model.conditionals
    ]
    said = {
        other[name].name: value if isinstance(value, list) or value is None else f"<{value}>"
        for name, value in evidence.items()
    }
    one, two = jt.infer(model, evidence), jt.infer(jt.BayesianNetwork(parts), said)
    assert one.log_evidence == pytest.approx(two.log_evidence, abs=1e-12)
    for name, variable in other.items():
        assert one[name].values == pytest.approx(two[variable.name].values, abs=1e-13)


@given(seed=SEEDS)
def test_a_factor_split_in_two(seed):
    rng, field, evidence = draw_case(seed, random_field)
    pieces = []
    for factor in field.factors:
        share = jt.Factor(factor.scope, rng.uniform(0.5, 2.0, size=factor.values.shape))
        pieces += [share, factor / share]
    same_beliefs(jt.infer(field, evidence), jt.infer(jt.MarkovNetwork(pieces, field.variables), evidence))


@given(seed=SEEDS)
def test_the_same_observation_said_in_three_ways(seed):
    _, model, _ = draw_case(seed)
    variable = model.variables[0]
    state = variable.labels[int(np.argmax(jt.infer(model)[variable.name].values))]
    code = variable.code(state)
    hard = jt.infer(model, {variable.name: state})
    soft = jt.infer(model, {variable.name: np.eye(variable.num_states)[code].tolist()})
    same_beliefs(hard, soft)
    rows = jt.infer(model, [{variable.name: state}])
    for name in model.variables.names:
        assert rows[name].values[0] == pytest.approx(hard[name].values, abs=1e-13)


@given(seed=SEEDS)
def test_evidence_in_another_component_changes_nothing(seed):
    """Two networks side by side: what is seen in one is no news to the other."""
    _, model, evidence = draw_case(seed)
    apart = jt.Variable("apart", 3)
    both = jt.BayesianNetwork([*model.conditionals, jt.Conditional(apart, [], [0.2, 0.3, 0.5])])
    alone = jt.infer(model, evidence)
    together = jt.infer(both, {**evidence, "apart": 1})
    for name in model.variables.names:
        assert together[name].values == pytest.approx(alone[name].values, abs=1e-13)
    assert together.log_evidence == pytest.approx(alone.log_evidence + np.log(0.3), abs=1e-12)


@given(seed=SEEDS)
def test_unobserved_children_change_nothing(seed):
    """A barren variable, one without observed descendants, sums to 1."""
    _, model, evidence = draw_case(seed)
    parent = model.variables[0]
    leaf = jt.Variable("leaf", 2)
    rows = np.tile([0.3, 0.7], (parent.num_states, 1))
    larger = model.with_conditional(jt.Conditional(leaf, [parent], rows))
    same_beliefs(jt.infer(model, evidence), jt.infer(larger, evidence), model.variables.names)


@given(seed=SEEDS)
def test_more_evidence_step_by_step(seed):
    _, model, evidence = draw_case(seed)
    beliefs = jt.infer(model)
    for name, value in evidence.items():
        beliefs = beliefs.with_evidence({name: value})
    same_beliefs(beliefs, jt.infer(model, evidence))
