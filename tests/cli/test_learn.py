"""`juncture learn`, as a user meets it."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

import juncture as jt
from juncture.cli.main import app
from juncture.errors import InvalidData
from juncture.learning.structure.learn import learn_structure


@pytest.fixture
def rows(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    data = jt.sample(jt.example("asia"), 500, rng=0)
    data.to_csv("rows.csv")
    return jt.Dataset("rows.csv")


def learn(*arguments: str):
    return CliRunner().invoke(app, ["learn", "rows.csv", *arguments])


def test_the_network_written_has_the_graph_told(rows):
    answer = learn("--out", "learned.bif", "--json")
    document = json.loads(answer.stdout)
    expected = learn_structure(rows)
    assert jt.read("learned.bif").graph == expected
    assert {tuple(edge) for edge in document["edges"]} == set(expected.edges)
    assert document["method"] == "hill-climbing"


@pytest.mark.parametrize("method", ["ges", "pc", "exact", "mmhc", "chow-liu", "structural-em"])
def test_every_method_with_constraints(rows, method):
    options = ("--require", "smoke->lung", "--forbid", "lung -> either", "--max-parents", "2", "--tier", "smoke,asia")
    answer = learn("--out", "learned.json", "--method", method, *options)
    assert answer.exit_code == 0, answer.output
    edges = jt.read("learned.json").graph.edges
    assert ("smoke", "lung") in edges
    assert ("lung", "either") not in edges
    assert "smoke -> lung" in answer.stdout


def test_a_class_has_its_own_method(rows):
    assert learn("--out", "a.bif", "--method", "tree-augmented", "--target", "lung").exit_code == 0
    assert len(jt.read("a.bif").graph.children("lung")) == 7


def test_wrong_wishes(rows):
    with pytest.raises(InvalidData, match="written A->B"):
        CliRunner().invoke(app, ["learn", "rows.csv", "--out", "a.bif", "--require", "ab"], catch_exceptions=False)
    assert learn("--out", "a.unknown").exit_code == 1
    assert learn().exit_code == 2
