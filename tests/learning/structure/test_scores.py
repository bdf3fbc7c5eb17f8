"""Scores: closed forms, the evidence as a product of predictions, equivalence over classes, decomposition."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import gammaln
from scipy.stats import multivariate_t

from juncture import structure
from juncture.data.dataset import Dataset
from juncture.errors import InvalidData, Unsupported
from juncture.graphs.directed import DirectedGraph
from juncture.learning.conditionals.table import K2, BDeu
from juncture.learning.structure.scores.gaussian import BGe
from juncture.learning.structure.scores.local_scores import NOTHING, ScoreCache
from juncture.learning.structure.scores.scores import BDs, EdgePrior, as_local_scores
from juncture.learning.structure.sets import members, parents_of, set_of
from juncture.verbs import fit
from support.graph_examples import all_directed_graphs
from support.structure_examples import random_reals, random_rows


def predicted(data, child, parents, cell_before) -> float:
    """The product of what is predicted for each row from those before it: the evidence, by the chain rule."""
    seen: dict[tuple, np.ndarray] = {}
    total = 0.0
    for row in range(len(data)):
        key = tuple(int(data.arrays[parent][row]) for parent in parents)
        counts = seen.setdefault(key, np.zeros(data.variables[child].num_states))
        state = data.arrays[child][row]
        total += np.log((counts[state] + cell_before) / (counts.sum() + cell_before * len(counts)))
        counts[state] += 1
    return total


@pytest.mark.parametrize("parents", [(), (0,), (0, 2), (0, 2, 3)])
def test_evidence_is_the_product_of_predictions(parents):
    data = random_rows(np.random.default_rng(0), 60, [2, 3, 2, 4])
    states = 3 * np.prod([data.variables[parent].num_states for parent in parents])
    seen = len({tuple(data.arrays[parent][row] for parent in parents) for row in range(60)})
    for score, before in ((K2(), 1.0), (BDeu(5.0), 5.0 / states), (BDs(5.0), 5.0 / (seen * 3))):
        found = ScoreCache(as_local_scores(score, data)).family(1, set_of(parents))
        assert found == pytest.approx(predicted(data, 1, parents, before), rel=1e-10)


def test_k2_by_factorials():
    data = Dataset({"a": [0, 0, 1, 1, 1], "b": [0, 1, 1, 1, 1]})
    graph = DirectedGraph.parse("a -> b")
    logs = gammaln([2 + 1, 3 + 1]).sum() - gammaln(5 + 2)  # a: 2! 3! / 6!
    logs += 2 * gammaln(2) - gammaln(2 + 2) + gammaln(3 + 1) - gammaln(3 + 2)  # b: 1! 1! / 3! and 3! / 4!
    assert structure.score(graph, data, "k2") == pytest.approx(logs)


@given(st.integers(0, 10**6))
def test_likelihood_is_that_of_the_fit(seed):
    rng = np.random.default_rng(seed)
    data = random_rows(rng, 50, [2, 3, 2])
    graph = DirectedGraph.parse("n0 -> n1; n0 -> n2; n1 -> n2")
    best = fit(graph, data, on_unseen="uniform", prior=1e-300).log_likelihood
    num_parameters = 1 + 2 * 2 + 6
    assert structure.score(graph, data, "log-likelihood") == pytest.approx(best)
    assert structure.score(graph, data, "aic") == pytest.approx(best - num_parameters)
    assert structure.score(graph, data, "bic") == pytest.approx(best - num_parameters * np.log(50) / 2)
    assert structure.score(graph, data, "mdl") == structure.score(graph, data, "bic")


EQUIVALENT = ["log-likelihood", "aic", "bic", "bdeu", EdgePrior(BDeu(1.0), 0.5)]


def by_class(graphs, data, score) -> dict:
    found: dict = {}
    cache = ScoreCache(as_local_scores(score, data))
    for graph in graphs:
        found.setdefault(graph.essential_graph(), []).append(cache.total(parents_of(graph)))
    return found


@pytest.mark.parametrize("score", EQUIVALENT, ids=str)
def test_equivalent_graphs_score_alike(score):
    data = random_rows(np.random.default_rng(3), 200, [2, 3, 2])
    groups = by_class(all_directed_graphs(3), data, score)
    assert len(groups) == 11
    for totals in groups.values():
        assert totals == pytest.approx([totals[0]] * len(totals), rel=1e-10)


@pytest.mark.parametrize("score", ["log-likelihood", "aic", "bic", "bge", BGe(0.3, 9.0)], ids=str)
def test_equivalent_graphs_over_numbers_score_alike(score):
    data = random_reals(np.random.default_rng(3), 30, 3)
    for totals in by_class(all_directed_graphs(3), data, score).values():
        assert totals == pytest.approx([totals[0]] * len(totals), rel=1e-9)


def test_k2_tells_equivalent_graphs_apart():
    data = random_rows(np.random.default_rng(3), 200, [2, 3, 2])
    assert any(np.ptp(totals) > 1e-6 for totals in by_class(all_directed_graphs(3), data, "k2").values())


def test_bge_is_the_product_of_student_predictions():
    """All columns together: a normal-Wishart prior predicts each row by a multivariate t."""
    data = random_reals(np.random.default_rng(1), 12, 3)
    rows = np.array(data.arrays).T
    mean, strength, degrees = rows.mean(axis=0), 2.0, 7.0
    scale = np.eye(3) * strength * (degrees - 4) / (strength + 1)
    total = 0.0
    for row in rows:
        freedom = degrees - 2
        shape = scale * (strength + 1) / (strength * freedom)
        total += multivariate_t(mean, shape, df=freedom).logpdf(row)
        scale = scale + np.outer(row - mean, row - mean) * strength / (strength + 1)
        mean = (strength * mean + row) / (strength + 1)
        strength, degrees = strength + 1, degrees + 1
    complete = DirectedGraph.parse("n0 -> n1; n0 -> n2; n1 -> n2")
    assert structure.score(complete, data, BGe(2.0, 7.0)) == pytest.approx(total)


def test_gaussian_likelihood_by_regression():
    data = random_reals(np.random.default_rng(1), 40, 3)
    values = np.array(data.arrays)
    design = np.column_stack([np.ones(40), values[0], values[2]])
    noise = values[1] - design @ np.linalg.lstsq(design, values[1], rcond=None)[0]
    log_likelihood = -20 * (np.log(2 * np.pi * np.mean(noise**2)) + 1)
    families = as_local_scores("bic", data)
    assert families.score_extensions(1, [0], [2])[0] == pytest.approx(log_likelihood - 4 * np.log(40) / 2)


def test_tables_larger_than_the_rows_are_counted_by_hashing():
    rng = np.random.default_rng(0)
    data = random_rows(rng, 40, [5, 2, *[6] * 7])
    parents = [0, 2, 3, 4, 5, 6, 7, 8]
    groups: dict = {}
    for row in range(40):
        key = tuple(int(data.arrays[parent][row]) for parent in parents)
        groups.setdefault(key, np.zeros(2))[data.arrays[1][row]] += 1
    counts = np.array(list(groups.values()))
    with np.errstate(divide="ignore", invalid="ignore"):
        expected = np.nansum(counts * np.log(counts / counts.sum(axis=1, keepdims=True)))
    cache = ScoreCache(as_local_scores("log-likelihood", data))
    assert cache.family(1, set_of(parents)) == pytest.approx(expected)
    cost = 5 * 6**7 * np.log(40) / 2
    assert ScoreCache(as_local_scores("bic", data)).family(1, set_of(parents)) == pytest.approx(expected - cost)


@pytest.mark.parametrize("score", ["bic", "bdeu", "bds", "k2"])
def test_a_weight_is_a_number_of_rows(score):
    rng = np.random.default_rng(5)
    data = random_rows(rng, 30, [2, 3, 2], weights=rng.integers(0, 4, size=30).astype(float))
    repeated = data.take(np.repeat(np.arange(30), data.weights.astype(int)))
    same = Dataset.from_codes(repeated.variables, repeated.columns)
    graph = DirectedGraph.parse("n0 -> n1 -> n2")
    assert structure.score(graph, data, score) == pytest.approx(structure.score(graph, same, score))


@pytest.mark.parametrize("score", ["bic", "bdeu", "k2"])
def test_toggling_equals_scoring_anew(score):
    """One pass over candidates gives what each family scores by itself, whatever the order of its parents."""
    data = random_rows(np.random.default_rng(2), 300, [2, 3, 2, 4, 2])
    cache, fresh = ScoreCache(as_local_scores(score, data)), as_local_scores(score, data)
    for child, chosen in product(range(5), (0, 0b10100, 0b01011)):
        parents = chosen & ~(1 << child)
        toggle_scores = cache.toggle_scores(child, parents, 0b11111 & ~(1 << child))
        assert np.isnan(toggle_scores[child])
        for other in set(range(5)) - {child}:
            *common, last = members(parents ^ 1 << other)[::-1] or [NOTHING]
            assert toggle_scores[other] == pytest.approx(fresh.score_extensions(child, common, [last])[0])


def test_an_edge_prior_costs_its_log_odds():
    data = random_rows(np.random.default_rng(2), 100, [2, 3, 2])
    graph = DirectedGraph.parse("n0 -> n1; n0 -> n2; n1 -> n2")
    plain = structure.score(graph, data, "bic")
    assert structure.score(graph, data, EdgePrior("bic", 0.5)) == pytest.approx(plain - 3 * np.log(3))


def test_refusals():
    holes = {"a": [0, None, 1], "b": [0, 1, 1]}
    mixed = {"a": [0, 1, 1], "b": [0.5, 1.0, 1.5]}
    graph = DirectedGraph.parse("a -> b")
    with pytest.raises(InvalidData, match="'a' has missing values, the first in row 1"):
        structure.score(graph, holes)
    with pytest.raises(Unsupported, match=r"jt\.Discretizer"):
        structure.score(DirectedGraph.parse("b -> a"), mixed)
    with pytest.raises(Unsupported, match="did you mean 'bic'"):
        structure.score(graph, {"a": [0], "b": [1]}, "bik")
    with pytest.raises(Unsupported, match="not one of variables with states"):
        structure.score(graph, {"a": [0], "b": [1]}, "bge")
    with pytest.raises(Unsupported, match="not one of real variables"):
        structure.score(graph, {"a": [0.5], "b": [1.5]}, "k2")
    with pytest.raises(InvalidData, match="no column 'b'"):
        structure.score(graph, {"a": [0]})
    with pytest.raises(InvalidData, match="on a plane"):
        structure.score(graph, {"a": [0.5, 1.0, 2.0], "b": [1.0, 2.0, 4.0]})
    with pytest.raises(InvalidData, match="degrees"):
        structure.score(graph, {"a": [0.5, 1.0], "b": [1.0, 2.0]}, BGe(degrees=2.0))
