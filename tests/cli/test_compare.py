"""`juncture compare`: the table, the report, JSON, notes and refusals."""

from __future__ import annotations

import json
import sys

import numpy as np
import pytest

from juncture.cli import compare as command
from support.command_line import juncture

QUICK = ("--learners", "naive-bayes", "--folds", "2", "--repeats", "1")


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    """A file with an identifier, a date, a text, a marker of missing cells, an empty column and two targets."""
    rng = np.random.default_rng(0)
    lines = ["id,day,size,color,empty,kind,value"]
    for place in range(60):
        size, color = rng.normal(), rng.choice(["red", "blue"])
        value = 2 * size + (color == "red") + 0.3 * rng.normal()
        cell = "NA" if place % 9 == 0 else f"{size:.4f}"
        kind = "<b>big" if value > 0 else "small"
        lines.append(f"P{place},2024-01-{1 + place % 28:02},{cell},{color},,{kind},{value:.4f}")
    file = tmp_path_factory.mktemp("rows") / "rows.csv"
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return str(file)


def test_the_table_and_the_notes(rows):
    done = juncture("compare", rows, "--target", "kind", "--ignore", "value", *QUICK)
    assert done.returncode == 0, done.err
    lines = done.out.splitlines()
    assert any("naive-bayes" in line and "best" in line for line in lines)
    assert any("baseline" in line and "scikit-learn" in line for line in lines)
    assert "predicted as classes: it holds text" in done.err
    assert "the text 'NA'" in done.err
    for name in ("'id'", "'day'", "'empty'"):
        assert any(name in line and "left out" in line for line in done.err.splitlines()), name


def test_numbers_as_json(rows):
    options = ("--learners", "bayesian-linear,k-nn", "--folds", "2", "--repeats", "1", "--metric", "rmse", "--json")
    done = juncture("compare", rows, "--target", "value", "--ignore", "kind", *options)
    assert done.returncode == 0, done.err
    document = json.loads(done.out)
    assert (document["task"], document["metric"], document["columns"]) == ("numbers", "rmse", ["size", "color"])
    best = document["learners"][0]
    assert (best["learner"], best["verdict"], best["failure"]) == ("bayesian-linear", "best", None)
    assert best["mean"] == pytest.approx(np.mean(best["scores"]["rmse"]))
    assert len(document["pairs"]) == 3


def test_the_report_is_written(rows, tmp_path):
    file = tmp_path / "report.html"
    done = juncture("compare", rows, "--target", "kind", "--ignore", "value", "--report", str(file), *QUICK)
    assert done.returncode == 0, done.err
    page = file.read_text(encoding="utf-8")
    assert page.startswith("<!DOCTYPE html>")
    assert "&lt;b&gt;big" in page
    assert "<b>big" not in page
    piped = juncture("compare", rows, "--target", "kind", "--ignore", "value", "--report", "-", *QUICK)
    assert piped.out.startswith("<!DOCTYPE html>")


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        (("--target", "knd"), 1, "did you mean 'kind'"),
        (("--target", "kind", "--learners", "svn"), 1, "did you mean 'svm'"),
        (("--target", "kind", "--metric", "r2"), 1, "the metric 'r2' judges numbers"),
        (("--target", "kind", "--task", "words"), 2, "--task must be"),
        (("--target", "kind", "--folds", "1"), 2, "at least 2"),
        (("--target", "kind", "--report", "nowhere/report.html"), 1, "no folder"),
        (("--target", "kind", "--report", "report.pdf"), 1, "ends in .html"),
        (("--target", "kind", "--report", "-", "--json"), 2, "cannot both"),
        ((), 2, "--target"),
    ],
)
def test_what_is_refused_is_told(rows, options, code, words):
    done = juncture("compare", rows, *options)
    assert (done.returncode, done.out) == (code, "")
    assert words in done.err


def test_there_is_a_bar_on_a_terminal_only(monkeypatch):
    with command.show_learners() as progress:
        assert progress is None
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    with command.show_learners() as progress:
        assert progress is not None
        progress("naive-bayes", 1, 10)
