"""Counts of complete rows: right, additive, and able to travel."""

from __future__ import annotations

import json
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import juncture as jt
from juncture.learning.conditionals.table import TableCounts
from juncture.learning.networks import statistics as counting
from support.builders import random_network
from support.learning_oracles import counted, random_codes, random_tables

SEEDS = st.integers(0, 2**32 - 1)


def draw_case(seed, num_rows=None, build=random_tables):
    rng = np.random.default_rng(seed)
    model = build(rng)
    codes = random_codes(rng, model, int(rng.integers(0, 40)) if num_rows is None else num_rows)
    return rng, model, codes


@given(seed=SEEDS)
def test_counts_against_a_loop_over_the_rows(seed):
    """S2-177, S4-206: N(parents, child) for every family."""
    rng, model, codes = draw_case(seed)
    num_rows = len(next(iter(codes.values())))
    weights = rng.random(num_rows) * rng.integers(0, 2, num_rows)
    plain = jt.statistics(model, jt.Dataset.from_codes(model.variables, codes))
    weighted = jt.statistics(model, jt.Dataset.from_codes(model.variables, codes, weights))
    for part in model.conditionals:
        assert np.array_equal(plain[part.child.name].counts, counted(part, codes, np.ones(num_rows)))
        assert weighted[part.child.name].counts == pytest.approx(counted(part, codes, weights), abs=1e-12)
    assert (plain.weight, weighted.weight) == (num_rows, pytest.approx(weights.sum()))


@given(seed=SEEDS)
def test_statistics_of_two_halves_add_bit_for_bit(seed):
    """For all kinds of discrete conditionals; so do estimates from the sum."""
    rng, model, codes = draw_case(seed, build=random_network)
    whole = jt.Dataset.from_codes(model.variables, codes)
    cut = int(rng.integers(0, len(whole) + 1))
    halves = [whole.take(slice(cut)), whole.take(slice(cut, None))]
    assert sum(jt.statistics(model, half) for half in halves) == jt.statistics(model, whole)


@given(seed=SEEDS)
def test_a_weight_is_a_repetition(seed):
    rng, model, codes = draw_case(seed, 12, build=random_network)
    times = rng.integers(0, 4, 12)
    repeated = {name: np.repeat(column, times) for name, column in codes.items()}
    by_weight = jt.statistics(model, jt.Dataset.from_codes(model.variables, codes), weights=times)
    by_rows = jt.statistics(model, jt.Dataset.from_codes(model.variables, repeated))
    for name, part in by_rows.parts.items():
        if isinstance(part, TableCounts):
            assert part == by_weight[name]
        else:
            seen = by_weight[name].weights > 0  # a row of weight 0 stays a row
            assert np.array_equal(by_weight[name].rows[seen], part.rows)
            assert np.array_equal(by_weight[name].weights[seen], part.weights)


@pytest.mark.parametrize("weighted", [False, True])
def test_chunks_and_blocks_of_rows(monkeypatch, weighted):
    rng, model, codes = draw_case(5, 1000)
    weights = rng.random(1000) if weighted else None
    data = jt.Dataset.from_codes(model.variables, codes, weights)
    whole = jt.statistics(model, data)
    monkeypatch.setattr(counting, "BLOCK", 7)
    for chunk in (1, 64, 333, 1000):
        monkeypatch.setattr(counting, "CHUNK", chunk)
        for name, part in jt.statistics(model, data).parts.items():
            assert part.counts == pytest.approx(whole[name].counts, rel=1e-12)
            assert weighted or np.array_equal(part.counts, whole[name].counts)


@pytest.mark.parametrize("weighted", [False, True])
def test_more_rows_than_a_chunk_on_any_number_of_cores(monkeypatch, weighted):
    rng = np.random.default_rng(0)
    model, num_rows = random_tables(rng, 4), counting.CHUNK + 4321
    codes = random_codes(rng, model, num_rows)
    data = jt.Dataset.from_codes(model.variables, codes, rng.random(num_rows) if weighted else None)
    whole = jt.statistics(model, data)
    monkeypatch.setenv("JUNCTURE_NUM_THREADS", "1")
    assert jt.statistics(model, data) == whole
    for part in model.conditionals:
        cells = np.ravel_multi_index([codes[name] for name in part.scope.names], part.scope.shape)
        counts = np.bincount(cells, data.weights, part.scope.size).reshape(part.scope.shape)
        assert whole[part.child.name].counts == pytest.approx(counts, rel=1e-11)


# --- labels --------------------------------------------------------------------------------------------------------


def test_states_align_by_label_and_the_union_is_sorted():
    graph = jt.DirectedGraph([("x", "y")])
    one = jt.statistics(graph, {"x": ["b", "c"], "y": [10, 2]})
    other = jt.statistics(graph, {"x": ["a", "b", "b"], "y": [2, 2, 30]})
    both = jt.statistics(graph, {"x": ["b", "c", "a", "b", "b"], "y": [10, 2, 2, 2, 30]})
    assert one + other == both == other + one
    assert both["y"].parents[0].states == ("a", "b", "c")
    assert both["y"].child.states == (2, 10, 30)  # numbers by value
    assert jt.estimate(graph, one + other) == jt.fit(graph, both_rows()).model


def both_rows():
    return {"x": ["b", "c", "a", "b", "b"], "y": [10, 2, 2, 2, 30]}


def test_a_declared_order_stays_where_both_sides_have_it():
    graph, size = jt.DirectedGraph(nodes=["size"]), jt.Variable("size", ["small", "large"])
    one = jt.statistics(graph, {"size": ["large"]}, variables=[size])
    assert (one + one)["size"].child == size


def test_other_families_do_not_add():
    one = jt.statistics(jt.DirectedGraph([("x", "y")]), {"x": [0, 1], "y": [0, 1]})
    with pytest.raises(jt.errors.InvalidData, match="meets"):
        one + jt.statistics(jt.DirectedGraph([("y", "x")]), {"x": [0, 1], "y": [0, 1]})
    with pytest.raises(jt.errors.InvalidData, match="only one side has 'z'"):
        one + jt.statistics(jt.DirectedGraph([("x", "y")], nodes=["x", "y", "z"]), {"x": [0], "y": [0], "z": [1]})
    with pytest.raises(jt.errors.InvalidData, match="two kinds"):
        one + jt.statistics(jt.DirectedGraph([("x", "y")]), {"x": [0, 1], "y": [0.5, 1.5]})
    with pytest.raises(TypeError):
        one + 3


# --- reading them --------------------------------------------------------------------------------------------------


@given(seed=SEEDS)
def test_scaled(seed):
    _, model, codes = draw_case(seed, 10, build=random_network)
    data = jt.Dataset.from_codes(model.variables, codes)
    assert jt.statistics(model, data).scaled(3.0) == jt.statistics(model, data, weights=np.full(10, 3.0))


def test_scaling_takes_a_number_that_makes_sense():
    found = jt.statistics(jt.DirectedGraph(nodes=["x"]), {"x": [0, 1]})
    with pytest.raises(jt.errors.InvalidData, match="at least 0"):
        found.scaled(-1.0)


def test_thin_rows_are_listed():
    found = jt.statistics(jt.DirectedGraph([("x", "y")]), {"x": ["a", "a", "b"], "y": [0, 1, 1]})
    assert found["y"].of_parents.tolist() == [2.0, 1.0]
    assert found.rare_rows(2) == [("y", {"x": "b"}, 1.0)]
    assert [row.weight for row in found.rare_rows(10)] == [1.0, 2.0, 3.0]
    assert found.rare_rows(1) == []


@given(seed=SEEDS)
def test_they_travel_as_json_and_as_pickle_bit_for_bit(seed):
    rng, model, codes = draw_case(seed, 10, build=random_network)
    found = jt.statistics(model, jt.Dataset.from_codes(model.variables, codes, rng.random(10)))
    for copy in (
        jt.results.NetworkStatistics.from_json(found.to_json()),
        jt.results.NetworkStatistics.from_dict(json.loads(json.dumps(found.to_dict()))),
        pickle.loads(pickle.dumps(found)),  # noqa: S301
    ):
        assert copy == found
        assert list(copy.parts) == list(found.parts)
        assert copy + copy == found + found


def test_numbers_causes_and_odd_states_travel_too():
    rng = np.random.default_rng(0)
    graph = jt.DirectedGraph([("s", "y"), ("x", "y"), ("x", "c")])
    numbers = {"s": [float("inf"), 1.5, "ü"] * 5, "x": rng.normal(size=15), "y": rng.normal(size=15)}
    data = {**numbers, "c": rng.integers(0, 2, 15)}
    found = jt.statistics(graph, data)
    assert jt.results.NetworkStatistics.from_json(found.to_json()) == found
    cold, fever = jt.Variable("cold", 2), jt.Variable("fever", 2)
    noisy = jt.BayesianNetwork([jt.Conditional(cold, [], [0.5, 0.5]), jt.NoisyOr(fever, [cold], [0.5], 0.1)])
    expected = jt.fit(noisy, {"cold": [1, None, 0], "fever": [1, 1, 0]}).statistics
    assert jt.results.NetworkStatistics.from_json(expected.to_json()) == expected
    assert (expected + expected)["fever"] == expected.scaled(2.0)["fever"]


@pytest.mark.parametrize("text", ["{", "[]", "{}", '{"format": "juncture statistics", "version": 1}'])
def test_a_document_that_is_none_is_refused(text):
    with pytest.raises(jt.FormatError):
        jt.results.NetworkStatistics.from_json(text)


def test_a_damaged_document_is_refused():
    document = jt.statistics(jt.DirectedGraph(nodes=["x"]), {"x": [0, 1]}).to_dict()
    document["families"][0]["counts"] = [1.0, 2.0, 3.0]
    with pytest.raises(jt.errors.InvalidData, match="shape"):
        jt.results.NetworkStatistics.from_dict(document)


# --- refusals ------------------------------------------------------------------------------------------------------


def test_holes_are_named():
    graph = jt.DirectedGraph([("x", "y")])
    with pytest.raises(jt.errors.InvalidData, match=r"'y' is missing in row 1; jt\.fit"):
        jt.statistics(graph, {"x": [0, 1], "y": ["a", None]})
    with pytest.raises(jt.errors.InvalidData, match="need a column 'h'"):
        jt.statistics(jt.DirectedGraph([("h", "y")]), {"y": [0, 1]}, variables=[jt.Variable("h", 2)])
    with pytest.raises(jt.UnknownVariable, match="no column 'x'"):
        jt.statistics(graph, {"y": [0, 1]})


def test_columns_that_are_not_in_the_graph_are_not_looked_at():
    odd = {"x": [0, 1], "empty": [None, None], "things": [object(), object()]}
    assert jt.statistics(jt.DirectedGraph(nodes=["x"]), odd)["x"].counts.tolist() == [1.0, 1.0]


def test_weights_from_a_column():
    graph = jt.DirectedGraph(nodes=["x"])
    data = {"x": ["a", "b"], "w": [2.5, 1.0]}
    declared = jt.Variable("x", ["b", "a"])
    assert jt.statistics(graph, data, weights="w")["x"].counts.tolist() == [2.5, 1.0]
    assert jt.statistics(graph, data, variables=[declared], weights="w")["x"].counts.tolist() == [1.0, 2.5]
    assert jt.statistics(graph, jt.Dataset(data, weights="w"))["x"].counts.tolist() == [2.5, 1.0]


def test_other_structures_are_refused():
    with pytest.raises(jt.errors.Unsupported, match="BayesianNetwork, MarkovNetwork, FactorGraph, DirectedGraph"):
        jt.statistics("graph", {"x": [1]})
    many = jt.DirectedGraph([(f"p{place}", "y") for place in range(40)])
    with pytest.raises(jt.TooLarge, match="the table of 'y'"):
        jt.statistics(many, {name: [0, 1] for name in many.nodes})
