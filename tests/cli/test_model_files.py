"""Models that are no networks on the command line: described, converted, refused where a network is needed."""

from __future__ import annotations

import json

import pytest

import juncture as jt
from support.command_line import juncture
from support.document_examples import KINDS

WEATHER = jt.HiddenMarkovModel(
    [0.5, 0.5], [[0.9, 0.1], [0.2, 0.8]], [[0.7, 0.3], [0.1, 0.9]], states=["dry", "wet"], symbols=["no", "umbrella"]
)


@pytest.fixture
def weather(tmp_path):
    jt.write(WEATHER, tmp_path / "weather.json")
    return str(tmp_path / "weather.json")


def test_info_tells_the_kind_and_the_sizes(weather):
    run = juncture("info", weather)
    assert (run.returncode, run.err) == (0, "")
    assert [line.split() for line in run.out.splitlines() if line.strip()][1:] == [
        ["kind", "HiddenMarkovModel"],
        ["states", "2"],
        ["labels", "dry,", "wet"],
        ["emissions", "2", "symbols"],
        ["observation", "a", "single", "value"],
        ["parameters", "5"],
    ]


@pytest.mark.parametrize("kind", KINDS)
def test_info_describes_every_kind(kind, tmp_path):
    path = tmp_path / "model.json"
    for model in {type(model): model for model in KINDS[kind]()}.values():
        jt.write(model, path)
        run = juncture("info", str(path), "--json")
        assert (run.returncode, run.err) == (0, "")
        assert json.loads(run.out)["kind"] == type(model).__name__


def test_info_describes_parts_that_vary(tmp_path):
    walk = jt.LinearGaussianStateSpace([[[1.0]], [[0.5]]], 1.0, 1.0, 1.0, 0.0, 1.0, input_to_state=[[1.0, 2.0]])
    jt.write(walk, tmp_path / "walk.json")
    facts = json.loads(juncture("info", str(tmp_path / "walk.json"), "--json").out)
    assert facts["parts_that_vary"] == "transition"
    assert (facts["longest_sequence"], facts["inputs"]) == (3, 2)


@pytest.mark.parametrize(
    "arguments",
    [
        ("query", "FILE"),
        ("mpe", "FILE"),
        ("separation", "FILE", "a", "b"),
        ("sample", "FILE", "5"),
        ("fit", "FILE", "rows.csv", "--out", "-"),
        ("predict", "FILE", "rows.csv", "--target", "a"),
        ("draw", "FILE", "-", "--beliefs"),
    ],
    ids=lambda arguments: arguments[0],
)
def test_a_command_for_networks_refuses_in_one_sentence(arguments, weather):
    run = juncture(*(weather if word == "FILE" else word for word in arguments))
    assert (run.returncode, run.out) == (1, "")
    assert run.err == (
        f"juncture: this command takes a network, and {weather} holds a HiddenMarkovModel: see it with juncture info,"
        " and ask it in Python with juncture.read\n"
    )


def test_convert_packs_a_model_and_prints_it(weather, tmp_path):
    packed = tmp_path / "weather.json.gz"
    assert juncture("convert", weather, str(packed)).returncode == 0
    assert jt.read(packed) == WEATHER
    printed = juncture("convert", str(packed), "-")
    facts = json.loads(juncture("info", "-", "--json", stdin=printed.stdout).out)
    assert facts["kind"] == "HiddenMarkovModel"


def test_convert_to_a_format_of_networks_is_refused(weather, tmp_path):
    run = juncture("convert", weather, str(tmp_path / "weather.bif"))
    assert (run.returncode, run.out) == (1, "")
    assert "BIF holds Bayesian networks, not a HiddenMarkovModel; write it as .json" in run.err
    assert not (tmp_path / "weather.bif").exists()


def test_draw_takes_a_decision_tree(tmp_path):
    tree = jt.fit(jt.supervised.DecisionTree, {"a": [1, 2, 3, 4], "b": ["x", "x", "y", "y"]}, "b").model
    jt.write(tree, tmp_path / "tree.json")
    run = juncture("draw", str(tmp_path / "tree.json"), "-")
    assert (run.returncode, run.out) == (0, jt.draw(tree).svg)
    refused = juncture("draw", str(tmp_path / "tree.json"), "-", "--beliefs")
    assert refused.returncode != 0
    assert "holds a DecisionTree" in refused.err


def test_sample_takes_models_of_rows(tmp_path):
    models = {
        "topics": jt.LatentDirichletAllocation([[0.5, 0.3, 0.2], [0.1, 0.1, 0.8]], [1.0, 1.0]),
        "mixture": jt.Mixture([0.5, 0.5], jt.Gaussian([0.0, 1.0], 1.0)),
        "factors": jt.FactorAnalysis.standard(2, 1),
    }
    for name, model in models.items():
        jt.write(model, tmp_path / f"{name}.json")
        run = juncture("sample", str(tmp_path / f"{name}.json"), "3", "--seed", "1")
        assert (run.returncode, run.err, len(run.out.splitlines())) == (0, "", 4)
        assert "takes a network" in juncture("sample", str(tmp_path / f"{name}.json"), "3", "--given", "x=1").err
