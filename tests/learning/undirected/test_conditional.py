"""Conditional likelihood over graphs: p(labels | observations), by two expectations given each row."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import check_grad

import juncture as jt
from juncture.learning.undirected.likelihood import ConditionalLikelihood
from juncture.learning.undirected.log_tables import LogTables
from support.undirected_examples import LOOP, joint_of, model_over, rows_of


def enumerate_conditional(model, rows, names) -> float:
    """Σ log p(others | names), from the joint table."""
    joint = joint_of(model)
    axes = tuple(joint.scope.axis(name) for name in joint.scope.names if name not in names)
    conditional = joint.values / joint.values.sum(axis=axes, keepdims=True)
    return float(np.log(conditional[tuple(rows.columns[name] for name in joint.scope.names)]).sum())


@given(st.integers(0, 1000), st.sampled_from([["a"], ["b", "d"], ["a", "c", "d"]]))
def test_value_and_gradient(seed, names):
    model = model_over([*LOOP, ("b",)], seed)
    rows, tables = rows_of(model, 40, seed), LogTables(model)
    objective = ConditionalLikelihood.of(tables, rows, names, "auto", 0)
    found = objective.value_and_gradient(tables.given)[0]
    assert found == pytest.approx(enumerate_conditional(model, rows, names), rel=1e-10)
    logs = np.random.default_rng(seed).normal(size=tables.num_cells)
    error = check_grad(
        lambda x: objective.value_and_gradient(x)[0] / 40, lambda x: objective.value_and_gradient(x)[1] / 40, logs
    )
    assert error < 1e-5


def test_one_label_given_two_observations_is_logistic_regression():
    rng = np.random.default_rng(0)
    rows = {name: rng.integers(0, 2, 500) for name in "ac"}
    rows["d"] = (rng.random(500) < 1 / (1 + np.exp(0.5 - 1.5 * rows["a"] + 0.8 * rows["c"]))).astype(int)
    template = jt.Logistic(jt.Variable("d", 2), [jt.Variable("a", 2), jt.Variable("c", 2)], [0.0, 0.0], 0.0)
    network = jt.BayesianNetwork([*(jt.Conditional(parent, [], [0.5, 0.5]) for parent in template.parents), template])
    wanted = jt.fit(network, rows).model["d"]
    fitted = jt.fit(model_over([("a", "d"), ("c", "d")]), rows, given=["a", "c"])
    assert fitted.trace.converged
    for a, c in ((0, 0), (0, 1), (1, 0), (1, 1)):
        found = jt.infer(fitted.model, {"a": a, "c": c})["d"].values
        assert np.allclose(found, wanted.to_factor().condition({"a": a, "c": c}).values, atol=1e-6)


def test_it_is_at_least_the_conditional_likelihood_of_the_joint_fit():
    rows = rows_of(model_over([*LOOP, ("a", "c")], 3), 300)
    joint = jt.fit(model_over(LOOP), rows).model
    fitted = jt.fit(model_over(LOOP), rows, given=["b", "d"], penalty=jt.L2(1e-6))
    assert fitted.log_likelihood > enumerate_conditional(joint, rows, ["b", "d"])
    assert fitted.log_likelihood == pytest.approx(enumerate_conditional(fitted.model, rows, ["b", "d"]), rel=1e-9)


def test_what_is_refused():
    rows = rows_of(model_over(LOOP, 1), 20)
    with pytest.raises(jt.errors.Unsupported, match="joint likelihood"):
        jt.fit(model_over(LOOP), rows, given=["a"], method="ipf")
    with pytest.raises(jt.errors.InvalidData, match="all variables"):
        jt.fit(model_over(LOOP), rows, given=list("abcd"))
    with pytest.raises(jt.UnknownVariable, match="no variable 'z'"):
        jt.fit(model_over(LOOP), rows, given=["z"])
    with pytest.raises(jt.errors.InvalidData, match="do not have"):
        jt.fit(model_over(LOOP), rows.only(list("bcd")), given=["a"], latent=["a"])
