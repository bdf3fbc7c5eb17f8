"""Defects that were found once."""

from __future__ import annotations

import copy
import math
import pickle
from itertools import pairwise

import numpy as np
import pytest

import juncture as jt
from juncture.inference import log_prob
from juncture.inference.engines.contract import Engine

P, Q, R = (jt.Variable(name, 2) for name in "pqr")
WEATHER = jt.HiddenMarkovModel([0.5, 0.5], [[0.9, 0.1], [0.2, 0.8]], [[0.7, 0.3], [0.1, 0.9]])
PAIR = jt.BayesianNetwork([jt.Conditional(P, [], [0.5, 0.5]), jt.Conditional(Q, [P], [[0.9, 0.1], [0.2, 0.8]])])


def test_scales_of_many_rows_do_not_underflow():
    """The running product of a row's scales left the range of doubles between two looks at it."""
    model = jt.BayesianNetwork(
        [
            jt.Conditional(P, [], [1e-100, 1 - 1e-100]),
            jt.Conditional(Q, [P], [[1e-160, 1 - 1e-160], [0.2, 0.8]]),
            jt.Conditional(R, [Q], [[1e-100, 1], [0.2, 0.8]]),
        ]
    )
    evidence = {"p": 0, "q": 0, "r": 0}
    expected = 360 * math.log(0.1)
    assert jt.infer(model, evidence).log_evidence == pytest.approx(expected)
    assert jt.infer(model, [evidence, {}]).log_evidence == pytest.approx([expected, 0.0], abs=1e-12)


@pytest.mark.parametrize(
    "evidence",
    [
        {"p": [1.0, 1e200], "q": [0.0, 1e178]},
        {"p": [1e-200, 1e-190], "q": [1e-150, 1e-160]},
        {"p": [1e300, 1e-300], "q": [1e-300, 1e300]},
    ],
)
def test_likelihoods_of_any_size(evidence):
    """Their product in one clique overflowed, and then every answer was wrong."""
    logs = np.log(PAIR.conditionals[0].values)[:, None] + np.log(PAIR.conditionals[1].values)
    with np.errstate(divide="ignore"):
        logs = logs + np.log(evidence["p"])[:, None] + np.log(evidence["q"])
    total = np.logaddexp.reduce(logs.ravel())
    for method in ("junction-tree", "variable-elimination", "enumeration"):
        beliefs = jt.infer(PAIR, evidence, method=method)
        assert beliefs.log_evidence == pytest.approx(total, rel=1e-12)
        assert beliefs["p"].values == pytest.approx(np.exp(np.logaddexp.reduce(logs, axis=1) - total), abs=1e-12)
        best = jt.most_probable(PAIR, evidence, method=method)
        assert best.log_joint == pytest.approx(logs.max(), rel=1e-12)
        assert best.log_prob == pytest.approx(logs.max() - total, abs=1e-9)
        rows = jt.infer(PAIR, [evidence, {}], method=method)
        assert rows.log_evidence == pytest.approx([total, 0.0], rel=1e-12, abs=1e-12)
    drawn = jt.sample(PAIR, 2_000, given=evidence, rng=0).columns["p"].mean()
    p = float(np.exp(np.logaddexp.reduce(logs[1]) - total))
    assert abs(drawn - p) <= 6 * math.sqrt(p * (1 - p) / 2_000)


def test_beliefs_can_be_pickled_and_copied():
    beliefs = jt.infer(PAIR, {"q": 1})
    for other in (pickle.loads(pickle.dumps(beliefs)), copy.deepcopy(beliefs), copy.copy(beliefs)):  # noqa: S301
        assert np.array_equal(other["p"].values, beliefs["p"].values)
        assert other.with_evidence({"p": 0}).log_evidence == pytest.approx(math.log(0.05))


def test_beliefs_are_a_container_of_names():
    beliefs = jt.infer(PAIR)
    assert list(beliefs) == ["p", "q"]
    assert "p" in beliefs
    assert "nothing" not in beliefs
    assert len(beliefs) == 2


def test_more_evidence_goes_to_every_row():
    rows = jt.infer(PAIR, [{"q": 1}, {}]).with_evidence({"p": 0})
    assert rows.log_evidence == pytest.approx([math.log(0.05), math.log(0.5)])


def test_a_joint_that_would_not_fit_is_refused():
    variables = [jt.Variable(f"x{place}", 2) for place in range(45)]
    chain = [jt.Conditional(variables[0], [], [0.5, 0.5])]
    chain += [jt.Conditional(b, [a], [[0.9, 0.1], [0.2, 0.8]]) for a, b in pairwise(variables)]
    with pytest.raises(jt.TooLarge, match="the joint of 45 variables"):
        jt.infer(jt.BayesianNetwork(chain)).joint(*(variable.name for variable in variables))


def test_a_field_that_is_zero_everywhere_has_no_probabilities():
    with pytest.raises(jt.ImpossibleEvidence, match="weight zero"):
        jt.log_prob(jt.MarkovNetwork([jt.Factor([P], [0, 0])]), {"p": 1})


@pytest.mark.parametrize("method", ["junction-tree", "variable-elimination", "enumeration"])
def test_ties_go_to_the_earlier_state(method):
    variables = [jt.Variable(f"x{place}", 2) for place in (4, 3, 2, 1, 0)]
    parts = [jt.Conditional(variables[0], [], [0.5, 0.5])]
    parts += [jt.Conditional(b, [a], [[0.1, 0.9], [0.9, 0.1]]) for a, b in pairwise(variables)]
    best = jt.most_probable(jt.BayesianNetwork(parts[::-1]), k=6, method=method)
    codes = ["".join(str(state) for state in item.assignment.values()) for item in best]
    assert codes[:2] == ["01010", "10101"]
    assert codes[2:] == sorted(codes[2:])


@pytest.mark.parametrize(
    ("ask", "error", "words"),
    [
        (lambda: jt.most_probable(PAIR, k=1.5), jt.errors.InvalidData, "whole number"),
        (lambda: jt.infer(PAIR, method=None), jt.errors.Unsupported, "got None"),
        (lambda: jt.infer(PAIR, memory_limit="1GB"), jt.errors.InvalidData, "number of bytes"),
        (lambda: jt.infer(PAIR, memory_limit=-1), jt.errors.InvalidData, "positive"),
        (lambda: jt.infer(PAIR).joint(["p", "q"]), jt.errors.InvalidData, "one by one"),
        (lambda: jt.sensitivity(PAIR, {}, target="p"), jt.errors.InvalidData, "a pair"),
        (lambda: jt.do(PAIR.to_markov_network(), {"p": 1}), jt.errors.Unsupported, "Bayesian network"),
        (
            lambda: jt.draw(PAIR["p"]),
            jt.errors.Unsupported,
            "draw takes a model, a graph or an answer; got Conditional",
        ),
        (lambda: jt.draw(PAIR, jt.infer(jt.example("asia"))), jt.errors.InvalidData, "not beliefs of this model"),
        (lambda: jt.draw(PAIR, 1.0), jt.errors.InvalidData, "not beliefs of this model"),
        (lambda: jt.cost(WEATHER), jt.errors.Unsupported, "a network or a factor graph; got HiddenMarkovModel"),
        (
            lambda: jt.evaluation.lint(WEATHER),
            jt.errors.Unsupported,
            "lint takes a BayesianNetwork; got HiddenMarkovModel",
        ),
        (lambda: jt.online_filter(PAIR), jt.errors.Unsupported, "online_filter takes a HiddenMarkovModel or"),
        (
            lambda: jt.online_filter(WEATHER).step([0, 1]),
            jt.errors.InvalidData,
            r"one observation is one value; got \[0, 1\]",
        ),
        (
            lambda: jt.infer(WEATHER, [0]).forecast(1).log_prob([0, 1]),
            jt.errors.InvalidData,
            "one observation is one value",
        ),
    ],
)
def test_mistakes_get_a_sentence(ask, error, words):
    with pytest.raises(error, match=words):
        ask()


def test_an_engine_may_be_given_as_a_class():
    assert jt.infer(PAIR, method=jt.Enumeration).method == "enumeration"


def test_labels_that_differ_in_their_text_only():
    variable = jt.Variable("x", ["1", "1.0"])
    assert [variable.code(value) for value in (1, 1.0, "1", "1.0")] == [0, 1, 0, 1]


def test_rows_with_many_patterns_of_holes_go_through_one_run(monkeypatch):
    """Of few patterns each is a run of what it needs; a network of real variables takes all rows at once."""
    asia, names = jt.example("asia"), jt.example("asia").variables.names
    a, b = jt.Variable("a"), jt.Variable("b")
    line = jt.BayesianNetwork([jt.LinearGaussian(a, [], [], 0.0, 1.0), jt.LinearGaussian(b, [a], [2.0], 0.0, 1.0)])
    rows = [
        {name: "yes" for place, name in enumerate(names) if code >> place & 1}
        for code in range(1, 2 * log_prob.MANY_PATTERNS + 1)
    ]
    numbers = [{"a": 0.5}, {"b": 1.0}, {"a": 0.1, "b": 0.2}]
    known = [[jt.log_prob(model, [row])[0] for row in some] for model, some in ((asia, rows), (line, numbers))]
    runs, ask = [], Engine.ask
    monkeypatch.setattr(Engine, "ask", lambda *asked: runs.append(asked) or ask(*asked))
    for model, some, values, num_runs in (
        (asia, rows[: log_prob.MANY_PATTERNS + 1], known[0], 1),
        (asia, [{"xray": "yes"}, {"dysp": "no"}, {"either": "no"}], None, 3),
        (line, numbers, known[1], 1),
    ):
        runs.clear()
        found = jt.log_prob(model, some)
        assert len(runs) == num_runs
        if values is not None:
            assert found == pytest.approx(values[: len(some)], abs=1e-12)


def test_the_log_probability_of_some_values_is_the_log_evidence_of_infer():
    """To the last bit, by the path that one row takes; of no values it is exactly 0."""
    asia, grid = jt.example("asia"), jt.ising((2, 3), coupling=0.4, field=0.1)
    line = jt.BayesianNetwork([jt.LinearGaussian(jt.Variable("a"), [], [], 0.0, 1.0)])
    for model, row in ((asia, {"xray": "yes", "smoke": "no"}), (asia, {"dysp": "yes"}), (line, {"a": 0.5})):
        assert jt.log_prob(model, row) == jt.infer(model, row).log_evidence
    log_z = jt.infer(grid).log_evidence
    assert jt.log_prob(grid, {grid.names[0]: 1}) == jt.infer(grid, {grid.names[0]: 1}).log_evidence - log_z
    assert (jt.log_prob(asia, {}), jt.log_prob(grid, {})) == (0.0, 0.0)
