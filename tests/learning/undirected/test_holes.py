"""Rows with holes: the gradient of the marginal likelihood, its value by enumeration, and latent variables."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import check_grad

import juncture as jt
from juncture.learning.undirected.likelihood import MarginalLikelihood
from juncture.learning.undirected.log_tables import LogTables
from support.undirected_examples import LOOP, joint_of, log_likelihood, model_over, rows_of


def with_holes(rows: jt.Dataset, share: float, seed: int) -> jt.Dataset:
    rng = np.random.default_rng(seed)
    columns = {name: np.where(rng.random(len(rows)) < share, -1, codes) for name, codes in rows.columns.items()}
    return jt.Dataset.from_codes(rows.variables, columns)


@given(st.integers(0, 1000))
def test_value_and_gradient(seed):
    model = model_over([*LOOP, ("b",)], seed)
    rows = with_holes(rows_of(model, 40, seed), 0.3, seed)
    tables = LogTables(model)
    objective = MarginalLikelihood.of(tables, rows, "auto", 0)
    assert objective.value_and_gradient(tables.given)[0] == pytest.approx(log_likelihood(model, rows), rel=1e-12)
    logs = np.random.default_rng(seed).normal(size=tables.num_cells)
    error = check_grad(
        lambda x: objective.value_and_gradient(x)[0] / 40, lambda x: objective.value_and_gradient(x)[1] / 40, logs
    )
    assert error < 1e-5


def test_rows_with_holes_climb_and_end_at_a_stationary_point():
    rows = with_holes(rows_of(model_over(LOOP, 1), 300), 0.2, 0)
    fitted = jt.fit(model_over(LOOP), rows)
    assert fitted.trace.converged
    assert fitted.log_likelihood == pytest.approx(log_likelihood(fitted.model, rows), rel=1e-10)
    assert np.diff(fitted.trace.values).min() > -1e-9 * abs(fitted.log_likelihood)
    joint = joint_of(fitted.model)  # the expected cells given the rows are those of the model
    for part in fitted.statistics.counts:
        assert np.allclose(part.values / fitted.statistics.weight, joint.marginal(*part.scope).values, atol=1e-6)


def test_hiding_at_random_keeps_what_a_saturated_model_learns():
    rows = with_holes(rows_of(model_over([("a", "c")], 1), 500), 0.3, 1)
    graph = jt.DirectedGraph.parse("a -> c")
    wanted = jt.fit(graph, rows, method=jt.ExpectationMaximization(tolerance=1e-13)).model  # S0-275, S3-030, S4-222
    found = jt.fit(model_over([("a", "c")]), rows)
    assert np.allclose(joint_of(found.model).values, joint_of(wanted.to_markov_network()).values, atol=1e-5)


def test_a_latent_variable_explains_dependence():
    scopes = [("a", "e"), ("c", "e"), ("d", "e")]
    rng = np.random.default_rng(0)
    hidden = rng.integers(0, 2, 400)
    rows = {name: np.where(rng.random(400) < 0.9, hidden, 1 - hidden) for name in "acd"}
    fitted = jt.fit(model_over(scopes), rows, latent=["e"], penalty=jt.L2(0.01), rng=0)
    independent = jt.fit(model_over([("a",), ("c",), ("d",)]), rows)
    assert fitted.log_likelihood > independent.log_likelihood + 100
    assert fitted.log_likelihood == pytest.approx(log_likelihood(fitted.model, rows), rel=1e-9)


def test_what_is_refused():
    rows = with_holes(rows_of(model_over(LOOP, 1), 20), 0.2, 0)
    with pytest.raises(jt.errors.Unsupported, match="complete rows"):
        jt.fit(model_over(LOOP), rows, method="ipf")
    a, c = jt.Variable("a", 2), jt.Variable("c", 2)
    with pytest.raises(jt.ImpossibleEvidence, match="probability zero"):
        jt.fit(jt.MarkovNetwork([jt.Factor([a, c], [[1, 0], [0, 0]])]), [{"a": 1, "c": None}])
