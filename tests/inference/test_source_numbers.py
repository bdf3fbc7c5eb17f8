"""Rows of the sources about questions to a model: every engine, evidence, decoding, draws."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

import juncture as jt

METHODS = ["junction-tree", "variable-elimination", "enumeration"]


def chain(lengths: list[int], seed: int = 0) -> jt.MarkovNetwork:
    rng = np.random.default_rng(seed)
    variables = [jt.Variable(f"x{place}", length) for place, length in enumerate(lengths)]
    return jt.MarkovNetwork(
        [jt.Factor(pair, rng.random([v.num_states for v in pair]) + 0.1) for pair in itertools.pairwise(variables)]
    )


def table_of(field: jt.MarkovNetwork) -> np.ndarray:
    names = field.variables.names
    shape = [variable.num_states for variable in field.variables]
    return np.array(
        [math.exp(field.log_joint(dict(zip(names, states, strict=True)))) for states in np.ndindex(*shape)]
    ).reshape(shape)


@pytest.mark.parametrize("method", METHODS)
def test_questions_to_a_chain(method):
    """S0-218, S0-222, S0-223, S1-097, S1-098, S4-225, S4-226, S4-227: marginals, pairs, Z, by sums over the table."""
    field = chain([2, 3, 2, 4, 3])
    table = table_of(field)
    beliefs = jt.infer(field, method=method)
    assert beliefs.log_evidence == pytest.approx(math.log(table.sum()))
    for axis, name in enumerate(field.variables.names):
        others = tuple(place for place in range(5) if place != axis)
        assert beliefs[name].values == pytest.approx(table.sum(axis=others) / table.sum())
    assert beliefs.joint("x1", "x3").values == pytest.approx(table.sum(axis=(0, 2, 4)) / table.sum())
    best = jt.most_probable(field, method=method)
    assert tuple(best.assignment.values()) == np.unravel_index(table.argmax(), table.shape)
    assert math.exp(best.log_joint) == pytest.approx(table.max())


@pytest.mark.parametrize("method", METHODS)
def test_evidence_is_a_potential(method):
    """S0-233: with ψ δ(x_j, observed), Z becomes Z · p(observed); impossible evidence is an error."""
    field = chain([3] * 10, seed=1)
    observed = {"x4": 2, "x9": 1}
    by_delta = jt.MarkovNetwork(
        [*field.factors, jt.Factor([field.variable("x4")], [0, 0, 1]), jt.Factor([field.variable("x9")], [0, 1, 0])]
    )
    given, plain = jt.infer(field, observed, method=method), jt.infer(field, method=method)
    assert given.log_evidence == pytest.approx(jt.infer(by_delta, method=method).log_evidence)
    p_observed = plain.joint("x4", "x9")[2, 1]
    assert given.log_evidence - plain.log_evidence == pytest.approx(math.log(p_observed))
    assert given["x6"].values == pytest.approx(jt.infer(by_delta, method=method)["x6"].values)
    never = jt.MarkovNetwork([jt.Factor([field.variable("x4")], [1, 1, 0])])
    with pytest.raises(jt.ImpossibleEvidence):
        jt.infer(never, {"x4": 2}, method=method)


def test_messages_on_trees_are_exact():
    """S4-229, S0-235: two passes give every marginal and Z; with maxima instead of sums, the best assignment."""
    field = chain([2, 3, 2, 4, 3])
    table = table_of(field)
    messages = jt.messages.sum_product(field.to_factor_graph())
    assert messages.log_evidence == pytest.approx(math.log(table.sum()))
    assert messages.belief("x2").values == pytest.approx(table.sum(axis=(0, 1, 3, 4)) / table.sum())
    best = jt.messages.max_product(field.to_factor_graph())
    assert math.exp(best.log_joint) == pytest.approx(table.max())


def test_a_problem_with_an_answer_in_fifteenths():
    """S4-236 (problem 6.3): z is a fair coin, x|z ~ Bern(0.8 z), y|z ~ Bern(1 - 0.8 z); p(y = 1 | x = 0) = 13/15."""
    z, x, y = (jt.Variable(name, 2) for name in "zxy")
    model = jt.BayesianNetwork(
        [
            jt.Conditional(z, [], [0.5, 0.5]),
            jt.Conditional(x, [z], [[1.0, 0.0], [0.2, 0.8]]),
            jt.Conditional(y, [z], [[0.0, 1.0], [0.8, 0.2]]),
        ]
    )
    assert jt.infer(model, {"x": 0})["z"][1] == pytest.approx(1 / 6)
    assert jt.infer(model, {"x": 0})["y"][1] == pytest.approx(13 / 15)


def test_alarm_two_ways():
    """S4-200: 37 nodes; the same posterior by two engines."""
    alarm = jt.example("alarm")
    assert len(alarm.variables) == 37
    given = {"HRBP": "HIGH", "CVP": "LOW"}
    answers = [jt.infer(alarm, given, targets=["HYPOVOLEMIA"], method=method) for method in METHODS[:2]]
    assert answers[0]["HYPOVOLEMIA"].values == pytest.approx(answers[1]["HYPOVOLEMIA"].values)
    assert answers[0].log_evidence == pytest.approx(answers[1].log_evidence)


def test_probabilities_as_frequencies():
    """S0-279, S1-034, S2-167, S3-036, S3-043, S3-044: the share of draws with G = 0 is 0.315 but for chance."""
    fuel, number = jt.example("fuel"), 20_000
    draws = jt.sample(fuel, number, rng=0).to_dict()
    empty = np.asarray(draws["G"]) == 0
    assert empty.mean() == pytest.approx(0.315, abs=4.5 * math.sqrt(0.315 * 0.685 / number))
    tank = np.asarray(draws["F"])[empty] == 0
    assert tank.mean() == pytest.approx(9 / 35, abs=4.5 * math.sqrt(9 / 35 * 26 / 35 / empty.sum()))


def test_two_stages_of_a_draw():
    """S3-045: E f(X, Y) = E E[f | X]; the conditional expectation has the same mean and a smaller variance."""
    fuel = jt.example("fuel")
    draws = jt.sample(fuel, 20_000, rng=1).to_dict()
    reading = np.asarray(draws["G"]) == 0
    table = fuel["G"].values[..., 0]
    expected = table[np.asarray(draws["B"]), np.asarray(draws["F"])]
    assert expected.mean() == pytest.approx(reading.mean(), abs=5 * math.sqrt(0.25 / 20_000))
    assert expected.mean() == pytest.approx(0.315, abs=5 * expected.std() / math.sqrt(20_000))
    assert expected.var() < reading.var()


def test_rows_with_holes_are_summed_out():
    """S4-025: what is missing of an input is summed over."""
    fuel = jt.example("fuel")
    both = [jt.log_prob(fuel, {"F": 0, "G": 0, "B": state}) for state in (0, 1)]
    assert jt.log_prob(fuel, {"F": 0, "G": 0, "B": None}) == pytest.approx(np.logaddexp(*both))
