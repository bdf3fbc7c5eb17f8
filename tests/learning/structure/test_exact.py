"""The exact search beside trying every graph."""

from __future__ import annotations

import numpy as np
import pytest

from juncture import structure
from juncture.data.dataset import Dataset
from juncture.errors import TooLarge
from juncture.learning.structure.learn import learn_structure
from juncture.learning.structure.scores.local_scores import ScoreCache
from juncture.learning.structure.scores.scores import as_local_scores
from juncture.learning.structure.searches.exact import check_size, insert_bit, remove_bit
from juncture.learning.structure.sets import parents_of
from support.graph_examples import all_directed_graphs
from support.structure_examples import keeps, random_reals, random_rows

CONSTRAINTS = [{}, {"max_parents": 1}, {"required": [("d", "a")], "forbidden": [("a", "b")]}, {"tiers": [["c"], ["a"]]}]


def renamed(data: Dataset) -> Dataset:
    """With the names that `all_directed_graphs` gives."""
    return Dataset(dict(zip("abcd", data.arrays, strict=True)))


@pytest.mark.parametrize("constraints", CONSTRAINTS, ids=str)
@pytest.mark.parametrize("score", ["bic", "bdeu", "k2"])
def test_it_is_the_best_of_all_graphs(score, constraints):
    for seed in range(3):
        data = renamed(random_rows(np.random.default_rng(seed), 60, [2, 3, 2, 2]))
        cache = ScoreCache(as_local_scores(score, data))
        within = [graph for graph in all_directed_graphs(4) if keeps(graph, **constraints)]
        best = max(cache.total(parents_of(graph)) for graph in within)
        found = learn_structure(data, "exact", score=score, **constraints)
        assert keeps(found, **constraints)
        assert structure.score(found, data, score) == pytest.approx(best)


def test_it_is_the_best_over_numbers():
    data = renamed(random_reals(np.random.default_rng(0), 25, 4))
    for score in ("bic", "bge"):
        cache = ScoreCache(as_local_scores(score, data))
        best = max(cache.total(parents_of(graph)) for graph in all_directed_graphs(4))
        assert structure.score(learn_structure(data, "exact", score=score), data, score) == pytest.approx(best)


@pytest.mark.parametrize("score", ["bic", "aic", "bdeu", "bds", "k2", "log-likelihood"])
def test_families_of_all_sets_are_those_scored_one_by_one(score):
    """A set left out scores no more than one of its subsets."""
    data = random_rows(np.random.default_rng(1), 80, [2, 3, 2, 4, 2, 2])
    families = as_local_scores(score, data)
    cache = ScoreCache(families)
    found = families.score_subsets(1, [0], [2, 3, 4, 5], 3)
    single = {}
    for number in range(16):
        single[number] = cache.family(1, 0b1 | number << 2)
        if number.bit_count() > 3:
            assert found[number] == -np.inf
        elif found[number] > -np.inf:
            assert found[number] == pytest.approx(single[number])
        else:
            assert any(single[part] >= single[number] for part in range(number) if part & number == part)


def test_many_variables_with_few_parents():
    data = random_rows(np.random.default_rng(0), 200, [2] * 16)
    found = learn_structure(data, "exact", max_parents=2)
    assert structure.score(found, data) >= structure.score(learn_structure(data, max_parents=2, rng=0), data) - 1e-6


def test_of_equal_graphs_the_one_with_fewer_edges():
    """A column that never varies adds nothing to the likelihood, as a child or as a parent."""
    data = Dataset({"a": [0] * 6, "b": [0, 1, 0, 1, 1, 0]})
    assert learn_structure(data, "exact", score="log-likelihood").edges == ()


def test_sets_without_one_bit():
    for child in range(5):
        for number in range(32):
            without = number & ~(1 << child)
            assert insert_bit(remove_bit(without, child), child) == without
            assert remove_bit(without, child) < 16


def test_too_many_variables():
    with pytest.raises(TooLarge, match="exact search over 31 variables takes"):
        check_size(31)
