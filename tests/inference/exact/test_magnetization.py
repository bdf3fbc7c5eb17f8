"""The distribution of the sum of all spins, by elimination."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import juncture as jt


@pytest.mark.parametrize("values", [(-1, 1), (0, 1)])
@pytest.mark.parametrize(
    "graph", [(3, 3), (2, 4), (1, 5), jt.UndirectedGraph([("a", "c"), ("c", "d")], nodes=list("abcd"))]
)
def test_against_enumeration(graph, values):
    """S1-090: for each sum the probability of all assignments that have it."""
    rng = np.random.default_rng(0)
    model = jt.ising(graph, rng.normal(size=len(jt.ising(graph, 0.0).edges)), 0.3, values=values)
    states = np.array(list(itertools.product(values, repeat=model.num_nodes))).reshape(-1, *model.shape)
    weights = np.exp(model.log_joint(states))
    sums = states.reshape(len(states), -1).sum(axis=1)
    table = jt.messages.magnetization(model)
    for number, mine in zip(table.scope[0].states, table.values, strict=True):
        assert mine == pytest.approx(weights[sums == number].sum() / weights.sum(), abs=1e-12)


def test_majorities_grow_with_the_coupling():
    """S1-090: symmetric without a field; a strong coupling has (almost) all spins equal, a negative one mixes them."""
    tables = [jt.messages.magnetization(jt.ising((3, 3), coupling)) for coupling in (-1.0, 0.0, 0.5, 2.0)]
    numbers = tables[0].scope[0].numbers
    for table in tables:
        assert table.values == pytest.approx(table.values[::-1], abs=1e-12)
    whole = [table.values[np.abs(numbers) == 9].sum() for table in tables]
    assert whole == sorted(whole)
    assert whole[-1] > 0.99
    assert tables[1].values[9] == pytest.approx(0.5**9)
    favoured = jt.messages.magnetization(jt.ising((3, 3), 0.5, 0.5))
    assert favoured.values[numbers > 0].sum() > 0.99


def test_a_long_narrow_grid():
    """Its mean and variance are those of the marginals and of all pairs."""
    model = jt.ising((12, 4), 0.3, 0.05)
    table = jt.messages.magnetization(model)
    numbers = table.scope[0].numbers
    mean = (jt.infer(model).array @ [-1, 1]).sum()
    assert table.values @ numbers == pytest.approx(mean, abs=1e-10)


def test_what_is_refused():
    with pytest.raises(jt.errors.Unsupported, match="two numbers"):
        jt.messages.magnetization(jt.potts((2, 2), 3, 1.0))
    with pytest.raises(jt.TooLarge, match="narrower"):
        jt.messages.magnetization(jt.ising((60, 60), 0.1))
