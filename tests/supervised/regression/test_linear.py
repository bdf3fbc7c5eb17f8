"""Least squares and the ridge path: tables of the sources, normal equations, SciPy, leave-one-out by refitting."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import juncture as jt
from juncture.supervised import (
    FourierBasis,
    GaussianBasis,
    GeneralizedLinearModel,
    LinearBasis,
    LinearRegression,
    PolynomialBasis,
    SigmoidBasis,
    SplineBasis,
    ridge_path,
)
from support.curve import T, X
from support.nist import certified_sets

TABLE = {  # degree → coefficients as printed; the column headed M=6 is M=3 (T-04)
    0: [0.19],
    1: [0.82, -1.27],
    3: [0.31, 7.99, -25.43, 17.37],
    6: [0.35, 2.62, 32.10, -206.27, 399.00, -332.71, 105.16],
    9: [0.35, 232.37, -5321.83, 48568.31, -231639.30, 640042.26, -1061800.52, 1042400.18, -557682.99, 125201.43],
}
RMSE = {0: 0.614304, 1: 0.462227, 3: 0.186989, 6: 0.181683}
BASES = [
    LinearBasis(),
    LinearBasis(intercept=False),
    PolynomialBasis(3),
    GaussianBasis([0.0, 0.5, 1.0], 0.3),
    SigmoidBasis([0.2, 0.8], 0.1),
    FourierBasis(2, period=1.5),
    SplineBasis([0.0, 0.5, 1.0]),
]
numbers_of_rows = st.integers(8, 40)


def draw_rows(seed, num_rows, num_inputs=3):
    rng = np.random.default_rng(seed)
    inputs = rng.normal(size=(num_rows, num_inputs))
    return inputs, inputs @ rng.normal(size=num_inputs) + 1.5 + rng.normal(size=num_rows), rng.uniform(0.5, 2, num_rows)


@pytest.mark.parametrize("degree", TABLE)
def test_polynomials_of_the_ten_points(degree):
    """S4-003, S4-010: all printed digits, within the rounding of the data at degree 9; ‖w‖ grows with the degree."""
    fit = jt.fit(LinearRegression, X, T, basis=PolynomialBasis(degree))
    np.testing.assert_allclose(fit.model.coefficients, TABLE[degree], rtol=2e-7 if degree == 9 else 0, atol=0.005)
    if degree in RMSE:
        assert fit.rmse == pytest.approx(RMSE[degree], abs=5e-7)
    else:
        assert fit.rmse < 1e-9  # ten coefficients interpolate ten points
    assert fit.norm == pytest.approx(np.linalg.norm(TABLE[degree]), abs=0.02, rel=1e-6)


def test_ridge_coefficients_of_the_ten_points():
    """S4-011, S4-012: the figure's columns, at the strengths at which they were computed."""
    path = ridge_path(X, T, [np.exp(-16.0813), np.exp(-18.0), 1.0], PolynomialBasis(9))
    printed = [
        [0.35, 4.74, -0.77, -31.97, -3.89, 55.28, 41.32, -45.95, -91.53, 72.68],
        [0.35, 5.77, -14.97, 29.86, -95.63, 35.18, 168.72, -18.04, -273.18, 162.20],
        [0.46, -0.34, -0.37, -0.24, -0.12, -0.02, 0.05, 0.11, 0.16, 0.20],
    ]
    np.testing.assert_allclose(path.coefficients, printed, atol=0.0051)


@given(st.integers(0, 10**6), numbers_of_rows)
def test_least_squares_solves_the_normal_equations(seed, num_rows):
    """S0-031, S0-032, S0-036: residuals are orthogonal to features, the noise is their mean square."""
    inputs, targets, weights = draw_rows(seed, num_rows)
    fit = jt.fit(LinearRegression, inputs, targets, weights=weights)
    residuals = targets - fit.model.mean(inputs)
    features = fit.model.basis(inputs)
    np.testing.assert_allclose(features.T @ (weights * residuals), 0.0, atol=1e-9)
    assert fit.model.noise_variance == pytest.approx(weights @ residuals**2 / weights.sum())
    expected = np.linalg.inv(features.T @ (features * weights[:, None])) * (weights @ residuals**2)
    np.testing.assert_allclose(fit.covariance, expected / (weights.sum() - 4), rtol=1e-7, atol=1e-12)


@given(st.integers(0, 10**6), numbers_of_rows)
def test_the_log_likelihood_is_that_of_the_predictions(seed, num_rows):
    """S4-002, S4-004: plug-in predictions have a constant variance, and their densities multiply to the likelihood."""
    inputs, targets, _ = draw_rows(seed, num_rows)
    fit = jt.fit(LinearRegression, inputs, targets)
    predicted = fit.model.predict(inputs)
    assert set(predicted.variance.tolist()) == {fit.model.noise_variance}
    by_scipy = stats.norm.logpdf(targets, fit.model.mean(inputs), np.sqrt(fit.model.noise_variance)).sum()
    assert fit.log_likelihood == pytest.approx(predicted.log_prob(targets).sum())
    assert fit.log_likelihood == pytest.approx(by_scipy)


def test_standard_errors_are_those_of_a_line():
    """Against the closed form of SciPy for one input."""
    line = stats.linregress(X, T)
    fit = jt.fit(LinearRegression, X, T)
    np.testing.assert_allclose(fit.model.coefficients, [line.intercept, line.slope])
    np.testing.assert_allclose(fit.standard_errors, [line.intercept_stderr, line.stderr])


# of coefficients; of Filip's sixteen, less the logarithm of the condition number, 9.6: more depends on the machine
DIGITS = {"Filip": 6.0, "Wampler1": 8.5, "Wampler3": 8.5, "Wampler4": 7.0, "Wampler5": 5.0}


@pytest.mark.parametrize("known", certified_sets(), ids=lambda known: known.name)
def test_the_certified_values_of_nist(known):
    """Fifteen digits are certified; the sets with powers of inputs lose the logarithm of their condition numbers.

    Coefficients of Wampler's sets are 1 beside errors of up to 10⁷. Both ways to least squares: by singular values, and
    as a generalised linear model.
    """
    basis = LinearBasis(known.has_constant) if known.degree == 1 else PolynomialBasis(known.degree)
    for fit in (
        jt.fit(LinearRegression, known.inputs, known.targets, basis=basis),
        jt.fit(GeneralizedLinearModel, known.inputs, known.targets, basis=basis, family=jt.Gaussian),
    ):
        digits = DIGITS.get(known.name, 11.5)
        np.testing.assert_allclose(fit.model.coefficients, known.coefficients, rtol=10**-digits)
        exact = known.errors > 0
        errors = 10 ** -DIGITS["Filip"] if known.name == "Filip" else 1e-12
        np.testing.assert_allclose(fit.standard_errors[exact], known.errors[exact], rtol=errors)
        scale = np.abs(known.targets).max()
        assert (fit.standard_errors[~exact] < 1e-14 * scale).all()  # Wampler's first two sets have no noise


def test_dependent_columns_are_named_and_the_solution_is_the_shortest():
    """S0-034, S0-037, S2-040: the shortest in standard deviations; the fit is that of the others."""
    inputs, targets, _ = draw_rows(3, 30)
    double = np.concatenate([inputs, 2 * inputs[:, :1] - inputs[:, 1:2], np.ones((30, 1))], axis=1)
    fit = jt.fit(LinearRegression, double, targets)
    assert (fit.dependent, fit.rank, fit.condition_number) == ((4, 5), 4, np.inf)
    np.testing.assert_allclose(fit.model.mean(double), jt.fit(LinearRegression, inputs, targets).model.mean(inputs))
    deviation = double[:, :4].std(axis=0)
    shortest = np.linalg.pinv((double[:, :4] - double[:, :4].mean(axis=0)) / deviation) @ (targets - targets.mean())
    np.testing.assert_allclose(fit.model.coefficients[1:], [*shortest / deviation, 0.0], atol=1e-13)
    assert "features [4, 5] depend on others" in repr(fit)


def test_the_scale_of_columns_is_no_dependence():
    inputs, targets, _ = draw_rows(4, 30)
    scale = np.array([1e-150, 1.0, 1e150])
    fit = jt.fit(LinearRegression, inputs * scale, targets)
    assert fit.dependent == ()
    np.testing.assert_allclose(
        fit.model.coefficients[1:] * scale, jt.fit(LinearRegression, inputs, targets).model.coefficients[1:]
    )
    assert fit.condition_number < 10


@pytest.mark.parametrize("basis", BASES, ids=repr)
def test_fewer_rows_than_features_are_interpolated(basis):
    """S0-031: never strictly convex where there are fewer rows than features."""
    x = np.linspace(0.1, 0.9, 2)
    fit = jt.fit(LinearRegression, x, [1.0, 2.0], basis=basis)
    if basis != LinearBasis(intercept=False):
        np.testing.assert_allclose(fit.model.mean(x), [1.0, 2.0])


@given(st.integers(0, 10**6), numbers_of_rows, st.booleans())
def test_the_ridge_path_agrees_with_its_formula(seed, num_rows, penalize):
    """S0-035, S4-011: (λI + ΦᵀΦ)⁻¹ Φᵀt, with or without the constant in the penalty; λ = 0 is least squares."""
    inputs, targets, weights = draw_rows(seed, num_rows)
    strengths = np.array([0.0, 0.1, 10.0, 1e9])
    path = ridge_path(inputs, targets, strengths, weights=weights, penalize_constant=penalize)
    features = path.basis(inputs)
    products, cross = features.T @ (features * weights[:, None]), features.T @ (weights * targets)
    for strength, found in zip(strengths, path.coefficients, strict=True):
        penalty = strength * np.diag([float(penalize), 1.0, 1.0, 1.0])
        np.testing.assert_allclose(found, np.linalg.solve(products + penalty, cross), rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(
        path.coefficients[0], jt.fit(LinearRegression, inputs, targets, weights=weights).model.coefficients
    )
    assert (np.diff(path.rmse) >= 0).all()
    assert (np.diff(path.degrees_of_freedom) <= 0).all()


@given(st.integers(0, 10**6), st.booleans())
def test_leave_one_out_errors_are_those_of_refitting(seed, penalize):
    """S4-008: the closed form against a fit without each row."""
    inputs, targets, _ = draw_rows(seed, 9, 2)
    strengths = [0.0, 0.5]
    path = ridge_path(inputs, targets, strengths, penalize_constant=penalize)
    errors = []
    for row in range(9):
        rest = np.arange(9) != row
        others = ridge_path(inputs[rest], targets[rest], strengths, penalize_constant=penalize)
        errors.append(targets[row] - np.append(1.0, inputs[row]) @ others.coefficients.T)
    np.testing.assert_allclose(path.leave_one_out, np.sqrt(np.mean(np.square(errors), axis=0)))
    assert path.best in path.models


def test_a_row_that_no_other_row_predicts_has_an_infinite_error_left_out():
    assert np.isinf(ridge_path(X, T, [0.0], PolynomialBasis(9)).leave_one_out[0])


@pytest.mark.parametrize("basis", BASES, ids=repr)
def test_bases_are_additive_and_take_frames(basis):
    """Each input has its functions, side by side; frames of pandas and Polars give the same."""
    x = np.linspace(-0.5, 1.5, 7)
    table = np.stack([x, x**2], axis=1)
    both, constants = basis(table), int(basis.has_constant)
    one, other = basis(x), basis(x**2)
    np.testing.assert_array_equal(both, np.concatenate([one, other[:, constants:]], axis=1))
    np.testing.assert_array_equal(basis(pd.DataFrame({"a": x, "b": x**2})), both)
    np.testing.assert_array_equal(basis(pl.DataFrame({"a": x, "b": x**2})), both)


def test_splines_sum_to_one_and_are_smooth():
    knots = [0.0, 0.4, 1.0]
    x = np.linspace(0, 1, 200)
    np.testing.assert_allclose(SplineBasis(knots)(x).sum(axis=1), 1.0)
    cubic = jt.fit(
        LinearRegression, x, x**3 - x, basis=SplineBasis(knots)
    )  # a polynomial of their degree lies in their span
    np.testing.assert_allclose(cubic.model.mean([-0.5, 1.5]), [0.375, 1.875], atol=1e-9)


def test_draws_of_the_model_have_its_noise():
    """S4-001: the residuals of draws have the variance 1/β."""
    model = LinearRegression([1.0, -2.0], 0.25)
    x = np.linspace(0, 1, 20_000)
    draws = model.predict(x).sample(rng=0)
    assert np.var(draws - model.mean(x)) == pytest.approx(0.25, rel=5 * np.sqrt(2 / len(x)))


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        (lambda: jt.fit(LinearRegression, [[1.0], [np.nan]], [1.0, 2.0]), "row 1, column 0 of the inputs is missing"),
        (lambda: jt.fit(LinearRegression, [[1.0], [2.0]], [1.0, None]), "row 1 of the targets is missing"),
        (lambda: jt.fit(LinearRegression, [[1.0], [2.0]], [1.0, np.inf]), "row 1 of the targets is inf"),
        (lambda: jt.fit(LinearRegression, [1.0, 2.0], [1.0]), "targets are one number a row, 2 numbers here"),
        (lambda: jt.fit(LinearRegression, [1.0, 2.0], [1.0, 2.0], weights=[0.0, 0.0]), "no row with a weight"),
        (lambda: jt.fit(LinearRegression, [], []), "no row with a weight"),
        (lambda: jt.fit(LinearRegression, [1.0, 2.0], ["a", "b"]), "a target takes numbers"),
        (lambda: ridge_path(X, T, [-1.0]), "strengths are finite numbers of at least 0"),
        (lambda: ridge_path(X, T, 1.0, SplineBasis([0.0, 1.0]), penalize_constant=False), "has no constant"),
        (lambda: jt.fit(LinearRegression, X, T).model.mean([[1.0, 2.0]]), "the regression has 2 coefficients"),
        (lambda: SplineBasis([1.0, 0.0]), "in rising order"),
        (lambda: jt.fit(LinearRegression, X, T, basis=3), "basis must be a Basis; got 3"),
    ],
)
def test_bad_input_is_refused_in_a_sentence(ask, words):
    with pytest.raises(jt.errors.InvalidData, match=words):
        ask()


def test_an_interpolation_has_no_predictive_density():
    fit = jt.fit(LinearRegression, [0.0, 1.0], [0.0, 1.0])
    exact = LinearRegression(fit.model.coefficients, 0.0)
    with pytest.raises(jt.errors.InvalidModel, match="the noise variance is 0"):
        exact.predict([1.0])
