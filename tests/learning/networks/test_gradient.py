"""L-BFGS and SQUAREM reach what EM reaches; standard errors come from the curvature there."""

from __future__ import annotations

import copy
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import juncture as jt
from juncture.learning.conditionals.contract import EstimationOptions
from juncture.learning.networks.estimation import network_log_prior
from juncture.learning.networks.gradient import FreeTables
from juncture.learning.networks.standard_errors import standard_errors
from support.learning_oracles import RowExpectation, quiet, random_tables, with_holes

SEEDS = st.integers(0, 2**32 - 1)
EXACT = jt.ExpectationMaximization(tolerance=1e-14, max_steps=50_000)
OTHERS = {
    "gradient": jt.GradientAscent(tolerance=1e-15),
    "squarem": jt.ExpectationMaximization(tolerance=1e-14, acceleration="squarem"),
}


def mixture(num_features=5, seed=0):
    """A hidden class that four or more features identify."""
    rng, hidden = np.random.default_rng(seed), jt.Variable("h", 2)
    features = [jt.Variable(f"f{place}", 2) for place in range(num_features)]
    rows = [[[1 - low, low], [1 - high, high]] for low, high in rng.uniform([0.1, 0.6], [0.4, 0.9], (num_features, 2))]
    tables = [jt.Conditional(feature, [hidden], row) for feature, row in zip(features, rows, strict=True)]
    return jt.BayesianNetwork([jt.Conditional(hidden, [], [0.4, 0.6]), *tables])


def observed(model, num_rows, seed=0):
    return jt.sample(model, num_rows, rng=seed).only([n for n in model.variables.names if n != "h"])


@pytest.mark.parametrize("name", OTHERS)
@pytest.mark.parametrize("prior", [None, 2.0])
def test_other_ways_reach_the_same_optimum_from_the_same_start(name, prior):
    """S0-067, S4-160."""
    model = mixture()
    rows = with_holes(np.random.default_rng(1), observed(model, 800), 0.1)
    em = jt.fit(model, rows, prior=prior, latent=["h"], method=EXACT)
    other = jt.fit(model, rows, prior=prior, latent=["h"], method=OTHERS[name])
    assert other.trace.converged
    assert other.trace.values[0] == pytest.approx(em.trace.values[0], rel=1e-12)
    assert other.trace.values[-1] == pytest.approx(em.trace.values[-1], abs=1e-6)
    for part in em.model.conditionals:
        assert other.model[part.child.name].values == pytest.approx(part.values, abs=2e-4)


def test_leaps_save_steps():
    """Problem 5.4 (S4 worked example 11), where plain EM crawls towards the edge."""
    first, second = jt.Variable("x1", 2), jt.Variable("x2", 2)
    start = jt.BayesianNetwork(
        [jt.Conditional(first, [], [0.5, 0.5]), jt.Conditional(second, [first], [[0.5, 0.5]] * 2)]
    )
    rows = {"x1": [1, 1, None], "x2": [1, None, 0]}
    ends = {}
    for acceleration in (None, "squarem"):
        method = jt.ExpectationMaximization(tolerance=0.0, max_steps=40, acceleration=acceleration)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", jt.errors.NotConvergedWarning)
            ends[acceleration] = -2 * np.log(2) - jt.fit(start, rows, method=method).log_likelihood
    assert ends["squarem"] < ends[None] / 1000


@given(seed=SEEDS, prior=st.sampled_from([None, 1.5]))
def test_the_gradient_is_the_expected_statistics(seed, prior):
    """S4-160, S0-067, Fisher's identity: against central differences of the objective."""
    rng = np.random.default_rng(seed)
    model, options = random_tables(rng), EstimationOptions(prior)
    rows = with_holes(rng, jt.sample(model, 15, rng=rng), 0.4)
    tables, expectation = FreeTables(model, frozenset(), options), RowExpectation(model, rows)

    def value(logits):
        moved = tables.model(logits)
        return expectation.run(moved)[1] + network_log_prior(moved, options, frozenset())

    start = tables.logits(model)
    gradient = tables.gradient(model, expectation.run(model)[0])
    for place in rng.permutation(len(start))[:6]:
        step = np.eye(len(start))[place] * 1e-5
        assert gradient[place] == pytest.approx((value(start + step) - value(start - step)) / 2e-5, abs=1e-5)


def test_gradients_are_for_tables():
    cause, effect = jt.Variable("c", 2), jt.Variable("e", 2)
    model = jt.BayesianNetwork([jt.Conditional(cause, [], [0.5, 0.5]), jt.NoisyOr(effect, [cause], [0.5], 0.1)])
    rows = {"c": [0, 1, None], "e": [0, 1, 1]}
    with pytest.raises(
        jt.errors.Unsupported, match=r"NoisyOr\(e \| c\) is none: keep it with fixed=\['e'\], or learn by EM"
    ):
        jt.fit(model, rows, method="gradient")
    kept = jt.fit(model, rows, method="gradient", fixed=["e"])
    assert kept.model["e"] == model["e"]
    assert kept.log_likelihood == pytest.approx(jt.fit(model, rows, method=EXACT, fixed=["e"]).log_likelihood, abs=1e-7)


def test_out_of_steps_is_said():
    with pytest.warns(jt.errors.NotConvergedWarning, match="gradient ascent: L-BFGS"):
        fitted = jt.fit(mixture(), observed(mixture(), 300), latent=["h"], method=jt.GradientAscent(max_steps=2))
    assert not fitted.trace.converged
    assert fitted.log_likelihood == pytest.approx(fitted.trace.values[-1])


# --- standard errors -----------------------------------------------------------------------------------------------


@given(seed=SEEDS)
def test_standard_errors_of_complete_rows(seed):
    """√(θ (1 - θ) / N), with N the rows that have the parents' states; infinite on the edge or without rows."""
    rng = np.random.default_rng(seed)
    model = random_tables(rng, 3)
    rows = jt.sample(model, 60, rng=rng)
    fitted = quiet(jt.fit, model, rows, rng=0)
    errors = fitted.standard_errors
    for name, part in fitted.statistics.parts.items():
        table, weight = fitted.model[name].values, part.of_parents[..., None]
        if table.shape[-1] == 1:
            assert (errors[name] == 0).all()  # nothing to be uncertain of
            continue
        inside = (table > 0) & (table < 1) & (weight > 0)
        expected = np.sqrt(table * (1 - table) / np.where(weight > 0, weight, 1))
        assert errors[name][inside] == pytest.approx(expected[inside], rel=1e-5)
        assert np.isinf(errors[name][~inside]).all()


@given(seed=SEEDS)
def test_the_counts_of_complete_rows_give_what_their_curvature_gives(seed):
    rng = np.random.default_rng(seed)
    model = random_tables(rng, 3)
    rows = jt.sample(model, 60, rng=rng)
    fitted = quiet(jt.fit, model, rows)
    by_curvature = quiet(standard_errors, fitted.model, rows)
    assert fitted.standard_errors.keys() == by_curvature.keys()
    for name, errors in fitted.standard_errors.items():
        assert errors == pytest.approx(by_curvature[name], rel=1e-4)


def test_a_fit_without_standard_errors_says_why():
    graph, rows = jt.DirectedGraph([("x", "y")]), {"x": [0, 1, 1], "y": [0, 1, 0]}
    fitted = jt.fit(graph, rows)
    for other in (jt.fit(graph, rows, prior=1.0), copy.copy(fitted), jt.fit(jt.Mixture([1.0], jt.Poisson([1.0])), [2])):
        with pytest.raises(jt.errors.Unsupported, match="a network that was fitted without a prior"):
            other.standard_errors  # noqa: B018


def test_standard_errors_of_few_rows_among_many():
    """What little is known of a rare combination is still known."""
    graph = jt.DirectedGraph([("x", "y")])
    rows = jt.Dataset({"x": [0, 0, 1, 1], "y": [0, 1, 0, 1]}, weights=[4e8, 6e8, 2.0, 3.0])
    errors = jt.fit(graph, rows).standard_errors
    assert errors["y"][1] == pytest.approx(np.sqrt(0.4 * 0.6 / 5), rel=1e-5)
    assert errors["y"][0] == pytest.approx(np.sqrt(0.4 * 0.6 / 1e9), rel=1e-5)


def test_standard_errors_with_holes_against_a_numeric_hessian():
    """On one child with one parent: three free numbers, their Hessian by differences of the likelihood itself."""
    graph = jt.DirectedGraph([("x", "y")])
    rng = np.random.default_rng(0)
    x = rng.integers(0, 2, 400)
    y = (rng.random(400) < np.where(x, 0.8, 0.3)).astype(int)
    codes = {"x": np.where(rng.random(400) < 0.3, -1, x), "y": np.where(rng.random(400) < 0.2, -1, y)}
    rows = jt.Dataset.from_codes([jt.Variable("x", 2), jt.Variable("y", 2)], codes)
    fitted = jt.fit(graph, rows, method=EXACT)
    model = fitted.model
    expectation = RowExpectation(model, rows)

    def value(free):
        parts = [
            jt.Conditional(model.variable("x"), [], [1 - free[0], free[0]]),
            jt.Conditional(model.variable("y"), [model.variable("x")], [[1 - p, p] for p in free[1:]]),
        ]
        return expectation.run(jt.BayesianNetwork(parts))[1]

    best = np.array([model["x"].values[1], *model["y"].values[:, 1]])
    steps = 1e-4 * np.eye(3)
    hessian = [
        [(value(best + a + b) - value(best + a - b) - value(best - a + b) + value(best - a - b)) / 4e-8 for a in steps]
        for b in steps
    ]
    expected = np.sqrt(np.diag(np.linalg.inv(-np.array(hessian))))
    errors = fitted.standard_errors
    assert [errors["x"][1], *errors["y"][:, 1]] == pytest.approx(expected, rel=1e-3)
    assert (errors["x"] > np.sqrt(best[0] * (1 - best[0]) / 400)).all()  # holes cost certainty


def test_what_others_can_make_up_for_has_no_standard_error():
    """A hidden class with two binary features has five numbers for the three that can be seen."""
    model = mixture(2)
    rows = observed(model, 500)
    fitted = jt.fit(model, rows, latent=["h"], method=EXACT)
    with pytest.warns(jt.errors.NotIdentifiedWarning, match="'h'"):
        errors = fitted.standard_errors
    assert np.isinf(errors["h"]).all()
    identified = mixture(5)
    rows = observed(identified, 2000)
    fitted = jt.fit(identified, rows, latent=["h"], method=EXACT)
    assert np.isfinite(fitted.standard_errors["h"]).all()


def test_standard_errors_of_tied_and_fixed_tables():
    variables = [jt.Variable(f"x{place}", 2) for place in range(3)]
    parts = [jt.Conditional(variable, [], [0.5, 0.5]) for variable in variables]
    model = jt.BayesianNetwork(parts, tied=[["x0", "x1"]])
    rows = {"x0": [0, 1, 1, 1], "x1": [0, 0, 1, 1], "x2": [0, 1, 1, 1]}
    errors = jt.fit(model, rows, fixed=["x2"]).standard_errors
    assert errors.keys() == {"x0", "x1"}
    assert errors["x1"] == pytest.approx(np.sqrt(5 / 8 * 3 / 8 / 8), rel=1e-6)


def test_standard_errors_are_for_a_maximum():
    model = mixture()
    swapped = jt.BayesianNetwork([jt.Conditional(p.child, p.parents, p.values[..., ::-1]) for p in model.conditionals])
    with pytest.raises(jt.errors.InvalidData, match="not at a maximum"):
        standard_errors(swapped, observed(model, 500))
