"""`juncture separation`: the answer, the trail, all trails, JSON, and what is refused."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

import juncture as jt
from juncture.cli.main import app
from juncture.errors import InvalidData, InvalidModel, UnknownVariable


def run(*arguments: str):
    return CliRunner().invoke(app, ["separation", *arguments])


def test_no_with_the_trail():
    answer = run("asia", "tub", "bronc", "--given", "dysp")
    assert answer.exit_code == 0
    trail = jt.example("asia").graph.active_trail("tub", "bronc", "dysp")
    assert answer.stdout == f"tub ⫫ bronc | dysp: no\n  {trail}\n"


def test_yes():
    assert run("asia", "tub", "bronc").stdout == "tub ⫫ bronc: yes, they are separated\n"
    assert "yes" in run("asia", "asia,tub", "bronc,smoke", "-g", "lung").stdout


def test_every_trail_and_what_blocks_it():
    lines = run("student", "D", "S", "--given", "L", "--trails").stdout.splitlines()
    assert lines[0] == "D ⫫ S | L: no"
    assert lines[1].startswith("  open     D -> G <- I -> S: G is a collider and its descendant L is given;")
    assert run("fuel", "B", "F", "--trails").stdout.splitlines()[1].startswith("  blocked  B -> G <- F: ")
    many = run("alarm", "HISTORY", "EXPCO2", "--trails").stdout.splitlines()
    assert many[-1] == "note: only the first 100 trails are shown"
    assert len(many) == 102


def test_json():
    document = json.loads(run("fuel", "B", "F", "-g", "G", "--json").stdout)
    assert document == {
        "network": "fuel",
        "a": ["B"],
        "b": ["F"],
        "given": ["G"],
        "separated": False,
        "trails": [
            {
                "path": "B -> G <- F",
                "active": True,
                "nodes": [{"node": "G", "open": True, "reason": "G is a collider and it is given"}],
            }
        ],
    }
    assert json.loads(run("fuel", "B", "F", "--json").stdout)["trails"] == []


def test_what_is_given_takes_commas_too():
    expected = run("asia", "tub", "bronc", "-g", "xray", "-g", "dysp").stdout
    assert run("asia", "tub", "bronc", "--given", "xray,dysp").stdout == expected
    assert run("asia", "tub", "bronc", "--given", "xray, dysp").stdout == expected
    assert run("asia", "tub", "bronc", "--given", "xray, dysp", "--trails").stdout.count("dysp is a collider") == 1


@pytest.mark.parametrize(
    ("arguments", "kind", "message"),
    [
        (("asia", "tub", "lung", "-g", "xray=yes"), InvalidData, "not on their states: write --given xray"),
        (("asia", "tub", "lugn"), UnknownVariable, "did you mean 'lung'"),
        (("asia", "tub", "tub"), InvalidModel, "'tub' is on both sides"),
        (("asia", "tub", "lung", "-g", "lung"), InvalidModel, "'lung' is on a side and among what is given"),
    ],
)
def test_bad_questions_are_refused(arguments, kind, message):
    answer = run(*arguments)
    assert isinstance(answer.exception, kind)
    assert message in str(answer.exception)


def test_trails_are_between_two():
    with pytest.raises(InvalidData, match="one name each"):
        CliRunner().invoke(app, ["separation", "asia", "tub,lung", "bronc", "--trails"], catch_exceptions=False)
