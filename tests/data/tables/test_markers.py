"""Laws of holes on request (`missing`, `unseen`), of weights in a column, and of where states come from."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from juncture.data.dataset import Dataset
from juncture.data.files.writers import write_csv
from juncture.errors import InvalidData, UnknownState, UnknownVariable, UnseenStatesWarning
from juncture.variables import Variable

COLUMNS = {
    "text": ["?", "a", "b"],
    "number": [1, -999, 2],
    "real": [0.5, 1.5, -999.0],
    "truth": [True, False, None],
    "mixed": ["NA", 1, "x"],
}
EXPECTED = {
    "text": [None, "a", "b"],
    "number": [1, None, 2],
    "real": [0.5, 1.5, None],
    "truth": [True, False, None],
    "mixed": [None, 1, "x"],
}
MARKERS = ("?", -999, "NA")


@pytest.mark.parametrize("markers", [MARKERS, set(MARKERS), [*MARKERS, None, float("nan")], np.array(MARKERS, object)])
def test_markers_are_holes(markers):
    data = Dataset(COLUMNS, missing=markers)
    assert data.to_dict() == EXPECTED
    assert data.variable("number") == Variable("number", [1, 2])
    assert data.variable("text") == Variable("text", ["a", "b"])


@pytest.mark.parametrize("build", [pd.DataFrame, pl.DataFrame, pa.table])
def test_markers_are_holes_in_every_frame(build):
    columns = {name: cells for name, cells in COLUMNS.items() if name != "mixed"}
    assert Dataset(build(columns), missing=MARKERS).to_dict() == {name: EXPECTED[name] for name in columns}


def test_markers_match_as_states_do(tmp_path):
    """-999 is also "-999" and -999.0; 0 is not False."""
    (tmp_path / "rows.csv").write_text("x,y,z\n-999,1,?\n2,-999.0,a\n")
    assert Dataset(tmp_path / "rows.csv", missing=["?", -999]).to_dict() == {
        "x": [None, 2], "y": [1, None], "z": [None, "a"],
    }  # fmt: skip
    assert Dataset({"x": [False, True]}, missing=0).to_dict() == {"x": [False, True]}
    assert Dataset({"x": [0.0, 1.0], "y": [True, True]}, missing="0").to_dict() == {"x": [None, 1.0], "y": [True, True]}


def test_a_marked_category_is_no_state():
    series = pd.Series(pd.Categorical(["?", "mid"], categories=["low", "?", "mid", "high"]))
    data = Dataset({"x": series}, missing="?")
    assert data.variable("x").states == ("low", "mid", "high")
    assert data.to_dict() == {"x": [None, "mid"]}


def test_markers_with_variables_and_in_a_dataset():
    variable = Variable("text", ["b", "a"])
    assert Dataset({"text": ["?", "a"]}, [variable], missing="?").columns["text"].tolist() == [-1, 1]
    coded = Dataset({"text": ["?", "a"], "real": [1.0, -1.0]})
    assert Dataset(coded, missing=["?", -1]).to_dict() == {"text": [None, "a"], "real": [1.0, None]}
    assert Dataset({"v": [[1.0, -9.0], [2.0, 3.0]]}, missing=-9).columns["v"][0].tolist() == pytest.approx(
        [1.0, np.nan], nan_ok=True
    )


@pytest.mark.parametrize("wrong", [[["?"]], {"?": 1}.items(), object()])
def test_a_marker_is_text_or_a_number(wrong):
    with pytest.raises(InvalidData, match="a marker of missing cells must be text, a number or a boolean"):
        Dataset(COLUMNS, missing=wrong)


SMOKE = Variable("smoke", ["no", "yes"])
COUNT = Variable("count", 3)


@pytest.mark.parametrize("build", [dict, pd.DataFrame, pl.DataFrame, pa.table, Dataset])
def test_unseen_states_become_holes_on_request_with_one_warning(build):
    rows = build({"smoke": ["no", "Yes", "yes", "Yes"], "count": [0, 3, 2, 1], "age": [1.0, None, 2.0, 3.0]})
    variables = [SMOKE, COUNT, Variable("age")]
    with pytest.raises(UnknownState, match="'smoke' has no state 'Yes' in row 1; did you mean 'yes'"):
        Dataset(rows, variables)
    with pytest.warns(UnseenStatesWarning, match=r"treated as missing .*: smoke 2, count 1$") as caught:
        data = Dataset(rows, variables, unseen="missing")
    assert len(caught) == 1
    assert caught[0].filename == __file__
    assert data.to_dict() == {
        "smoke": ["no", None, "yes", None], "count": [0, None, 2, 1], "age": [1.0, None, 2.0, 3.0],
    }  # fmt: skip


def test_nothing_unseen_gives_no_warning_and_vectors_are_still_refused():
    assert Dataset({"smoke": ["no", None]}, [SMOKE], unseen="missing").columns["smoke"].tolist() == [0, -1]
    with pytest.raises(InvalidData, match="holds vectors"):
        Dataset({"smoke": [[1.0, 2.0]]}, [SMOKE], unseen="missing")
    with pytest.raises(InvalidData, match="'tall' in row 0 is not a number"):
        Dataset({"age": ["tall"]}, [Variable("age")], unseen="missing")
    with pytest.raises(InvalidData, match="unseen must be"):
        Dataset({"smoke": ["no"]}, unseen="drop")


@pytest.mark.parametrize("build", [dict, pd.DataFrame, pl.DataFrame, pa.table])
def test_weights_may_be_a_column(build):
    rows = build({"smoke": ["no", "yes"], "w": [2, 1], "count": [0, 1]})
    expected = Dataset({"smoke": ["no", "yes"], "count": [0, 1]}, weights=[2.0, 1.0])
    assert Dataset(rows, weights="w") == expected
    assert Dataset(rows, [SMOKE, Variable("count", 2)], weights="w") == expected
    assert Dataset(Dataset(rows), weights="w") == expected


def test_a_column_of_weights_is_checked():
    with pytest.raises(UnknownVariable, match="`weights` names a column, has no variable 'v'"):
        Dataset({"x": [1], "w": [1.0]}, weights="v")
    with pytest.raises(InvalidData, match="the weight of row 1 is nan"):
        Dataset({"x": [1, 2], "w": [1.0, None]}, weights="w")
    with pytest.raises(InvalidData, match="'heavy' in row 0 is not a number"):
        Dataset({"x": [1], "w": ["heavy"]}, weights="w")


def test_a_dataset_says_which_states_came_from_the_data(tmp_path):
    category = pd.Series(pd.Categorical(["a", "b"], categories=["b", "a"]))
    data = Dataset({"text": ["y", "x"], "real": [0.5, 1.5], "category": category})
    assert data.states_from_data == ("text",)
    for twin in (Dataset(data), data.take([0]), pickle.loads(pickle.dumps(data)), data.only(["text"])):  # noqa: S301
        assert twin.states_from_data == ("text",)
    known = Dataset(data, data.variables)
    assert known.states_from_data == ()
    assert known == data
    write_csv(known.take([0, 1]), tmp_path / "rows.csv")
    assert Dataset(tmp_path / "rows.csv").states_from_data == ("text", "category")
