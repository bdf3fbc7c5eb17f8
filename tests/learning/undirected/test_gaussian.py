"""Gaussian Markov networks of maximum likelihood on a given graph, and the graphical lasso."""

from __future__ import annotations

from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import juncture as jt

SEEDS = st.integers(0, 2**32 - 1)
SIZE = 5
NAMES = list("abcde")


def draw_rows(rng, num_rows=40):
    mixing = rng.normal(size=(SIZE, SIZE)) * 10.0 ** rng.integers(-3, 4, SIZE)
    values = rng.normal(size=(num_rows, SIZE)) @ mixing + rng.normal(size=SIZE)
    return dict(zip(NAMES, values.T, strict=True))


def matrices(model):
    """(mean, covariance) by the engine of Gaussian networks."""
    joint = jt.infer(model).joint(*NAMES)
    return joint.mean, joint.covariance


@given(seed=SEEDS, is_weighted=st.booleans())
def test_edges_have_the_covariances_of_the_data_and_the_rest_no_precision(seed, is_weighted):
    """The equations of the likelihood (Dempster 1972): Σij = Sij on edges, Λij = 0 elsewhere."""
    rng = np.random.default_rng(seed)
    rows = draw_rows(rng)
    weights = rng.uniform(0.5, 2.0, 40) if is_weighted else None
    graph = jt.UndirectedGraph([pair for pair in combinations(NAMES, 2) if rng.random() < 0.5], NAMES)
    fitted = jt.fit(graph, rows, weights=weights)
    assert fitted.model.graph == graph
    values = np.stack(list(rows.values()), axis=1)
    expected = np.cov(values.T, bias=True, aweights=weights)
    mean, covariance = matrices(fitted.model)
    scale = np.sqrt(np.diagonal(expected))
    assert mean / scale == pytest.approx(np.average(values, axis=0, weights=weights) / scale, abs=1e-6)
    linked = np.eye(SIZE, dtype=bool)
    for edge in graph.edges:
        one, other = (NAMES.index(name) for name in edge)
        linked[one, other] = linked[other, one] = True
    correlations = covariance / np.outer(scale, scale)
    assert correlations[linked] == pytest.approx((expected / np.outer(scale, scale))[linked], abs=1e-7)
    total = jt.log_prob(fitted.model, rows) @ (np.ones(40) if weights is None else weights)
    assert fitted.log_likelihood == pytest.approx(float(total), rel=1e-7)
    if graph.is_chordal():
        assert fitted.trace.num_steps <= 2
        directed = jt.fit(jt.DirectedGraph([(a, b) for a, b in combinations(NAMES, 2)]), rows, weights=weights)
        assert fitted.log_likelihood <= directed.log_likelihood + 1e-6


def test_a_chordal_graph_is_its_directed_form():
    rows = draw_rows(np.random.default_rng(0))
    chain = jt.fit(jt.UndirectedGraph(pairwise(NAMES)), rows)
    directed = jt.fit(jt.DirectedGraph(pairwise(NAMES)), rows)
    assert chain.log_likelihood == pytest.approx(directed.log_likelihood, rel=1e-10)
    assert chain.trace.num_steps == 2


def test_fewer_rows_than_columns_are_enough_for_small_cliques():
    rows = draw_rows(np.random.default_rng(0), num_rows=4)
    chain = jt.UndirectedGraph(pairwise(NAMES))
    assert jt.fit(chain, rows).trace.converged
    with pytest.raises(jt.errors.InvalidData, match="all neighbours, depend on each other linearly"):
        jt.fit(jt.UndirectedGraph(combinations(NAMES, 2)), rows)


@pytest.mark.parametrize("penalty", [0.1, 0.4])
def test_the_graphical_lasso_meets_its_conditions(penalty):
    """Σij - Sij = penalty · sign λij on edges, and no more than the penalty elsewhere."""
    pytest.importorskip("sklearn")
    rows = draw_rows(np.random.default_rng(1))
    fitted = jt.fit(jt.UndirectedGraph(combinations(NAMES, 2)), rows, penalty=penalty)
    _, covariance = matrices(fitted.model)
    sample = np.cov(np.stack(list(rows.values())), bias=True)
    scale = np.sqrt(np.diagonal(sample))
    gap = (covariance - sample) / np.outer(scale, scale)
    signs = np.sign(np.linalg.inv(covariance / np.outer(scale, scale)))
    assert 0 < len(fitted.model.graph.edges) < 10
    for one, other in combinations(range(SIZE), 2):
        if {NAMES[one], NAMES[other]} in [set(edge) for edge in fitted.model.graph.edges]:
            assert gap[one, other] == pytest.approx(penalty * signs[one, other], abs=1e-5)
        assert abs(gap[one, other]) <= penalty + 1e-5


def test_what_has_no_answer_is_refused():
    rows = draw_rows(np.random.default_rng(0))
    chain = jt.UndirectedGraph(pairwise(NAMES))
    model = jt.fit(chain, rows).model
    for call in (jt.fit, jt.statistics):
        with pytest.raises(
            jt.errors.Unsupported, match=r"GaussianFactor\(a\) has no cells .* jt\.fit\(model\.graph, rows\)"
        ):
            call(model, rows)
    assert jt.fit(model.graph, rows).model == model
    with pytest.raises(jt.errors.InvalidData, match="give the complete graph"):
        jt.fit(chain, rows, penalty=0.1)
    with pytest.raises(jt.errors.Unsupported, match="has no prior here"):
        jt.fit(chain, rows, prior=1.0)
    with pytest.raises(jt.errors.InvalidData, match="'a' has the same number in every row"):
        jt.fit(chain, rows | {"a": np.full(40, 0.5)})
    with pytest.raises(jt.errors.Unsupported, match="the graphical lasso takes complete rows"):
        jt.fit(jt.UndirectedGraph(combinations(NAMES, 2)), rows | {"a": np.append(np.nan, rows["a"][1:])}, penalty=0.1)
    with pytest.raises(jt.errors.InvalidData, match="the column 'a' has no values"):
        jt.fit(chain, rows | {"a": np.full(40, np.nan)}, variables=[jt.Variable("a")])
    with pytest.raises(jt.errors.Unsupported, match=r"'a' is none: for tables give a jt\.MarkovNetwork"):
        jt.fit(chain, rows | {"a": ["x", "y"] * 20})
    with pytest.raises(jt.UnknownVariable, match="no column 'a'"):
        jt.fit(chain, {name: rows[name] for name in "bcde"})
    with pytest.warns(UserWarning, match="stopped after 1 step without converging"):
        jt.fit(jt.UndirectedGraph([*pairwise(NAMES), ("e", "a")]), rows, max_steps=1)


def test_moments_of_two_parts_add_up_to_those_of_both():
    rng = np.random.default_rng(7)
    rows = {name: column + 1e4 * column.std() for name, column in draw_rows(rng).items()}
    graph = jt.UndirectedGraph([], NAMES)
    whole = jt.fit(graph, rows).statistics
    parts = [slice(11), slice(11, 40)]
    total = sum(jt.fit(graph, {name: column[part] for name, column in rows.items()}).statistics for part in parts)
    assert total.weight == whole.weight
    assert total.mean == pytest.approx(whole.mean, rel=1e-15)
    scale = np.sqrt(np.diagonal(whole.covariance))
    assert np.abs((total.covariance - whole.covariance) / np.outer(scale, scale)).max() < 1e-10
    other = jt.fit(jt.UndirectedGraph([], NAMES[:2]), rows).statistics
    with pytest.raises(jt.errors.InvalidData, match="same variables"):
        whole + other


def with_holes(rng, rows):
    """Six patterns of missing cells, about a fifth of all; and all cells of one row."""
    holes = (rng.random((SIZE, 6)) < 0.2)[:, np.arange(40) % 6]
    holes[:, 7] = True
    holes[:, :6] = False
    return {name: np.where(hole, np.nan, column) for (name, column), hole in zip(rows.items(), holes, strict=True)}


@given(seed=SEEDS)
def test_missing_cells_of_a_chordal_graph_are_those_of_its_directed_form(seed):
    """S3-030: the same distributions, so the same maximum: by EM on expected moments, and by EM on regressions."""
    rng = np.random.default_rng(seed)
    rows, weights = with_holes(rng, draw_rows(rng)), rng.uniform(0.5, 2.0, 40)
    fitted = jt.fit(jt.UndirectedGraph(pairwise(NAMES)), rows, weights=weights)
    exact = jt.ExpectationMaximization(tolerance=1e-10)
    directed = jt.fit(jt.DirectedGraph(list(pairwise(NAMES))), rows, weights=weights, method=exact)
    assert fitted.log_likelihood == pytest.approx(directed.log_likelihood, rel=1e-5)
    known = np.isfinite(list(rows.values())).any(axis=0)
    some = {name: column[known] for name, column in rows.items()}
    assert fitted.log_likelihood == pytest.approx(jt.log_prob(fitted.model, some) @ weights[known], rel=1e-6)
    assert fitted.statistics.weight == pytest.approx(weights.sum())


def test_missing_cells_of_a_loop_end_where_expected_moments_are_those_of_the_model():
    rng = np.random.default_rng(1)
    graph = jt.UndirectedGraph([*pairwise(NAMES), ("e", "a")])
    fitted = jt.fit(graph, with_holes(rng, draw_rows(rng)))
    assert fitted.trace.converged
    assert np.diff(fitted.trace.values).min() > 0
    assert fitted.model.graph == graph
    mean, covariance = matrices(fitted.model)
    expected = fitted.statistics
    scale = np.sqrt(np.diagonal(covariance))
    linked = np.eye(SIZE, dtype=bool)
    for one, other in graph.edges:
        linked[NAMES.index(one), NAMES.index(other)] = linked[NAMES.index(other), NAMES.index(one)] = True
    gap = np.abs(expected.covariance - covariance) / np.outer(scale, scale)
    assert gap[linked].max() < 1e-4
    assert (np.abs(expected.mean - mean) / scale).max() < 1e-4
    precision = np.linalg.inv(covariance) * np.outer(scale, scale)
    assert np.abs(precision[~linked]).max() < 1e-6
