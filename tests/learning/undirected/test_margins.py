"""Iterative proportional fitting and closed forms: the margins of the data, and agreement with L-BFGS."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import juncture as jt
from support.undirected_examples import LOOP, gap, joint_of, log_likelihood, model_over, rows_of

DECOMPOSABLE = {
    "a tree": [("a", "b"), ("b", "c"), ("b", "d"), ("a",), ("d",)],
    "a tree of cliques": [("a", "b", "c"), ("c", "b", "d"), ("d", "e"), ("b", "a")],
    "parts": [("a", "b"), ("c",), ("d", "e"), ()],
    "one table": [("d", "a", "c")],
}
OTHERS = {
    "a loop": LOOP,
    "a triangle of pairs": [("a", "b"), ("b", "c"), ("c", "a")],
    "and more": [*LOOP, ("d", "e"), ("a",)],
}


@pytest.mark.parametrize("name", DECOMPOSABLE)
def test_decomposable_models_have_the_margins_of_the_data_in_one_step(name):
    scopes = DECOMPOSABLE[name]
    for seed in range(3):
        rows = rows_of(model_over(scopes, seed), 60, seed)
        for method in ("auto", "ipf"):
            fitted = jt.fit(model_over(scopes, 7), rows, method=method)
            assert fitted.trace.num_steps == 0
            assert gap(fitted.model, rows) < 1e-13
            assert fitted.log_likelihood == pytest.approx(log_likelihood(fitted.model, rows), rel=1e-12)
        climbed = jt.fit(model_over(scopes), rows, method="gradient")
        assert np.allclose(joint_of(climbed.model).values, joint_of(fitted.model).values, atol=1e-6)


def test_a_tree_is_the_product_of_the_empirical_margins():
    scopes = DECOMPOSABLE["a tree"]
    rows = rows_of(model_over(scopes, 3), 500)
    joint = joint_of(jt.fit(model_over(scopes), rows).model)
    counts = {part.scope.names: part.normalize() for part in jt.statistics(model_over(scopes), rows).counts}
    b = counts["a", "b"].marginal("b")
    ratio = counts["a", "b"] * counts["b", "c"] * counts["b", "d"] / b / b
    assert np.allclose(ratio.reorder(*joint.scope.names).values, joint.values, atol=1e-14)  # S0-240, S0-276, S3-032
    tree = jt.fit(jt.DirectedGraph.parse("b -> a; b -> c; b -> d"), rows).model
    assert np.allclose(joint_of(tree.to_markov_network()).reorder(*joint.scope.names).values, joint.values, atol=1e-14)


@pytest.mark.parametrize("name", OTHERS)
def test_proportional_fitting_and_gradients_agree(name):
    scopes = OTHERS[name]
    for seed in range(3):
        rows = rows_of(model_over(scopes, seed), 300, seed)
        fitted = jt.fit(model_over(scopes), rows, method="ipf")
        assert fitted.trace.converged
        assert fitted.trace.num_steps > 0
        assert np.diff(fitted.trace.values).min() > -1e-9 * abs(fitted.log_likelihood)
        assert gap(fitted.model, rows) < 1e-6
        climbed = jt.fit(model_over(scopes), rows, method="auto")
        assert np.allclose(joint_of(climbed.model).values, joint_of(fitted.model).values, atol=1e-6)
        assert climbed.log_likelihood == pytest.approx(fitted.log_likelihood, rel=1e-9)


@given(st.integers(0, 1000), st.integers(1, 12))
def test_cells_without_rows_are_zero_in_every_method(seed, num_rows):
    rows = rows_of(model_over(LOOP, seed), num_rows, seed)
    for scopes in (LOOP, DECOMPOSABLE["a tree"]):
        # with few rows the maximum lies at infinity, which proportional fitting approaches slowly
        for method, tolerance in (("gradient", 1e-7), ("ipf", 1e-3)):
            model = jt.fit(model_over(scopes), rows, method=method, tolerance=tolerance).model
            assert gap(model, rows) < 10 * tolerance
            counts = jt.statistics(model, rows).counts
            assert all(np.all(joint_of(model).marginal(*part.scope).values[part.values == 0] == 0) for part in counts)


def test_a_sweep_that_is_not_enough_is_told():
    with pytest.warns(jt.errors.NotConvergedWarning, match="1 step"):
        fitted = jt.fit(model_over(LOOP), rows_of(model_over(LOOP, 2)), method="ipf", max_steps=1)
    assert not fitted.trace.converged


@pytest.mark.parametrize("method", ["auto", "gradient", "ipf"])
def test_counts_of_two_files_lead_to_the_model_of_all_rows(method):
    for scopes in (LOOP, DECOMPOSABLE["a tree of cliques"]):
        model, rows = model_over(scopes), rows_of(model_over(scopes, 4), 200)
        counts = jt.statistics(model, rows.take(range(50))) + jt.statistics(model, rows.take(range(50, 200)))
        assert jt.estimate(model, counts, method=method) == jt.fit(model, rows, method=method).model
    with pytest.raises(jt.errors.InvalidData, match="other variables"):
        jt.estimate(model_over(LOOP), counts)
    with pytest.raises(jt.errors.Unsupported, match="needs the rows"):
        jt.estimate(model, counts, method="pseudo-likelihood")
