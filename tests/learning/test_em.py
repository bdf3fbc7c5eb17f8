"""Rows with holes and latent variables, by expectation maximisation."""

from __future__ import annotations

import os
import warnings
from itertools import pairwise
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import juncture as jt
from builders import joint_table, random_network
from juncture.errors import ObjectiveDecreased
from juncture.factors.noisy import NoisyMax, NoisyOr
from juncture.inference.exact.packed_tree import PackedTree
from juncture.learning import expectation_maximization, expected_statistics
from juncture.learning.expected_statistics import Expectation
from juncture.learning.starts import is_symmetric, without_symmetry
from learning_oracles import counted, expected_by_enumeration, random_tables, with_holes

SEEDS = st.integers(0, 2**32 - 1)
EXACT = jt.ExpectationMaximization(tolerance=1e-13, max_steps=20_000)


def quiet(function, *arguments, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", jt.UnseenParentsWarning)
        warnings.simplefilter("ignore", jt.NotConvergedWarning)
        return function(*arguments, **options)


def holey(seed, *, build=random_tables, num_rows=25, zeros=0.0):
    """A network, and rows that it drew itself, with holes and sometimes a variable that is never observed."""
    rng = np.random.default_rng(seed)
    model = build(rng) if build is not random_tables else random_tables(rng, zeros=zeros)
    rows = jt.sample(model, num_rows, rng=rng)
    never = tuple(name for name in model.variables.names if rng.random() < 0.15)
    return rng, model, with_holes(rng, rows, float(rng.choice([0.0, 0.2, 0.7])), never)


def latent_class(rng, num_features=4, num_classes=2):
    """A hidden class with binary features."""
    hidden = jt.Variable("h", num_classes)
    features = [jt.Variable(f"f{place}", 2) for place in range(num_features)]
    rows = [rng.dirichlet(np.ones(2), num_classes) for _ in features]
    tables = [jt.Conditional(feature, [hidden], table) for feature, table in zip(features, rows, strict=True)]
    return jt.BayesianNetwork([jt.Conditional(hidden, [], rng.dirichlet(np.ones(num_classes))), *tables])


# --- expected statistics -------------------------------------------------------------------------------------------


@given(seed=SEEDS)
def test_expected_counts_against_every_completion(seed):
    """S2-181, S0-066, S2-180: with weights, some of them 0, zeros in the tables, and one-state variables."""
    rng, model, rows = holey(seed, zeros=0.3)
    rows = jt.Dataset.from_codes(rows.variables, rows.columns, rng.random(len(rows)) * rng.integers(0, 2, len(rows)))
    statistics, log_likelihood = Expectation.of(model, rows).run(model)
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
    statistics, log_likelihood = Expectation.of(model, rows).run(model)
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
        plain = expected_statistics.pack_factors

        def unsafe(plan, factors):
            tree = plain(plan, factors)
            fields = {name: getattr(tree, name) for name in tree.__dataclass_fields__ if name != "workspaces"}
            return PackedTree(**(fields | {"is_safe": False}))

        monkeypatch.setattr(expected_statistics, "pack_factors", unsafe)
    statistics, log_likelihood = Expectation.of(model, rows).run(model)
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
    statistics, log_likelihood = Expectation.of(model, rows).run(model)
    odds = 0.1 / 0.9 * 2 * ((1 - 2e-9) / (1 - 1e-9)) ** 2999  # of the cause in the second row
    expected = 1.0 + odds / (1 + odds) + 0.1  # 2^3000 to 9 in the first row
    assert statistics["c"].counts[1] == pytest.approx(expected, rel=1e-9)
    first = np.log(0.1) + 3000 * np.log(2e-9)
    second = 2999 * np.log1p(-1e-9) + np.log(1e-9) + np.log(0.9 * (1 + odds))
    assert log_likelihood == pytest.approx(first + second, rel=1e-12)


# --- the objective never falls -------------------------------------------------------------------------------------


@settings(max_examples=40)
@given(seed=SEEDS)
def test_every_step_raises_the_likelihood(seed):
    """S0-071, S0-072, S1-159, S2-183: over random networks of tables, holes and latent variables."""
    rng, model, rows = holey(seed)
    start = random_like(rng, model)
    fitted = quiet(jt.fit, start, rows, method=jt.ExpectationMaximization(max_steps=15))
    gains = np.diff(fitted.trace.values)
    assert (gains >= -1e-9 * np.maximum(1, np.abs(fitted.trace.values[1:]))).all()
    assert fitted.log_likelihood == pytest.approx(expected_by_enumeration(fitted.model, rows)[1], abs=1e-8)


@settings(max_examples=30)
@given(seed=SEEDS, point=st.sampled_from(["mean", "mode"]), accelerated=st.booleans())
def test_every_step_raises_the_likelihood_with_a_prior(seed, point, accelerated):
    """MAP, by the mean's convention (α) or the mode's (α - 1); the objective is log-likelihood plus log prior."""
    rng, model, rows = holey(seed)
    method = jt.ExpectationMaximization(max_steps=15, acceleration="squarem" if accelerated else None)
    fitted = quiet(jt.fit, random_like(rng, model), rows, 1.7, point=point, method=method)
    assert (np.diff(fitted.trace.values) >= -1e-9 * np.maximum(1, np.abs(fitted.trace.values[1:]))).all()
    alpha = 1.7 if point == "mean" else 0.7
    prior = alpha * sum(float(np.log(part.values).sum()) for part in fitted.model.conditionals)
    if len(fitted.trace.values) > 1:  # complete rows take one step
        assert fitted.trace.values[-1] == pytest.approx(fitted.log_likelihood + prior)


@settings(max_examples=30)
@given(seed=SEEDS)
def test_every_step_raises_the_likelihood_for_all_kinds_of_conditionals(seed):
    """Noisy, logistic and deterministic conditionals among the tables."""
    _, model, rows = holey(seed, build=random_network)
    kinds = {part.child.name: part for part in model.conditionals if isinstance(part, jt.Logistic)}
    prior = dict.fromkeys(kinds, jt.Gaussian(0.0, 4.0))  # or a logistic child that its parents tell exactly runs away
    kept = [
        name for name, part in kinds.items() if len(set(rows.columns[name].tolist()) - {-1}) < part.child.num_states
    ]
    fitted = quiet(jt.fit, model, rows, prior, fixed=kept, method=jt.ExpectationMaximization(max_steps=8))
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
        ends[name] = jt.fit(model, rows, 3.0, latent=latent, method=method).trace.values[-1]
    assert ends["em"] == pytest.approx(ends["gradient"], abs=1e-6)


def test_a_step_that_lowers_the_objective_is_an_error(monkeypatch):
    """A maximisation that maximises nothing is found out, not taken for convergence."""
    model = latent_class(np.random.default_rng(0))
    rows = jt.sample(model, 50, rng=0)
    good = expectation_maximization.estimated_network

    def worse(model, statistics, wishes, fixed):
        better = good(model, statistics, wishes, fixed)
        mixed = [jt.Conditional(p.child, p.parents, p.values[..., ::-1]) for p in better.conditionals]
        return jt.BayesianNetwork(mixed)

    monkeypatch.setattr(expectation_maximization, "estimated_network", worse)
    with pytest.raises(ObjectiveDecreased, match="lowered the objective"):
        jt.fit(model, with_holes(np.random.default_rng(0), rows, 0.1), 1.0)


# --- where it ends -------------------------------------------------------------------------------------------------


def test_complete_rows_take_one_step():
    """S2-180, S4-212."""
    rng = np.random.default_rng(2)
    model = random_tables(rng, 4)
    rows = jt.sample(model, 50, rng=rng)
    fitted = quiet(jt.fit, model, rows)
    assert fitted.trace.num_steps == 0
    em = quiet(one_step, model, rows)
    for part in fitted.model.conditionals:
        assert em[part.child.name].values == pytest.approx(part.values, abs=1e-12)


def one_step(model, rows):
    """One step of EM, on rows that need none."""
    from juncture.learning.kinds.contract import Wishes

    algorithm = expectation_maximization.NetworkEM(model, Expectation.of(model, rows), Wishes())
    return algorithm.step(algorithm.init()).model


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
            fitted = quiet(jt.fit, model, rows)
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
    fitted = jt.fit(graph, rows, variables=[hidden])
    assert sorted(fitted.model["h"].values) == pytest.approx([0.4, 0.6], abs=0.03)
    assert fitted.log_likelihood > Expectation.of(model, rows).run(model)[1]
    assert fitted.statistics["h"].counts.sum() == pytest.approx(4000)


def test_semi_supervised():
    """S4-195: a class that is known in some rows is learned from all, and keeps its meaning."""
    rng = np.random.default_rng(1)
    model = latent_class(rng, 5)
    rows = jt.sample(model, 3000, rng=rng)
    codes = dict(rows.columns)
    codes["h"] = np.where(np.arange(3000) < 30, codes["h"], -1)
    partly = jt.Dataset.from_codes(rows.variables, codes)
    fitted = jt.fit(model.graph, partly)
    few = quiet(jt.fit, model.graph, rows.take(slice(30)), 1.0)
    distance = {
        name: np.abs(m["f0"].values - model["f0"].values).max()
        for name, m in (("all", fitted.model), ("few", few.model))
    }
    assert distance["all"] < 0.06 < distance["few"]


# --- starts --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("prior", [[0.5, 0.5], [0.3, 0.7]])
def test_a_symmetric_start_is_broken(prior):
    """Where no child tells the states apart EM would stay for ever, whatever the class's own table."""
    truth = latent_class(np.random.default_rng(3), 5)
    rows = jt.sample(truth, 500, rng=0).only([f"f{place}" for place in range(5)])
    flat = [jt.Conditional(truth.variable(f"f{place}"), [truth.variable("h")], [[0.5, 0.5]] * 2) for place in range(5)]
    start = jt.BayesianNetwork([jt.Conditional(truth.variable("h"), [], prior), *flat])
    fitted = quiet(jt.fit, start, rows, latent=["h"], method=jt.ExpectationMaximization(max_steps=200))
    alone = jt.fit(jt.DirectedGraph(nodes=[f"f{place}" for place in range(5)]), rows)
    assert fitted.log_likelihood > alone.log_likelihood + 1
    assert np.abs(np.diff(fitted.model["f0"].values[:, 1]))[0] > 1e-3


def test_two_states_that_mean_the_same_are_a_symmetry():
    hidden, feature = jt.Variable("h", 3), jt.Variable("f", 2)
    own = jt.Conditional(hidden, [], [0.2, 0.3, 0.5])
    alike = jt.BayesianNetwork([own, jt.Conditional(feature, [hidden], [[0.5, 0.5], [0.1, 0.9], [0.5, 0.5]])])
    apart = jt.BayesianNetwork([own, jt.Conditional(feature, [hidden], [[0.4, 0.6], [0.1, 0.9], [0.5, 0.5]])])
    assert is_symmetric(alike, "h")
    assert not is_symmetric(apart, "h")
    assert not is_symmetric(apart, "f")  # no children: nothing to tell apart
    assert without_symmetry(apart, ["h"], np.random.default_rng(0)) is apart
    assert without_symmetry(alike, ["h"], np.random.default_rng(0), frozenset({"f"})) is alike


def test_fixed_tables_are_not_moved_to_break_a_symmetry():
    model = latent_class(np.random.default_rng(0), 2)
    flat = jt.Conditional(model.variable("f0"), [model.variable("h")], [[0.5, 0.5]] * 2)
    other = jt.Conditional(model.variable("f1"), [model.variable("h")], [[0.5, 0.5]] * 2)
    rows = {"f0": [0, 1, 1], "f1": [0, 0, 1]}
    fitted = jt.fit(model.with_conditional(flat, other), rows, latent=["h"], fixed=["f0"])
    assert fitted.model["f0"] == flat


def test_restarts_are_never_worse():
    """S0-072: the best end of several starts."""
    truth = latent_class(np.random.default_rng(5), 5, 3)
    rows = jt.sample(truth, 150, rng=1).only([f"f{place}" for place in range(5)])
    ends = [
        quiet(
            jt.fit,
            truth.graph,
            rows,
            variables=[truth.variable("h")],
            rng=9,
            method=jt.ExpectationMaximization(restarts=number),
        )
        for number in (0, 1, 4)
    ]
    values = [fitted.log_likelihood for fitted in ends]
    assert values == sorted(values)
    assert values[-1] > values[0]


def test_the_same_seed_gives_the_same_model_whatever_the_cores(monkeypatch):
    _, model, rows = holey(3, num_rows=500)
    found = []
    for cores in (1, 2, 5, None):
        monkeypatch.setattr(os, "cpu_count", lambda cores=cores: cores)
        found.append(quiet(jt.fit, model.graph, rows, 1.0, rng=4, variables=model.variables))
    assert all(fitted.model == found[0].model for fitted in found)
    assert all(fitted.trace == found[0].trace for fitted in found)


# --- Ctrl-C --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "method",
    ["em", "gradient", jt.ExpectationMaximization(acceleration="squarem"), jt.ExpectationMaximization(restarts=3)],
)
def test_ctrl_c_returns_the_best_so_far(method):
    truth = latent_class(np.random.default_rng(5), 5)
    rows = jt.sample(truth, 300, rng=1).only([f"f{place}" for place in range(5)])
    seen = []

    def watch(step, value):
        seen.append(value)
        if len(seen) == 3:
            raise KeyboardInterrupt

    with pytest.warns(jt.NotConvergedWarning, match="interrupted after step 3; the model is the best so far"):
        fitted = jt.fit(truth.graph, rows, variables=[truth.variable("h")], method=method, progress=watch)
    assert fitted.trace.is_interrupted
    assert not fitted.trace.converged
    assert fitted.trace.values[1:] == tuple(seen)
    assert fitted.log_likelihood == pytest.approx(seen[-1])


def test_ctrl_c_in_a_restart_keeps_the_better_end():
    truth = latent_class(np.random.default_rng(5), 5)
    rows = jt.sample(truth, 300, rng=1).only([f"f{place}" for place in range(5)])
    options = {"variables": [truth.variable("h")], "rng": 0}
    first = jt.fit(truth.graph, rows, **options)
    steps = first.trace.num_steps
    calls = []

    def watch(step, value):
        calls.append(value)
        if len(calls) == steps + 1:
            raise KeyboardInterrupt

    with pytest.warns(jt.NotConvergedWarning, match="interrupted"):
        fitted = jt.fit(truth.graph, rows, **options, method=jt.ExpectationMaximization(restarts=5), progress=watch)
    assert fitted.model == first.model
    assert fitted.trace.is_interrupted


# --- edges ---------------------------------------------------------------------------------------------------------


def test_impossible_rows_are_named():
    x, y = jt.Variable("x", ["a", "b"]), jt.Variable("y", 2)
    model = jt.BayesianNetwork([jt.Conditional(x, [], [0.5, 0.5]), jt.Conditional(y, [x], [[1.0, 0.0], [0.5, 0.5]])])
    rows = {"x": ["a", None], "y": [1, 0]}
    with pytest.raises(jt.ImpossibleEvidence, match=r"probability zero \(x=a, y=1\)"):
        jt.fit(model, rows)
    assert jt.fit(model, rows, weights=[0.0, 1.0], method=EXACT).log_likelihood == pytest.approx(0.0, abs=1e-9)


def test_rows_without_weight_say_nothing():
    rng, model, rows = holey(21)
    weights = rng.integers(0, 2, len(rows)).astype(float)
    weighted = jt.Dataset.from_codes(rows.variables, rows.columns, weights)
    one = quiet(jt.fit, model, weighted, 1.0)
    other = quiet(jt.fit, model, rows.take(weights > 0), 1.0)
    assert one.log_likelihood == pytest.approx(other.log_likelihood, abs=1e-6)
    for part in one.model.conditionals:
        assert other.model[part.child.name].values == pytest.approx(part.values, abs=1e-4)


def test_no_rows_and_no_weight():
    model = latent_class(np.random.default_rng(0), 2)
    empty = jt.Dataset.from_codes(
        [model.variable("f0"), model.variable("f1")], {"f0": np.empty(0, int), "f1": np.empty(0, int)}
    )
    fitted = jt.fit(model, empty, 1.0, latent=["h"])
    assert fitted.log_likelihood == 0.0
    assert fitted.model["f0"].values == pytest.approx(np.full((2, 2), 0.5))
    with pytest.warns(jt.UnseenParentsWarning):
        assert jt.fit(model, {"f0": [0], "f1": [1]}, weights=[0.0], latent=["h"]).log_likelihood == 0.0


def test_rows_of_holes_only():
    fitted = quiet(jt.fit, latent_class(np.random.default_rng(0), 2), {"f0": [None], "f1": [None]}, latent=["h"])
    assert fitted.log_likelihood == pytest.approx(0.0, abs=1e-12)


def test_latent_variables_must_be_known_and_are_not_looked_at():
    model = latent_class(np.random.default_rng(0), 2)
    with pytest.raises(jt.UnknownVariable, match="did you mean 'f0'"):
        jt.fit(model, {"f0": [0], "f1": [1]}, latent=["f00"])
    with pytest.raises(jt.UnknownVariable, match=r"no column 'h'.*latent=\['h'\]"):
        jt.fit(model, {"f0": [0], "f1": [1]})
    with pytest.raises(jt.InvalidData, match="states of the latent 'h' are not known"):
        jt.fit(model.graph, {"f0": [0], "f1": [1]}, latent=["h"])
    rows = {"f0": [0, 1, 1, 0], "f1": [1, 1, 0, 0]}
    hidden = jt.fit(model, rows, latent=["h"])
    assert jt.fit(model, {**rows, "h": [0, 0, 1, 1]}, latent=["h"]) == hidden
    assert jt.fit(model, {**rows, "h": [None] * 4}) == hidden


def test_a_column_of_holes_may_be_declared():
    graph = jt.DirectedGraph([("h", "f")])
    fitted = jt.fit(graph, {"h": [None, None, None], "f": [0, 1, 1]}, variables=[jt.Variable("h", 2)])
    assert fitted.model.variable("h").num_states == 2
    assert fitted.log_likelihood == pytest.approx(2 * np.log(2 / 3) + np.log(1 / 3), abs=1e-6)


def test_numbers_with_holes_are_not_supported_yet():
    graph = jt.DirectedGraph([("x", "y")])
    with pytest.raises(jt.Unsupported, match=r"LinearGaussian\(y \| x\) has numbers: drop the rows with holes"):
        jt.fit(graph, {"x": ["a", "b", None], "y": [0.5, 1.0, 2.0]})


@pytest.mark.parametrize(
    "options",
    [{"max_steps": 0}, {"restarts": -1}, {"tolerance": -1.0}, {"tolerance": float("nan")}, {"acceleration": "fast"}],
)
def test_options_of_em_that_make_no_sense(options):
    with pytest.raises(jt.InvalidData, match="EM"):
        jt.ExpectationMaximization(**options)


def test_an_unknown_method_is_refused():
    with pytest.raises(jt.Unsupported, match="no method 'emm'"):
        jt.fit(latent_class(np.random.default_rng(0), 2), {"f0": [0], "f1": [1]}, latent=["h"], method="emm")


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
    chained = Expectation.of(model, rows).run(model)
    monkeypatch.setattr("juncture.inference.exact.lowering.SMALL_TABLE", 10_000)
    whole = Expectation.of(model, rows).run(model)
    assert chained[1] == pytest.approx(whole[1], abs=1e-9)
    for one, other in zip(chained[0]["y"].tables, whole[0]["y"].tables, strict=True):
        assert one == pytest.approx(other, abs=1e-10)
    assert chained[0]["y"].leak == pytest.approx(whole[0]["y"].leak, abs=1e-10)
    monkeypatch.undo()
    fitted = quiet(jt.fit, model, rows, method=jt.ExpectationMaximization(max_steps=30))
    assert fitted.log_likelihood > chained[1]
