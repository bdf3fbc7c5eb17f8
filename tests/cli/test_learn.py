"""`juncture learn`, as a user meets it."""

from __future__ import annotations

import json
from pathlib import Path
from unittest.mock import Mock

import pytest
from typer.testing import CliRunner

import juncture as jt
from juncture.cli.main import app
from juncture.errors import JunctureError
from juncture.learning.structure import forecast
from juncture.learning.structure.learn import learn_structure
from juncture.learning.structure.searches import structural_em
from support.builders import rows_with_holes


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
    expected = learn_structure(rows, rng=0)
    assert jt.read("learned.bif").graph == expected
    assert {tuple(edge) for edge in document["edges"]} == set(expected.edges)
    assert document["scores"] == jt.structure.search(rows, rng=0).scores
    assert document["method"] == max(document["scores"], key=document["scores"].get)


def test_ctrl_c_keeps_the_best_graph_and_a_long_search_is_announced(rows, monkeypatch):
    data = rows_with_holes(jt.example("asia"), 400, share=0.1)
    data.to_csv("rows.csv")
    monkeypatch.setattr(structural_em, "complete", Mock(side_effect=KeyboardInterrupt))
    monkeypatch.setattr(forecast, "LONG", 0.0)
    with pytest.warns(
        jt.errors.NotConvergedWarning, match=r"structural EM was interrupted in step 1; the graph is the"
    ):
        answer = learn("--out", "learned.bif")
    assert answer.exit_code == 0, answer.output
    assert jt.read("learned.bif").graph == learn_structure(jt.Dataset("rows.csv"), score="node-average")
    note = (
        "note: structural EM over 400 rows and 8 columns will take about 0 seconds: Ctrl-C keeps the best graph so far"
    )
    assert note in answer.stderr
    assert "node-average" not in answer.stderr  # rows are few


@pytest.mark.filterwarnings("ignore::juncture.errors.DeterministicRelationWarning")
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


@pytest.mark.filterwarnings("ignore::juncture.errors.DeterministicRelationWarning")
@pytest.mark.parametrize(
    "options",
    [("--tabu", "5", "--restarts", "2"), ("--method", "mmhc", "--level", "0.01"), ("--method", "pc", "--test", "chi2")],
)
def test_options_of_searches(rows, options):
    assert learn("--out", "learned.bif", *options).exit_code == 0


def error_of(*arguments: str, rows: str = "rows.csv") -> str:
    with pytest.raises(JunctureError) as error:
        CliRunner().invoke(app, ["learn", rows, "--out", "a.json", *arguments], catch_exceptions=False)
    return str(error.value)


def test_wrong_options(rows):
    assert "an edge is written A->B" in error_of("--require", "ab")
    assert "an edge is written A->B" in error_of("--require", "a -> b -> c")
    assert "no variable 'smook'; did you mean 'smoke'" in error_of("--require", "smook->lung")
    assert "required, but forbidden too" in error_of("--require", "lung->smoke", "--tier", "smoke", "--tier", "lung")
    assert learn("--out", "a.unknown").exit_code == 1


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--method", "gess"), "--method: there is no 'gess'; did you mean 'ges'?"),
        (("--score", "bicc"), "--score: there is no 'bicc'; did you mean 'bic'?"),
        (("--method", "pc", "--test", "g3"), "--test: there is no 'g3'"),
        (("--method", "pc", "--level", "3"), "--level: the level of a test lies between 0 and 1; got 3.0"),
        (("--level", "0.1"), "--level: --method combined does not take this option; these methods do: pc, mmhc"),
        (
            ("--method", "pc", "--score", "aic"),
            "--score: --method pc does not take this option; these methods do: hill-climbing",
        ),
        (
            ("--target", "lung", "--method", "combined"),
            "--target: --method combined does not take this option; these methods do: tree-augmented",
        ),
        (("--method", "tree-augmented"), "--target: --method tree-augmented needs the class"),
    ],
)
def test_wrong_usage_names_the_option(rows, options, words):
    answer = learn("--out", "a.json", *options)
    assert answer.exit_code == 2
    assert words in " ".join(answer.stderr.replace("│", " ").split())


def learned(*arguments: str) -> dict:
    return json.loads(learn("--out", "a.json", "--json", *arguments).stdout)


def test_without_a_score_the_search_takes_its_own(rows):
    found = learned("--method", "chow-liu")
    assert found["score"] == "log-likelihood"
    assert {tuple(edge) for edge in found["edges"]} == set(learn_structure(rows, "chow-liu").edges)
    found = learned("--method", "tree-augmented", "--target", "lung")
    assert {tuple(edge) for edge in found["edges"]} == set(learn_structure(rows, "tree-augmented", target="lung").edges)
    assert learned("--method", "pc")["score"] is None


@pytest.mark.filterwarnings("ignore::juncture.errors.UnseenParentsWarning")
def test_holes_can_be_climbed_at_once(rows):
    rows_with_holes(jt.example("asia"), 300).to_csv("rows.csv")
    assert learned("--score", "node-average")["method"] == "hill-climbing"


def test_names_of_a_tier_may_have_blanks_between(rows):
    assert learned("--tier", "lung, smoke", "--tier", "asia ,tub") == learned(
        "--tier", "lung,smoke", "--tier", "asia,tub"
    )


def test_a_prior_for_numbers_is_told_of(rows):
    numbers = written("numbers.csv", "a,b\n" + "1.5,2.5\n2.5,1.5\n0.5,1.0\n" * 5)
    answer = CliRunner().invoke(app, ["learn", numbers, "--out", "a.json", "--prior", "2"])
    assert "--prior is ignored" in answer.stderr
    assert "--prior" not in CliRunner().invoke(app, ["learn", numbers, "--out", "a.json"]).stderr


def written(name: str, text: str) -> str:
    Path(name).write_text(text, encoding="utf-8")
    return name


def test_odd_tables(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert "rows.csv has no rows" in error_of(rows=written("rows.csv", "a,b\n"))
    empty = CliRunner().invoke(app, ["learn", written("a.csv", "a,b\nx,\ny,\n")])
    assert "note: the column 'b' has no value; it is left out\n" in empty.stderr
    assert "has no column left" in error_of(rows=written("a.csv", "a,b\nx,\nx,\n"))
    mixed = written("mixed.csv", "a,b\n" + "x,1.5\ny,2.5\nx,3.5\n" * 9)
    for method in ("pc", "mmhc"):
        assert "juncture learn --bins 5" in error_of("--method", method, rows=mixed)
    binned = CliRunner().invoke(app, ["learn", mixed, "--out", "a.json", "--bins", "2"])
    assert "a -> b" in binned.stdout or "b -> a" in binned.stdout
    numbers = written("k.csv", "x,k\n1.5,2.5\n2.5,2.5\n4.5,2.5\n")
    assert "'k' has the same number in every row" in error_of("--keep", "k", rows=numbers)
    constant = ["learn", written("c.csv", "a,k\n1,0\n2,0\n"), "--out", "a.json"]
    assert "the column 'k' has one value only; it is left out (--keep k" in CliRunner().invoke(app, constant).stderr
    assert "no edge can be learned: k" in CliRunner().invoke(app, [*constant, "--keep", "k"]).stdout


def test_text_and_numbers_need_no_options(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    mixed = written("mixed.csv", "a,b\n" + "x,1.5\ny,2.5\nx,1.75\ny,2.25\n" * 9)
    learned = CliRunner().invoke(app, ["learn", mixed, "--out", "learned.json", "--prior", "2"])
    assert "a -> b" in learned.stdout
    assert "--prior" not in learned.stderr
    model = jt.read("learned.json")
    assert model["a"].values.tolist() == [0.5, 0.5]
    assert model.variable("b").is_real
    assert CliRunner().invoke(app, ["fit", "learned.json", mixed, "--out", "again.json"]).exit_code == 0
    assert jt.read("again.json")["b"] == model["b"]
    answer = CliRunner().invoke(app, ["query", "again.json", "b", "--given", "a=x", "--json"])
    assert json.loads(answer.stdout)["marginals"]["b"]["mean"] == pytest.approx(1.625)


def test_names_with_arrows(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = written("rows.csv", "my grade,a -> b\n" + "1,2\n2,1\n" * 20)
    answer = CliRunner().invoke(app, ["learn", rows, "--out", "a.json", "--require", '"a -> b" -> "my grade"'])
    assert '"a -> b" -> "my grade"' in answer.stdout
    assert jt.read("a.json").graph.edges == (("a -> b", "my grade"),)
