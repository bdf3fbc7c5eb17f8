"""How far graphs are apart, and how sure edges are."""

from __future__ import annotations

import numpy as np
import pytest

from juncture import structure
from juncture.data.dataset import Dataset
from juncture.errors import InvalidData, Unsupported
from juncture.formats.bundled import example
from juncture.graphs.directed import DirectedGraph
from juncture.learning.structure.constraints import Constrained
from juncture.learning.structure.independence import PermutationTest
from juncture.learning.structure.strength import EdgeStrengths, resample_rows
from juncture.verbs import sample
from support.graph_examples import all_directed_graphs
from support.structure_examples import keeps, random_rows


def test_counts_of_an_example():
    truth = DirectedGraph.parse("a -> c <- b; c -> d")
    found = structure.compare(DirectedGraph.parse("a -> c -> b; a -> d"), truth)
    assert found.distance == 3  # b and c turned, c -> d missing, a -> d extra
    assert found.precision == found.recall == 2 / 3
    assert found.arrow_precision == found.arrow_recall == 1 / 3
    assert found.score_gap is None


def test_distances_are_metrics_on_classes():
    graphs = all_directed_graphs(3)
    for one in graphs:
        for other in graphs:
            found, back = structure.compare(one, other), structure.compare(other, one)
            assert (found.distance == 0) == (one == other)
            assert (found.class_distance == 0) == one.is_equivalent(other)
            assert found.distance == back.distance
            assert (found.precision, found.arrow_precision) == (back.recall, back.arrow_recall)
            assert structure.compare(one.essential_graph(), other).class_distance == found.class_distance


def test_the_gap_is_a_difference_of_scores():
    data = sample(example("asia"), 300, rng=0)
    truth = example("asia").graph
    empty = DirectedGraph((), truth.nodes)
    gap = structure.score(truth, data, "aic") - structure.score(empty, data, "aic")
    assert structure.compare(empty, truth, data, "aic").score_gap == pytest.approx(gap)
    assert structure.compare(truth.essential_graph(), truth, data).score_gap == pytest.approx(0, abs=1e-6)


def test_refused_graphs():
    graph = DirectedGraph.parse("a -> b")
    with pytest.raises(InvalidData, match="same nodes"):
        structure.compare(graph, DirectedGraph.parse("a -> c"))
    with pytest.raises(Unsupported, match="got UndirectedGraph"):
        structure.compare(graph.skeleton(), graph)


# --- strength --------------------------------------------------------------------------------------------------------


def test_sure_edges_are_always_there():
    data = sample(example("asia"), 3000, rng=0)
    found = structure.strengths(data, draws=20, rng=0)
    shares = {frozenset(edge[:2]): edge[2] for edge in found.strongest()}
    assert shares[frozenset(("either", "xray"))] == 1.0
    assert shares[frozenset(("lung", "either"))] == 1.0
    assert np.allclose(found.joined, found.directed + found.directed.T)
    assert not found.joined.diagonal().any()
    average = found.average()
    assert {frozenset(edge) for edge in average.edges} == {
        pair for pair, share in shares.items() if share >= found.threshold()
    }


def test_rows_that_are_drawn_can_be_shuffled():
    data = random_rows(np.random.default_rng(0), 60, [2, 3, 2])
    found = structure.strengths(data, "pc", test=PermutationTest(50), draws=5, rng=0)
    assert found.joined.max() > 0


def test_rows_are_drawn_by_their_weights():
    """Rows that weigh nothing are never drawn, however the weights are given."""
    data = random_rows(np.random.default_rng(0), 100, [2, 3, 2])
    weights = np.repeat([1.0, 0.0], 50)
    found = structure.strengths(data, draws=10, weights=weights, rng=0)
    assert found == structure.strengths(Dataset(data, weights=weights), draws=10, rng=0)
    drawn = resample_rows(Dataset(data, weights=weights), len(weights), np.random.default_rng(0))
    assert not drawn.weights[50:].any()
    assert drawn.weights.sum() == pytest.approx(50.0)


def test_strengths_repeat_by_seed():
    data = random_rows(np.random.default_rng(0), 100, [2, 3, 2, 2])
    one, same, other = (structure.strengths(data, draws=10, rng=seed) for seed in (1, 1, 2))
    assert np.array_equal(one.directed, same.directed)
    assert not np.array_equal(one.directed, other.directed)
    assert one == same != other
    assert repr(one).startswith("EdgeStrengths(n")


@pytest.mark.parametrize("method", ["hill-climbing", "pc", "ges", "chow-liu"])
def test_averages_keep_constraints(method):
    data = random_rows(np.random.default_rng(3), 100, [2, 3, 2, 2])
    constraints = {"required": [("n3", "n0")], "forbidden": [("n0", "n1")], "max_parents": 1}
    average = structure.strengths(data, method, draws=8, **constraints).average(0.1)
    assert keeps(average, **constraints)


def test_a_directed_cycle_of_shares_loses_its_weakest_edge():
    shares = np.zeros((3, 3))
    shares[0, 1], shares[1, 2], shares[2, 0] = 0.9, 0.8, 0.7
    found = EdgeStrengths(("a", "b", "c"), shares, Constrained().bounds(["a", "b", "c"]))
    assert found.average(0.5) == DirectedGraph.parse("a -> b -> c; a -> c")
    assert found.average(0.75) == DirectedGraph.parse("a -> b -> c")


def test_the_threshold_parts_weak_from_strong():
    """Three edges near 0 and three near 1: the threshold lies between them."""
    shares = np.zeros((4, 4))
    shares[np.triu_indices(4, 1)] = [0.02, 0.05, 0.1, 0.9, 0.95, 0.97]
    names = ("a", "b", "c", "d")
    found = EdgeStrengths(names, shares, Constrained().bounds(names))
    assert 0.1 < found.threshold() <= 0.9
    assert len(found.average().edges) == 3


def test_refused_samples():
    with pytest.raises(InvalidData, match="draws must be a whole number of at least 1"):
        structure.strengths({"a": [0, 1], "b": [0, 1]}, draws=0, rng=0)
