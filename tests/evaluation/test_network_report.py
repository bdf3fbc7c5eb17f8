"""The report of a network: each variable given the others, against Bayes' rule on the joint table."""

from __future__ import annotations

import json

import numpy as np
import pytest

import juncture as jt
from support.command_line import juncture

evaluate = jt.evaluation.evaluate_network
ASIA = jt.example("asia")
ROWS = jt.sample(ASIA, 300, rng=1)


def test_predictions_are_those_of_infer_with_the_cell_hidden():
    frame = ROWS.to_pandas()
    frame.loc[::7, "smoke"] = None
    report = evaluate(ASIA, frame)
    for name in ("smoke", "dysp", "either"):
        own = report[name]
        seen = frame[frame[name].notna()]
        assert len(own.truth) == len(seen)
        for place in (0, 5, 20):
            row = {k: v for k, v in seen.iloc[place].items() if k != name and v is not None and v == v}  # noqa: PLR0124
            assert own.probabilities[place] == pytest.approx(jt.infer(ASIA, row)[name].values)


def test_the_numbers_of_a_variable():
    own = evaluate(ASIA, ROWS, targets=["bronc"])["bronc"]
    true_probabilities = own.probabilities[np.arange(len(own.truth)), own.truth]
    assert own.log_loss == pytest.approx(-np.log(true_probabilities).mean())
    assert own.accuracy == pytest.approx(own.confusion().accuracy)
    assert own.base_rate == pytest.approx(max(np.mean(own.truth == 0), np.mean(own.truth == 1)))
    assert own.log_loss < own.base_log_loss
    assert own.calibration("yes").score == pytest.approx(own.calibration("no").score)
    assert own.calibration_error < 0.1


def test_impossible_rows_are_counted_and_columns_without_truth_named():
    rows = {"either": ["no", "yes"], "lung": ["yes", "yes"], "smoke": [None, None], "xray": ["yes", "no"]}
    report = evaluate(ASIA, rows)
    assert "smoke" in report.without_truth
    assert report["xray"].impossible == 1
    assert len(report["xray"].truth) == 1
    assert report["either"].log_loss == np.inf or report["either"].accuracy == 0.5
    frame = report.to_pandas()
    assert frame.set_index("variable").loc["xray", ["rows", "impossible"]].tolist() == [2, 1]
    assert "<table>" in report._repr_html_()


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: evaluate(ASIA, {"smoke": [None]}), jt.errors.InvalidData, "nothing to compare with"),
        (lambda: evaluate(ASIA, ROWS, targets=["lungs"]), jt.UnknownVariable, "did you mean 'lung'"),
        (lambda: evaluate(ASIA, ROWS)["lungs"], jt.UnknownVariable, "did you mean 'lung'"),
        (lambda: evaluate(ASIA, ROWS)["lung"].calibration("maybe"), jt.errors.InvalidData, "has no state 'maybe'"),
        (lambda: evaluate(jt.MarkovChain([[1.0]]), ROWS), jt.errors.InvalidData, "the model must be a BayesianNetwork"),
    ],
)
def test_wrong_questions_are_refused(call, error, words):
    with pytest.raises(error, match=words):
        call()


def test_the_command_prints_the_report(tmp_path):
    path = tmp_path / "cases.csv"
    ROWS.to_pandas().to_csv(path, index=False)
    done = juncture("evaluate", "asia", str(path), "--json")
    assert done.returncode == 0
    rows = {row["variable"]: row for row in json.loads(done.out)}
    assert rows["lung"]["accuracy"] == pytest.approx(evaluate(ASIA, ROWS)["lung"].accuracy)
    shown = juncture("evaluate", "asia", str(path), "--target", "lung")
    assert "base log loss" in shown.out
    assert "bronc" not in shown.out.replace(str(path), "")
