"""Hill climbing: gains equal full rescoring, its end is a peak, and walking on never loses the best graph."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from juncture import structure
from juncture.errors import InvalidData, InvalidModel
from juncture.formats.bundled import example
from juncture.graphs.directed import DirectedGraph
from juncture.learning.structure.learn import learn_structure
from juncture.learning.structure.scores.local_scores import ScoreCache
from juncture.learning.structure.scores.scores import as_local_scores
from juncture.learning.structure.searches.hill_climbing import Change, HillClimbing, Move, ScoredGraph
from juncture.learning.structure.sets import find_descendants, find_paths, graph_of, parents_of
from juncture.verbs import sample
from support.structure_examples import random_reals, random_rows


def changed(edges: set, change: Change, edge: tuple[str, str]) -> set:
    if change is Change.ADD:
        return edges | {edge}
    return edges - {edge} | ({edge[::-1]} if change is Change.REVERSE else set())


@given(st.integers(0, 10**6), st.sampled_from(["bic", "bdeu", "k2"]))
def test_gains_equal_full_rescoring_along_a_random_walk(seed, score):
    rng = np.random.default_rng(seed)
    data = random_rows(rng, 80, [2, 3, 2, 2, 3])
    scores = ScoreCache(as_local_scores(score, data))
    bounds = HillClimbing(max_parents=3, forbidden=[("n0", "n4")]).bounds(scores.names)
    state = ScoredGraph(scores, bounds, bounds.needed)
    for _ in range(12):
        options = state.options()
        legal = np.argwhere(options > -np.inf)
        change, parent, child = (int(index) for index in legal[rng.integers(len(legal))])
        edge = (scores.names[parent], scores.names[child])
        before = graph_of(scores.names, state.parents)
        after = DirectedGraph(changed(set(before.edges), Change(change), edge), scores.names)
        gain = structure.score(after, data, score) - structure.score(before, data, score)
        assert options[change, parent, child] == pytest.approx(gain, abs=1e-8)
        state.make(Move(gain, Change(change), parent, child))
        assert state.parents == parents_of(after)
        assert state.total == pytest.approx(structure.score(after, data, score))


@given(st.integers(0, 10**6))
def test_both_ways_to_find_paths_agree(seed):
    rng = np.random.default_rng(seed)
    size = int(rng.integers(1, 12))
    order = rng.permutation(size)
    edges = np.triu(rng.random((size, size)) < rng.random(), 1)[np.ix_(order, order)]
    assert np.array_equal(find_descendants(edges), find_paths(edges))


def neighbours(graph: DirectedGraph):
    """Every graph one change away, by trying them all."""
    edges = set(graph.edges)
    pairs = [(tail, head) for tail in graph.nodes for head in graph.nodes if tail != head]
    for edge in pairs:
        for change in Change:
            if (edge in edges) == (change is Change.ADD) or (change is Change.ADD and edge[::-1] in edges):
                continue
            try:
                yield DirectedGraph(changed(edges, change, edge), graph.nodes)
            except InvalidModel:
                continue


@pytest.mark.parametrize("seed", range(4))
def test_no_single_change_improves_the_end(seed):
    data = random_rows(np.random.default_rng(seed), 200, [2, 3, 2, 2, 3])
    found = learn_structure(data, rng=0)
    best = structure.score(found, data)
    assert all(structure.score(other, data) <= best + 1e-5 for other in neighbours(found))


def test_the_options_are_all_legal_changes():
    data = random_rows(np.random.default_rng(0), 100, [2, 2, 2, 2])
    scores = ScoreCache(as_local_scores("bic", data))
    graph = DirectedGraph.parse("n0 -> n1 -> n2; n0 -> n2; n3")
    state = ScoredGraph(scores, HillClimbing().bounds(scores.names), parents_of(graph))
    assert (state.options() > -np.inf).sum() == len(list(neighbours(graph)))


def test_walking_on_never_loses_the_best():
    data = sample(example("asia"), 500, rng=3)
    plain = structure.score(learn_structure(data, reinsert=False, rng=0), data)
    for options in ({"reinsert": True}, {"tabu": 5}, {"tabu": 20}, {"restarts": 3}, {"tabu": 5, "restarts": 2}):
        assert structure.score(learn_structure(data, **options), data) >= plain - 1e-5


def test_a_known_network_is_recovered(networks_folder):
    """On 20,000 rows of alarm the graph scores above the true one, and almost all edges are right."""
    from juncture.formats.files import read

    with pytest.warns(UserWarning, match="did not sum to 1"):
        model = read(networks_folder / "alarm.bif.gz")
    data = sample(model, 20_000, rng=5)
    found = learn_structure(data, rng=0)
    assert structure.score(found, data) > structure.score(model.graph, data) - 200
    common = set(found.skeleton().edges) | {edge[::-1] for edge in found.skeleton().edges}
    assert sum(edge in common for edge in model.graph.edges) >= 42


def test_numbers_are_learned_by_lines():
    rng = np.random.default_rng(0)
    cause, other = rng.normal(size=(2, 500))
    data = {"a": cause, "b": other, "c": 2 * cause - other + 0.1 * rng.normal(size=500)}
    for score in ("bic", "bge"):
        assert learn_structure(data, score=score, rng=0) == DirectedGraph.parse("a -> c <- b")


def test_columns_without_variation_and_single_columns():
    assert learn_structure({"a": [0, 0, 0], "b": [0, 1, 0]}, rng=0).edges == ()
    assert learn_structure({"a": [0, 1, 0]}, rng=0).nodes == ("a",)
    assert learn_structure(random_reals(np.random.default_rng(0), 9, 1), rng=0).edges == ()


def test_refusals():
    with pytest.raises(InvalidData, match="tabu must be a whole number"):
        HillClimbing(tabu=-1)
    with pytest.raises(InvalidData, match="max_parents"):
        HillClimbing(max_parents=1.5)
