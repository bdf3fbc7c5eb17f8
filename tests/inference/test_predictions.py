"""Predictions as columns of frames on a cluster: those of `infer`, under the names of `juncture predict`."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import juncture as jt
from juncture.inference.predictions import add_predictions
from support.partitions import LocalPartitions

ASIA = jt.example("asia")
ROWS = jt.sample(ASIA, 20, rng=3).to_arrow()
HOLES = ROWS.set_column(1, "tub", pa.array([None] * 10 + ROWS["tub"].to_pylist()[10:]))
TARGETS = ["lung", "bronc"]


def cut(table: pa.Table) -> LocalPartitions:
    return LocalPartitions([table.slice(0, 7), table.slice(0, 0), table.slice(7)])


def predict(table: pa.Table, targets, model=ASIA, **options) -> pa.Table:
    return pa.concat_tables(add_predictions(model, cut(table), targets, **options))


def test_columns_are_the_beliefs_of_the_rows():
    beliefs = jt.infer(ASIA, HOLES.drop_columns(TARGETS), targets=TARGETS)
    keyed = HOLES.append_column("key", pa.array(range(20)))
    for table in (keyed, keyed.drop_columns(TARGETS)):
        found = predict(table, TARGETS)
        assert found.select(table.column_names) == table
        for name in TARGETS:
            prediction = f"predicted {name}" if name in table.column_names else name
            numbers = np.stack([found[f"P({name}={label})"] for label in ("yes", "no")], axis=1)
            assert np.array_equal(numbers, beliefs[name].values)
            assert found[prediction].to_pylist() == [("yes", "no")[code] for code in numbers.argmax(axis=1)]


def test_a_number_has_a_mean_and_an_interval():
    model = jt.fit(jt.DirectedGraph.parse("a -> x"), {"a": [1, 1, 2, 2], "x": [0.0, 1.0, 4.0, 6.0]}).model
    found = predict(pa.table({"a": [2, 1, None]}), ["x"], model)
    marginal = jt.infer(model, pa.table({"a": [2, 1, None]}), targets=["x"])["x"]
    assert found.column_names == ["a", "x", "standard deviation of x", "5 % of x", "95 % of x"]
    assert found["x"].to_pylist() == marginal.mean.tolist()
    assert np.array_equal(found["95 % of x"], marginal.quantile(0.95))
    assert predict(pa.table({"x": [5.0, None]}), ["a"], model)["a"].type == pa.int64()


def test_rows_that_are_impossible_are_empty():
    table = pa.table({"tub": ["yes", "no"], "either": ["no", "no"]})
    with pytest.warns(jt.errors.ImpossibleEvidenceWarning):
        found = predict(table, ["lung"])
    assert found["lung"].to_pylist() == [None, "no"]
    assert found["P(lung=yes)"].to_pylist() == [None, 0.0]


def test_a_cell_that_is_no_state_is_refused_where_it_is_or_taken_as_missing():
    table = pa.table({"key": range(9), "smoke": ["yes"] * 8 + ["oui"]})
    with pytest.raises(jt.errors.UnknownState, match="no state 'oui' in row 1 of partition 2 of the local partitions"):
        predict(table, ["lung"])
    with pytest.raises(jt.errors.InvalidData, match="unseen must be"):
        predict(table, ["lung"], unseen="drop")
    with pytest.warns(jt.errors.UnseenStatesWarning):
        found = predict(table, ["lung"], unseen="missing")["P(lung=yes)"].to_pylist()
    assert found[-1] == pytest.approx(jt.infer(ASIA)["lung"]["yes"])
    assert found[0] == pytest.approx(jt.infer(ASIA, {"smoke": "yes"})["lung"]["yes"])


@pytest.mark.parametrize(
    ("model", "frame", "targets", "sentence"),
    [
        (ASIA, ROWS, ["lung"], "a frame on a cluster is a Spark DataFrame or a Dask frame; got"),
        (ASIA, None, ["lung"], "a frame on a cluster is a Spark DataFrame or a Dask frame; got None"),
        (ASIA, cut(ROWS), "lung", r"write targets=\['lung'\]"),
        (ASIA, cut(ROWS), [], "at least one"),
        (ASIA, cut(ROWS), ["lungs"], "no variable 'lungs'; did you mean 'lung'"),
        (ASIA, cut(ROWS.select(["lung"])), ["lung"], "no column of the local partitions is evidence.* are 'lung'"),
        (ASIA, cut(ROWS.append_column("P(lung=no)", ROWS["tub"])), ["lung"], r"has a column 'P\(lung=no\)'"),
        (jt.Gaussian(0.0, 1.0), cut(ROWS), ["lung"], "networks and factor graphs; got Gaussian"),
    ],
)
def test_what_cannot_be_predicted_is_refused_at_once(model, frame, targets, sentence):
    with pytest.raises(jt.JunctureError, match=sentence):
        add_predictions(model, frame, targets)
    with pytest.raises(jt.errors.Unsupported, match="no method 'fast'"):
        add_predictions(ASIA, cut(ROWS), ["lung"], method="fast")
