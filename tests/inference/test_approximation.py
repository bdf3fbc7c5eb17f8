"""`method="auto"` where an exact answer is too large: an approximation, labelled, with bounds, that can be repeated."""

from __future__ import annotations

import itertools
import time
from dataclasses import replace

import numpy as np
import pytest

import juncture as jt
from juncture.evidence import as_findings
from juncture.inference import automatic as approximation
from juncture.inference.automatic import Bracketed, Problem, approximate, find_beliefs
from juncture.inference.engines.beliefs import Beliefs
from juncture.inference.engines.contract import Query
from juncture.inference.engines.factor_arrays import (
    bound_log_evidence,
    bound_log_joint,
    factor_arrays,
    least_log_joint,
    log_likelihoods,
)
from juncture.inference.messages import loopy
from support.command_line import juncture

LIMIT = 150_000  # bytes, too few for the junction trees of the grids here


def make_grid(seed: int, side: int = 9) -> jt.PairwiseNetwork:
    field = np.random.default_rng(seed).normal(size=(side, side))
    return jt.ising((side, side), coupling=0.6, field=field, values=(-1, 1))


@pytest.mark.parametrize("budget", [None, 1.5])
def test_the_answer_is_labelled_and_the_bounds_hold(budget):
    for seed in range(3):
        grid, evidence = make_grid(seed), [{"x0_0": 1}, None][seed % 2]
        known = jt.infer(grid, evidence)
        with pytest.warns(
            jt.errors.ApproximationWarning, match=r"an approximation by .* lies between .* refuses instead"
        ):
            found = jt.infer(grid, evidence, memory_limit=LIMIT, budget=budget)
        assert not found.exact
        assert found.method in {"loopy", "bounded-clique-tree"}  # which of them depends on the time
        lower, upper = found.diagnostics.lower, found.diagnostics.upper
        assert lower - 1e-9 <= known.log_evidence <= upper + 1e-9
        assert lower <= found.log_evidence <= upper


def test_the_engine_that_ran_repeats_the_answer():
    grid = make_grid(7)
    with pytest.warns(jt.errors.ApproximationWarning):
        found = jt.infer(grid, memory_limit=LIMIT, budget=1.5)
    engine = found.diagnostics.engine
    assert isinstance(engine, Bracketed)
    again = jt.infer(grid, method=engine)
    assert np.array_equal(again.array, found.array)
    assert (again.log_evidence, again.diagnostics.lower, again.diagnostics.upper) == (
        found.log_evidence,
        found.diagnostics.lower,
        found.diagnostics.upper,
    )


class CountedClock:
    """A clock that goes on by a millisecond whenever it is looked at: a step is time."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self) -> float:
        self.seconds += 1e-3
        return self.seconds


def repelling_grid() -> jt.PairwiseNetwork:
    rng = np.random.default_rng(3)
    return jt.potts((5, 5), num_states=3, coupling=rng.normal(0.0, 0.4, 40), field=rng.normal(0.0, 0.5, (5, 5, 3)))


def triples_with_zeros() -> jt.MarkovNetwork:
    """All first states are possible together."""
    rng = np.random.default_rng(4)
    x = [jt.Variable(f"x{i}", 2) for i in range(24)]
    scopes = [sorted(rng.choice(24, 3, replace=False)) for _ in range(40)]
    tables = np.where(rng.random((40, 2, 2, 2)) < 0.1, 0.0, rng.random((40, 2, 2, 2)))
    tables[:, 0, 0, 0] = 0.1
    return jt.MarkovNetwork(
        [jt.Factor([x[i] for i in scope], table) for scope, table in zip(scopes, tables, strict=True)], x
    )


@pytest.mark.parametrize("build", [repelling_grid, triples_with_zeros])
def test_a_longer_budget_is_a_longer_part_of_the_same_order_and_no_bound_loosens(monkeypatch, build):
    model = build()
    query = Query(as_findings(None, model.variables), model.variables.names)
    log_z, run_problem = jt.infer(model).log_evidence, Problem.run
    ran: list[list[object]] = []
    brackets, trees = [], []

    def spy(problem, engine, *arguments):
        ran[-1].append(engine)
        run = run_problem(problem, engine, *arguments)
        if isinstance(engine, jt.BoundedCliqueTree):
            trees.append(engine)
        return run

    monkeypatch.setattr(Problem, "run", spy)
    for budget in (0.0, 0.01, 0.06, 0.13, 0.15, 0.17, 0.2, 0.25, 0.4):
        ran.append([])
        trees.clear()
        with monkeypatch.context() as patch:
            patch.setattr(time, "monotonic", CountedClock())
            with pytest.warns(jt.errors.ApproximationWarning):
                found = approximate(model, replace(query, budget=budget), jt.TooLarge("too large"))
        lower, upper = found.diagnostics.lower, found.diagnostics.upper
        brackets.append((-np.inf if lower is None else lower, upper))
        assert brackets[-1][0] - 1e-9 <= log_z <= upper + 1e-9
        assert found.log_evidence is None or brackets[-1][0] <= found.log_evidence <= upper
        assert found.engine.answering == (trees[-1] if trees else jt.LoopyBP())
    for shorter, longer in itertools.pairwise(ran):
        assert shorter == longer[: len(shorter)]
    assert len(ran[0]) == 1
    assert len(ran[-1]) >= 5
    lowers, uppers = zip(*brackets, strict=True)
    assert list(lowers) == sorted(lowers)
    assert list(uppers) == sorted(uppers, reverse=True)
    assert uppers[-1] < uppers[0]


def test_a_run_has_the_engine_that_repeats_it_and_its_seconds(monkeypatch):
    grid, clock = make_grid(0, side=3), CountedClock()
    problem = Problem(grid, Query(as_findings(None, grid.variables), grid.names))
    whole = problem.run(jt.LoopyBP())
    assert whole.engine == jt.LoopyBP()
    monkeypatch.setattr(loopy, "WORK_IN_TIME", 1)
    monkeypatch.setattr(time, "monotonic", clock)
    clock()
    started = clock.seconds
    short = problem.run(jt.LoopyBP(), 0.0)
    assert short.engine == jt.LoopyBP(max_steps=1)
    assert short.seconds == pytest.approx(clock.seconds - started - 1e-3, abs=1e-9)  # the first look is where it starts


def test_planning_counts_as_time():
    """What is planned is kept: the same question after it was planned is answered exactly."""
    model = dense_model()
    with pytest.warns(jt.errors.ApproximationWarning, match="planning exact inference"):
        found = jt.infer(model, budget=0.001)
    assert not found.exact
    with pytest.raises(jt.TooLarge, match="planning exact inference"):
        jt.infer(model, method="exact", budget=0.001)
    known = jt.infer(model)
    assert known.exact
    assert found.diagnostics.upper >= known.log_evidence
    fresh = dense_model()
    assert jt.cost(fresh) == jt.cost(model)  # no plan of a short time is kept
    assert jt.infer(model, method="exact", budget=60.0).exact


def dense_model() -> jt.MarkovNetwork:
    """A graph whose elimination order takes some tenths of a second to plan, and its answer less."""
    rng = np.random.default_rng(5)
    x = [jt.Variable(f"x{i}", 2) for i in range(60)]
    pairs = sorted({tuple(sorted(rng.choice(60, 2, replace=False))) for _ in range(110)})
    return jt.MarkovNetwork([jt.Factor([x[i], x[j]], np.exp(rng.normal(size=(2, 2)))) for i, j in pairs], x)


def test_messages_that_contradict_each_other_give_no_estimate(monkeypatch):
    """After a step, messages on clauses that one assignment satisfies say that there is less than one."""
    model = clauses()
    assert jt.infer(model).log_evidence == pytest.approx(0.0, abs=1e-12)
    monkeypatch.setattr(loopy, "WORK_IN_TIME", 1)
    query = Query(as_findings(None, model.variables), model.variables.names)
    with pytest.warns(jt.errors.ApproximationWarning, match=r"contradict each other, so that there is no estimate"):
        found = approximate(model, replace(query, budget=0.0), jt.TooLarge("too large"))
    assert (found.log_evidence, found.diagnostics.steps) == (None, 1)
    assert found.diagnostics.upper >= 0.0
    assert "no estimate of the log evidence" in repr(found)
    rows = Query(as_findings([{}, {"x0": 0}, {}], model.variables), model.variables.names)
    with pytest.warns(jt.errors.ApproximationWarning, match=r"no estimate of log p\(evidence\) of \d rows?"):
        many = approximate(model, replace(rows, budget=0.0), jt.TooLarge("too large"))
    assert np.isnan(many.log_evidence[[0, 2]]).all()


def clauses() -> jt.MarkovNetwork:
    """Clauses of three variables, which exclude one state each, and never that of a hidden assignment."""
    rng = np.random.default_rng(10)
    x = [jt.Variable(f"x{i}", 2) for i in range(15)]
    hidden, factors = rng.integers(0, 2, 15), []
    while len(factors) < 75:
        scope = sorted(rng.choice(15, 3, replace=False))
        excluded = rng.integers(0, 2, 3)
        while (excluded == hidden[scope]).all():
            excluded = rng.integers(0, 2, 3)
        table = np.ones((2, 2, 2))
        table[tuple(excluded)] = 0.0
        factors.append(jt.Factor([x[i] for i in scope], table))
    return jt.MarkovNetwork(factors, x)


def test_clique_trees_of_bounded_size_give_the_beliefs_where_they_fit():
    grid = make_grid(3, side=11)
    query = Query(as_findings(None, grid.variables), grid.names)
    run = find_beliefs(Problem(grid, query))
    assert run.engine.name == "bounded-clique-tree"
    beliefs, known = Beliefs(grid, run.engine, grid.names, run.answers, True), jt.infer(grid)
    assert np.abs(beliefs.array - known.array).max() < 0.02


def test_exact_refuses_instead():
    with pytest.raises(jt.TooLarge):
        jt.infer(make_grid(0), method="exact", memory_limit=LIMIT)


def test_rows_have_bounds_of_their_own():
    grid, rows = make_grid(1), [{"x0_0": 1}, {"x1_1": -1, "x2_2": 1}, {}]
    known = jt.infer(grid, rows)
    with pytest.warns(jt.errors.ApproximationWarning):
        found = jt.infer(grid, rows, memory_limit=LIMIT)
    assert (found.diagnostics.lower <= known.log_evidence + 1e-9).all()
    assert (found.diagnostics.upper >= known.log_evidence - 1e-9).all()


def test_large_models_of_pairs_have_bounds_by_mean_field_and_trees():
    grid = jt.ising((50, 50), coupling=0.1, field=0.0)
    with pytest.warns(
        jt.errors.ApproximationWarning, match=r"approximation by 'loopy'; log p\(evidence\) lies between"
    ):
        found = jt.infer(grid)
    assert (found.exact, found.converged) == (False, True)
    assert found.diagnostics.lower < found.log_evidence < found.diagnostics.upper
    assert found.diagnostics.upper - found.diagnostics.lower < 60  # the largest entries alone leave 490
    assert [engine.name for engine in found.diagnostics.engine.bounding] == ["mean-field", "tree-reweighted"]


def test_no_estimate_exceeds_what_the_tables_allow():
    """Messages on pairs that contradict each other may give any number."""
    cells = [jt.Variable(f"x{i}", 2) for i in range(2100)]
    agree, differ = [[1.0, 1e-9], [1e-9, 1.0]], [[1e-9, 1.0], [1.0, 1e-9]]
    rng = np.random.default_rng(0)
    pairs = {tuple(sorted(rng.choice(2100, 2, replace=False))) for _ in range(6000)}
    tables = [agree if rng.random() < 0.5 else differ for _ in pairs]
    scopes = [[cells[i], cells[j]] for i, j in sorted(pairs)]
    model = jt.MarkovNetwork([jt.Factor(scope, table) for scope, table in zip(scopes, tables, strict=True)])
    query = Query(as_findings(None, model.variables), model.variables.names)
    with pytest.warns(jt.errors.ApproximationWarning):
        found = approximate(model, query, jt.TooLarge("too large"))
    assert found.diagnostics.lower <= found.log_evidence <= found.diagnostics.upper <= 2100 * np.log(2)


@pytest.mark.parametrize("seed", range(4))
def test_the_largest_entries_bound_sums_and_maxima(seed):
    model, rows = random_network(seed)
    findings = as_findings(rows, model.variables)
    arrays = factor_arrays(model)
    likelihoods = log_likelihoods(arrays, findings)
    assert (jt.infer(model, rows).log_evidence <= bound_log_evidence(model, arrays, likelihoods) + 1e-12).all()
    assert (jt.most_probable(model, rows).log_joint <= bound_log_joint(arrays, likelihoods) + 1e-12).all()
    assert (least_log_joint(arrays, likelihoods) <= jt.infer(model, rows).log_evidence + 1e-12).all()


def random_network(seed: int) -> tuple[jt.BayesianNetwork, list[dict[str, int]]]:
    """Five variables, each with up to two parents, and rows that observe some of them."""
    rng = np.random.default_rng(seed)
    variables = [jt.Variable(name, int(rng.integers(2, 4))) for name in "abcde"]
    conditionals = []
    for index, child in enumerate(variables):
        parents = [variables[i] for i in sorted(rng.permutation(index)[:2])]
        shape = [*(parent.num_states for parent in parents), child.num_states]
        values = rng.dirichlet(np.ones(child.num_states), size=shape[:-1])
        conditionals.append(jt.Conditional(child, parents, values.reshape(shape)))
    return jt.BayesianNetwork(conditionals), [{}, {"a": 0}, {"b": 1, "e": 0}]


# --- the most probable states --------------------------------------------------------------------------------------


def test_attractive_models_have_their_exact_mode_by_a_cut():
    grid = make_grid(4)
    found = jt.most_probable(grid, memory_limit=LIMIT)
    assert (found.exact, found.method) == (True, "max-flow")
    assert found.log_joint == pytest.approx(jt.most_probable(grid).log_joint, rel=1e-12)
    assert np.array_equal(jt.most_probable(grid, method=found.diagnostics.engine).array, found.array)


@pytest.mark.parametrize("budget", [None, 2.0])
def test_other_models_have_the_best_of_several_searches_below_a_bound(budget):
    rng = np.random.default_rng(5)
    grid = jt.potts((8, 8), num_states=3, coupling=rng.normal(size=112), field=rng.normal(size=(8, 8, 3)))
    known = jt.most_probable(grid)
    with pytest.warns(jt.errors.ApproximationWarning, match=r"best that max-product and icm found.* none exceeds"):
        found = jt.most_probable(grid, memory_limit=LIMIT, budget=budget)
    assert not found.exact
    assert found.log_joint <= known.log_joint + 1e-9 <= found.bound + 2e-9
    assert found.log_joint > known.log_joint - 5  # of 150, so that the searches did not fail
    again = jt.most_probable(grid, method=found.diagnostics.engine)
    assert np.array_equal(again.array, found.array)
    assert again.bound == found.bound


def test_large_models_have_a_bound_of_all_assignments(monkeypatch):
    monkeypatch.setattr(approximation, "MOST_NODES", 10)
    rng = np.random.default_rng(5)
    grid = jt.potts((8, 8), num_states=3, coupling=rng.normal(size=112), field=rng.normal(size=(8, 8, 3)))
    with pytest.warns(jt.errors.ApproximationWarning):
        found = jt.most_probable(grid, memory_limit=2 * LIMIT)
    assert [engine.name for engine in found.diagnostics.engine.bounding] == ["tree-reweighted"]
    with pytest.warns(jt.errors.ApproximationWarning):  # the messages do not fit
        crude = jt.most_probable(grid, memory_limit=LIMIT)
    assert (crude.diagnostics.engine.bounding, crude.bound >= found.bound) == ((), True)
    assert found.log_joint <= jt.most_probable(grid).log_joint + 1e-9 <= found.bound + 2e-9


def test_several_assignments_or_sums_are_refused_and_not_approximated():
    grid = make_grid(6)
    for options in ({"k": 2}, {"targets": ["x0_0"]}):
        with pytest.raises(jt.TooLarge):
            jt.most_probable(grid, memory_limit=LIMIT, **options)


def test_the_command_line_says_the_bounds(tmp_path):
    jt.write(make_grid(2).to_markov_network(), tmp_path / "grid.json")
    ended = juncture("query", str(tmp_path / "grid.json"), "x0_0", "--budget", "1e-9s")
    assert "loopy, approximate; log p(evidence) = " in ended.out
    exact = juncture("query", str(tmp_path / "grid.json"), "x0_0", "--budget", "10s")
    assert "junction-tree, exact" in exact.out
