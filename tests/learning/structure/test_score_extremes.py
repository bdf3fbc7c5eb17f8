"""Scores at their ends: priors of any size, columns in any unit."""

from __future__ import annotations

from math import log

import numpy as np
import pytest

from juncture import structure
from juncture.errors import InvalidData
from juncture.graphs.directed import DirectedGraph
from juncture.learning.conditionals.table import BDeu
from juncture.learning.structure.learn import learn_structure
from juncture.learning.structure.scores.scores import BDs, EdgePrior
from support.structure_examples import random_rows


@pytest.mark.parametrize("size", [0.3, 1e3, 1e5, 1e8, 1e12])
@pytest.mark.parametrize("kind", [BDeu, BDs])
def test_the_evidence_of_priors_of_any_size(kind, size):
    """Against the sum of logarithms of a chain of predictions: row after row, (count + before) / (total + before)."""
    data = random_rows(np.random.default_rng(6), 80, [2, 3])
    seen, parent = [np.zeros(3) for _ in range(2)], data.arrays[0]
    before = size / (2 * 3)
    evidence = 0.0
    for row in range(80):
        counts = seen[parent[row]]
        evidence += log(counts[data.arrays[1][row]] + before) - log(counts.sum() + 3 * before)
        counts[data.arrays[1][row]] += 1
    both, alone = DirectedGraph.parse("n0 -> n1"), DirectedGraph((), ["n0"])
    found = structure.score(both, data, kind(size)) - structure.score(alone, data, kind(size))
    assert found == pytest.approx(evidence, rel=1e-9)


def test_rows_before_the_data_without_end_make_every_table_even():
    data = random_rows(np.random.default_rng(6), 40, [2, 3])
    found = structure.score(DirectedGraph.parse("n0 -> n1"), data, BDeu(1e25))
    assert found == pytest.approx(-40 * log(6), rel=1e-12)


@pytest.mark.parametrize("score", [BDeu(0), BDs(0), EdgePrior(BDeu(0.0))], ids=str)
def test_no_rows_before_the_data_are_refused(score):
    with pytest.raises(InvalidData, match="needs rows before the data"):
        learn_structure({"a": [0, 1, 1], "b": [0, 1, 0]}, score=score, rng=0)


def test_columns_may_have_any_unit():
    rng = np.random.default_rng(1)
    first = rng.normal(size=200)
    second = first + rng.normal(size=200)
    plain = {"a": first, "b": second, "c": rng.normal(size=200)}
    scaled = {"a": first * 1e8, "b": second * 1e-9, "c": plain["c"]}
    assert learn_structure(scaled, "exact") == learn_structure(plain, "exact")
    graph, empty = DirectedGraph.parse("a -> b; c"), DirectedGraph((), ["a", "b", "c"])
    gains = [structure.score(graph, rows) - structure.score(empty, rows) for rows in (plain, scaled)]
    assert gains[0] == pytest.approx(gains[1], rel=1e-9)


def test_what_lies_on_a_plane_is_told_in_any_unit():
    first, second = np.random.default_rng(1).normal(size=(2, 200))
    with pytest.raises(InvalidData, match="lie on a plane"):
        structure.score(DirectedGraph.parse("a -> b"), {"a": first, "b": first * 1e9})
    with pytest.raises(InvalidData, match="lie on a plane"):
        structure.score(DirectedGraph.parse("a -> c; b -> c"), {"a": first, "b": second, "c": 1e6 * first - second + 3})
    with pytest.raises(InvalidData, match="'k' has the same number in every row"):
        structure.score(DirectedGraph.parse("k -> a"), {"a": first, "k": np.full(200, 0.1)})
