"""Rows with holes and latent variables, by expectation maximisation: what it expects, and that it rises."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import juncture as jt
from juncture.errors import ObjectiveDecreased
from juncture.factors.noisy import NoisyMax, NoisyOr
from juncture.inference.exact.junction_tree import dense_tree, engine
from juncture.inference.exact.junction_tree.dense_tree import DenseTree
from juncture.learning.em.expectation_maximization import em_steps
from juncture.learning.networks import problem as network_problem
from support.builders import joint_table, random_network
from support.learning_oracles import (
    RowExpectation,
    counted,
    expected_by_enumeration,
    holey,
    latent_class,
    quiet,
    random_tables,
    with_holes,
)

SEEDS = st.integers(0, 2**32 - 1)
EXACT = jt.ExpectationMaximization(tolerance=1e-13, max_steps=20_000)


# --- expected statistics -------------------------------------------------------------------------------------------


@given(seed=SEEDS)
def test_expected_counts_against_every_completion(seed):
    """S2-181, S0-066, S2-180: with weights, some of them 0, zeros in the tables, and one-state variables."""
    rng, model, rows = holey(seed, zeros=0.3)
    rows = jt.Dataset.from_codes(rows.variables, rows.columns, rng.random(len(rows)) * rng.integers(0, 2, len(rows)))
    statistics, log_likelihood = RowExpectation(model, rows).run(model)
    tables, total = expected_by_enumeration(model, rows)
    assert log_likelihood == pytest.approx(total, abs=1e-9)
    for name, table in tables.items():
        assert statistics[name].counts == pytest.approx(table, abs=1e-10)
    assert statistics.weight == pytest.approx(rows.weights.sum())


@given(seed=SEEDS)
def test_certain_beliefs_are_counts(seed):
    rng = np.random.default_rng(seed)
    model = random_tables(rng, zeros=0.3)
    rows = jt.sample(model, 30, rng=rng)
    statistics, log_likelihood = RowExpectation(model, rows).run(model)
    for part in model.conditionals:
        codes = {name: rows.columns[name] for name in part.scope.names}
        assert statistics[part.child.name].counts == pytest.approx(counted(part, codes, np.ones(30)), abs=1e-12)
    assert log_likelihood == pytest.approx(float(np.sum(jt.log_prob(model, rows))), abs=1e-9)


@pytest.mark.parametrize("is_safe", [True, False])
def test_what_no_double_can_hold_is_run_in_logarithms(monkeypatch, is_safe):
    """Rows whose products may vanish go one by one; forced, the same counts come out."""
    _, model, rows = holey(7, num_rows=40)
    tables, total = expected_by_enumeration(model, rows)
    if not is_safe:
        plain = dense_tree.pack_cliques

        def unsafe(plan, factors):
            tree = plain(plan, factors)
            fields = {name: getattr(tree, name) for name in tree.__dataclass_fields__ if name != "workspaces"}
            return DenseTree(**(fields | {"is_safe": False}))

        for module in (engine, dense_tree):
            monkeypatch.setattr(module, "pack_cliques", unsafe)
    statistics, log_likelihood = RowExpectation(model, rows).run(model)
    assert log_likelihood == pytest.approx(total, abs=1e-9)
    for name, table in tables.items():
        assert statistics[name].counts == pytest.approx(table, abs=1e-10)


def test_thousands_of_rare_findings():
    """A cause with 3000 children, each of which it makes a little less rare: the products leave the doubles."""
    cause = jt.Variable("c", 2)
    rare = np.array([[1 - 1e-9, 1e-9], [1 - 2e-9, 2e-9]])
    parts = [jt.Conditional(jt.Variable(f"e{place}", 2), [cause], rare) for place in range(3000)]
    model = jt.BayesianNetwork([jt.Conditional(cause, [], [0.9, 0.1]), *parts])
    columns = {f"e{place}": np.array([1, 0, -1]) for place in range(3000)}
    columns["e0"] = np.array([1, 1, -1])
    rows = jt.Dataset.from_codes([part.child for part in parts], columns)
    statistics, log_likelihood = RowExpectation(model, rows).run(model)
    odds = 0.1 / 0.9 * 2 * ((1 - 2e-9) / (1 - 1e-9)) ** 2999  # of the cause in the second row
    expected = 1.0 + odds / (1 + odds) + 0.1  # 2^3000 to 9 in the first row
    assert statistics["c"].counts[1] == pytest.approx(expected, rel=1e-9)
    first = np.log(0.1) + 3000 * np.log(2e-9)
    second = 2999 * np.log1p(-1e-9) + np.log(1e-9) + np.log(0.9 * (1 + odds))
    assert log_likelihood == pytest.approx(first + second, rel=1e-12)


# --- the objective never falls -------------------------------------------------------------------------------------


@given(seed=SEEDS)
def test_every_step_raises_the_likelihood(seed):
    """S0-071, S0-072, S1-159, S2-183: over random networks of tables, holes and latent variables."""
    rng, model, rows = holey(seed)
    start = random_like(rng, model)
    fitted = quiet(jt.fit, start, rows, method=jt.ExpectationMaximization(max_steps=15), rng=0)
    gains = np.diff(fitted.trace.values)
    assert (gains >= -1e-9 * np.maximum(1, np.abs(fitted.trace.values[1:]))).all()
    assert fitted.log_likelihood == pytest.approx(expected_by_enumeration(fitted.model, rows)[1], abs=1e-8)


@given(seed=SEEDS, point=st.sampled_from(["mean", "mode"]), accelerated=st.booleans())
def test_every_step_raises_the_likelihood_with_a_prior(seed, point, accelerated):
    """MAP, by the mean's convention (α) or the mode's (α - 1); the objective is log-likelihood plus log prior."""
    rng, model, rows = holey(seed)
    method = jt.ExpectationMaximization(max_steps=15, acceleration="squarem" if accelerated else None)
    fitted = quiet(jt.fit, random_like(rng, model), rows, prior=1.7, point=point, method=method)
    assert (np.diff(fitted.trace.values) >= -1e-9 * np.maximum(1, np.abs(fitted.trace.values[1:]))).all()
    alpha = 1.7 if point == "mean" else 0.7
    prior = alpha * sum(float(np.log(part.values).sum()) for part in fitted.model.conditionals)
    if len(fitted.trace.values) > 1:  # complete rows take one step
        assert fitted.trace.values[-1] == pytest.approx(fitted.log_likelihood + prior)


@given(seed=SEEDS)
@example(seed=3221)  # a parent that hardly varies: the prior of its weight bends far more than the rows do
@example(seed=281)  # the last step of Newton's method is lost in the rounding of the likelihood
def test_every_step_raises_the_likelihood_for_all_kinds_of_conditionals(seed):
    """Noisy, logistic and deterministic conditionals among the tables."""
    _, model, rows = holey(seed, build=random_network)
    kinds = {part.child.name: part for part in model.conditionals if isinstance(part, jt.Logistic)}
    prior = dict.fromkeys(kinds, jt.Gaussian(0.0, 4.0))  # or a logistic child that its parents tell exactly runs away
    kept = [
        name for name, part in kinds.items() if len(set(rows.columns[name].tolist()) - {-1}) < part.child.num_states
    ]
    fitted = quiet(jt.fit, model, rows, prior=prior, fixed=kept, method=jt.ExpectationMaximization(max_steps=8), rng=0)
    assert (np.diff(fitted.trace.values) >= -1e-9 * np.maximum(1, np.abs(fitted.trace.values[1:]))).all()


def random_like(rng, model):
    """The same structure with other tables."""
    parts = [
        jt.Conditional(p.child, p.parents, rng.dirichlet(np.ones(p.child.num_states), p.parents.shape))
        for p in model.conditionals
    ]
    return jt.BayesianNetwork(parts)


def test_tied_tables_with_a_prior_rise_too():
    """The prior of what is tied counts once, in the estimate as in the objective."""
    hidden = [jt.Variable(f"h{place}", 2) for place in range(4)]
    seen = [jt.Variable(f"s{place}", 2) for place in range(4)]
    first = jt.Conditional(hidden[0], [], [0.6, 0.4])
    steps = [jt.Conditional(b, [a], [[0.7, 0.3], [0.2, 0.8]]) for a, b in pairwise(hidden)]
    shown = [jt.Conditional(s, [h], [[0.9, 0.1], [0.3, 0.7]]) for h, s in zip(hidden, seen, strict=True)]
    tied = [[part.child.name for part in steps], [part.child.name for part in shown]]
    model = jt.BayesianNetwork([first, *steps, *shown], tied=tied)
    rows = jt.sample(model, 60, rng=0).only([variable.name for variable in seen])
    latent = [variable.name for variable in hidden]
    ends = {}
    for name, method in {"em": EXACT, "gradient": jt.GradientAscent(tolerance=1e-14)}.items():
        ends[name] = jt.fit(model, rows, prior=3.0, latent=latent, method=method).trace.values[-1]
    assert ends["em"] == pytest.approx(ends["gradient"], abs=1e-6)


def test_a_step_that_lowers_the_objective_is_an_error(monkeypatch):
    """A maximisation that maximises nothing is found out, not taken for convergence."""
    model = latent_class(np.random.default_rng(0))
    rows = jt.sample(model, 50, rng=0)
    good = network_problem.estimate_conditionals

    def worse(model, statistics, options, fixed):
        better, notes = good(model, statistics, options, fixed)
        mixed = [jt.Conditional(p.child, p.parents, p.values[..., ::-1]) for p in better.conditionals]
        return jt.BayesianNetwork(mixed), notes

    monkeypatch.setattr(network_problem, "estimate_conditionals", worse)
    with pytest.raises(ObjectiveDecreased, match="lowered the objective"):
        jt.fit(model, with_holes(np.random.default_rng(0), rows, 0.1), prior=1.0)


# --- where it ends -------------------------------------------------------------------------------------------------


def test_complete_rows_take_one_step():
    """S2-180, S4-212."""
    rng = np.random.default_rng(2)
    model = random_tables(rng, 4)
    rows = jt.sample(model, 50, rng=rng)
    fitted = quiet(jt.fit, model, rows, rng=0)
    assert fitted.trace.num_steps == 0
    em = quiet(one_step, model, rows)
    for part in fitted.model.conditionals:
        assert em[part.child.name].values == pytest.approx(part.values, abs=1e-12)


def one_step(model, rows):
    """One step of EM, on rows that need none."""
    from juncture.learning.conditionals.contract import EstimationOptions

    problem = network_problem.NetworkProblem(
        model, rows, EstimationOptions(), frozenset(), True, np.random.default_rng(0)
    )
    steps = em_steps(problem, model)
    return steps.step(steps.init()).model


def test_the_end_is_a_maximum():
    """S2-183: on a model of two nodes, against a numerical optimiser."""
    from scipy.optimize import minimize

    graph = jt.DirectedGraph([("x", "y")])
    rows = {"x": [0, 0, 1, 1, None, None, 1, None], "y": [0, 1, 1, None, 1, 0, 1, 1]}
    fitted = jt.fit(graph, rows, method=EXACT)

    def downhill(logits):
        a, b, c = 1 / (1 + np.exp(-logits))
        joint = np.array([[(1 - a) * (1 - b), (1 - a) * b], [a * (1 - c), a * c]])
        pairs = zip(rows["x"], rows["y"], strict=True)
        index = [(slice(None) if x is None else x, slice(None) if y is None else y) for x, y in pairs]
        return -sum(np.log(joint[place].sum()) for place in index)

    best = min(minimize(downhill, start, method="BFGS", options={"gtol": 1e-9}).fun for start in np.eye(3))
    assert fitted.log_likelihood == pytest.approx(-best, abs=1e-7)


def test_own_samples_lead_back_at_the_expected_rate():
    """The error falls like 1/√n: sixteen times the rows, a quarter of it."""
    rng = np.random.default_rng(4)
    model = random_tables(rng, 4)
    errors = []
    for num_rows in (1000, 16_000):
        found = []
        for seed in range(6):
            rows = with_holes(np.random.default_rng(seed), jt.sample(model, num_rows, rng=seed), 0.2)
            fitted = quiet(jt.fit, model, rows, rng=0)
            found.append(np.sqrt(np.mean((joint_table(fitted.model) - joint_table(model)) ** 2)))
        errors.append(np.mean(found))
    assert 2.5 < errors[0] / errors[1] < 6.5


def test_a_latent_class_is_found_from_the_graph():
    rng = np.random.default_rng(0)
    hidden, features = jt.Variable("h", 2), [jt.Variable(f"f{place}", 2) for place in range(5)]
    tables = [jt.Conditional(feature, [hidden], [[0.9, 0.1], [0.15, 0.85]]) for feature in features]
    model = jt.BayesianNetwork([jt.Conditional(hidden, [], [0.6, 0.4]), *tables])
    rows = jt.sample(model, 4000, rng=rng).only([feature.name for feature in features])
    graph = jt.DirectedGraph([("h", feature.name) for feature in features])
    fitted = jt.fit(graph, rows, variables=[hidden], rng=0)
    assert sorted(fitted.model["h"].values) == pytest.approx([0.4, 0.6], abs=0.03)
    assert fitted.log_likelihood > RowExpectation(model, rows).run(model)[1]
    assert fitted.statistics["h"].counts.sum() == pytest.approx(4000)


def test_semi_supervised():
    """S4-195: a class that is known in some rows is learned from all, and keeps its meaning."""
    rng = np.random.default_rng(1)
    model = latent_class(rng, 5)
    rows = jt.sample(model, 3000, rng=1)
    codes = dict(rows.columns)
    codes["h"] = np.where(np.arange(3000) < 30, codes["h"], -1)
    partly = jt.Dataset.from_codes(rows.variables, codes)
    fitted = jt.fit(model.graph, partly, rng=0)
    few = quiet(jt.fit, model.graph, rows.take(slice(30)), prior=1.0, rng=0)
    distance = {
        name: np.abs(m["f0"].values - model["f0"].values).max()
        for name, m in (("all", fitted.model), ("few", few.model))
    }
    assert distance["all"] < 0.06 < distance["few"]


# --- noisy conditionals with holes ---------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["or", "max"])
def test_noisy_conditionals_with_holes_on_either_side_of_the_chain(kind, monkeypatch):
    """Above 64 entries a noisy maximum is a chain of partial maxima; written out, the same counts must come out."""
    rng = np.random.default_rng(0)
    size = 2 if kind == "or" else 3
    parents = [jt.Variable(f"p{place}", size) for place in range(6 if kind == "or" else 3)]
    child = jt.Variable("y", size)
    if kind == "or":
        part = NoisyOr(child, parents, rng.random(6), 0.1)
    else:
        part = NoisyMax(child, parents, [rng.dirichlet(np.ones(3), 3) for _ in parents], rng.dirichlet(np.ones(3)))
    assert part.scope.size > 64
    model = jt.BayesianNetwork([*(jt.Conditional(p, [], rng.dirichlet(np.ones(size))) for p in parents), part])
    rows = with_holes(rng, jt.sample(model, 80, rng=1), 0.3)
    chained = RowExpectation(model, rows).run(model)
    monkeypatch.setattr("juncture.inference.engines.lowering.SMALL_TABLE", 10_000)
    whole = RowExpectation(model, rows).run(model)
    assert chained[1] == pytest.approx(whole[1], abs=1e-9)
    for one, other in zip(chained[0]["y"].tables, whole[0]["y"].tables, strict=True):
        assert one == pytest.approx(other, abs=1e-10)
    assert chained[0]["y"].leak == pytest.approx(whole[0]["y"].leak, abs=1e-10)
    monkeypatch.undo()
    fitted = quiet(jt.fit, model, rows, method=jt.ExpectationMaximization(max_steps=30), rng=0)
    assert fitted.log_likelihood > chained[1]
