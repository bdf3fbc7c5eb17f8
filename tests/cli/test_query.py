"""Questions after an intervention, and joint posteriors, against enumeration and closed forms."""

from __future__ import annotations

import json

import numpy as np
import pytest

import juncture as jt
from support.command_line import juncture


@pytest.fixture
def heights(tmp_path):
    """A height that depends on the sex, and a weight that depends on the height."""
    sex, height, weight = jt.Variable("sex", ["f", "m"]), jt.Variable("height"), jt.Variable("weight")
    parts = [
        jt.Conditional(sex, [], [0.25, 0.75]),
        jt.LinearGaussian(height, [sex], np.zeros((2, 0)), [165.0, 177.0], [36.0, 49.0]),
        jt.LinearGaussian(weight, [height], [0.9], -85.0, 49.0),
    ]
    jt.write(jt.BayesianNetwork(parts), tmp_path / "heights.json")
    return str(tmp_path / "heights.json")


def test_after_an_intervention_the_causes_of_what_is_set_are_as_before():
    """p(v | do(bronc=yes)) = p(v) / p(bronc=yes | smoke), cell by cell of the joint."""
    model = jt.example("asia")
    names = ("smoke", "lung", "dysp")
    whole = jt.infer(model, targets=[*names, "bronc"]).joint("smoke", "bronc", "lung", "dysp").values[:, 0]
    set_to = whole / np.asarray(model["bronc"].values)[:, 0, None, None]
    document = json.loads(juncture("query", "asia", *names, "--do", "bronc=yes", "--joint", "--json").out)
    assert document["do"] == {"bronc": "yes"}
    assert [cell["probability"] for cell in document["joint"]] == pytest.approx(set_to.reshape(-1).tolist(), rel=1e-9)
    assert [[*cell["states"]] for cell in document["joint"]] == [[*names]] * 8
    seen = set_to[:, :, 0] / set_to[:, :, 0].sum()
    given = json.loads(juncture("query", "asia", "lung", "--do", "bronc=yes", "--given", "dysp=yes", "--json").out)
    found = [state["probability"] for state in given["marginals"]["lung"]]
    assert found == pytest.approx(seen.sum(axis=0).tolist(), rel=1e-9)
    assert given["log_evidence"] == pytest.approx(np.log(set_to[:, :, 0].sum()), rel=1e-9)


def test_an_intervention_is_told_apart_from_evidence():
    text = juncture("query", "asia", "--do", "smoke=yes", "--given", "lung=yes").out
    assert text.startswith("asia after do(smoke=yes) given lung=yes\n")
    assert "log p(evidence | do) = -2.302585\n" in text
    assert "smoke  " not in text


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("--do", "smoke"), 2, "an intervention is written NAME=STATE; got 'smoke'"),
        (("--do", "smok=yes"), 1, "did you mean 'smoke'?"),
        (("--do", "smoke=maybe"), 1, "variable 'smoke' has no state 'maybe'"),
        (("--do", "smoke=yes", "--do", "smoke=no"), 1, "'smoke' was set twice"),
        (("--do", "smoke=yes", "--given", "smoke=yes"), 1, "'smoke' is set by --do and observed too"),
        (("--joint",), 2, "--joint takes two or more variables"),
        (("lung", "lung", "--joint"), 2, "--joint takes two or more variables"),
        (("tub", "bronc", "--joint", "--method", "loopy"), 1, "take another --method"),
    ],
)
def test_what_cannot_be_asked_is_refused_in_a_sentence(arguments, code, words):
    run = juncture("query", "asia", *arguments)
    assert (run.returncode, run.out) == (code, "")
    assert words in run.err


def test_a_joint_is_a_table():
    rows = [line.split() for line in juncture("query", "asia", "lung", "bronc", "--joint").out.splitlines()[4:8]]
    assert [row[:3] for row in rows] == [
        ["yes", "yes", "0.031500"], ["yes", "no", "0.023500"], ["no", "yes", "0.418500"], ["no", "no", "0.526500"],
    ]  # fmt: skip


def test_a_joint_of_states_and_numbers(heights):
    """N(177, 49) has the weight 0.9 · 177 - 85 with the variance 0.81 · 49 + 49."""
    document = json.loads(juncture("query", heights, "weight", "sex", "--joint", "--json").out)
    assert [cell["states"] for cell in document["joint"]] == [{"sex": "f"}, {"sex": "m"}]
    male = document["joint"][1]
    assert (male["probability"], male["mean"]["weight"]) == pytest.approx((0.75, 0.9 * 177 - 85), rel=1e-9)
    assert male["covariance"] == pytest.approx(np.array([[0.81 * 49 + 49]]), rel=1e-9)
    assert "mean of weight" in juncture("query", heights, "weight", "sex", "--joint").out


def test_a_joint_of_numbers_has_correlations(heights):
    document = json.loads(juncture("query", heights, "height", "weight", "--joint", "--given", "sex=f", "--json").out)
    assert document["joint"]["covariance"] == pytest.approx(np.array([[36, 32.4], [32.4, 0.81 * 36 + 49]]), rel=1e-9)
    line = juncture("query", heights, "height", "weight", "--joint", "--given", "sex=f").out.splitlines()[5].split()
    assert line == ["weight", "63.5", f"{np.sqrt(78.16):.6g}", f"{32.4 / np.sqrt(36 * 78.16):.4f}", "1.0000"]


def test_a_number_is_set_as_well(heights):
    document = json.loads(juncture("query", heights, "weight", "sex", "--do", "height=200", "--json").out)
    assert document["marginals"]["weight"]["mean"] == pytest.approx(0.9 * 200 - 85, rel=1e-9)
    assert document["marginals"]["sex"][0]["probability"] == pytest.approx(0.25, rel=1e-9)
