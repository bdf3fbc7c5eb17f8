"""Whole numbers are treated alike, whatever holds them: integers, floats, nullable integers, Polars, files."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from tests.support.command_line import juncture

import juncture as jt
from juncture.estimators import BayesianNetworkClassifier

rng = np.random.default_rng(0)
AGES, ROOMS = rng.integers(18, 90, 300), rng.integers(1, 5, 300)
CLASSES = np.where(rng.random(300) < AGES / 100, "yes", "no")
PLAIN = pd.DataFrame({"age": AGES, "rooms": ROOMS, "buys": CLASSES})
HOLES = PLAIN.astype({"age": "Int64", "rooms": "Int64"}).mask(rng.random((300, 3)) < [0.1, 0.1, 0])


def kinds_of(frame, path):
    """The same rows, held in every way."""
    frame.to_csv(path, index=False)
    numbers = frame[["age", "rooms"]]
    floats = numbers.astype("Float64").to_numpy(dtype=float, na_value=np.nan)
    yield frame
    yield frame.assign(age=floats[:, 0], rooms=floats[:, 1])
    yield pd.read_csv(path)
    yield pl.read_csv(path)
    yield pl.read_csv(path).to_arrow()
    yield str(path)
    yield {"age": floats[:, 0], "rooms": floats[:, 1], "buys": frame["buys"].tolist()}


@pytest.mark.parametrize("frame", [PLAIN, HOLES], ids=["complete", "missing cells"])
def test_every_kind_of_table_gives_the_same_network(frame, tmp_path):
    found, networks, answers = [], [], []
    for rows in kinds_of(frame, tmp_path / "rows.csv"):
        data = jt.Discretizer(5).fit(rows).transform(rows)
        found.append(data)
        networks.append(jt.fit(jt.DirectedGraph.parse("age -> buys; rooms"), data, prior=1.0).model)
        classifier = BayesianNetworkClassifier("tan", target="buys").fit(rows)
        answers.append((classifier.model_, classifier.predict_proba({"age": [40, None], "rooms": [2, 3.0]}).tolist()))
    assert found[0].variable("rooms").labels == (1, 2, 3, 4)
    assert len(found[0].variable("age").cuts) == 4
    assert all(data == found[0] for data in found)
    assert all(network == networks[0] for network in networks)
    assert all(answer == answers[0] for answer in answers)


def test_the_command_line_gives_it_too(tmp_path):
    HOLES.to_csv(tmp_path / "rows.csv", index=False)
    path = str(tmp_path / "net.json")
    told = juncture("learn", str(tmp_path / "rows.csv"), "--bins", "5", "--out", path).out
    assert ["in", "intervals", "age"] in [line.split() for line in told.splitlines()]
    network = jt.read(path)
    data = jt.Discretizer(5).fit(HOLES).transform(HOLES)
    assert tuple(network.variables) == data.variables
    assert "yes" in juncture("query", path, "buys", "--given", "age=40").out


def test_pandas_holds_integers_with_missing_cells_as_floats():
    rows = pd.DataFrame({"rooms": [1, None, 3], "size": [1.5, None, 3.0], "floats": [1.0, 2.0, 3.0]})
    variables = jt.Dataset(rows).variables
    assert variables == (jt.Variable("rooms", [1, 3]), jt.Variable("size"), jt.Variable("floats"))
    assert jt.Dataset(rows, [jt.Variable("rooms")], extra="ignore").to_dict() == {"rooms": [1.0, None, 3.0]}
    zeros = jt.Dataset(pd.DataFrame({"x": [-0.0, None]}), [jt.Variable("x")])
    assert np.signbit(zeros.columns["x"][0])


def test_more_whole_numbers_than_bins_are_cut_and_others_are_kept():
    many = {"x": np.arange(6.0), "z": [0, 1, 2, 0, 1, 2]}
    fitted = jt.Discretizer(3).fit(many)
    assert (list(fitted.cuts), fitted.whole) == (["x"], ())
    kept = jt.Discretizer(6).fit(many)
    assert (kept.cuts, kept.whole) == ({}, ("x",))
    assert type(kept).from_json(kept.to_json()) == kept
    assert kept.transform({"x": [7.0, None]}).variable("x") == jt.Variable("x", [7])
    with pytest.raises(jt.errors.InvalidData, match=r"'x' held whole numbers only .* row 1 has 0\.5"):
        kept.transform({"x": [7.0, 0.5]})
    assert BayesianNetworkClassifier(discretize=None).fit(many, list("ababab")).model_.variable("x").num_states == 6
    assert BayesianNetworkClassifier(discretize=3).fit(many, list("ababab")).model_.variable("x").num_states == 3


@pytest.mark.parametrize("cell", [2.5, 2.0**53 + 2, -(2.0**53) - 2, np.inf, "many"], ids=str)
def test_a_cell_that_is_no_whole_number_any_more_is_refused_with_its_row(cell):
    """The column held whole numbers when its states were found; beyond 2⁵³ doubles skip some."""
    cuts = jt.Discretizer(2).fit({"x": np.arange(20.0), "rooms": [1.0, 2.0] * 10})
    assert cuts.transform({"x": [0.0], "rooms": [2.0]}).to_dict()["rooms"] == [2]
    with pytest.raises(jt.errors.InvalidData, match=r"column 'rooms' held whole numbers only .*row 1 has"):
        cuts.transform({"x": [0.0, 1.0], "rooms": [1.0, cell]})


def test_the_largest_whole_numbers_of_doubles_are_states():
    largest = 2.0**53
    cuts = jt.Discretizer(2).fit({"x": np.arange(20.0), "n": [largest, -largest] * 10})
    assert cuts.transform({"x": [0.0, 1.0], "n": [-largest, largest]}).to_dict()["n"] == [-(2**53), 2**53]
