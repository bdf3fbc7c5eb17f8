"""Conditionals that share their parameters, and conditionals that are kept."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import juncture as jt
from support.learning_oracles import quiet

X, Y = jt.Variable("x", ["a", "b"]), jt.Variable("y", [0, 1, 2])
CHAIN = jt.DirectedGraph([("x", "y")])
ROWS = {"x": ["a", "a", "a", "b"], "y": [0, 0, 1, 2]}


def tied_chain(length: int = 4) -> jt.BayesianNetwork:
    """x0 → x1 → …, with one table for all transitions."""
    variables = [jt.Variable(f"x{place}", 2) for place in range(length)]
    parts = [jt.Conditional(after, [before], [[0.5, 0.5], [0.5, 0.5]]) for before, after in pairwise(variables)]
    tied = [[variable.name for variable in variables[1:]]]
    return jt.BayesianNetwork([jt.Conditional(variables[0], [], [0.5, 0.5]), *parts], tied=tied)


TIED_ROWS = {"x0": [0, 1, 0], "x1": [0, 0, 1], "x2": [1, 0, 1], "x3": [1, 1, 1]}
TRANSITIONS = np.array([[2, 3], [1, 3]])  # of all steps of all three rows


def test_tied_tables_pool_their_counts():
    """S1-042, S4-210: the maximum likelihood of a tied chain is its pooled transitions."""
    model = tied_chain()
    fitted = jt.fit(model, TIED_ROWS)
    pool_statistics = TRANSITIONS / TRANSITIONS.sum(axis=1, keepdims=True)
    for name in ("x1", "x2", "x3"):
        assert fitted.model[name].values == pytest.approx(pool_statistics)
    assert fitted.model.tied == model.tied
    untied = quiet(jt.fit, jt.BayesianNetwork(model.conditionals), TIED_ROWS, rng=0)
    assert fitted.log_likelihood <= untied.log_likelihood


@pytest.mark.parametrize("prior", [1.5, {"x2": 1.5}, {"x0": 1.0, "x1": 1.5}])
def test_the_prior_of_tied_tables_counts_once(prior):
    """S1-043: p(μ) stands in the joint once."""
    fitted = jt.fit(tied_chain(), TIED_ROWS, prior=prior)
    counts = TRANSITIONS + 1.5
    table = counts / counts.sum(axis=1, keepdims=True)
    assert fitted.model["x3"].values == pytest.approx(table)
    first = fitted.model["x0"].values
    alone = prior if isinstance(prior, float) else prior.get("x0", 0.0)
    expected = fitted.log_likelihood + 1.5 * np.log(table).sum() + alone * np.log(first).sum()
    assert fitted.trace.values[0] == pytest.approx(expected)


def test_unseen_combinations_of_tied_tables_are_those_that_none_has():
    jt.fit(tied_chain(), TIED_ROWS)  # x1 has never seen …, but the others have: no warning


def test_tied_noisy_ors_pool_their_rows():
    causes, effects = [jt.Variable(f"c{i}", 2) for i in range(2)], [jt.Variable(f"e{i}", 2) for i in range(2)]
    parts = [jt.NoisyOr(effect, [cause], [0.5], 0.2) for cause, effect in zip(causes, effects, strict=True)]
    model = jt.BayesianNetwork([*(jt.Conditional(c, [], [0.5, 0.5]) for c in causes), *parts], tied=[["e0", "e1"]])
    rows = {"c0": [0, 0, 1, 1], "e0": [0, 1, 1, 0], "c1": [0, 0, 1, 1], "e1": [0, 0, 1, 1]}
    fitted = jt.fit(model, rows).model
    assert fitted["e0"].leak == pytest.approx(0.25)
    assert 1 - (1 - fitted["e0"].leak) * (1 - fitted["e0"].probabilities[0]) == pytest.approx(0.75)
    assert np.array_equal(fitted["e0"].probabilities, fitted["e1"].probabilities)
    jt.fit(model, {**rows, "c0": [0, None, 1, 1]})  # with holes, what the causes produced is pooled


def test_fixed_conditionals_stay_and_those_tied_to_them():
    model = tied_chain()
    fitted = jt.fit(model, TIED_ROWS, fixed=["x2"]).model
    assert [fitted[name] for name in ("x1", "x2", "x3")] == [model[name] for name in ("x1", "x2", "x3")]
    assert fitted["x0"].values == pytest.approx([2 / 3, 1 / 3])


def test_nothing_is_said_of_combinations_that_a_fixed_table_has_not_seen():
    table = jt.Conditional(Y, [X], [[0.2, 0.3, 0.5], [0.1, 0.1, 0.8]])
    model = jt.BayesianNetwork([jt.Conditional(X, [], [0.5, 0.5]), table])
    fitted = jt.fit(model, {"x": ["a"], "y": [1]}, fixed=["y"])
    assert fitted.model["y"] == table
    assert fitted.log_likelihood == pytest.approx(np.log(0.3))


def test_a_kind_that_cannot_be_learned_can_be_kept():
    number = jt.Variable("number")
    model = jt.BayesianNetwork([jt.results.Constant(number, 2.0), jt.Conditional(X, [], [0.5, 0.5])])
    rows = {"number": [2.0, 2.0], "x": ["a", "b"]}
    with pytest.raises(jt.errors.Unsupported, match=r"cannot be learned; keep it as it is with fixed=\['number'\]"):
        jt.fit(model, rows)
    assert jt.fit(model, rows, fixed=["number"]).log_likelihood == pytest.approx(2 * np.log(0.5))


def test_deterministic_conditionals_are_kept_by_themselves():
    half = jt.Deterministic(jt.Variable("z", 2), [Y], [0, 0, 1])
    model = jt.BayesianNetwork([jt.Conditional(Y, [], [0.2, 0.3, 0.5]), half])
    fitted = jt.fit(model, {"y": [0, 1, 2, 2], "z": [0, 0, 1, 1]})
    assert fitted.model["z"] == half
    assert fitted.log_likelihood == pytest.approx(2 * np.log(0.25) + 2 * np.log(0.5))


@pytest.mark.parametrize(
    "call", [jt.fit, lambda graph, rows, **options: jt.estimate(graph, jt.statistics(graph, rows), **options)]
)
def test_a_graph_has_nothing_to_keep(call):
    with pytest.raises(jt.errors.InvalidData, match="a graph has none"):
        call(CHAIN, ROWS, fixed=["y"])
