"""Models with hidden parts learn from sources block by block, and answer for their rows."""

from __future__ import annotations

import warnings

import numpy as np
import pyarrow as pa
import pytest

import juncture as jt
from juncture.data.sources import as_source

EM = jt.ExpectationMaximization(max_steps=3, tolerance=0.0)
TWO = jt.Mixture([0.4, 0.6], jt.GaussianEmissions([[0.0, 1.0, 2.0], [3.0, -1.0, 0.0]], np.ones((2, 3)), "diagonal"))
FACTORS = jt.FactorAnalysis([[1.0], [0.5], [-0.5]], np.zeros(3), np.ones(3))
MODELS = pytest.mark.parametrize("model", [TWO, FACTORS], ids=["mixture", "factors"])


def draw_rows(holes: bool = True) -> np.ndarray:
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(60, 1)) @ [[1.0, 0.6, -0.4]] + rng.normal(size=(60, 3))
    if holes:
        rows[rng.random(rows.shape) < 0.2] = np.nan
    return rows


def table_of(rows: np.ndarray) -> pa.Table:
    return pa.table({f"x{index}": pa.array(column, from_pandas=True) for index, column in enumerate(rows.T)})


def learn(model, data, threads: int | None = None, **options) -> jt.results.Fit:
    jt.set_num_threads(threads)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", jt.errors.NotConvergedWarning)
            return jt.fit(model, data, method=EM, **options)
    finally:
        jt.set_num_threads(None)


@MODELS
@pytest.mark.parametrize("holes", [True, False])
def test_blocks_give_the_same_bits_for_any_number_of_threads_and_the_numbers_of_all_rows(model, holes):
    rows = draw_rows(holes)
    source = as_source(table_of(rows), block_rows=7)
    found = [learn(model, source, threads) for threads in (1, 3)]
    assert found[0].model == found[1].model
    assert found[0].log_likelihood == found[1].log_likelihood
    assert found[0].log_likelihood == pytest.approx(learn(model, rows).log_likelihood, rel=1e-12)


@MODELS
def test_a_column_of_weights_counts_rows(model):
    rows, weights = draw_rows(), np.random.default_rng(1).gamma(1.0, size=60)
    table = table_of(rows).append_column("w", pa.array(weights))
    found = learn(model, as_source(table, block_rows=7), weights="w")
    assert found.log_likelihood == pytest.approx(learn(model, rows, weights=weights).log_likelihood, rel=1e-12)


@MODELS
def test_answers_for_the_rows_of_a_source_are_those_of_rows_in_memory(model):
    rows = draw_rows()
    source = as_source(table_of(rows), block_rows=7)
    np.testing.assert_allclose(jt.log_prob(model, source), jt.log_prob(model, rows), rtol=1e-12)
    beliefs, expected = jt.infer(model, source), jt.infer(model, rows)
    np.testing.assert_allclose(beliefs.log_evidence, expected.log_evidence, rtol=1e-12)


def test_cells_that_are_no_numbers_are_refused_with_their_row():
    table = pa.table({"x": ["1", "2", "three", "4"]})
    numbers = jt.Mixture([0.5, 0.5], jt.Gaussian([0.0, 1.0], 1.0))
    with pytest.raises(jt.errors.InvalidData, match=r"'x' is real-valued; 'three' in row 2 .*is not a number"):
        jt.fit(numbers, as_source(lambda: iter([table]), block_rows=2))
    rates = jt.Mixture([0.5, 0.5], jt.Poisson([1.0, 2.0]))
    with pytest.raises(jt.ImpossibleEvidence, match=r"row 3 of frame 0 holds -1.0, which no component"):
        jt.fit(rates, as_source(lambda: iter([{"x": [1, 2, 3, -1]}]), block_rows=2))
