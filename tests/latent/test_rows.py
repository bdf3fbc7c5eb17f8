"""Rows of all models of numbers are read alike: arrays, frames, datasets; by name, with holes, or refused."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest

import juncture as jt

MODELS = {
    "mixture": jt.Mixture([0.5, 0.5], jt.MultivariateGaussian([[0.0, 0.0], [3.0, 1.0]], np.eye(2))),
    "columns": jt.Mixture([0.5, 0.5], jt.Independent([jt.Gaussian([0.0, 3.0], 1.0), jt.Poisson([1.0, 5.0])])),
    "factors": jt.FactorAnalysis([[1.0], [2.0]], [0.0, 1.0], [1.0, 0.5]),
    "pca": jt.ProbabilisticPCA([[1.0], [2.0]], [0.0, 1.0], 0.5),
}
ROWS = np.array([[0.5, 2.0], [np.nan, 1.0], [1.5, np.nan], [np.nan, np.nan]])
WHOLE = [2, 1, None, None]  # the second column, of whole numbers
models = pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)


@models
@pytest.mark.parametrize("table", [pd.DataFrame, pl.DataFrame, jt.Dataset])
def test_tables_are_arrays(model, table):
    """In the order of the columns, or by the names that `sample` gives."""
    wanted = jt.log_prob(model, ROWS)
    numbers = [0.5, None, 1.5, None]
    np.testing.assert_array_equal(jt.log_prob(model, table({"height": numbers, "visits": WHOLE})), wanted)
    np.testing.assert_array_equal(jt.log_prob(model, table({"x1": WHOLE, "x0": numbers})), wanted)


@models
def test_what_is_drawn_is_read(model):
    drawn = jt.sample(model, 5, rng=0)
    assert np.isfinite(jt.log_prob(model, drawn)).all()
    np.testing.assert_array_equal(jt.log_prob(model, drawn.to_pandas()), jt.log_prob(model, drawn))


@models
def test_a_row_without_any_value_has_probability_one(model):
    assert jt.log_prob(model, ROWS)[3] == pytest.approx(0.0, abs=1e-12)


@models
@pytest.mark.parametrize("table", [pd.DataFrame, pl.DataFrame, jt.Dataset])
def test_text_is_refused_by_the_name_of_its_column(model, table):
    with pytest.raises(jt.errors.InvalidData, match="cells of a row are numbers; the column 'kind' holds"):
        jt.log_prob(model, table({"height": [0.5, 1.0], "kind": ["a", "b"]}))
    with pytest.raises(jt.errors.InvalidData, match="a row has 2 numbers; there are 3 columns"):
        jt.log_prob(model, table({"a": [0.5], "b": [1.0], "c": [2.0]}))


@models
def test_infinite_numbers_are_refused(model):
    with pytest.raises(jt.errors.InvalidData, match="must be finite, or NaN where it is missing; row 1 has inf"):
        jt.infer(model, [[0.0, 1.0], [np.inf, 1.0]])
    with pytest.raises(jt.errors.InvalidData, match="the row has -inf"):
        jt.infer(model, [-np.inf, 1.0])
    with pytest.raises(jt.errors.InvalidData, match=r"a row has 2 numbers; got an array of the shape \(3,\)"):
        jt.infer(model, [0.0, 1.0, 2.0])


def test_a_block_of_a_source_may_be_missing():
    """Rows without any value change nothing, also where they fill a block of their own."""
    frames = [pd.DataFrame({"a": [0.1, 0.3]}), pd.DataFrame({"a": [np.nan, np.nan]}), pd.DataFrame({"a": [5.0, 5.3]})]
    model = jt.Mixture([0.5, 0.5], [jt.Gaussian(0.0, 1.0), jt.Gaussian(5.0, 1.0)])
    short = jt.ExpectationMaximization(max_steps=2, tolerance=1e9)
    found = jt.fit(model, lambda: iter(frames), method=short, prior="weak").model
    wanted = jt.fit(model, lambda: iter([frames[0], frames[2]]), method=short, prior="weak").model
    assert found == wanted
    with pytest.raises(jt.errors.InvalidData, match="nothing was observed"):
        jt.fit(model, lambda: iter([frames[1]]))
