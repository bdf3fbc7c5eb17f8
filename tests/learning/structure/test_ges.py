"""Greedy equivalence search: it ends where no class next to it scores better, and finds the class of small graphs."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from juncture import structure
from juncture.data.dataset import Dataset
from juncture.errors import InvalidModel
from juncture.formats.bundled import example
from juncture.graphs.directed import DirectedGraph
from juncture.learning.conditionals.table import BDeu
from juncture.learning.structure.learn import learn_structure
from juncture.learning.structure.scores.discrete import NodeAverage
from juncture.learning.structure.scores.local_scores import ScoreCache
from juncture.learning.structure.scores.scores import SCORES, BDs, EdgePrior, as_local_scores
from juncture.learning.structure.searches.equivalence_classes import GraphClass, complete_class
from juncture.learning.structure.searches.ges import GES, EquivalenceSearch
from juncture.networks.bayesian_network import BayesianNetwork
from juncture.variables import Scope, Variable
from juncture.verbs import sample
from support.builders import random_table
from support.graph_examples import all_directed_graphs
from support.structure_examples import random_rows


def random_network(graph: DirectedGraph, rng, num_states: int = 2) -> BayesianNetwork:
    variables = {name: Variable(name, num_states) for name in graph.nodes}
    parents = {name: Scope(variables[parent] for parent in graph.parents(name)) for name in graph.nodes}
    return BayesianNetwork(random_table(rng, variables[name], parents[name]) for name in graph.nodes)


def test_classes_of_small_graphs_are_found():
    """With many rows the class of the true graph is the end, for all graphs on three nodes."""
    rng = np.random.default_rng(7)
    for graph in all_directed_graphs(3):
        data = sample(random_network(graph, rng, 3), 20_000, rng=1)
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
    best = structure.score(found, data)
    for member in found.equivalence_class():
        order = member.topological_order()
        for index, head in enumerate(order):
            for tail in order[:index]:
                edges = set(member.edges) ^ {(tail, head)}
                assert structure.score(DirectedGraph(edges, member.nodes), data) <= best + 1e-6


@pytest.mark.parametrize("seed", range(5))
def test_no_edge_turned_improves_any_graph_of_the_class(seed):
    data = random_rows(np.random.default_rng(seed), 150, [2, 3, 2, 2, 2])
    found = learn_structure(data, "ges", directed=True, reinsert=False)
    best = structure.score(found, data)
    for member in found.equivalence_class():
        for tail, head in member.edges:
            turned = {*member.edges, (head, tail)} - {(tail, head)}
            try:
                other = DirectedGraph(turned, member.nodes)
            except InvalidModel:  # a cycle
                continue
            assert structure.score(other, data) <= best + 1e-6


def test_turns_gain_what_they_say():
    """Every turn that can be drawn, from the class of random graphs: the difference of two whole scores."""
    data = random_rows(np.random.default_rng(5), 200, [2, 3, 2, 2, 3])
    scores = ScoreCache(as_local_scores("bic", data))
    search = EquivalenceSearch(scores, GES().bounds(scores.names))
    num_turns = 0
    for graph in all_directed_graphs(4)[::7]:
        names = dict(zip("abcd", scores.names, strict=False))
        member = DirectedGraph(((names[tail], names[head]) for tail, head in graph.edges), scores.names)
        state = GraphClass(member.essential_graph(), member)
        for step in search._turns(state):
            drawn = state.turn(step)
            if drawn is not None:
                num_turns += 1
                gain = search.score(complete_class(drawn, search.bounds)) - search.score(state)
                assert gain == pytest.approx(step.gain, abs=1e-8)
    assert num_turns > 100


def test_many_small_problems_end_at_the_best_class():
    """20,000 rows of random networks: at least as good as without turns, never beyond the best, and mostly there."""
    num_best = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        names = [f"n{index}" for index in rng.permutation(6)]
        edges = [pair for pair in combinations(names, 2) if rng.random() < 0.4]
        data = sample(random_network(DirectedGraph(edges, sorted(names)), rng), 20_000, rng=seed)
        best = structure.score(learn_structure(data, "exact"), data)
        plain, full = (
            structure.score(learn_structure(data, "ges", directed=True, turning=more, reinsert=more), data)
            for more in (False, True)
        )
        assert plain - 1e-6 <= full <= best + 1e-6
        num_best += full > best - 1e-6
    assert num_best >= 37


def test_a_score_that_is_not_equivalent_still_ends():
    data = random_rows(np.random.default_rng(1), 200, [2, 4, 2, 3, 2])
    assert learn_structure(data, "ges", score="k2").is_essential()


def test_progress_tells_the_best_so_far():
    reported: list[float] = []
    data = sample(example("asia"), 1000, rng=0)
    found = learn_structure(data, "ges", directed=True, progress=lambda step, score: reported.append(score))
    assert reported == sorted(reported)
    assert reported[-1] == pytest.approx(structure.score(found, data))


def refuse_circles(step: int, value: float) -> None:
    assert step < 2000, "the search walks in a circle"


ALL_SCORES = [*(name for name in SCORES if name != "bge"), NodeAverage(cost=1.0), EdgePrior("k2"), BDeu(1e-3), BDs(1e6)]


@pytest.mark.parametrize("score", ALL_SCORES, ids=str)
def test_it_ends_under_every_score(score):
    """Also where equivalent graphs score unlike, so that what a turn gains does not add up."""
    rng = np.random.default_rng(3)
    for _ in range(12):
        data = random_rows(rng, int(rng.integers(4, 40)), rng.integers(2, 4, size=4).tolist())
        assert learn_structure(data, "ges", score=score, progress=refuse_circles).is_essential()


def test_it_ends_where_turns_once_went_round():
    rows = {"a": [1, 1, 1, 0, 0, 0, 0, 0], "b": [0, 1, 1, 1, 1, 1, 1, 1], "c": [1, 1, 1, 1, 0, 1, 1, 0]}
    assert learn_structure(rows, "ges", score="k2", progress=refuse_circles).is_essential()


@pytest.mark.parametrize("score", ["node-average", NodeAverage(cost=1.0), NodeAverage(cost=0.0)], ids=str)
def test_it_ends_with_holes(score):
    rng = np.random.default_rng(4)
    for _ in range(12):
        data = random_rows(rng, 40, [2, 3, 2, 2])
        columns = {name: np.where(rng.random(40) < 0.3, -1, column) for name, column in data.columns.items()}
        holed = Dataset.from_codes(data.variables, columns)
        assert learn_structure(holed, "ges", score=score, progress=refuse_circles).is_essential()
