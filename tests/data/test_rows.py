"""One reader for everything that people hand over as rows, and the views of it."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import juncture as jt
from juncture import supervised as sv
from juncture.data.rows import Rows, read_labels
from juncture.data.sources.entries import as_source

COLUMNS = {"a": [1.0, 2.0, None], "b": [0.5, None, 1.5]}
VALUES = np.array([[1.0, 0.5], [2.0, np.nan], [np.nan, 1.5]])
FRAME = pl.DataFrame(COLUMNS)
GIVEN = {
    "mapping": COLUMNS,
    "mappings": FRAME.to_dicts(),
    "pandas": pd.DataFrame(COLUMNS),
    "polars": FRAME,
    "arrow": FRAME.to_arrow(),
    "record batch": pa.RecordBatch.from_pydict(COLUMNS),
    "structured": np.array(list(map(tuple, VALUES)), dtype=[("a", float), ("b", float)]),
    "dataset": jt.Dataset(COLUMNS),
    "lazy frame": FRAME.lazy(),
    "source": as_source(FRAME, block_rows=2),
}
over_tables = pytest.mark.parametrize("given", GIVEN.values(), ids=GIVEN)


@over_tables
def test_tables_are_read_alike(given):
    rows = Rows.of(given)
    assert rows.names == ("a", "b")
    np.testing.assert_array_equal(rows.values, VALUES)
    np.testing.assert_array_equal(Rows.of(rows, ("b", "a")).numbers((2,)), VALUES[:, ::-1])
    np.testing.assert_array_equal(Rows.of(given, ("b",), extra="ignore").matrix(), VALUES[:, 1:])
    with pytest.raises(jt.errors.InvalidData, match="learned without the column 'a'"):
        Rows.of(given, ("b",))
    with pytest.raises(jt.UnknownVariable, match="the rows lack the column 'c'"):
        Rows.of(given, ("a", "c"))


@over_tables
def test_the_cells_of_tables_are_read_alike(given):
    assert list(Rows.of(given).cells().cells) == ["a", "b"]


@pytest.mark.parametrize("given", [VALUES, VALUES.tolist(), np.ma.masked_invalid(VALUES), pd.DataFrame(VALUES)])
def test_rows_without_names(given):
    rows = Rows.of(given, ("a", "b"))
    assert Rows.of(given).names is None
    assert not rows.is_single((2,))
    np.testing.assert_array_equal(rows.numbers((2,)), VALUES)
    assert Rows.of(rows) is rows  # which keeps its names


def test_files_are_read(tmp_path):
    path = tmp_path / "rows.csv"
    FRAME.write_csv(path)
    for given in (path, str(path), [path]):
        np.testing.assert_array_equal(Rows.of(given).values, VALUES)


def test_one_row_alone():
    for given in ([1.0, 2.0], np.array([1.0, 2.0]), {"b": 2.0, "a": 1.0}, pd.Series({"b": 2.0, "a": 1.0})):
        rows = Rows.of(given, ("a", "b"))
        assert rows.is_single((2,))
        assert rows.numbers((2,)).tolist() == [[1.0, 2.0]]


def test_weights_are_given_or_a_column_or_those_of_a_dataset():
    weighted = {**COLUMNS, "w": [1.0, 0.0, 3.0]}
    for rows in (
        Rows.of(COLUMNS, weights=[1.0, 0.0, 3.0]),
        Rows.of(weighted, weights="w"),
        Rows.of(pl.DataFrame(weighted).lazy(), weights="w"),
        Rows.of(jt.Dataset(weighted, weights="w")),
    ):
        values, weights = rows.many((2,))
        assert rows.names == ("a", "b")
        assert weights.tolist() == [1.0, 0.0, 3.0]
        np.testing.assert_array_equal(values, VALUES)
    assert Rows.of(VALUES).weights(3).tolist() == [1.0, 1.0, 1.0]


INPUTS = np.linspace(0.0, 1.0, 12)
HEAVY = np.arange(12.0)
TARGETS = np.cos(5 * INPUTS)
CLASSES = np.where(np.arange(12) % 3 == 1, "yes", "no")
LEARNERS = {
    "linear": lambda rows, **weights: jt.fit(sv.LinearRegression, rows, TARGETS, **weights).model.coefficients,
    "bayesian": lambda rows, **weights: sv.BayesianLinearRegression.standard(2).update(rows, TARGETS, **weights).mean,
    "generalized": lambda rows, **weights: (
        jt.fit(sv.GeneralizedLinearModel, rows, TARGETS, family=jt.Gaussian, **weights).model.coefficients
    ),
    "logistic": lambda rows, **weights: jt.fit(sv.LogisticRegression, rows, CLASSES, **weights).model.coefficients,
    "classifier": lambda rows, **weights: (
        jt.fit(sv.GenerativeClassifier, rows, CLASSES, families="qda", **weights).model.densities.mean
    ),
    "tree": lambda rows, **weights: jt.fit(sv.DecisionTree, rows, CLASSES, max_depth=2, **weights).model.predict_proba(
        rows
    ),
}


@pytest.mark.parametrize("learn", LEARNERS.values(), ids=LEARNERS)
def test_learners_take_the_weights_of_a_dataset(learn):
    wanted = learn({"x": INPUTS}, weights=HEAVY)
    np.testing.assert_array_equal(learn(jt.Dataset({"x": INPUTS}, weights=HEAVY)), wanted)
    assert np.abs(learn({"x": INPUTS}) - wanted).max() > 1e-3


def test_labels_are_sorted_and_holes_have_no_code():
    assert read_labels(["b", None, "a", "b"])[0] == ["a", "b"]
    for labels in (["b", None, "a", "b"], pd.Series(["b", None, "a", "b"]), np.array(["b", None, "a", "b"], object)):
        assert read_labels(labels)[1].tolist() == [1, -1, 0, 1]
    with pytest.raises(jt.errors.InvalidData):
        read_labels("ab")


@pytest.mark.parametrize(
    "given",
    [pd.DataFrame([[1, 2]], columns=["a", "a"]), pa.table([[1], [2]], names=["a", "a"])],
    ids=["pandas", "arrow"],
)
def test_a_repeated_name_is_one_sentence(given):
    for read in (Rows.of, jt.Dataset):
        with pytest.raises(
            jt.errors.InvalidData, match="the names of columns must differ; 'a' is there twice: rename one"
        ):
            read(given)
