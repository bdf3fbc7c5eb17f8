"""`juncture fit` and `juncture predict`, as a user meets them: piped or on a terminal."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import juncture as jt
from support.builders import rows_with_holes
from support.command_line import juncture

ASIA = jt.example("asia")
CODE = "from juncture.cli.main import run; run()"


@pytest.fixture
def rows(tmp_path, monkeypatch) -> jt.Dataset:
    monkeypatch.chdir(tmp_path)
    data = rows_with_holes(ASIA, 300, share=0.1)
    data.to_csv("rows.csv")
    return data


# --- fit ------------------------------------------------------------------------------------------------------------


def test_fit_refuses_a_file_without_rows(rows):
    Path("empty.csv").write_text(",".join(ASIA.variables.names) + "\n")
    run = juncture("fit", "asia", "empty.csv", "--out", "fitted.bif")
    assert (run.returncode, run.err) == (1, "juncture: empty.csv has no rows to learn from\n")
    assert not Path("fitted.bif").exists()


def test_fit_writes_what_fit_finds(rows):
    run = juncture("fit", "asia", "rows.csv", "--prior", "1", "--out", "fitted.bif")
    expected = jt.fit(ASIA, rows, prior=1.0)
    assert run.returncode == 0, run.err
    assert jt.read("fitted.bif") == expected.model
    assert f"{expected.log_likelihood:,.6f}" in run.out
    assert "the gain fell below 1e-07 of the objective's rise" in run.out
    assert "the parents of either" in run.out
    assert run.err == ""
    assert "\x1b" not in run.out


def test_fit_tells_its_summary_as_json(rows):
    run = juncture("fit", "asia", "rows.csv", "--max-steps", "2", "--out", "fitted.bif", "--json")
    facts = json.loads(run.out)
    holes = sum(int((column < 0).sum()) for column in rows.columns.values())
    assert (facts["rows"], facts["missing_cells"], facts["steps"]) == (300, holes, 2)
    assert not facts["converged"]
    assert "stopped after 2 steps without converging; the model is the best so far" in run.err


def test_fit_with_complete_rows_from_standard_input_to_standard_output(rows):
    whole = jt.sample(ASIA, 50, rng=1)
    whole.to_csv("whole.csv")
    text = Path("whole.csv").read_bytes()
    run = juncture("fit", "asia", "-", "--prior", "1", "--out", "-", stdin=text)
    again = juncture("info", "-", "--json", stdin=run.stdout)
    assert json.loads(again.out)["parameters"] == ASIA.num_parameters
    assert "estimated in one step" in run.err


def test_fit_with_latent_variables_and_markers_of_holes(rows):
    frame = rows.to_pandas().drop(columns="lung").fillna("?")
    frame.assign(patient=range(300)).to_csv("marked.csv", index=False)
    run = juncture(
        "fit", "asia", "marked.csv", "--latent", "lung", "--missing", "?", "--restarts", "1", "--prior", "1",
        "--tolerance", "1e-4", "--seed", "3", "--out", "fitted.json", "--json",
    )  # fmt: skip
    facts = json.loads(run.out)
    assert facts["never_observed"] == ["lung"]
    assert facts["complete_rows"] == 0
    assert "are ignored: patient" in run.err
    method = jt.ExpectationMaximization(tolerance=1e-4, restarts=1)
    data = rows.only(name for name in rows.columns if name != "lung")
    expected = jt.fit(ASIA, data, prior=1.0, latent=["lung"], method=method, rng=3)
    assert jt.read("fitted.json") == expected.model


def test_a_terminal_gets_a_progress_bar_and_ctrl_c_keeps_the_best_so_far(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    alarm = jt.example("alarm")
    rows_with_holes(alarm, 3000, share=0.2).to_csv("rows.csv")
    latent = ["--latent", "HYPOVOLEMIA", "--latent", "LVFAILURE", "--latent", "INTUBATION"]  # so it takes minutes
    endless = [*latent, "--prior", "1", "--tolerance", "0", "--max-steps", "1000000"]
    arguments = ["fit", "alarm", "rows.csv", *endless, "--out", "fitted.bif"]
    reader, terminal = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "120"}
    command = [sys.executable, "-c", CODE, *arguments]
    with subprocess.Popen(command, stdin=terminal, stdout=subprocess.PIPE, stderr=terminal, env=environment) as process:
        os.close(terminal)
        seen = b""
        while b"with prior -" not in seen and process.poll() is None:  # the objective after a step
            seen += os.read(reader, 4096)
        process.send_signal(signal.SIGINT)
        output = drained(reader)
        out, _ = process.communicate(timeout=600)
    os.close(reader)
    assert b"learning from 3,000 rows" in seen
    assert b"step " in seen
    assert process.returncode == 130
    assert b"EM interrupted after step" in output
    assert b"interrupted after step" in out
    assert jt.read("fitted.bif").variables == alarm.variables


def drained(reader: int) -> bytes:
    """What a terminal still gets until its last program has gone."""
    parts = []
    while True:
        try:
            part = os.read(reader, 4096)
        except OSError:
            part = b""
        if not part:
            return b"".join(parts)
        parts.append(part)


# --- predict --------------------------------------------------------------------------------------------------------


def test_predict_writes_a_row_for_each_row(rows):
    run = juncture("predict", "asia", "rows.csv", "--target", "bronc", "--out", "predicted.csv")
    assert run.returncode == 0, run.err
    others = rows.only(name for name in rows.columns if name != "bronc")
    expected = jt.infer(ASIA, others, targets=["bronc"])["bronc"].values
    table = np.genfromtxt("predicted.csv", delimiter=",", names=True, dtype=None, encoding="utf-8", deletechars="")
    assert table.dtype.names == ("bronc", "P(bronc=yes)", "P(bronc=no)")
    assert np.array_equal(np.stack([table["P(bronc=yes)"], table["P(bronc=no)"]], axis=1), expected)
    assert table["bronc"].tolist() == [ASIA.variable("bronc").labels[code] for code in expected.argmax(axis=1)]
    truth, known = rows.columns["bronc"], rows.columns["bronc"] >= 0
    right = int((expected.argmax(axis=1) == truth)[known].sum())
    assert f"{right} of {known.sum()} rows with a known bronc are predicted correctly" in run.out
    assert juncture("predict", "asia", "rows.csv", "-t", "bronc").stdout == Path("predicted.csv").read_bytes()


def test_impossible_rows_are_told_and_left_empty(rows):
    text = b"either,tub,name\nno,yes,a\nyes,,b\n"
    run = juncture("predict", "asia", "-", "--target", "lung", stdin=text)
    lines = run.out.splitlines()
    assert lines[1] == ",,"
    assert lines[2].startswith("yes,0.84")
    assert "1 of 2 rows have probability zero and get no prediction: line 2 of standard input;" in run.err
    assert "tub=yes, either=no cannot occur together" in run.err
    document = json.loads(juncture("predict", "asia", "-", "--target", "lung", "--json", stdin=text).out)
    assert document["predicted"] == [None, "yes"]
    assert document["probabilities"][0] is None
    assert document["impossible"] == [0]
    assert sum(document["probabilities"][1]) == pytest.approx(1)


def test_a_table_of_the_target_alone_gets_its_distribution(rows):
    run = juncture("predict", "asia", "-", "--target", "lung", stdin=b'lung\nyes\n""\n')
    assert [line.split(",")[0] for line in run.out.splitlines()] == ["lung", "no", "no"]


# --- refused --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("fit", "asia", "rows.csv", "--out", "fitted.bfi"), "did you mean '.bif'"),
        (("fit", "asia", "rows.csv", "--out", "nowhere/fitted.bif"), "no folder 'nowhere'"),
        (("fit", "asia", "none.csv", "--out", "fitted.bif"), "none.csv"),
        (("fit", "asia", "some.csv", "--out", "fitted.bif"), "give --latent asia"),
        (("fit", "asia", "odd.csv", "--out", "fitted.bif"), "'smoke' has no state 'maybe' in line 3 of odd.csv"),
        (("fit", "weather", "rows.csv", "--out", "fitted.bif"), "no column of rows.csv is a variable of weather"),
        (("fit", "-", "-", "--out", "fitted.bif"), "standard input"),
        (("predict", "asia", "rows.csv", "--target", "lungs"), "did you mean 'lung'"),
        (("predict", "asia", "rows.csv", "--target", "lung", "--out", "predicted.bif"), "ends in .csv"),
        (("predict", "asia", "odd.csv", "--target", "lung"), "'smoke' has no state 'maybe' in line 3 of odd.csv"),
    ],
)
def test_what_cannot_be_done_exits_with_1_and_one_sentence(arguments, words, rows, tmp_path):
    (tmp_path / "some.csv").write_text("smoke,lung\nyes,no\n")
    (tmp_path / "odd.csv").write_text("smoke,lung\nyes,no\nmaybe,no\n")
    run = juncture(*arguments)
    assert run.returncode == 1
    assert run.out == ""
    assert run.err.startswith("juncture: ")
    assert words in run.err
    assert run.err.count("\n") == 1
    assert not (tmp_path / "fitted.bif").exists()
