"""Numbers that the sources print, or that follow from what they print."""

from __future__ import annotations

import math

import pytest

import juncture as jt


def given(model, evidence, name, state):
    return jt.infer(model, evidence)[name][state]


def test_fuel_gauge():
    """S1-059, S2 part (a) 7: an empty tank becomes likelier with the gauge, less so with a flat battery."""
    fuel = jt.example("fuel")
    assert given(fuel, {}, "G", 0) == pytest.approx(0.315, abs=1e-15)
    assert given(fuel, {"F": 0}, "G", 0) == pytest.approx(0.81, abs=1e-15)
    assert given(fuel, {"G": 0}, "F", 0) == pytest.approx(9 / 35, abs=1e-15)
    assert given(fuel, {"G": 0, "B": 0}, "F", 0) == pytest.approx(1 / 9, abs=1e-15)
    assert given(fuel, {"G": 0, "B": 1}, "F", 0) == pytest.approx(0.24 / 0.78, abs=1e-15)
    best = jt.most_probable(fuel, {"G": 0})
    assert best.assignment == {"B": 1, "F": 1}
    assert math.exp(best.log_joint) == pytest.approx(0.162)
    assert math.exp(best.log_prob) == pytest.approx(0.162 / 0.315)
    assert math.exp(jt.most_probable(fuel).log_prob) == pytest.approx(0.648)


def test_genes():
    """S2-122: two independent causes of one gene, with explaining away."""
    genes = jt.example("genes")
    assert given(genes, {}, "C", "active") == pytest.approx(0.403, abs=1e-15)
    assert given(genes, {"C": "active"}, "A", "active") == pytest.approx(0.207 / 0.403)
    assert given(genes, {"C": "active", "B": "active"}, "A", "active") == pytest.approx(0.081 / 0.228)
    assert given(genes, {"C": "active", "B": "inactive"}, "A", "active") == pytest.approx(0.72)
    assert jt.infer(genes, {"C": "active"}).joint("A", "B")["active", "active"] == pytest.approx(0.081 / 0.403)
    best = jt.most_probable(genes)
    assert set(best.assignment.values()) == {"inactive"}
    assert math.exp(best.log_prob) == pytest.approx(0.441)


def test_weather_chain():
    """S2-159, S2-161: the best configuration and its probability, also given the first variable."""
    weather = jt.example("weather")
    best = jt.most_probable(weather)
    assert best.assignment == {"X1": "Sunny", "X2": "T", "X3": "T"}
    assert math.exp(best.log_prob) == pytest.approx(0.384)
    rainy = jt.most_probable(weather, {"X1": "Rainy"})
    assert rainy.assignment == {"X2": "F", "X3": "F"}
    assert math.exp(rainy.log_joint) == pytest.approx(0.096)
    assert given(weather, {}, "X2", "T") == pytest.approx(0.6)
    assert given(weather, {}, "X3", "T") == pytest.approx(0.64)
    assert jt.infer(weather, {"X3": "T"})["X1"].values == pytest.approx([0.15, 0.175, 0.675])
    assert given(weather, {"X3": "F"}, "X2", "T") == pytest.approx(1 / 3)


def test_student_network_saves_parameters():
    """S4-194, S4-234: ten free numbers instead of 2⁵ - 1 = 31."""
    student = jt.BayesianNetwork.random(jt.example("student").graph, rng=0)
    assert student.num_parameters == 10
    assert student.variables.size - 1 == 31


def test_seven_nodes():
    """S1-020: 8 edges; 21 free parameters instead of 127; x5 depends on x1 and x3."""
    seven = jt.example("seven")
    assert len(seven.graph.edges) == 8
    assert (seven.num_parameters, seven.variables.size - 1) == (21, 127)
    assert seven.graph.parents("x5") == ("x1", "x3")


def test_sprinkler():
    """The numbers that a library with loopy propagation only gets wrong: exact ones by hand."""
    sprinkler = jt.example("sprinkler")
    wet = [variable for variable in sprinkler.variables.names if not sprinkler.graph.children(variable)]
    assert len(wet) == 1
    joint = {}
    for c in (0, 1):
        for s in (0, 1):
            for r in (0, 1):
                p_s, p_r = (0.1, 0.8) if c else (0.5, 0.2)
                p_w = {(0, 0): 0.0, (0, 1): 0.9, (1, 0): 0.9, (1, 1): 0.99}[s, r]
                joint[c, s, r] = 0.5 * (p_s if s else 1 - p_s) * (p_r if r else 1 - p_r) * p_w
    total = sum(joint.values())
    second = sprinkler.variable(wet[0]).labels[1]
    rain = next(name for name in sprinkler.variables.names if name.lower().startswith("r"))
    answer = jt.infer(sprinkler, {wet[0]: second})
    assert answer[rain].values[1] == pytest.approx(sum(p for (_, _, r), p in joint.items() if r) / total)
    assert math.exp(answer.log_evidence) == pytest.approx(total)
