"""Linear Gaussian conditionals, against least squares."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import juncture as jt

SEEDS = st.integers(0, 2**32 - 1)
GRAPH = jt.DirectedGraph([("u", "y"), ("v", "y"), ("s", "y")])


def draw_rows(seed=0, num_rows=60, offset=0.0):
    rng = np.random.default_rng(seed)
    u, v, s = rng.normal(size=num_rows) + offset, rng.normal(size=num_rows), rng.integers(0, 2, num_rows)
    y = 1.0 + s + 2.0 * (u - offset) - (0.5 + s) * v + rng.normal(size=num_rows) * (0.3 + s) + offset
    return {"u": u, "v": v, "s": np.where(s, "on", "off"), "y": y}


def least_squares(rows, chosen, weights=None):
    """(slopes, intercept, residual variance) by numpy, about the means so that an offset costs no digits."""
    weights = np.ones(int(chosen.sum())) if weights is None else weights[chosen]
    inputs = np.column_stack([rows["u"][chosen], rows["v"][chosen]])
    target = rows["y"][chosen]
    means, mean = weights @ inputs / weights.sum(), weights @ target / weights.sum()
    root = np.sqrt(weights)
    slopes = np.linalg.lstsq((inputs - means) * root[:, None], (target - mean) * root, rcond=None)[0]
    rest = target - mean - (inputs - means) @ slopes
    return slopes, mean - means @ slopes, weights @ rest**2 / weights.sum()


@given(seed=SEEDS, weighted=st.booleans())
def test_a_mixed_network_from_a_graph_and_a_frame(seed, weighted):
    """S1-048, S3-028, S0-036: a line for each combination of states; the variance divides by n."""
    rows = draw_rows(seed)
    weights = np.random.default_rng(seed).random(60) + 0.1 if weighted else None
    fitted = jt.fit(GRAPH, rows, weights=weights)
    part = fitted.model["y"]
    assert isinstance(part, jt.LinearGaussian)
    assert part.parents.names == ("u", "v", "s")
    for code, state in enumerate(["off", "on"]):
        slopes, intercept, variance = least_squares(rows, rows["s"] == state, weights)
        assert part.coefficients[code] == pytest.approx(slopes, rel=1e-8, abs=1e-8)
        assert part.intercept[code] == pytest.approx(intercept, rel=1e-8, abs=1e-8)
        assert part.variance[code] == pytest.approx(variance, rel=1e-8)
    assert fitted.model["u"].intercept == pytest.approx(np.average(rows["u"], weights=weights))
    each = fitted.model.log_joint_of(jt.Dataset(rows, variables=fitted.model.variables).columns)
    assert fitted.log_likelihood == pytest.approx(float(each @ (np.ones(60) if weights is None else weights)), abs=1e-8)


@pytest.mark.parametrize("offset", [1e4, 1e8])
def test_a_large_offset_costs_no_digits(offset):
    rows = draw_rows(offset=offset)
    part = jt.fit(GRAPH, rows).model["y"]
    slopes, _, variance = least_squares(rows, rows["s"] == "on")
    assert part.coefficients[1] == pytest.approx(slopes, rel=1e-6)
    assert part.variance[1] == pytest.approx(variance, rel=1e-6)
    near = jt.fit(GRAPH, draw_rows()).model["y"]
    assert part.variance == pytest.approx(near.variance, rel=1e-6)


@given(seed=SEEDS)
def test_halves_add_to_twelve_digits(seed):
    """Chan's formula, also where one half lacks a state."""
    rows = draw_rows(seed, offset=1e6)
    order = np.argsort(rows["s"], kind="stable") if seed % 2 else np.arange(60)
    rows = {name: column[order] for name, column in rows.items()}
    parts = [{name: column[part] for name, column in rows.items()} for part in (slice(20), slice(20, None))]
    added = sum(jt.statistics(GRAPH, part) for part in parts)
    whole = jt.statistics(GRAPH, rows)
    for name in ("y", "u"):
        assert added[name].scope == whole[name].scope
        assert np.array_equal(added[name].weight, whole[name].weight)
        assert added[name].center == pytest.approx(whole[name].center, rel=1e-12)
        assert added[name].scatter == pytest.approx(whole[name].scatter, rel=1e-9, abs=1e-7)
    assert whole.scaled(2.0)["y"].weight == pytest.approx(2 * whole["y"].weight)


def test_parents_of_very_different_sizes():
    rows = draw_rows()
    scaled = {**rows, "u": rows["u"] * 1e9, "v": rows["v"] * 1e-9}
    part, plain = jt.fit(GRAPH, scaled).model["y"], jt.fit(GRAPH, rows).model["y"]
    assert part.coefficients * [1e9, 1e-9] == pytest.approx(plain.coefficients, rel=1e-8)


def test_parents_that_depend_on_each_other():
    rows = draw_rows()
    graph = jt.DirectedGraph([("u", "y"), ("w", "y")])
    data = {"u": rows["u"], "w": 2 * rows["u"], "y": rows["y"]}
    with pytest.warns(UserWarning, match=r"'y' depend on each other linearly \(rank 1 of 2\)"):
        part = jt.fit(graph, data).model["y"]
    alone = jt.fit(jt.DirectedGraph([("u", "y")]), data).model["y"]
    assert part.coefficients @ [1.0, 2.0] == pytest.approx(float(alone.coefficients[0]))


def test_what_has_no_estimate_is_refused():
    line = jt.DirectedGraph([("u", "y")])
    with pytest.raises(jt.errors.InvalidData, match="the line of 'y' is not determined: it has as many parameters"):
        jt.fit(line, {"u": [0.5, 1.5], "y": [1.5, 3.25]})
    with pytest.raises(jt.errors.InvalidData, match=r"the line of 'y' is not determined in the rows with s=on:"):
        jt.fit(jt.DirectedGraph([("s", "y")]), {"s": ["off", "off", "on"], "y": [0.5, 1.5, 2.5]})
    declared = [jt.Variable("s", ["off", "on", "broken"])]
    with pytest.raises(jt.errors.InvalidData, match=r"no row has s=broken among the parents' states of 'y'"):
        jt.fit(GRAPH, draw_rows(), variables=declared)


def test_tied_lines_pool_their_moments():
    numbers = [jt.Variable(f"n{place}") for place in range(2)]
    parts = [jt.LinearGaussian(number, [], []) for number in numbers]
    model = jt.BayesianNetwork(parts, tied=[["n0", "n1"]])
    fitted = jt.fit(model, {"n0": [1.0, 2.0], "n1": [3.0, 6.0]}).model
    assert float(fitted["n1"].intercept) == pytest.approx(3.0)
    assert float(fitted["n0"].variance) == pytest.approx(3.5)


@pytest.mark.parametrize("prior", [None, jt.NormalInverseGamma(0.0, 1.0, 2.0, 1.0)])
def test_tied_lines_on_parents_are_one_regression(prior):
    """A chain whose two steps are the same line: the rows of both, one after the other; a prior counts once."""
    rng = np.random.default_rng(0)
    a, b, c = map(jt.Variable, "abc")
    rows = {name: rng.normal(size=30) for name in "abc"}
    parts = [jt.LinearGaussian(a, [], []), jt.LinearGaussian(b, [a], [0.0]), jt.LinearGaussian(c, [b], [0.0])]
    fitted = jt.fit(
        jt.BayesianNetwork(parts, tied=[["b", "c"]]), rows, prior={} if prior is None else {"c": prior}
    ).model
    inputs, strength = np.concatenate([rows["a"], rows["b"]]), 0.0 if prior is None else 1.0
    columns, outputs = np.stack([inputs, np.ones(60)], axis=1), np.concatenate([rows["b"], rows["c"]])
    line = np.linalg.solve(columns.T @ columns + strength * np.eye(2), columns.T @ outputs)
    for name in "bc":
        assert [*fitted[name].coefficients, fitted[name].intercept] == pytest.approx(line, rel=1e-12)
    assert fitted["b"].variance == fitted["c"].variance


@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_an_exact_relation_has_variance_zero(offset):
    """S1-048: with a warning; the rows themselves agree with it, others do not."""
    rng = np.random.default_rng(0)
    u, v, s = rng.normal(size=50) + offset, rng.normal(size=50), rng.integers(0, 2, 50)
    rows = {"u": u, "v": v, "s": np.where(s, "on", "off"), "y": np.where(s, 2 * u - 0.3 * v + 1, rng.normal(size=50))}
    with pytest.warns(jt.errors.DeterministicRelationWarning, match="'y' lie exactly on a line in the rows with s=on"):
        fitted = jt.fit(GRAPH, rows)
    part = fitted.model["y"]
    assert part.variance[1] == 0.0
    assert part.variance[0] > 0.1
    assert part.coefficients[1] == pytest.approx([2.0, -0.3], rel=1e-8)
    each = fitted.model.log_joint_of(jt.Dataset(rows, variables=fitted.model.variables).columns)
    assert fitted.log_likelihood == pytest.approx(float(each.sum()))
    moved = {**rows, "y": rows["y"] + 1e-3 * max(offset, 1.0)}
    with pytest.warns(jt.errors.ImpossibleEvidenceWarning):
        assert jt.fit(fitted.model, moved, fixed=["y"]).log_likelihood == -np.inf
