"""The pseudo-likelihood: its gradient, its value by enumeration, and that it finds the model of infinite data."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import check_grad

import juncture as jt
from juncture.data.sources.entries import as_source
from juncture.learning.undirected.log_tables import LogTables
from juncture.learning.undirected.pseudo_likelihood import PseudoLikelihood
from support.undirected_examples import LOOP, joint_of, model_over, rows_of

SCOPES = st.lists(st.sampled_from([*LOOP, ("a", "c"), ("b",), ("a", "b", "d"), ()]), min_size=1, max_size=5).filter(any)


def enumerate_pseudo_likelihood(model, rows) -> float:
    """Σ log p(x_i | others), from the joint table."""
    joint, columns, total = joint_of(model), rows.columns, 0.0
    codes = np.stack([columns[name] for name in joint.scope.names], axis=1)
    for axis in range(len(joint.scope)):
        conditional = joint.values / joint.values.sum(axis=axis, keepdims=True)
        total += np.log(conditional[tuple(codes.T)]).sum()
    return float(total)


@given(SCOPES, st.integers(0, 1000))
def test_value_and_gradient(scopes, seed):
    model = model_over(scopes, seed)
    rows, tables = rows_of(model, 40, seed), LogTables(model)
    objective = PseudoLikelihood.of(tables, rows)
    assert objective.value_and_gradient(tables.given)[0] == pytest.approx(enumerate_pseudo_likelihood(model, rows))
    logs = np.random.default_rng(seed).normal(size=tables.num_cells)
    error = check_grad(
        lambda x: objective.value_and_gradient(x)[0] / 40, lambda x: objective.value_and_gradient(x)[1] / 40, logs
    )
    assert error < 1e-5


@pytest.mark.parametrize("scopes", [LOOP, [*LOOP, ("a", "c"), ("b",)]], ids=["loop", "more"])
def test_from_all_of_the_distribution_it_finds_the_distribution(scopes):
    joint = joint_of(model_over(scopes, 5))
    grid = np.indices(joint.scope.shape).reshape(len(joint.scope), -1)
    rows = jt.Dataset.from_codes(joint.scope, dict(zip(joint.scope.names, grid, strict=True)), joint.values.reshape(-1))
    fitted = jt.fit(model_over(scopes), rows, method="pseudo-likelihood")
    assert fitted.trace.converged
    assert np.allclose(joint_of(fitted.model).values, joint.values, atol=1e-6)
    assert fitted.log_likelihood == pytest.approx(float((joint.values * joint.log_values).sum()), abs=1e-9)


def test_weights_sources_and_zeros():
    rows = rows_of(model_over(LOOP, 1), 100)
    weights = np.random.default_rng(0).integers(1, 4, 100)
    copies = rows.take(np.repeat(np.arange(100), weights))
    wanted = jt.fit(model_over(LOOP), copies, method="pseudo-likelihood")
    for data, options in ((rows, {"weights": weights.astype(float)}), (as_source(copies, block_rows=30), {})):
        found = jt.fit(model_over(LOOP), data, method="pseudo-likelihood", **options)
        assert np.allclose(joint_of(found.model).values, joint_of(wanted.model).values, atol=1e-6)
    few = jt.fit(model_over(LOOP), rows.take(range(5)), method="pseudo-likelihood")
    counts = jt.statistics(model_over(LOOP), rows.take(range(5))).counts
    for part, count in zip(few.model.factors, counts, strict=True):
        assert np.all(part.values[count.values == 0] == 0)


@pytest.mark.parametrize(("side", "states"), [(16, 16), pytest.param(40, 2, marks=pytest.mark.slow)])
def test_a_large_grid_needs_no_partition_function(side, states):
    rng = np.random.default_rng(0)
    grid = [[jt.Variable(f"x{i}_{j}", states) for j in range(side)] for i in range(side)]
    pairs = [(grid[i][j], grid[i][j + 1]) for i in range(side) for j in range(side - 1)]
    pairs += [(grid[j][i], grid[j + 1][i]) for i in range(side) for j in range(side - 1)]
    model = jt.MarkovNetwork([jt.Factor(pair, np.ones((states, states))) for pair in pairs])
    rows = {variable.name: rng.integers(0, states, 30) for row in grid for variable in row}
    with pytest.warns(UserWarning, match="too large for its Z"):
        fitted = jt.fit(model, rows, method="pseudo-likelihood", penalty=jt.L2(1.0), tolerance=1e-3)
    assert np.isnan(fitted.log_likelihood)
    assert fitted.trace.values[-1] > fitted.trace.values[0]
