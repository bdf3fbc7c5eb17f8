"""Minimal forms of products of tables: the Ising model in two forms, numbers of parameters, the same distribution."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import juncture as jt
from support.undirected_examples import LOOP, joint_of, model_over

SCOPES = st.lists(st.sampled_from([*LOOP, ("a", "c"), ("b",), ("a", "b", "d"), ()]), min_size=1, max_size=5).filter(any)


def test_the_reduced_form_of_an_ising_model():
    i, j = jt.Variable("i", 2), jt.Variable("j", 2)
    table = np.array([[0.3, -1.0], [0.7, 2.0]])
    form = jt.MarkovNetwork([jt.Factor([i, j], np.exp(table))]).minimal_form()  # S0-178, S0-179
    assert form.parameters["i", "j"].item() == pytest.approx(table[1, 1] - table[1, 0] - table[0, 1] + table[0, 0])
    assert form.parameters["i",].item() == pytest.approx(table[1, 0] - table[0, 0])
    assert form.parameters["j",].item() == pytest.approx(table[0, 1] - table[0, 0])
    assert form.log_constant == pytest.approx(table[0, 0])


def test_pairs_have_as_many_parameters_as_nodes_and_edges():
    spins = [jt.Variable(f"s{place}", 2) for place in range(6)]
    pairs = [(spins[place], spins[(place + 1) % 6]) for place in range(6)]
    model = jt.MarkovNetwork([jt.Factor(pair, np.ones((2, 2))) for pair in pairs])
    assert model.minimal_form().num_parameters == 6 + 6  # S0-183: of 4 · 6 cells
    die = jt.MarkovNetwork([jt.Factor([jt.Variable("die", 6)], np.ones(6))])
    assert die.minimal_form().num_parameters == 5


@given(SCOPES, st.integers(0, 1000))
def test_the_distribution_is_the_same_and_no_parameter_is_redundant(scopes, seed):
    model = model_over(scopes, seed)
    form = model.minimal_form()
    small = jt.MarkovNetwork(form.factors, model.variables)
    assert np.allclose(joint_of(small).values, joint_of(model).values, atol=1e-13)
    assert jt.infer(model).log_evidence == pytest.approx(jt.infer(small).log_evidence + form.log_constant)
    statistics = []  # each as a table over all variables: their rank with the constant is their number, plus 1
    shape = model.variables.shape
    for scope, table in form.interactions:
        for cell in np.ndindex(table.shape):
            one = np.ones(shape, bool)
            for variable, code in zip(scope, cell, strict=True):
                codes = np.arange(variable.num_states) == code + 1
                axis = model.variables.axis(variable.name)
                one &= codes.reshape([-1 if place == axis else 1 for place in range(len(shape))])
            statistics.append(one.reshape(-1).astype(float))
    assert np.linalg.matrix_rank(np.stack([np.ones(model.variables.size), *statistics])) == form.num_parameters + 1


def test_every_division_among_factors_has_the_same_form():
    rows = jt.sample(model_over(LOOP, 1), 500, rng=0)
    fitted = [jt.fit(model_over(LOOP, start), rows, method="gradient").model.minimal_form() for start in (2, 3)]
    for names, table in fitted[0].parameters.items():
        assert np.allclose(table, fitted[1].parameters[names], atol=1e-4)


def test_a_zero_is_refused():
    a = jt.Variable("a", 2)
    with pytest.raises(jt.errors.InvalidModel, match="has a zero"):
        jt.MarkovNetwork([jt.Factor([a], [1, 0])]).minimal_form()
