"""A classifier from the command line: `learn --target` and `predict`, of rows with holes."""

from __future__ import annotations

import json

import numpy as np
import pytest
from typer.testing import CliRunner

import juncture as jt
from juncture.cli.main import app
from support.builders import rows_with_holes


@pytest.fixture(autouse=True)
def _work_in(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def run(*arguments: str):
    answer = CliRunner().invoke(app, arguments)
    assert answer.exit_code == 0, answer.output
    return answer.stdout


@pytest.mark.parametrize("share", [0.0, 0.06])
def test_a_target_asks_for_its_classifier(share):
    rows = rows_with_holes(jt.example("asia"), 600, share=share)
    rows.to_csv("rows.csv")
    found = json.loads(run("learn", "rows.csv", "--target", "bronc", "--json", "--out", "a.json"))
    assert found["method"] == "tree-augmented"
    graph = jt.read("a.json").graph
    assert len(graph.children("bronc")) == 7
    assert len(graph.edges) == 7 + 6
    assert graph == jt.learn_structure(jt.Dataset("rows.csv"), target="bronc", rng=0)
    assert "tree-augmented, log-likelihood" in run("learn", "rows.csv", "--target", "bronc")


def test_accuracy_stands_beside_the_base_rate():
    rows = rows_with_holes(jt.example("asia"), 300, share=0.1)
    rows.to_csv("rows.csv")
    counts = np.bincount(rows.columns["lung"][rows.columns["lung"] >= 0])
    answer = run("predict", "asia", "rows.csv", "--target", "lung", "--out", "p.csv")
    label = jt.example("asia").variable("lung").labels[counts.argmax()]
    assert f"base rate: {counts.max()} of them have the most frequent state, {label}" in answer
