"""`method="auto"` where an exact answer is too large: an approximation, labelled, with bounds, that can be repeated."""

from __future__ import annotations

import numpy as np
import pytest

import juncture as jt
from juncture.evidence import as_findings
from juncture.inference.approximation import Bracketed, Query, find_beliefs
from juncture.inference.engines.beliefs import Beliefs
from support.command_line import juncture

LIMIT = 150_000  # bytes, too few for the junction trees of the grids here


def make_grid(seed: int, side: int = 9) -> jt.PairwiseNetwork:
    field = np.random.default_rng(seed).normal(size=(side, side))
    return jt.ising((side, side), coupling=0.6, field=field, values=(-1, 1))


@pytest.mark.parametrize("budget", [None, 5.0])
def test_the_answer_is_labelled_and_the_bounds_hold(budget):
    for seed in range(3):
        grid, evidence = make_grid(seed), [{"x0_0": 1}, None][seed % 2]
        known = jt.infer(grid, evidence)
        with pytest.warns(jt.ApproximationWarning, match=r"an approximation by .* lies between .* refuses instead"):
            found = jt.infer(grid, evidence, memory_limit=LIMIT, budget=budget)
        assert not found.exact
        assert found.method in {"loopy", "bounded-clique-tree"}  # which of them depends on the time
        lower, upper = found.diagnostics.lower, found.diagnostics.upper
        assert lower - 1e-9 <= known.log_evidence <= upper + 1e-9
        assert lower <= found.log_evidence <= upper


def test_the_engine_that_ran_repeats_the_answer():
    grid = make_grid(7)
    with pytest.warns(jt.ApproximationWarning):
        found = jt.infer(grid, memory_limit=LIMIT, budget=5.0)
    engine = found.diagnostics.engine
    assert isinstance(engine, Bracketed)
    again = jt.infer(grid, method=engine)
    assert np.array_equal(again.array, found.array)
    assert (again.log_evidence, again.diagnostics.lower, again.diagnostics.upper) == (
        found.log_evidence,
        found.diagnostics.lower,
        found.diagnostics.upper,
    )


def test_clique_trees_of_bounded_size_give_the_beliefs_where_they_fit():
    grid = make_grid(3, side=13)
    query = Query(grid, as_findings(None, grid.variables), grid.names)
    run = find_beliefs(query, None)
    assert run.engine.name == "bounded-clique-tree"
    beliefs, known = Beliefs(grid, run.engine, grid.names, run.answers, True), jt.infer(grid)
    assert np.abs(beliefs.array - known.array).max() < 0.02


def test_exact_refuses_instead():
    with pytest.raises(jt.TooLarge):
        jt.infer(make_grid(0), method="exact", memory_limit=LIMIT)


def test_rows_have_bounds_of_their_own():
    grid, rows = make_grid(1), [{"x0_0": 1}, {"x1_1": -1, "x2_2": 1}, {}]
    known = jt.infer(grid, rows)
    with pytest.warns(jt.ApproximationWarning):
        found = jt.infer(grid, rows, memory_limit=LIMIT)
    assert (found.diagnostics.lower <= known.log_evidence + 1e-9).all()
    assert (found.diagnostics.upper >= known.log_evidence - 1e-9).all()


def test_models_too_large_for_bounds_have_none():
    grid = jt.ising((50, 50), coupling=0.1, field=0.0)
    with pytest.warns(jt.ApproximationWarning, match="approximation by 'loopy'; method"):
        found = jt.infer(grid)
    assert (found.exact, found.converged, found.diagnostics.lower) == (False, True, None)


def test_the_command_line_says_the_bounds(tmp_path):
    jt.write(make_grid(2).to_markov_network(), tmp_path / "grid.json")
    ended = juncture("query", str(tmp_path / "grid.json"), "x0_0", "--budget", "1e-9s")
    assert "loopy, approximate; log p(evidence) = " in ended.out
    exact = juncture("query", str(tmp_path / "grid.json"), "x0_0", "--budget", "10s")
    assert "junction-tree, exact" in exact.out
