"""`juncture query` with a method that draws: standard errors, a seed, and a bar while chains run."""

from __future__ import annotations

import io
import json
import re
import sys

import pytest
from typer.testing import CliRunner

import juncture as jt
from juncture.cli.main import app
from juncture.cli.printing.progress import MAX_DRAWS, watched_engine

ASIA = ["query", "asia", "lung", "--given", "xray=yes"]


def run(*arguments):
    answer = CliRunner().invoke(app, [*ASIA, *arguments])
    assert answer.exit_code == 0, answer.output
    return answer.output


@pytest.mark.parametrize("method", ["gibbs", "likelihood-weighting"])
def test_standard_errors_are_printed(method):
    text = run("--method", method, "--seed", "3")
    share, error = map(float, re.search(r"yes +(0\.\d{4}) ± (0\.\d{4})", text).groups())
    exact = jt.infer(jt.example("asia"), {"xray": "yes"})["lung"]["yes"]
    assert abs(share - exact) < 5 * error
    assert "effective sample size" in text
    assert ("R-hat" in text) == (method == "gibbs")
    assert run("--method", method, "--seed", "3") == text


def test_json_has_them_too():
    document = json.loads(run("--method", "gibbs", "--seed", "3", "--json"))
    assert document["exact"] is False
    assert document["r_hat"] < 1.05
    assert document["marginals"]["lung"][0]["standard_error"] > 0
    exact = json.loads(run("--json"))
    assert "standard_error" not in exact["marginals"]["lung"][0]


def test_a_bar_shows_r_hat_and_the_interval(monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    screen = Terminal()
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "150")
    monkeypatch.setattr(sys, "stderr", screen)
    model = jt.example("asia")
    with watched_engine(model, ["lung"], "gibbs", None) as engine:
        jt.infer(model, {"xray": "yes"}, targets=["lung"], method=engine, rng=1)
    assert re.search(r"1,000 draws, R-hat 1\.0\d\d, p\(lung=\w+\) 0\.\d{3} to 0\.\d{3}", screen.getvalue())


def test_a_budget_asks_for_many_draws():
    model = jt.example("asia")
    with watched_engine(model, None, "gibbs", 5.0) as engine:
        assert engine.draws == MAX_DRAWS
        assert engine.progress is None  # standard error is no terminal
    with watched_engine(model, None, "auto", 5.0) as engine:
        assert engine == "auto"
