"""Work on long models grows with their length, not with its square."""

from __future__ import annotations

import numpy as np
import pytest

import juncture as jt
from juncture.inference.exact import log_tables
from juncture.inference.exact.junction_tree.sensitivity import table_sensitivity
from juncture.inference.exact.log_tables import multiply
from support.processor_time import time_of


def chain_of(length, seed=0):
    rng = np.random.default_rng(seed)
    variables = [jt.Variable(f"x{step}", 2) for step in range(length)]
    parts = [
        jt.Conditional(child, variables[max(step - 1, 0) : step], rng.dirichlet([1, 1], size=(2,) * min(step, 1)))
        for step, child in enumerate(variables)
    ]
    return jt.BayesianNetwork(parts)


def star_of(num_children, seed=0):
    rng = np.random.default_rng(seed)
    center = jt.Variable("c", 2)
    children = [jt.Variable(f"x{number}", 2) for number in range(num_children)]
    parts = [jt.Conditional(child, [center], rng.dirichlet([1, 1], size=2)) for child in children]
    return jt.BayesianNetwork([jt.Conditional(center, [], [0.3, 0.7]), *parts])


def count_multiplied(monkeypatch, model):
    """How many factors a call of `sensitivity` multiplies."""
    counts = []
    monkeypatch.setattr(log_tables, "multiply", lambda factors: counts.append(len(factors)) or multiply(factors))
    table_sensitivity(model, None, None)
    return sum(counts)


@pytest.mark.parametrize("build", [chain_of, star_of])
def test_sensitivity_multiplies_in_proportion(build, monkeypatch):
    small, large = (count_multiplied(monkeypatch, build(length)) for length in (50, 400))
    assert large < 2 * 8 * small


@pytest.mark.parametrize("build", [chain_of, star_of])
def test_sensitivity_of_a_long_model_is_that_of_its_ends(build):
    """Rows sum to 1: without evidence the derivative by an entry is the probability of its parent's state."""
    model = build(300)
    slopes = jt.sensitivity(model)
    beliefs = jt.infer(model)
    for name in ("x1", "x150", "x299"):
        (parent,) = model[name].parents.names
        expected = np.repeat(beliefs[parent].values[:, np.newaxis], 2, axis=1)
        assert slopes[name] == pytest.approx(expected, abs=1e-11)


def test_components_are_multiplied_once():
    """Each variable alone: the derivative of log Z by an entry is 1 over its variable's total."""
    variables = [jt.Variable(f"x{number}", 2) for number in range(500)]
    model = jt.MarkovNetwork([jt.Factor([variable], [1.0, 3.0]) for variable in variables])
    assert np.allclose(list(jt.sensitivity(model).values()), 0.25, rtol=1e-10)


def test_the_derivative_by_a_constant_that_is_zero_is_refused_not_nan():
    zero = jt.Factor([], 0.0)
    model = jt.MarkovNetwork([zero, jt.Factor([jt.Variable("x", 2)], [1.0, 2.0])])
    with pytest.raises(jt.ImpossibleEvidence):
        jt.sensitivity(model)


def test_the_best_states_of_a_chain_take_time_in_proportion():
    """Four times the length: a square law takes sixteen times as long."""
    short, long = (chain_of(length) for length in (2_000, 8_000))
    jt.most_probable(short), jt.most_probable(long)
    assert time_of(lambda: jt.most_probable(long)) < 9 * time_of(lambda: jt.most_probable(short))
