"""`juncture advise`: the best decisions and the value of the next question."""

from __future__ import annotations

import json

import pytest

import juncture as jt
from support.command_line import juncture


def test_the_best_decisions_are_printed():
    text = juncture("advise", "oil").out
    assert "expected utility = 22.5 (strong-elimination, exact)" in text
    assert "no structure" in text
    assert "32.5" in text


def test_one_json_document_has_rules_utilities_and_questions():
    found = json.loads(juncture("advise", "oil", "--given", "test=yes", "--json").out)
    assert found["expected_utility"] == pytest.approx(22.5)
    assert found["exact"] is True
    assert found["questions"] == [{"variable": "oil", "gain": pytest.approx(45 - 22.5)}]
    rules = {rule["given"]["seismic"]: rule for rule in found["decisions"][1]["rules"]}
    assert rules["closed"]["action"] == "yes"
    assert rules["none"]["utilities"][0]["expected_utility"] is None


def test_a_file_of_genie_and_limited_memory(tmp_path):
    jt.write(jt.example("oil"), tmp_path / "oil.xdsl")
    run = juncture("advise", str(tmp_path / "oil.xdsl"), "--limited-memory", "--json")
    found = json.loads(run.out)
    assert found["method"] == "single-policy-updating"
    assert found["questions"] is None


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("advise", "asia"), "ask it with juncture query asia"),
        (("advise", "oil", "--given", "seismic=open"), "give the action that was taken"),
        (("advise", "oil", "--given", "test=yes", "--given", "seismic=none"), "probability zero"),
        (("query", "oil"), "ask it with juncture advise"),
    ],
)
def test_what_cannot_be_answered_is_said(arguments, words):
    run = juncture(*arguments)
    assert run.returncode == 1
    assert words in run.err


def test_a_decision_network_has_facts_and_a_picture(tmp_path):
    assert "cost of the test, profit" in juncture("info", "oil").out
    assert juncture("draw", "oil", str(tmp_path / "oil.svg")).returncode == 0
    assert 'class="utility"' in (tmp_path / "oil.svg").read_text()
