"""Greedy equivalence search: it ends where no class next to it scores better, and finds the class of small graphs."""

from __future__ import annotations

import numpy as np
import pytest

from builders import random_table
from graph_examples import all_directed_graphs
from juncture.graphs.directed import DirectedGraph
from juncture.inference.sampling.forward import sample
from juncture.learning.structure.learn import learn_structure
from juncture.learning.structure.scores import structure_score
from juncture.models.bayesian_network import BayesianNetwork
from juncture.variables import Scope, Variable
from structure_examples import random_rows


def strong_network(graph: DirectedGraph, rng) -> BayesianNetwork:
    variables = {name: Variable(name, 3) for name in graph.nodes}
    parents = {name: Scope(variables[parent] for parent in graph.parents(name)) for name in graph.nodes}
    return BayesianNetwork(random_table(rng, variables[name], parents[name]) for name in graph.nodes)


def test_classes_of_small_graphs_are_found():
    """With many rows the class of the true graph is the end, for all graphs on three nodes."""
    rng = np.random.default_rng(7)
    for graph in all_directed_graphs(3):
        data = sample(strong_network(graph, rng), 20_000, rng=1)
        assert learn_structure(data, "ges") == graph.essential_graph()


def test_the_result_is_a_class_and_its_member_belongs_to_it():
    for seed in range(5):
        data = random_rows(np.random.default_rng(seed), 150, [2, 3, 2, 2, 3, 2])
        found = learn_structure(data, "ges", score="bdeu")
        assert found.is_essential()
        assert learn_structure(data, "ges", score="bdeu", directed=True).essential_graph() == found


@pytest.mark.parametrize("seed", range(5))
def test_no_edge_more_or_less_improves_any_graph_of_the_class(seed):
    """The neighbourhood in full: every graph of the class, every edge added or removed."""
    data = random_rows(np.random.default_rng(seed), 150, [2, 3, 2, 2])
    found = learn_structure(data, "ges", directed=True)
    best = structure_score(found, data)
    for member in found.equivalence_class():
        order = member.topological_order()
        for place, head in enumerate(order):
            for tail in order[:place]:
                edges = set(member.edges) ^ {(tail, head)}
                assert structure_score(DirectedGraph(edges, member.nodes), data) <= best + 1e-6


def test_a_score_that_is_not_equivalent_still_ends():
    data = random_rows(np.random.default_rng(1), 200, [2, 4, 2, 3, 2])
    assert learn_structure(data, "ges", score="k2").is_essential()
