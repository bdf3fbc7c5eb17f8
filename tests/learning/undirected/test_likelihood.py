"""Log-linear maximum likelihood by L-BFGS: gradients, moments, zeros, weights, sources and what is told."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import check_grad

import juncture as jt
from juncture.data.sources.entries import as_source
from juncture.learning.undirected.likelihood import CellExpectation, Likelihood
from juncture.learning.undirected.log_tables import LogTables
from support.undirected_examples import LOOP, gap, joint_of, log_likelihood, model_over, rows_of

SCOPES = st.lists(
    st.sampled_from([*LOOP, ("a", "c"), ("b",), ("e",), ("a", "b", "d"), ()]), min_size=1, max_size=6
).filter(any)


@given(SCOPES, st.integers(0, 1000))
def test_the_gradient_is_the_difference_of_expected_cells(scopes, seed):
    model = model_over(scopes, seed)
    tables = LogTables(model)
    counts = jt.statistics(model, rows_of(model, 50, seed))
    likelihood = Likelihood(CellExpectation.of(tables), counts.cells, counts.weight)

    def value(logs):
        return likelihood.value_and_gradient(logs)[0] / counts.weight

    def slope(logs):
        return likelihood.value_and_gradient(logs)[1] / counts.weight

    logs = np.random.default_rng(seed).normal(size=tables.num_cells)
    assert check_grad(value, slope, logs, epsilon=1e-6) < 1e-5  # S0-197, S0-277, S3-033


@given(SCOPES, st.integers(0, 1000))
def test_the_fitted_cells_are_those_of_the_data(scopes, seed):
    rows = rows_of(model_over(scopes, seed), 200, seed)
    fitted = jt.fit(model_over(scopes), rows, method="gradient")
    assert fitted.trace.converged
    assert gap(fitted.model, rows) < 1e-6  # S0-198, S0-275, S4-221
    assert fitted.log_likelihood == pytest.approx(log_likelihood(fitted.model, rows), rel=1e-9)
    assert fitted.trace.values[-1] == pytest.approx(fitted.log_likelihood, rel=1e-9)


def test_every_start_leads_to_the_same_distribution():
    rows = rows_of(model_over(LOOP, 1))
    found = [joint_of(jt.fit(model_over(LOOP, start), rows, method="gradient").model).values for start in (None, 2, 3)]
    assert np.allclose(found[0], found[1], atol=1e-6)  # S3-029
    assert np.allclose(found[0], found[2], atol=1e-6)


def test_every_exact_engine_gives_the_same_gradient():
    rows = rows_of(model_over(LOOP, 1))
    engines = ("junction-tree", "variable-elimination", "enumeration")
    found = [joint_of(jt.fit(model_over(LOOP), rows, method="gradient", engine=name).model).values for name in engines]
    assert np.allclose(found[1:], found[0], rtol=1e-12, atol=1e-12)  # S3-034


def test_zeros_of_the_given_factors_stay_and_rows_in_them_are_refused():
    a, b, c = jt.Variable("a", 2), jt.Variable("b", 2), jt.Variable("c", 2)
    pairs = [(a, b), (b, c), (c, a)]
    tables = [[[1, 0], [1, 1]], np.ones((2, 2)), np.ones((2, 2))]
    model = jt.MarkovNetwork([jt.Factor(pair, table) for pair, table in zip(pairs, tables, strict=True)])
    rows = jt.sample(model, 300, rng=0)
    fitted = jt.fit(model, rows, method="gradient")
    assert fitted.model.factors[0].values[0, 1] == 0.0
    assert gap(fitted.model, rows) < 1e-6
    with pytest.raises(jt.ImpossibleEvidence, match="some rows have a=0, b=1"):
        jt.fit(model, [{"a": 0, "b": 1, "c": 0}], method="gradient")


def test_a_cell_that_no_row_has_gets_probability_zero():
    rows = [
        row for row in rows_of(model_over(LOOP, 1)).to_pandas().to_dict("records") if (row["a"], row["b"]) != (1, 2)
    ]
    fitted = jt.fit(model_over(LOOP), rows, method="gradient")
    assert fitted.model.factors[0].values[1, 2] == 0.0
    assert gap(fitted.model, rows) < 1e-6


def test_weights_count_as_copies_and_sources_as_tables():
    model, rows = model_over(LOOP), rows_of(model_over(LOOP, 1), 100)
    weights = np.random.default_rng(0).integers(1, 4, 100)
    copies = rows.take(np.repeat(np.arange(100), weights))
    wanted = jt.fit(model, copies, method="gradient")
    weighed = jt.fit(model, rows, weights=weights.astype(float), method="gradient")
    assert weighed.log_likelihood == pytest.approx(wanted.log_likelihood, rel=1e-12)
    assert jt.fit(model, as_source(copies, block_rows=17), method="gradient") == wanted
    assert jt.statistics(model, copies) == jt.statistics(model, copies.take(range(40))) + jt.statistics(
        model, copies.take(range(40, len(copies)))
    )


def test_a_factor_graph_stays_one_and_an_unused_variable_is_uniform():
    unused = jt.Variable("unused", 5)
    rows = rows_of(model_over(LOOP, 1))
    template = jt.FactorGraph(model_over(LOOP).factors, [unused])
    data = {**rows.to_dict(), "unused": [0] * len(rows)}
    fitted = jt.fit(template, data, method="gradient")
    assert isinstance(fitted.model, jt.FactorGraph)
    assert np.allclose(jt.infer(fitted.model)["unused"].values, 0.2)
    assert fitted.log_likelihood == pytest.approx(log_likelihood(fitted.model, data), rel=1e-12)


def test_what_is_told_and_refused():
    rows, seen = rows_of(model_over(LOOP, 1)), []
    with pytest.warns(jt.errors.NotConvergedWarning, match="stopped after 2 steps"):
        fitted = jt.fit(
            model_over(LOOP),
            rows,
            method="gradient",
            max_steps=2,
            progress=lambda step, value: seen.append((step, value)),
        )
    assert not fitted.trace.converged
    assert [step for step, _ in seen] == [1, 2]
    assert tuple(value for _, value in seen) == fitted.trace.values[1:]
    with pytest.raises(jt.errors.Unsupported, match="penalty"):
        jt.fit(model_over(LOOP), rows, prior=1.0)
    with pytest.raises(jt.errors.Unsupported, match="method"):
        jt.fit(model_over(LOOP), rows, method="newton")
    with pytest.raises(jt.errors.InvalidData, match="at least one row"):
        jt.fit(model_over(LOOP), rows.take([]))
    with pytest.raises(jt.UnknownVariable, match="no column 'd'"):
        jt.fit(model_over(LOOP), {name: rows.to_dict()[name] for name in "abc"})
    with pytest.raises(jt.errors.InvalidData, match="missing"):
        jt.statistics(model_over(LOOP), [{"a": None, "b": 0, "c": 0, "d": 0}])
