"""How commands are asked: help, wrong usage, completion, and results as numbers."""

from __future__ import annotations

import json
import os
from unittest import mock

import pytest

import juncture as jt
from juncture.cli.commands import COMMANDS
from support.command_line import juncture


def complete(*words: str) -> list[str]:
    """What a shell proposes for the last word."""
    shell = {"_JUNCTURE_COMPLETE": "complete_bash", "COMP_WORDS": " ".join(["juncture", *words])}
    with mock.patch.dict(os.environ, {**shell, "COMP_CWORD": str(len(words))}):
        return juncture().out.split()


@pytest.mark.parametrize("command", [[], *([name] for name in COMMANDS)])
def test_help_has_no_types_of_python(command):
    run = juncture(*command, "--help")
    assert run.returncode == 0
    for noise in ("<", "range", "x>=", "bool", "str]", "INTEGER", "FLOAT", "│"):
        assert noise not in run.out
    assert "-h, --help" in run.out


def test_help_names_arguments_options_and_defaults():
    text = juncture("sample", "--help").out
    assert text.startswith("Usage: juncture sample NETWORK ROWS [OPTIONS]\n")
    assert "  --seed NUMBER " in text
    assert "  -o, --out FILE " in text
    assert "[default: -]" in text
    assert "[required]" in juncture("predict", "--help").out
    assert "Usage: juncture query NETWORK [VARIABLE...] [OPTIONS]\n" in juncture("query", "--help").out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("sample", "asia", "x"), "'ROWS': it must be a whole number of at least 0; got 'x'"),
        (("sample", "asia", "--", "-1"), "'ROWS': it must be a whole number of at least 0; got '-1'"),
        (("mpe", "asia", "-k", "0"), "'-k': it must be a whole number of at least 1; got '0'"),
        (("learn", "rows.csv", "--level", "low"), "'--level': it must be a number; got 'low'"),
        (("learn", "rows.csv", "--prior", "-1"), "'--prior': it must be a number of at least 0; got '-1'"),
        (("fit", "asia", "rows.csv", "-o", "a.bif", "--tolerance", "nan"), "a number of at least 0; got 'nan'"),
    ],
)
def test_a_wrong_number_is_told_what_it_must_be(arguments, words):
    run = juncture(*arguments)
    assert run.returncode == 2
    assert words in run.err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("query", "asia", "--given", "xray"), "evidence is written NAME=STATE; got 'xray'"),
        (("mpe", "asia", "--given", "xray"), "evidence is written NAME=STATE; got 'xray'"),
        (("query", "asia", "--likelihood", "xray=a,b"), "one number for each state, such as 0.2,0.9; got 'a,b'"),
    ],
)
def test_malformed_evidence_is_wrong_usage(arguments, words):
    run = juncture(*arguments)
    assert (run.returncode, run.out) == (2, "")
    assert run.err.startswith("juncture: ")
    assert words in run.err


def test_a_malformed_edge_is_wrong_usage(tmp_path):
    (tmp_path / "rows.csv").write_text("a,b\n0,1\n1,0\n")
    run = juncture("learn", str(tmp_path / "rows.csv"), "--require", "a>b")
    assert (run.returncode, "an edge is written A->B" in run.err) == (2, True)


def test_info_gives_numbers_as_numbers():
    facts = json.loads(juncture("info", "alarm", "--json").out)
    assert facts["states_per_variable"] == {"least": 2, "most": 4}
    assert facts["memory"] == round(jt.cost(jt.example("alarm")).bytes)
    assert facts["conditionals"] == {"Conditional": 37}
    assert isinstance(facts["largest_table"], int)
    assert "2 to 4" in juncture("info", "alarm").out


def test_learn_without_a_file_prints_the_edges(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    jt.sample(jt.example("asia"), 2000, rng=0).to_csv("rows.csv")
    run = juncture("learn", "rows.csv")
    assert run.returncode == 0
    assert " -> " in run.out
    assert "written to" not in run.out
    assert [path.name for path in tmp_path.iterdir()] == ["rows.csv"]
    facts = json.loads(juncture("learn", "rows.csv", "--json").out)
    assert facts["written_to"] is None
    assert all(f"{tail} -> {head}" in run.out for tail, head in facts["edges"])


def test_completion_of_networks_variables_states_and_methods(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    jt.write(jt.example("fuel"), tmp_path / "folder" / "engine.bif")
    (tmp_path / "folder" / "notes.txt").touch()
    assert complete("info", "as") == ["asia"]
    assert complete("info", "fo") == ["folder/"]
    assert complete("info", "folder/") == ["folder/engine.bif"]
    assert complete("query", "asia", "x") == ["xray"]
    assert complete("query", "folder/engine.bif", "--given=") == ["B=", "F=", "G="]
    assert complete("query", "asia", "--given", "xr") == ["xray="]
    assert complete("query", "asia", "--given", "xray=") == ["xray=yes", "xray=no"]
    assert complete("query", "asia", "--method", "j") == ["junction-tree"]
    assert complete("learn", "rows.csv", "--method", "hill") == ["hill-climbing"]
    assert complete("learn", "rows.csv", "--score", "b") == ["bic", "bdeu", "bds", "bge"]
    assert complete("learn", "rows.csv", "--test", "ch") == ["chi2"]
    assert complete("query", "nowhere.bif", "x") == []


def test_examples_are_the_bundled_networks():
    listed = json.loads(juncture("examples", "--json").out)
    assert {each["name"]: each["about"] for each in listed} == jt.examples()
    for each in listed:
        model = jt.example(each["name"])
        assert each["names"] == [*model.variables.names]
        assert (each["variables"], each["edges"]) == (len(model.variables), len(model.graph.edges))
    assert all(name in juncture("examples").out for name in jt.examples())
