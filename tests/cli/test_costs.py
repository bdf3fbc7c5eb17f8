"""`juncture predict --cost`: decisions of least expected loss, the files of losses, and what predictions beat."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import juncture as jt
from juncture.cli import predicted_blocks
from support.command_line import juncture

ASIA = jt.example("asia")
LOSSES = {"wait": (100.0, 0.0), "treat": (20.0, 10.0), "ask": (40.0, 2.5)}  # decision → the loss where lung is yes, no
WIDE = "decision,no,yes\nwait,0,100\ntreat,10,20\nask,2.5,40\n"


@pytest.fixture(autouse=True)
def rows(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    drawn = jt.sample(ASIA, 60, rng=0).to_pandas().drop(columns=["either", "tub"])
    drawn.loc[::4, "lung"] = None
    drawn.to_csv("rows.csv", index=False)
    Path("wide.csv").write_text(WIDE)


def predict(cost: str, *more: str, target: str = "lung", rows: str = "rows.csv"):
    return juncture("predict", "asia", rows, "--target", target, "--cost", cost, *more)


def test_each_row_gets_the_decision_of_least_expected_loss():
    document = json.loads(predict("wide.csv", "--json").out)
    names = list(LOSSES)
    for (yes, no), decision, loss in zip(
        document["probabilities"], document["decision"], document["expected_loss"], strict=True
    ):
        expected = [yes * LOSSES[name][0] + no * LOSSES[name][1] for name in names]
        assert decision == names[int(np.argmin(expected))]
        assert loss == pytest.approx(min(expected), rel=1e-9)
    assert len(set(document["decision"])) > 1
    frame = pd.read_csv("rows.csv")
    truth = [state if isinstance(state, str) else None for state in frame["lung"]]
    pairs = [(state, action) for state, action in zip(truth, document["decision"], strict=True) if state is not None]
    place = ("yes", "no").index
    judged = document["judged"]
    assert judged["mean_loss"] == pytest.approx(np.mean([LOSSES[action][place(state)] for state, action in pairs]))
    bases = {name: np.mean([LOSSES[name][place(state)] for state, _ in pairs]) for name in names}
    assert judged["base_loss"] == pytest.approx(min(bases.values()))
    assert bases[judged["base_decision"]] == min(bases.values())
    assert judged["rows"] == len(pairs) == 45


def test_wide_and_long_files_of_any_order_say_the_same():
    lines = [
        f"{losses[code]},{state},{name}" for name, losses in LOSSES.items() for code, state in enumerate(("yes", "no"))
    ]
    Path("long.csv").write_text("Loss,lung,Decision\n" + "\n".join(lines) + "\n")
    semicolons = WIDE.replace(",", ";").replace(".", ",")
    Path("commas.csv").write_text(semicolons)
    answers = [predict("wide.csv").out, predict("long.csv").out, predict("commas.csv", "--decimal", ",").out]
    assert answers[0] == answers[1] == answers[2]
    assert answers[0].startswith("lung,P(lung=yes),P(lung=no),decision,expected loss\n")
    assert "decided by the least expected loss of wide.csv" in predict("wide.csv").err


def test_blocks_decide_as_all_rows_at_once(monkeypatch):
    whole = predict("wide.csv", "--out", "whole.csv")
    monkeypatch.setattr(predicted_blocks, "LARGE", 0)
    monkeypatch.setattr(predicted_blocks, "BLOCK_ROWS", 17)
    blocks = predict("wide.csv", "--out", "blocks.csv")
    assert Path("whole.csv").read_bytes() == Path("blocks.csv").read_bytes()
    assert whole.out == blocks.out
    assert "base: " in whole.out.partition("decided by the least expected loss of wide.csv")[2]


def test_a_row_of_probability_zero_has_no_decision():
    Path("odd.csv").write_text("either,tub,lung\nno,yes,\nyes,no,yes\n")
    run = predict("wide.csv", rows="odd.csv")
    assert run.out.splitlines()[1] == ",,,,"
    assert run.out.splitlines()[2].endswith(",treat,20.0")
    document = json.loads(predict("wide.csv", "--json", rows="odd.csv").out)
    assert (document["decision"], document["expected_loss"]) == ([None, "treat"], [None, 20.0])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("decision,yes,maybe\na,1,2\nb,2,1\n", "one for each true state of lung, which are yes, no"),
        ("decision,yes\na,1\nb,2\n", "it has decision, yes"),
        ("lung,a,b\nyes,1,2\nno,2,1\n", "its rows are the states: exchange rows and columns"),
        ("lung,yes,no\nyes,0,2\nno,1,0\n", "name its first column decision if a row is a decision"),
        ("decision,yes,no\na,0,2\na,1,0\n", "two rows of the decision 'a'"),
        ("decision,yes,no\na,0,2\n", "has a only; a choice takes two or more"),
        ("decision,yes,no\na,0,\nb,1,0\n", "an empty cell in the column 'no'"),
        ("decision,yes,no\na,0,inf\nb,1,0\n", "a loss is a finite number, and a gain a negative one"),
        ("decision,state,loss\na,yes,1\nb,no,1\n", "no loss of the decision 'b' where lung is yes"),
        ("decision,state,loss\na,yes,1\na,yes,2\n", "two rows of the decision 'a' where lung is yes"),
        ("decision,state,loss\na,perhaps,1\n", "variable 'lung' has no state 'perhaps'"),
    ],
)
def test_an_unclear_file_is_refused_in_a_sentence(text, words):
    Path("costs.csv").write_text(text)
    run = predict("costs.csv")
    assert (run.returncode, run.out) == (1, "")
    assert words in run.err
    assert run.err.count("\n") == 1


def test_predictions_name_the_base_that_they_beat(monkeypatch):
    """The log loss beside that of the shares; the error of a number beside its standard deviation, also in blocks."""
    x, y = jt.Variable("x"), jt.Variable("y")
    model = jt.BayesianNetwork([jt.LinearGaussian(x, [], []), jt.LinearGaussian(y, [x], [2.0])])
    jt.write(model, "line.json")
    drawn = jt.sample(model, 100, rng=0)
    drawn.to_csv("numbers.csv")
    line = ("predict", "line.json", "numbers.csv", "--target", "y")
    judged = json.loads(juncture(*line, "--json").out)["judged"]
    xs, ys = drawn.columns["x"], drawn.columns["y"]
    assert judged["rmse"] == pytest.approx(np.sqrt(np.mean((ys - 2 * xs) ** 2)), rel=1e-9)
    assert judged["base_rmse"] == pytest.approx(ys.std(), rel=1e-9)
    assert judged["coverage"] == np.mean(np.abs(ys - 2 * xs) <= 1.6448536269514722)
    whole = juncture(*line, "--out", "whole.csv").out
    assert f"base: {judged['base_rmse']:.6g}, where their mean, {ys.mean():.6g}, is predicted in each" in whole
    assert f"root mean squared error: {judged['rmse']:.6g} in 100 rows" in whole
    monkeypatch.setattr(predicted_blocks, "LARGE", 0)
    monkeypatch.setattr(predicted_blocks, "BLOCK_ROWS", 17)
    assert juncture(*line, "--out", "blocks.csv").out == whole
    assert juncture(*line, "--cost", "numbers.csv").err.startswith("juncture: --cost: decisions are about the states")
    report = jt.evaluation.evaluate_network(ASIA, "rows.csv", targets=["lung"])["lung"]
    judged = json.loads(juncture("predict", "asia", "rows.csv", "--target", "lung", "--json").out)["judged"]
    for name in ("accuracy", "base_rate", "log_loss", "base_log_loss"):
        assert judged[name] == pytest.approx(getattr(report, name), rel=1e-9)
