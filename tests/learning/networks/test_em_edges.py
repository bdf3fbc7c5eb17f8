"""Expectation maximisation: where it starts, how it is interrupted, and rows that are hardly any."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import strategies as st

import juncture as jt
from juncture.learning.networks.problem import break_symmetry, is_symmetric
from support.learning_oracles import (
    holey,
    latent_class,
    quiet,
)

SEEDS = st.integers(0, 2**32 - 1)
EXACT = jt.ExpectationMaximization(tolerance=1e-13, max_steps=20_000)


# --- starts --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("prior", [[0.5, 0.5], [0.3, 0.7]])
def test_a_symmetric_start_is_broken(prior):
    """Where no child tells the states apart EM would stay for ever, whatever the class's own table."""
    truth = latent_class(np.random.default_rng(3), 5)
    rows = jt.sample(truth, 500, rng=0).only([f"f{place}" for place in range(5)])
    flat = [jt.Conditional(truth.variable(f"f{place}"), [truth.variable("h")], [[0.5, 0.5]] * 2) for place in range(5)]
    start = jt.BayesianNetwork([jt.Conditional(truth.variable("h"), [], prior), *flat])
    fitted = quiet(jt.fit, start, rows, latent=["h"], method=jt.ExpectationMaximization(max_steps=200), rng=0)
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
    assert break_symmetry(apart, ["h"], np.random.default_rng(0)) is apart
    assert break_symmetry(alike, ["h"], np.random.default_rng(0), frozenset({"f"})) is alike


def test_fixed_tables_are_not_moved_to_break_a_symmetry():
    model = latent_class(np.random.default_rng(0), 2)
    flat = jt.Conditional(model.variable("f0"), [model.variable("h")], [[0.5, 0.5]] * 2)
    other = jt.Conditional(model.variable("f1"), [model.variable("h")], [[0.5, 0.5]] * 2)
    rows = {"f0": [0, 1, 1], "f1": [0, 0, 1]}
    fitted = jt.fit(model.with_conditional(flat, other), rows, latent=["h"], fixed=["f0"], rng=0)
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
    for threads in ("1", "2", "5", ""):
        monkeypatch.setenv("JUNCTURE_NUM_THREADS", threads)
        found.append(quiet(jt.fit, model.graph, rows, prior=1.0, rng=4, variables=model.variables))
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

    with pytest.warns(jt.errors.NotConvergedWarning, match="interrupted after step 3; the model is the best so far"):
        fitted = jt.fit(truth.graph, rows, variables=[truth.variable("h")], method=method, progress=watch, rng=0)
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

    with pytest.warns(jt.errors.NotConvergedWarning, match="interrupted"):
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
    one = quiet(jt.fit, model, weighted, prior=1.0, rng=0)
    other = quiet(jt.fit, model, rows.take(weights > 0), prior=1.0, rng=0)
    assert one.log_likelihood == pytest.approx(other.log_likelihood, abs=1e-6)
    for part in one.model.conditionals:
        assert other.model[part.child.name].values == pytest.approx(part.values, abs=1e-4)


def test_no_rows_and_no_weight():
    model = latent_class(np.random.default_rng(0), 2)
    empty = jt.Dataset.from_codes(
        [model.variable("f0"), model.variable("f1")], {"f0": np.empty(0, int), "f1": np.empty(0, int)}
    )
    fitted = jt.fit(model, empty, prior=1.0, latent=["h"])
    assert fitted.log_likelihood == 0.0
    assert fitted.model["f0"].values == pytest.approx(np.full((2, 2), 0.5))
    with pytest.warns(jt.errors.UnseenParentsWarning):
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
    with pytest.raises(jt.errors.InvalidData, match="states of the latent 'h' are not known"):
        jt.fit(model.graph, {"f0": [0], "f1": [1]}, latent=["h"])
    rows = {"f0": [0, 1, 1, 0], "f1": [1, 1, 0, 0]}
    hidden = jt.fit(model, rows, latent=["h"])
    assert jt.fit(model, {**rows, "h": [0, 0, 1, 1]}, latent=["h"]) == hidden
    assert jt.fit(model, {**rows, "h": [None] * 4}) == hidden


def test_a_column_of_holes_may_be_declared():
    graph = jt.DirectedGraph([("h", "f")])
    fitted = jt.fit(graph, {"h": [None, None, None], "f": [0, 1, 1]}, variables=[jt.Variable("h", 2)], rng=0)
    assert fitted.model.variable("h").num_states == 2
    assert fitted.log_likelihood == pytest.approx(2 * np.log(2 / 3) + np.log(1 / 3), abs=1e-6)


@pytest.mark.parametrize(
    "options",
    [{"max_steps": 0}, {"restarts": -1}, {"tolerance": -1.0}, {"tolerance": float("nan")}, {"acceleration": "fast"}],
)
def test_options_of_em_that_make_no_sense(options):
    with pytest.raises(jt.errors.InvalidData, match=next(iter(options))):
        jt.ExpectationMaximization(**options)


def test_an_unknown_method_is_refused():
    with pytest.raises(jt.errors.Unsupported, match="no method of learning 'emm'"):
        jt.fit(latent_class(np.random.default_rng(0), 2), {"f0": [0], "f1": [1]}, latent=["h"], method="emm")
