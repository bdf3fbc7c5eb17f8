"""Chow-Liu trees and tree-augmented naive Bayes, beside all trees; branchings beside all choices of parents."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from juncture import structure
from juncture.data.dataset import Dataset
from juncture.errors import InvalidData, InvalidModel, UnknownVariable
from juncture.graphs.directed import DirectedGraph
from juncture.learning.structure.learn import learn_structure
from juncture.learning.structure.searches.trees import OUTSIDE, maximum_branching
from support.graph_examples import all_directed_graphs
from support.structure_examples import random_reals, random_rows


@given(st.integers(0, 10**6), st.integers(1, 5), st.floats(0, 0.5))
def test_branchings_are_the_best_of_all(seed, size, impossible):
    rng = np.random.default_rng(seed)
    weights = np.round(rng.normal(size=(size, size)), 2)
    weights[rng.random((size, size)) < impossible] = -np.inf
    np.fill_diagonal(weights, -np.inf)
    parents = maximum_branching(weights)
    assert total(weights, parents) == pytest.approx(max(all_totals(weights)), abs=1e-9)


def total(weights, parents) -> float:
    edges = [(str(parent), str(child)) for child, parent in enumerate(parents) if parent != OUTSIDE]
    DirectedGraph(edges)  # refuses a cycle
    return sum(weights[int(parent), int(child)] for parent, child in edges)


def all_totals(weights):
    size = len(weights)
    for parents in product([OUTSIDE, *range(size)], repeat=size):
        try:
            yield total(weights, parents)
        except InvalidModel:
            continue


@pytest.mark.parametrize("score", ["log-likelihood", "bic", "bdeu"])
def test_the_tree_is_the_best_of_all(score):
    for seed in range(3):
        rows = random_rows(np.random.default_rng(seed), 80, [2, 3, 2, 3])
        data = Dataset(dict(zip("abcd", rows.arrays, strict=True)))
        best = max(structure.score(graph, data, score) for graph in all_directed_graphs(4) if graph.is_forest())
        found = learn_structure(data, "chow-liu", score=score)
        assert found.is_forest()
        assert structure.score(found, data, score) == pytest.approx(best)


def test_a_tree_is_recovered_with_its_root():
    rng = np.random.default_rng(0)
    first = rng.integers(2, size=3000)
    columns = {"a": first}
    for name, parent in (("b", "a"), ("c", "a"), ("d", "c")):
        columns[name] = np.where(rng.random(3000) < 0.15, 1 - columns[parent], columns[parent])
    assert learn_structure(columns, "chow-liu") == DirectedGraph.parse("a -> b; a -> c -> d")
    assert learn_structure(columns, "chow-liu", root="d") == DirectedGraph.parse("d -> c -> a -> b")
    noise = columns | {"e": rng.integers(2, size=3000)}
    assert not learn_structure(noise, "chow-liu", score="bic").markov_blanket("e")
    assert learn_structure(noise, "chow-liu").is_tree()


def test_numbers_have_trees():
    found = learn_structure(random_reals(np.random.default_rng(0), 100, 5), "chow-liu")
    assert found.is_tree()


def test_a_class_is_the_parent_of_all():
    data = random_rows(np.random.default_rng(2), 300, [2, 3, 2, 2, 3])
    found = learn_structure(data, "tree-augmented", target="n2")
    assert set(found.children("n2")) == {"n0", "n1", "n3", "n4"}
    features = found.subgraph(["n0", "n1", "n3", "n4"])
    assert features.is_tree()
    above = [("n2", name) for name in features.nodes]
    trees = [tree for tree in (named(graph, features.nodes) for graph in all_directed_graphs(4)) if tree.is_tree()]
    graphs = (DirectedGraph([*above, *tree.edges], data.columns) for tree in trees)
    best = max(structure.score(graph, data, "log-likelihood") for graph in graphs)
    assert structure.score(found, data, "log-likelihood") == pytest.approx(best)


def named(graph: DirectedGraph, names) -> DirectedGraph:
    new = dict(zip(graph.nodes, names, strict=True))
    return DirectedGraph([(new[tail], new[head]) for tail, head in graph.edges], names)


def test_refusals():
    data = random_rows(np.random.default_rng(2), 30, [2, 3, 2])
    with pytest.raises(InvalidData, match="at most one parent"):
        learn_structure(data, "chow-liu", required=[("n0", "n2"), ("n1", "n2")])
    with pytest.raises(InvalidData, match="'n0' is the class"):
        learn_structure(data, "tree-augmented", target="n0", required=[("n1", "n0")])
    with pytest.raises(UnknownVariable, match="'n9'"):
        learn_structure(data, "tree-augmented", target="n9")
    with pytest.raises(UnknownVariable, match="'n9'"):
        learn_structure(data, "chow-liu", root="n9")
