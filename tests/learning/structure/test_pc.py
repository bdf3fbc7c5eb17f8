"""PC: on an oracle it finds the class of every small graph; on data it agrees with what the tests say."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from juncture.errors import InvalidData, Unsupported
from juncture.factors.factor import Factor
from juncture.formats.bundled import example
from juncture.graphs.directed import DirectedGraph
from juncture.learning.structure.independence import GSquaredTest
from juncture.learning.structure.learn import learn_structure
from juncture.learning.structure.searches.pc import PC, find_skeleton
from juncture.networks.bayesian_network import BayesianNetwork
from juncture.variables import Scope, Variable
from juncture.verbs import sample
from support.builders import joint_table, random_table
from support.graph_examples import all_directed_graphs
from support.structure_examples import random_rows


@pytest.mark.parametrize("num_nodes", [1, 2, 3, 4])
def test_every_small_graph_gives_its_class(num_nodes):
    """S2-143: the separations of every DAG of up to four nodes lead to its CPDAG."""
    for graph in all_directed_graphs(num_nodes):
        assert learn_structure(graph, "pc") == graph.essential_graph()


def test_a_joint_gives_its_class():
    """A table in general position has no other independencies than its graph."""
    rng = np.random.default_rng(0)
    for text in ("a -> c <- b; c -> d", "a -> b -> c -> d", "a -> b; a -> c; b -> d; c -> d"):
        graph = DirectedGraph.parse(text)
        variables = {name: Variable(name, 2) for name in graph.nodes}
        parents = {name: Scope(variables[parent] for parent in graph.parents(name)) for name in graph.nodes}
        model = BayesianNetwork(random_table(rng, variables[name], parents[name]) for name in graph.nodes)
        assert learn_structure(Factor(model.variables, joint_table(model)), "pc") == graph.essential_graph()


def test_a_function_is_asked_by_name():
    graph = DirectedGraph.parse("a -> c <- b; c -> d")
    names = [Variable(name, 2) for name in graph.nodes]
    assert learn_structure(graph.is_separated, "pc", variables=names) == graph.essential_graph()
    with pytest.raises(InvalidData, match="has no names of variables"):
        learn_structure(graph.is_separated, "pc")


def test_large_graphs_with_knowledge():
    """Required directions and their consequences join the class; a larger network's class is found too."""
    graph = example("asia").graph
    assert learn_structure(graph, "pc") == graph.essential_graph()
    learned = learn_structure(graph, "pc", required=[("smoke", "lung")])
    assert learned == graph.essential_graph().orient(("smoke", "lung"))
    assert learn_structure(graph, "pc", tiers=[["bronc"], ["smoke"]]) == graph.essential_graph().orient(
        ("bronc", "smoke")
    )


def test_the_order_of_columns_does_not_matter_for_the_skeleton():
    data = random_rows(np.random.default_rng(0), 300, [2, 3, 2, 2, 3])
    turned = data.only(reversed(list(data.columns)))
    assert learn_structure(data, "pc").skeleton() == learn_structure(turned, "pc").skeleton()


def test_what_is_joined_is_dependent_given_all_its_neighbours():
    """The definition, tried out: an edge stays exactly if no set of neighbours in some round separates its ends."""
    data = random_rows(np.random.default_rng(4), 400, [2, 3, 2, 2])
    rng = np.random.default_rng(0)
    tester = GSquaredTest().on(data, rng)
    search = PC()
    skeleton = find_skeleton(tester, search.bounds(tester.names), search.level)
    for pair in combinations(range(4), 2):
        others = [other for other in range(4) if other not in pair]
        sets = [part for size in range(3) for part in combinations(others, size)]
        largest = max(tester.p_values(pair, [part])[0] for part in sets)
        if skeleton.adjacent[pair]:
            around = [set(np.flatnonzero(skeleton.adjacent[end])) - set(pair) for end in pair]
            inside = [part for part in sets if any(set(part) <= one for one in around)]
            assert all(tester.p_values(pair, [part])[0] <= search.level for part in inside)
        else:
            assert largest > search.level
            assert pair in skeleton.separators


@pytest.mark.filterwarnings("ignore::juncture.errors.DeterministicRelationWarning")
def test_the_edges_of_asia_from_rows():
    """With 50,000 rows all are found, though of asia -- tub only 1 % of the rows speak, and one more at most."""
    model = example("asia")
    found = learn_structure(sample(model, 50_000, rng=0), "pc", level=0.01)
    true = {frozenset(edge) for edge in model.graph.edges}
    mine = {frozenset(edge) for edge in found.edges}
    assert true <= mine
    assert len(mine - true) <= 1


def test_refusals():
    graph = DirectedGraph.parse("a -> b")
    with pytest.raises(Unsupported, match="only PC"):
        learn_structure(graph, "hill-climbing")
    with pytest.raises(InvalidData, match="between 0 and 1"):
        PC(level=0.0)
