"""Normal-inverse-gamma priors of linear Gaussian conditionals, against the closed forms of Bayesian regression."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import juncture as jt

SEEDS = st.integers(0, 2**32 - 1)
GRAPH = jt.DirectedGraph([("u", "y"), ("v", "y"), ("s", "y")])
STATES = ["off", "on", "broken"]


def draw_rows(rng, num_rows=12):
    """Few rows, and none of the third state."""
    u, v, s = rng.normal(size=num_rows) + 3.0, rng.normal(size=num_rows), np.arange(num_rows) % 2
    y = 1.0 + 2.0 * u - (0.5 + s) * v + rng.normal(size=num_rows)
    return {"u": u, "v": v, "s": np.array(STATES)[s], "y": y}


def posterior(rows, chosen, weights, prior):
    """(mean of intercept and slopes, shape, scale) of the conjugate posterior, in dense form."""
    design = np.column_stack([np.ones(int(chosen.sum())), rows["u"][chosen], rows["v"][chosen]])
    target, weight, mean = rows["y"][chosen], weights[chosen], np.array([prior.mean, 0.0, 0.0])
    precision = (design.T * weight) @ design + prior.strength * np.eye(3)
    middle = np.linalg.solve(precision, (design.T * weight) @ target + prior.strength * mean)
    squares = weight @ target**2 + prior.strength * mean @ mean - middle @ precision @ middle
    return middle, prior.shape + weight.sum() / 2, prior.scale + squares / 2


@given(seed=SEEDS, point=st.sampled_from(["mean", "mode"]), is_weighted=st.booleans())
def test_the_posterior_is_that_of_bayesian_regression(seed, point, is_weighted):
    """S1-048: also where a combination of states has no row, and where rows are fewer than parameters."""
    rng = np.random.default_rng(seed)
    rows = draw_rows(rng, num_rows=int(rng.integers(2, 12)))
    weights = rng.uniform(0.2, 2.0, len(rows["y"])) if is_weighted else np.ones(len(rows["y"]))
    prior = jt.NormalInverseGamma(float(rng.normal()), 0.5, 2.5, 1.5)
    variables = [jt.Variable("s", STATES)]
    given_prior = {"y": prior, "u": prior, "v": prior, "s": 2.0}
    fitted = jt.fit(GRAPH, rows, prior=given_prior, variables=variables, weights=weights, point=point)
    part = fitted.model["y"]
    for code, state in enumerate(STATES):
        middle, shape, scale = posterior(rows, rows["s"] == state, weights, prior)
        variance = scale / (shape - 1) if point == "mean" else scale / (shape + 1 + 1.5)
        assert [part.intercept[code], *part.coefficients[code]] == pytest.approx(middle, rel=1e-8, abs=1e-8)
        assert part.variance[code] == pytest.approx(variance, rel=1e-8)


@given(seed=SEEDS, point=st.sampled_from(["mean", "mode"]))
def test_the_estimate_maximises_the_objective(seed, point):
    rng = np.random.default_rng(seed)
    line, rows = jt.DirectedGraph([("u", "y")]), draw_rows(rng)
    rows = {name: rows[name] for name in ("u", "y")}
    prior = jt.NormalInverseGamma(1.0, 0.5, 2.5, 1.5)
    fitted = jt.fit(line, rows, prior={"y": prior}, point=point)
    best = fitted.model["y"]

    def objective(slope, intercept, variance):
        moved = jt.LinearGaussian(best.child, best.parents, [slope], intercept, variance)
        model = jt.BayesianNetwork([fitted.model["u"], moved])
        kept = jt.fit(model, rows, fixed=["u", "y"])
        shape = 1.5 if point == "mean" else 2.5 + 1.0 + 1.0
        squares = 0.25 * (slope**2 + (intercept - 1.0) ** 2)
        return kept.log_likelihood - shape * np.log(variance) - (1.5 + squares) / variance

    at = (float(best.coefficients[0]), float(best.intercept), float(best.variance))
    assert fitted.trace.values[-1] == pytest.approx(objective(*at))
    for step in ([0.01, 0, 0], [-0.01, 0, 0], [0, 0.01, 0], [0, -0.01, 0], [0, 0, 0.01], [0, 0, -0.01]):
        assert objective(*np.add(at, step)) < objective(*at)


def test_a_batch_of_priors_is_one_for_each_combination_of_states():
    rows = draw_rows(np.random.default_rng(0))
    prior = jt.NormalInverseGamma([0.0, 5.0, -5.0], 1.0, 3.0, 4.0)
    part = jt.fit(GRAPH, rows, prior={"y": prior}, variables=[jt.Variable("s", STATES)]).model["y"]
    assert float(part.intercept[2]) == pytest.approx(-5.0)
    assert float(part.variance[2]) == pytest.approx(2.0)


def test_a_prior_that_does_not_fit_is_refused():
    rows, one = draw_rows(np.random.default_rng(0)), jt.NormalInverseGamma(0.0, 1.0, 0.5, 1.0)
    with pytest.raises(jt.errors.InvalidData, match=r"the prior of 'y', .* is a jt.NormalInverseGamma"):
        jt.fit(GRAPH, rows, prior={"y": 1.0})
    with pytest.raises(jt.errors.InvalidData, match=r"a batch of the shape \(3,\); its parents' states have \(2,\)"):
        jt.fit(GRAPH, rows, prior={"y": jt.NormalInverseGamma([0.0, 1.0, 2.0], 1.0, 1.0, 1.0)})
    with pytest.raises(jt.errors.InvalidData, match="the variance of 'y' has no posterior mean"):
        jt.fit(GRAPH, rows, prior={"y": one}, variables=[jt.Variable("s", STATES)])


def test_a_number_is_the_prior_of_the_tables_alone():
    rows = draw_rows(np.random.default_rng(0), 40)
    plain, counted = jt.fit(GRAPH, rows).model, jt.fit(GRAPH, rows, prior=1.0).model
    assert counted["y"] == plain["y"]
