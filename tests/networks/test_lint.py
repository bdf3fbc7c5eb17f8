"""What `lint` remarks upon (S2-145)."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import juncture as jt
from juncture.networks.lint import lint
from support.builders import joint_table, random_network

A, B, C = jt.Variable("a", ["no", "yes"]), jt.Variable("b", ["no", "yes"]), jt.Variable("c", ["no", "yes"])


def test_nothing_to_say():
    assert lint(jt.BayesianNetwork([jt.Conditional(A, [], [0.5, 0.5])])) == []


def test_zero_entries_are_counted():
    """S2-145: (almost) never probability 0."""
    model = jt.BayesianNetwork(
        [
            jt.Conditional(A, [], [0.5, 0.5]),
            jt.Conditional(B, [A], [[1, 0], [0.5, 0.5]]),
            jt.Conditional(C, [A], [[1, 0], [0, 1]]),
        ]
    )
    assert lint(model) == ["b has 1 zero entry", "c has 2 zero entries"]


def test_states_that_never_occur_are_found_through_parents():
    model = jt.BayesianNetwork(
        [
            jt.Conditional(A, [], [1, 0]),
            jt.Conditional(B, [A], [[1, 0], [0.5, 0.5]]),
            jt.Deterministic(C, [B], lambda b: b),
        ]
    )
    remarks = lint(model)
    assert remarks[:2] == ["a has 1 zero entry", "b has 1 zero entry"]
    assert remarks[2:] == ["a=yes can never occur", "b=yes can never occur", "c=yes can never occur"]


def test_a_function_is_meant_to_have_zeros():
    model = jt.BayesianNetwork([jt.Conditional(A, [], [0.5, 0.5]), jt.Deterministic(B, [A], lambda a: a)])
    assert lint(model) == []


@given(st.integers(0, 2**32))
def test_no_possible_state_is_called_impossible(seed):
    """What is said never to occur has probability 0 in the joint; without parents in common, and conversely."""
    model = random_network(np.random.default_rng(seed))
    joint = joint_table(model)
    never = {remark.removesuffix(" can never occur") for remark in lint(model) if remark.endswith("never occur")}
    for axis, variable in enumerate(model.variables):
        others = tuple(other for other in range(joint.ndim) if other != axis)
        for label, total in zip(variable.labels, joint.sum(axis=others), strict=True):
            if f"{variable.name}={label}" in never:
                assert total == 0
            elif not model[variable.name].parents:
                assert total > 0


def test_large_compact_conditionals_are_left_out_and_it_is_said():
    causes = [jt.Variable(f"x{n}", 2) for n in range(30)]
    model = jt.BayesianNetwork(
        [*(jt.Conditional(x, [], [0.5, 0.5]) for x in causes), jt.NoisyOr(A, causes, [0.5] * 30)]
    )
    assert lint(model) == ["a was not examined: written out it would have 2,147,483,648 entries"]


def test_real_variables_are_passed_over():
    h = jt.Variable("h")
    model = jt.BayesianNetwork(
        [jt.LinearGaussian(h, [], []), jt.Logistic(A, [h], [1.0]), jt.Conditional(B, [A], [[1, 0], [0.5, 0.5]])]
    )
    assert lint(model) == ["b has 1 zero entry"]
    assert lint(jt.BayesianNetwork([])) == []


@pytest.mark.parametrize("leak", [0.0, 0.1])
def test_compact_kinds_are_examined_too(leak):
    model = jt.BayesianNetwork([jt.Conditional(A, [], [0.5, 0.5]), jt.NoisyOr(B, [A], [0.5], leak=leak)])
    assert lint(model) == ([] if leak else ["b has 1 zero entry"])
