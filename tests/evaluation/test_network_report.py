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


def test_numbers_are_judged_by_their_gaussians():
    """y = 2 x + e and x = N(0, 1): p(y) = N(0, 5), p(y | x) = N(2 x, 1), p(x | y) = N(2 y / 5, 1 / 5)."""
    x, y = jt.Variable("x"), jt.Variable("y")
    model = jt.BayesianNetwork([jt.LinearGaussian(x, [], []), jt.LinearGaussian(y, [x], [2.0])])
    rows = jt.sample(model, 400, rng=0)
    numbers = rows.columns["x"].copy()
    numbers[::5] = np.nan
    known, ys = ~np.isnan(numbers), rows.columns["y"]
    report = evaluate(model, {"x": numbers, "y": ys})
    own = report["x"]
    error = numbers[known] - 0.4 * ys[known]
    assert own.rmse == pytest.approx(np.sqrt(np.mean(error**2)), rel=1e-9)
    assert own.base_rmse == pytest.approx(numbers[known].std(), rel=1e-9)
    assert own.coverage == np.mean(np.abs(error) <= 1.6448536269514722 * np.sqrt(0.2))
    assert own.log_density == pytest.approx(np.mean(jt.Gaussian(0.0, 0.2).log_prob(error)), rel=1e-9)
    assert report["y"].base_log_density == pytest.approx(np.mean(jt.Gaussian(0.0, 5.0).log_prob(ys)), rel=1e-9)
    mean, variance = np.where(known, 2 * np.nan_to_num(numbers), 0.0), np.where(known, 1.0, 5.0)
    assert report["y"].log_density == pytest.approx(jt.Gaussian(mean, variance).log_prob(ys).mean(), rel=1e-9)
    assert [each.numbers()[0] for each in report.variables] == [320, 400]


def test_states_and_numbers_have_tables_of_their_own(tmp_path):
    sex, height = jt.Variable("sex", ["f", "m"]), jt.Variable("height")
    means = jt.LinearGaussian(height, [sex], np.zeros((2, 0)), [160.0, 180.0], [25.0, 25.0])
    model = jt.BayesianNetwork([jt.Conditional(sex, [], [0.5, 0.5]), means])
    rows = jt.sample(model, 200, rng=0)
    report = evaluate(model, rows)
    tall = rows.columns["height"] > 170  # where both densities are equal
    assert report["sex"].accuracy == np.mean(tall == rows.columns["sex"])
    frame = report.to_pandas().set_index("variable")
    assert (np.isnan(frame.loc["sex", "rmse"]), np.isnan(frame.loc["height", "accuracy"])) == (True, True)
    assert frame.loc["height", "rmse"] == report["height"].rmse
    assert "base RMSE" in repr(report)
    assert report._repr_html_().count("<table>") == 2
    jt.write(model, tmp_path / "model.json")
    rows.to_csv(tmp_path / "rows.csv")
    line = ("evaluate", str(tmp_path / "model.json"), str(tmp_path / "rows.csv"))
    found = {each["variable"]: each for each in json.loads(juncture(*line, "--json").out)}
    assert found["height"]["log_density"] == pytest.approx(report["height"].log_density, rel=1e-9)
    assert found["sex"]["log_loss"] == pytest.approx(report["sex"].log_loss, rel=1e-9)
    shown = juncture(*line).out
    assert shown.index("calibration error") < shown.index("base log density")


def test_what_was_said_to_be_impossible_has_no_finite_log_loss_in_json(tmp_path):
    (tmp_path / "rows.csv").write_text("lung,either\nyes,no\nno,no\n")
    found = json.loads(juncture("evaluate", "asia", str(tmp_path / "rows.csv"), "-t", "either", "--json").out)
    assert found[0]["log_loss"] is None
    assert np.isfinite(found[0]["base_log_loss"])


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
