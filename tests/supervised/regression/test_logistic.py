"""Logistic regression against SciPy, scikit-learn, quadrature and the numbers of the sources."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import expit, log_softmax

import juncture as jt
from juncture.learning.conditionals import softmax as softmax_module
from juncture.supervised import (
    Armijo,
    ConstantStep,
    LaplaceLogistic,
    LinearBasis,
    LogisticRegression,
    PolynomialBasis,
    descend,
)
from juncture.supervised.regression.laplace import mean_sigmoid, probit_sigmoid

seeds = st.integers(0, 10**6)


def draw_classes(seed, num_classes=2, num_rows=60):
    rng = np.random.default_rng(seed)
    inputs = rng.normal(size=(num_rows, 2)) * [1.0, 5.0] + [0.0, 3.0]
    scores = inputs @ rng.normal(size=(2, num_classes)) * 0.3 + rng.gumbel(size=(num_rows, num_classes))
    codes = scores.argmax(axis=1)
    codes[:num_classes] = np.arange(num_classes)
    return inputs, codes, rng.uniform(0.5, 2.0, num_rows)


def penalized(inputs, codes, weights, strength):
    """Minus the penalised log-likelihood of weights of all classes; the constant has no penalty."""
    features = np.concatenate([np.ones((len(inputs), 1)), inputs], axis=1)
    num_classes = codes.max() + 1

    def value(flat):
        every = flat.reshape(num_classes, -1)
        logs = log_softmax(features @ every.T, axis=1)
        return -weights @ logs[np.arange(len(codes)), codes] + 0.5 * strength * np.sum(every[:, 1:] ** 2)

    return value, num_classes * features.shape[1]


@given(seeds, st.sampled_from([0.1, 3.0]))
def test_softmax_with_a_penalty_is_the_minimum_found_by_scipy(seed, strength):
    """S0-271, S3-021: every class has weights, which are penalised alike."""
    inputs, codes, weights = draw_classes(seed, 3)
    fit = jt.fit(LogisticRegression, inputs, codes, weights=weights, penalty=jt.L2(strength))
    value, size = penalized(inputs, codes, weights, strength)
    found = minimize(value, np.zeros(size), method="BFGS", options={"gtol": 1e-6})
    assert -fit.log_posterior == pytest.approx(found.fun, rel=1e-8)
    every = found.x.reshape(3, 3)
    np.testing.assert_allclose(fit.model.coefficients, every[1:] - every[0], atol=1e-4)


@given(seeds)
def test_two_classes_are_at_a_stationary_point(seed):
    """S0-040, S0-041, S4-106: Σ w (t - y) φ = λw; the information is that of finite differences of the gradient."""
    inputs, codes, weights = draw_classes(seed)
    for strength in (None, 2.0):
        penalty = None if strength is None else jt.L2(strength)
        fit = jt.fit(LogisticRegression, inputs, codes, weights=weights, penalty=penalty)
        features, w = fit.model.basis(inputs), fit.model.coefficients[0]

        def gradient(w, features=features, strength=strength):
            return features.T @ (weights * (expit(features @ w) - codes)) + (strength or 0.0) * w * [0.0, 1.0, 1.0]

        np.testing.assert_allclose(gradient(w), 0.0, atol=1e-7)
        by_differences = [(gradient(w + 1e-5 * e) - gradient(w - 1e-5 * e)) / 2e-5 for e in np.eye(3)]
        np.testing.assert_allclose(fit.information, by_differences, rtol=1e-4, atol=1e-4)
        assert fit.log_likelihood == pytest.approx(weights @ fit.model.log_prob(inputs, codes))


@pytest.mark.parametrize("num_classes", [2, 3])
def test_agreement_with_scikit_learn(num_classes):
    """S4-107: C = 1 / λ, the constant is free."""
    from sklearn.linear_model import LogisticRegression as Theirs

    inputs, codes, weights = draw_classes(5, num_classes, 200)
    theirs = Theirs(C=0.5, tol=1e-10, max_iter=10_000).fit(inputs, codes, sample_weight=weights)
    ours = jt.fit(LogisticRegression, inputs, codes, weights=weights, penalty=jt.L2(2.0)).model
    np.testing.assert_allclose(ours.predict_proba(inputs), theirs.predict_proba(inputs), atol=1e-6)


@pytest.mark.parametrize("num_classes", [2, 3])
def test_l1_satisfies_its_optimality_conditions(num_classes):
    """|Σ w (p - t) φ| ≤ λ, with equality and the sign of the weight where that is not 0; many weights are 0."""
    inputs, codes, weights = draw_classes(7, num_classes, 100)
    inputs = np.concatenate([inputs, np.random.default_rng(0).normal(size=(100, 6))], axis=1)
    fit = jt.fit(LogisticRegression, inputs, codes, weights=weights, penalty=jt.L1(6.0))
    seen = np.eye(num_classes)[codes]
    slopes = (weights[:, None] * (fit.model.predict_proba(inputs) - seen)).T @ inputs
    if num_classes == 2:
        coefficients = fit.model.coefficients[0, 1:]
        assert (coefficients == 0).sum() >= 3
        np.testing.assert_allclose(
            slopes[1][coefficients != 0], -6.0 * np.sign(coefficients[coefficients != 0]), atol=1e-3
        )
        assert (np.abs(slopes[1]) <= 6.0 + 1e-3).all()
    else:
        assert (np.abs(slopes) <= 6.0 + 1e-3).all()
    np.testing.assert_allclose((weights[:, None] * (fit.model.predict_proba(inputs) - seen)).sum(axis=0), 0, atol=1e-3)


def test_l1_of_no_strength_is_maximum_likelihood():
    inputs, codes, _ = draw_classes(8)
    tiny, plain = (
        jt.fit(LogisticRegression, inputs, codes, penalty=jt.L1(1e-6)),
        jt.fit(LogisticRegression, inputs, codes),
    )
    np.testing.assert_allclose(tiny.model.coefficients, plain.model.coefficients, atol=1e-4)


def test_pure_newton_diverges_where_damped_newton_converges():
    """S0-048, S0-050 (E17): the constant alone, y = {0, 1}; from 2.1 pure Newton converges, from 2.2 it does not."""
    y = np.array([0.0, 1.0])
    parts = (
        lambda w: np.logaddexp(0, w[0]) * 2 - w[0],
        lambda w: np.array([2 * expit(w[0]) - y.sum()]),
    )
    options = {"hessian": lambda w: [[2 * expit(w[0]) * expit(-w[0])]], "tolerance": 1e-10}
    near = descend(*parts, 2.1, step=ConstantStep(1.0), **options)
    assert near.converged
    assert near.point[0] == pytest.approx(0.0, abs=1e-8)
    far = descend(*parts, 2.2, step=ConstantStep(1.0), max_steps=20, **options)
    assert not far.converged
    np.testing.assert_allclose(far.points[:5, 0], [2.2, -2.257, 2.468, -3.390, 11.43], atol=5e-3)
    for start in (2.2, 3.0, 100.0):
        damped = descend(*parts, start, step=Armijo(), regularization=1e-300, **options)
        assert damped.point[0] == pytest.approx(0.0, abs=1e-6), start


def test_a_newton_step_is_weighted_least_squares():
    """S0-051: working responses (t - y) / d with weights d = y (1 - y); E18 to E20 corrected."""
    inputs, codes, _ = draw_classes(9)
    features, w = LinearBasis()(inputs), np.array([0.1, -0.2, 0.05])
    p = expit(features @ w)
    d = p * (1 - p)
    newton = np.linalg.solve(features.T @ (features * d[:, None]), features.T @ (codes - p))
    least_squares = np.linalg.lstsq(features * np.sqrt(d)[:, None], (codes - p) / np.sqrt(d), rcond=None)[0]
    np.testing.assert_allclose(newton, least_squares, rtol=1e-10)


def test_the_constant_alone_is_the_logit_of_the_share():
    """S0-041."""
    fit = jt.fit(LogisticRegression, np.zeros((10, 0)), [1] * 7 + [0] * 3)
    assert fit.model.coefficients[0, 0] == pytest.approx(np.log(7 / 3))
    assert fit.standard_errors[0, 0] == pytest.approx(1 / np.sqrt(10 * 0.7 * 0.3))


def test_separable_classes_are_reported_and_finite_under_a_prior():
    """S0-051, S4-106."""
    x, y = [0.0, 1.0, 2.0, 3.0], ["no", "no", "yes", "yes"]
    with pytest.raises(jt.errors.InvalidData, match="a hyperplane separates the classes exactly"):
        jt.fit(LogisticRegression, x, y)
    assert np.isfinite(jt.fit(LogisticRegression, x, y, penalty=jt.L2(0.1)).model.coefficients).all()
    with pytest.raises(jt.errors.InvalidData, match="or a class has no rows"):
        jt.fit(LogisticRegression, x, ["no", "yes", "no", "yes"], classes=["no", "yes", "never"])


def test_two_classes_of_a_softmax_are_binary():
    """S0-052, S3-020: the coefficients are the differences of the weights."""
    inputs, codes, _ = draw_classes(3)
    model = jt.fit(LogisticRegression, inputs, codes).model
    three = LogisticRegression([0, 1, 2], [model.coefficients[0], [-500.0, 0.0, 0.0]])
    np.testing.assert_allclose(three.predict_proba(inputs)[:, :2], model.predict_proba(inputs), atol=1e-12)
    assert LogisticRegression([0, 1], [0.0, 1.0]).predict_proba([1000.0, -1000.0]).tolist() == [[0.0, 1.0], [1.0, 0.0]]


@pytest.mark.parametrize(
    "labels",
    [
        ["no", "yes"],
        [False, True],
        [3, 10],
        [0.5, 1.5],
    ],
)
def test_classes_of_any_kind_and_frames(labels):
    inputs, codes, _ = draw_classes(4)
    targets = [labels[code] for code in codes]
    plain = jt.fit(LogisticRegression, inputs, codes).model
    for frame, column in (
        (pd.DataFrame(inputs, columns=["a", "b"]), pd.Series(targets)),
        (pl.DataFrame({"a": inputs[:, 0], "b": inputs[:, 1]}), pl.Series(targets)),
        (inputs.tolist(), targets),
    ):
        model = jt.fit(LogisticRegression, frame, column).model
        assert model.classes == tuple(labels)
        np.testing.assert_array_equal(model.coefficients, plain.coefficients)
        assert model.predict(frame).tolist() == [labels[code] for code in plain.predict(inputs)]


@given(seeds)
def test_weights_are_repetitions(seed):
    inputs, codes, _ = draw_classes(seed, 3, 40)
    counts = np.random.default_rng(seed).integers(1, 4, 40)
    heavy = jt.fit(LogisticRegression, inputs, codes, weights=counts, penalty=jt.L2(1.0))
    repeated = jt.fit(
        LogisticRegression, np.repeat(inputs, counts, axis=0), np.repeat(codes, counts), penalty=jt.L2(1.0)
    )
    np.testing.assert_allclose(heavy.model.coefficients, repeated.model.coefficients, rtol=1e-6, atol=1e-8)


def test_many_rows_start_at_the_maximum_of_a_few(monkeypatch):
    """The answer is that of all rows, wherever Newton's method starts."""
    inputs, codes, weights = draw_classes(11, 2, 2000)
    plain = jt.fit(LogisticRegression, inputs, codes, weights=weights)
    monkeypatch.setattr(softmax_module, "MANY_ROWS", 1000)
    monkeypatch.setattr(softmax_module, "FEW_ROWS", 200)
    quick = jt.fit(LogisticRegression, inputs, codes, weights=weights)
    np.testing.assert_allclose(quick.model.coefficients, plain.model.coefficients, rtol=1e-9)


# --- the Laplace posterior -----------------------------------------------------------------------------------------


@given(st.floats(-8, 8), st.floats(0.0, 60.0))
def test_the_mean_of_a_sigmoid(mean, variance):
    """S4-108: quadrature of SciPy; the probit formula is within 0.02."""
    from scipy.integrate import quad

    deviation = np.sqrt(variance)
    exact = mean_sigmoid(np.array([mean]), np.array([variance]))[0]
    density = lambda z: expit(mean + deviation * z) * np.exp(-0.5 * z * z) / np.sqrt(2 * np.pi)  # noqa: E731
    by_scipy = quad(
        density, -10, 10, epsabs=1e-11, limit=400, points=[0.0, np.clip(-mean / (deviation + 1e-9), -9, 9)]
    )[0]
    assert exact == pytest.approx(by_scipy, abs=1e-9)
    assert probit_sigmoid(np.array([mean]), np.array([variance]))[0] == pytest.approx(exact, abs=0.02)


def grid_posterior(x, y, precision, points):
    """The exact posterior of a constant and a slope on a grid, and its log-evidence."""
    a, b = np.meshgrid(points, points, indexing="ij")
    scores = a[..., None] + b[..., None] * x
    logs = (np.where(y, scores, 0) - np.logaddexp(0, scores)).sum(axis=-1)
    logs += -0.5 * precision * (a**2 + b**2) + np.log(precision / (2 * np.pi))
    area = (points[1] - points[0]) ** 2
    evidence = np.log(np.exp(logs - logs.max()).sum() * area) + logs.max()
    return a, b, np.exp(logs - evidence) * area, evidence


def test_the_laplace_posterior_beside_the_exact_one():
    """S4-108: mode, predictive probability and evidence on a grid of two coefficients."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=80)
    y = rng.random(80) < expit(0.5 + 1.5 * x)
    posterior = jt.fit(LaplaceLogistic, x, y, penalty=jt.L2(1.0), penalize_constant=True).model
    a, b, shares, evidence = grid_posterior(x, y, 1.0, np.linspace(-2, 5, 141))
    assert posterior.log_evidence == pytest.approx(evidence, abs=0.03)
    exact = [(shares * expit(a + b * at)).sum() for at in (-2.0, 0.0, 2.0)]
    np.testing.assert_allclose(posterior.predict_proba([-2.0, 0.0, 2.0])[:, 1], exact, atol=0.01)
    by_draws = posterior.predict_proba([-2.0, 0.0, 2.0], "draws", draws=20_000, rng=0)
    np.testing.assert_allclose(by_draws, posterior.predict_proba([-2.0, 0.0, 2.0]), atol=5 * 0.5 / np.sqrt(20_000))
    assert jt.fit(LaplaceLogistic, x, y, penalty=jt.L2(1.0)).model.log_evidence is None


def test_the_evidence_of_three_classes_counts_the_prior_of_differences():
    """Without rows that say anything the evidence is that of the prior: N · log ⅓, whatever the strength."""
    inputs, codes = np.zeros((3, 1)), np.array([0, 1, 2])
    options = {"basis": LinearBasis(intercept=False), "penalty": jt.L2(0.7), "penalize_constant": True}
    assert jt.fit(LaplaceLogistic, inputs, codes, **options).model.log_evidence == pytest.approx(3 * np.log(1 / 3))


def three_classes():
    return jt.fit(LaplaceLogistic, [1.0, 2.0, 3.0], [0, 1, 2], penalty=jt.L2(1.0)).model


def test_three_classes_are_averaged_by_draws():
    """As no other way is there for them; the seed repeats what was drawn, and stands in the beliefs."""
    model = three_classes()
    beliefs = jt.infer(model, [1.0, 2.0])
    assert beliefs.method == "draws"
    again = jt.infer(model, [1.0, 2.0], rng=beliefs.seed)
    np.testing.assert_array_equal(again["y"].values, beliefs["y"].values)
    averaged = model.predict_proba([1.0, 2.0], rng=beliefs.seed)
    np.testing.assert_allclose(averaged, beliefs["y"].values, rtol=1e-13)  # but for a logarithm and its inverse


@pytest.mark.parametrize(
    ("ask", "error", "words"),
    [
        (lambda: jt.fit(LogisticRegression, [1.0, 2.0], ["a", "a"]), jt.errors.InvalidData, "at least 2 classes"),
        (
            lambda: jt.fit(LogisticRegression, [1.0, 2.0], ["a", None]),
            jt.errors.InvalidData,
            "row 1 of the targets has no class",
        ),
        (
            lambda: jt.fit(LogisticRegression, [1.0, np.nan], ["a", "b"]),
            jt.errors.InvalidData,
            "row 1, column 0 of the inputs is missing",
        ),
        (
            lambda: jt.fit(LogisticRegression, [1.0], ["a", "b"]),
            jt.errors.InvalidData,
            "targets are one label a row, 1 label here",
        ),
        (
            lambda: jt.fit(LogisticRegression, [1.0, 2.0], ["a", "b"], penalty="l2"),
            jt.errors.InvalidData,
            r"jt.L1\(strength\)",
        ),
        (lambda: LogisticRegression(["a"], [[1.0]]), jt.errors.InvalidModel, "at least 2 classes"),
        (lambda: LogisticRegression(["a", "b"], [[1.0], [2.0]]), jt.errors.InvalidModel, "class but the first"),
        (
            lambda: jt.fit(LaplaceLogistic, [1.0, 2.0, 3.0], [0, 1, 0], penalty=jt.L1(0.1)).model,
            jt.errors.InvalidData,
            "has corners",
        ),
        (
            lambda: three_classes().predict_proba([1.0], "quadrature"),
            jt.errors.Unsupported,
            "is for two classes",
        ),
    ],
)
def test_bad_input_is_refused_in_a_sentence(ask, error, words):
    with pytest.raises(error, match=words):
        ask()


def test_a_basis_bends_the_boundary():
    x = np.linspace(-2, 2, 60)
    y = (np.abs(x) < 1).astype(int)
    model = jt.fit(LogisticRegression, x, y, basis=PolynomialBasis(2), penalty=jt.L2(1e-3)).model
    assert (model.predict(x) == y).all()
