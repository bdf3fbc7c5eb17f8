"""`juncture predict`: columns that are kept beside the prediction, states that the network lacks, misspelt columns."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import juncture as jt
from support.command_line import juncture

ROWS = "patient,smoke,xray,lung,dose\n007,sometimes,yes,no,1.50\n008,no,,yes,\n"


@pytest.fixture(autouse=True)
def rows(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("rows.csv").write_text(ROWS)


def predict(*options: str, stdin: bytes = b""):
    return juncture("predict", "asia", "-" if stdin else "rows.csv", "--target", "lung", *options, stdin=stdin)


def test_a_state_that_the_network_lacks_is_told_with_its_line():
    for run, name in ((predict(), "rows.csv"), (predict(stdin=ROWS.encode()), "standard input")):
        assert (run.returncode, run.out) == (1, "")
        assert f"'smoke' has no state 'sometimes' in line 2 of {name}" in run.err
        assert "--unseen missing" in run.err


def test_a_row_whose_line_is_not_known_is_told_by_its_number():
    text = 'patient,smoke\n"two\nlines",yes\nP2,sometimes\n'
    assert "in row 2 of standard input" in predict(stdin=text.encode()).err


def test_an_unseen_state_is_missing_on_request():
    run = predict("--unseen", "missing", "--json")
    expected = jt.infer(jt.example("asia"), {"xray": "yes"})["lung"].values.tolist()
    assert json.loads(run.out)["probabilities"][0] == pytest.approx(expected, rel=1e-12)
    assert "treated as missing (--unseen missing): smoke 1" in run.err
    assert predict("--unseen", "maybe").returncode == 2


def test_kept_columns_stand_beside_the_prediction_letter_by_letter():
    head, first, second = predict("--unseen", "missing", "--keep", "patient", "--keep", "dose").out.splitlines()
    assert head == "patient,dose,lung,P(lung=yes),P(lung=no)"
    assert first.startswith("007,1.50,no,0.48")
    assert second.startswith("008,,no,0.01")


def test_all_columns_are_kept_and_the_prediction_has_a_name_of_its_own():
    assert predict("--unseen", "missing", "--keep-all", "--out", "out.csv").returncode == 0
    head, first, _ = Path("out.csv").read_text().splitlines()
    assert head == "patient,smoke,xray,lung,dose,predicted lung,P(lung=yes),P(lung=no)"
    assert first.startswith("007,sometimes,yes,no,1.50,no,0.48")
    assert predict("--unseen", "missing", "--keep-all", "--out", "out.parquet").returncode == 0
    assert jt.Dataset("out.parquet").to_dict()["dose"] == [1.5, None]
    kept = json.loads(predict("--unseen", "missing", "--keep", "dose", "--json").out)["kept"]
    assert kept == {"dose": [1.5, None]}


def test_a_column_to_keep_must_be_there_and_have_another_name_than_the_prediction():
    assert "--keep: rows.csv has no column 'patent'; did you mean 'patient'?" in predict("--keep", "patent").err
    text = b"smoke,P(lung=no)\nyes,1\n"
    assert "has a column 'P(lung=no)' too" in predict("--keep-all", stdin=text).err


def test_a_misspelt_column_is_told_with_the_variable_that_has_none():
    run = predict(stdin=b"Smoke,xray,age\nyes,yes,3\n")
    assert "are ignored: Smoke, age\n" in run.err
    assert "the network's 'smoke' has no column; did you mean it by 'Smoke'?" in run.err
    assert "by 'age'" not in run.err


def test_a_predicted_number_stands_beside_kept_columns():
    dose = jt.Variable("dose")
    network = jt.BayesianNetwork([jt.LinearGaussian(dose, [], [], 2.0, 1.0)])
    jt.write(network, "dose.json")
    run = juncture("predict", "dose.json", "rows.csv", "--target", "dose", "--keep", "patient", "--keep", "dose")
    head, first, _ = run.out.splitlines()
    assert head.startswith("patient,dose,predicted dose,standard deviation of dose,")
    assert first.startswith("007,1.50,2.0,1.0,")


def test_columns_are_left_out_as_in_learn():
    run = predict("--ignore", "smoke", "--ignore", "patient", "--ignore", "dose", "--json")
    expected = jt.infer(jt.example("asia"), {"xray": "yes"})["lung"].values.tolist()
    assert run.err == ""
    assert json.loads(run.out)["probabilities"][0] == pytest.approx(expected)
    assert "has no column 'Smoke'; did you mean 'smoke'?" in predict("--ignore", "Smoke").err
