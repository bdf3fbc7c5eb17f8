"""Logistic conditionals, against Newton's method written out and against SciPy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

import juncture as jt


def newton_by_hand(inputs, labels, weights=None, penalty=0.0, steps=60):
    """Two states: w ← w + (XᵀSX + λ)⁻¹ (Xᵀ(y - p) - λ w), the bias first and free."""
    design = np.column_stack([np.ones(len(inputs)), inputs])
    weights = np.ones(len(inputs)) if weights is None else weights
    ridge = penalty * np.diag([0.0, *np.ones(design.shape[1] - 1)])
    found = np.zeros(design.shape[1])
    for _ in range(steps):
        p = 1 / (1 + np.exp(-design @ found))
        bend = design.T @ (design * (weights * p * (1 - p))[:, None]) + ridge
        found = found + np.linalg.solve(bend, design.T @ (weights * (labels - p)) - ridge @ found)
    return found


def draw_rows(num_rows=300, seed=0, offset=0.0, scale=1.0):
    rng = np.random.default_rng(seed)
    inputs = rng.normal(size=(num_rows, 2))
    labels = (rng.random(num_rows) < 1 / (1 + np.exp(-(0.5 + inputs @ [1.5, -0.8])))).astype(int)
    return inputs * scale + offset, labels


GRAPH = jt.DirectedGraph([("u", "y"), ("v", "y")])


def fit(inputs, labels, **options):
    rows = {"u": inputs[:, 0], "v": inputs[:, 1], "y": labels}
    return jt.fit(GRAPH, rows, **options)


def test_two_states_against_newton_by_hand():
    """S0-041, S1-046, S3-028."""
    inputs, labels = draw_rows()
    fitted = fit(inputs, labels)
    found = newton_by_hand(inputs, labels)
    part = fitted.model["y"]
    assert isinstance(part, jt.Logistic)
    assert [float(part.bias), *part.weights] == pytest.approx(found, abs=1e-9)
    p = part.child_probabilities({"u": inputs[:, 0], "v": inputs[:, 1]}, len(labels))[:, 1]
    assert np.sum(labels - p) == pytest.approx(0.0, abs=1e-7)


def test_numbers_far_from_zero_or_of_another_size():
    inputs, labels = draw_rows()
    plain = fit(inputs, labels).model["y"]
    far = fit(inputs + 1e6, labels).model["y"]
    assert far.weights == pytest.approx(plain.weights, rel=1e-6)
    mixed = fit(inputs * [1e6, 1e-6], labels).model["y"]
    assert mixed.weights * [1e6, 1e-6] == pytest.approx(plain.weights, rel=1e-8)


def test_weights_are_repetitions():
    inputs, labels = draw_rows(80)
    times = np.random.default_rng(1).integers(0, 4, 80)
    by_weight = fit(inputs, labels, weights=times).model["y"]
    by_rows = fit(np.repeat(inputs, times, axis=0), np.repeat(labels, times)).model["y"]
    assert by_weight.weights == pytest.approx(by_rows.weights, abs=1e-8)


@pytest.mark.parametrize("scale", [1.0, 100.0])
def test_a_gaussian_prior_of_the_weights(scale):
    inputs, labels = draw_rows(scale=scale)
    prior = {"y": jt.Gaussian(0.0, 0.2)}
    fitted = fit(inputs, labels, prior=prior)
    part = fitted.model["y"]
    assert [float(part.bias), *part.weights] == pytest.approx(newton_by_hand(inputs, labels, penalty=5.0), abs=1e-8)
    expected = fitted.log_likelihood - 0.5 * np.sum(part.weights**2) / 0.2
    assert fitted.trace.values[0] == pytest.approx(expected)


@pytest.mark.parametrize("prior", [{"y": 1.0}, {"y": jt.Gaussian(1.0, 1.0)}])
def test_priors_of_the_weights_that_make_no_sense(prior):
    with pytest.raises(jt.errors.InvalidData, match=r"jt\.Gaussian with mean 0"):
        fit(*draw_rows(), prior=prior)


def test_more_states_against_scipy():
    """S0-271: a softmax, whose first state serves as reference."""
    rng = np.random.default_rng(2)
    inputs = rng.normal(size=(250, 2))
    scores = inputs @ rng.normal(size=(2, 3)) + rng.normal(size=3)
    labels = np.array([rng.choice(3, p=np.exp(row) / np.exp(row).sum()) for row in scores])

    def downhill(free):
        table = np.vstack([np.zeros(3), free.reshape(2, 3)])
        logits = np.column_stack([np.ones(250), inputs]) @ table.T
        return float(np.sum(np.log(np.exp(logits).sum(axis=1)) - logits[np.arange(250), labels]))

    best = minimize(downhill, np.zeros(6), method="BFGS", options={"gtol": 1e-7})
    part = fit(inputs, labels).model["y"]
    assert np.column_stack([part.bias, part.weights])[1:].ravel() == pytest.approx(best.x, abs=1e-4)
    assert part.bias[0] == 0.0


@pytest.mark.parametrize(
    "labels",
    [
        np.array([0, 0, 0, 1, 1, 1]),  # apart
        np.array([0, 0, 1, 1, 1, 1]),
        np.array([1, 1, 1, 1, 1, 1]),  # one state has no rows
    ],
)
def test_what_can_be_told_apart_exactly_is_refused(labels):
    x, y = jt.Variable("x"), jt.Variable("y", 2)
    start = jt.BayesianNetwork([jt.LinearGaussian(x, [], []), jt.Logistic(y, [x], [0.0])])
    rows = {"x": [-2.0, -1.0, -0.5, 0.5, 1.0, 2.0], "y": labels}
    with pytest.raises(jt.errors.InvalidData, match=r"the logistic weights of 'y' grow without end.*jt\.Gaussian"):
        jt.fit(start, rows)
    held = jt.fit(start, rows, prior={"y": jt.Gaussian(0.0, 1.0)}) if len(set(labels)) > 1 else None
    assert held is None or np.isfinite(held.model["y"].weights).all()


def test_quasi_separation_is_refused():
    """One value of x has both states, all others tell exactly."""
    graph = jt.DirectedGraph([("x", "y")])
    with pytest.raises(jt.errors.InvalidData, match="grow without end"):
        jt.fit(graph, {"x": [-1.0, 0.0, 0.0, 1.0, 2.0], "y": [0, 0, 1, 1, 1]})


def test_an_outlier_is_no_separation():
    inputs, labels = draw_rows()
    inputs[0] = [1e5, 0.0]
    labels[0] = 1
    assert np.isfinite(fit(inputs, labels).model["y"].weights).all()


def test_parents_with_states_and_a_single_state():
    """Labels enter as numbers; a child of one state has nothing to learn."""
    x, y, only = jt.Variable("x", [0, 1]), jt.Variable("y", 2), jt.Variable("only", ["sure"])
    parts = [
        jt.Conditional(x, [], [0.5, 0.5]),
        jt.Logistic(y, [x], [0.0]),
        jt.Logistic(only, [x], np.zeros((1, 1)), np.zeros(1)),
    ]
    rows = {"x": [0, 0, 0, 1, 1, 1, 1], "y": [0, 0, 1, 1, 1, 0, 1], "only": ["sure"] * 7}
    fitted = jt.fit(jt.BayesianNetwork(parts), rows).model
    assert fitted["y"].to_table().values == pytest.approx(np.array([[2 / 3, 1 / 3], [1 / 4, 3 / 4]]), abs=1e-9)
    assert fitted["only"].to_table().values.tolist() == [[1.0], [1.0]]


def test_halves_with_other_states_add():
    graph = jt.DirectedGraph([("x", "y")])
    x, y = np.random.default_rng(0).normal(size=12), np.array(list("abcabcbcbcbc"))
    one, other = (jt.statistics(graph, {"x": x[part], "y": y[part]}) for part in (slice(6), slice(6, None)))
    assert other["y"].child.states == ("b", "c")
    assert (one + other)["y"] == jt.statistics(graph, {"x": x, "y": y})["y"]
