"""Bayesian linear regression against joint Gaussians, quadrature, scikit-learn and the numbers of the sources."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import juncture as jt
from juncture.supervised import (
    BayesianLinearRegression,
    ConjugateLinearRegression,
    LinearBasis,
    LinearRegression,
    PolynomialBasis,
    compare_bases,
    regression_statistics,
    ridge_path,
)
from support.curve import T, X

CUBIC = regression_statistics(X, T, PolynomialBasis(3))
seeds = st.integers(0, 10**6)


def draw_prior(rng, size):
    root = rng.normal(size=(size, size + 1))
    return rng.normal(size=size), root @ root.T


def draw_problem(seed, num_rows=6):
    """A prior with full precision, rows and weights."""
    rng = np.random.default_rng(seed)
    mean, precision = draw_prior(rng, 3)
    return mean, precision, rng.normal(size=(num_rows, 2)), rng.normal(size=num_rows) * 2


def test_evidence_of_polynomials_picks_degree_four():
    """S4-019: ln evidence of degrees 0 to 9 at α = 5e-3, β = 11.1."""
    expected = [
        -23.1027, -17.8842, -20.3088, -13.9341, -13.7129, -14.3587, -14.9812, -15.4811, -15.9059, -16.2903,
    ]  # fmt: skip
    choice = compare_bases(X, T, [PolynomialBasis(m) for m in range(10)], precision=5e-3, noise_precision=11.1)
    np.testing.assert_allclose(choice.log_evidences, expected, atol=5e-5)
    assert choice.best.basis == PolynomialBasis(4)
    assert choice.probabilities.sum() == pytest.approx(1.0)


def test_predictions_of_the_ten_points():
    """S4-015: mean and variance of degree 9 at x = .25 and 1."""
    prior = BayesianLinearRegression.standard(10, 5e-3, 11.1, PolynomialBasis(9))
    predicted = prior.update(X, T).predict([0.25, 1.0])
    np.testing.assert_allclose(predicted.mean, [0.917069, 0.253536], atol=5e-7)
    np.testing.assert_allclose(predicted.variance, [0.121036, 0.178561], atol=5e-7)


@given(seeds)
def test_the_posterior_is_the_conditional_of_the_joint_gaussian(seed):
    """S4-014, S4-017, S0-334, S0-336: weights and targets are one Gaussian; E113 of the precision corrected."""
    mean, precision, inputs, targets = draw_problem(seed)
    prior = BayesianLinearRegression(mean, precision, 3.0)
    features, covariance = prior.basis(inputs), np.linalg.inv(precision)
    noisy = features @ covariance @ features.T + np.eye(len(targets)) / 3.0
    gain = covariance @ features.T @ np.linalg.inv(noisy)
    posterior = prior.update(inputs, targets)
    np.testing.assert_allclose(posterior.mean, mean + gain @ (targets - features @ mean), rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(posterior.covariance, covariance - gain @ features @ covariance, rtol=1e-5, atol=1e-8)
    evidence = stats.multivariate_normal.logpdf(targets, features @ mean, noisy)
    assert prior.log_evidence(inputs, targets) == pytest.approx(evidence, rel=1e-8, abs=1e-8)


@given(seeds, st.permutations(range(6)))
def test_rows_one_by_one_in_any_order_are_rows_together(seed, order):
    """S4-016, S4-018, S0-333, S0-342: predictions one row ahead multiply to the evidence."""
    mean, precision, inputs, targets = draw_problem(seed)
    prior = BayesianLinearRegression(mean, precision, 2.0)
    together = prior.update(inputs, targets)
    apart = prior.update(inputs[order[:2]], targets[order[:2]]).update(inputs[order[2:]], targets[order[2:]])
    np.testing.assert_allclose(apart.mean, together.mean, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(apart.precision, together.precision, rtol=1e-9)
    scores = prior.predictive_scores(inputs[order], targets[order])
    assert scores.sum() == pytest.approx(prior.log_evidence(inputs, targets), rel=1e-8, abs=1e-8)
    parts = [regression_statistics(inputs[part], targets[part]) for part in (slice(0, 2), slice(2, 6))]
    np.testing.assert_allclose(prior.update_by(parts[0] + parts[1]).mean, together.mean, rtol=1e-7, atol=1e-9)


def test_the_posterior_mean_is_ridge():
    """S0-335, S4-011: λ = α/β."""
    posterior = BayesianLinearRegression.standard(10, 0.3, 11.1, PolynomialBasis(9)).update(X, T)
    path = ridge_path(X, T, [0.3 / 11.1], PolynomialBasis(9))
    np.testing.assert_allclose(posterior.mean, path.coefficients[0], rtol=1e-7)
    np.testing.assert_array_equal(posterior.plug_in.mean(X), posterior.predict(X).mean)


def test_the_prediction_before_any_row():
    """S0-336: σ² + ‖φ‖²/λ without rows; the noise alone after many."""
    prior = BayesianLinearRegression.standard(2, precision=4.0, noise_precision=2.0)
    np.testing.assert_allclose(prior.predict([3.0]).variance, 0.5 + 10 / 4)
    many = prior.update(np.linspace(0, 1, 10**5), np.zeros(10**5))
    assert many.predict([0.5]).variance[0] == pytest.approx(0.5, abs=1e-4)


@given(seeds)
def test_weights_are_repetitions(seed):
    mean, precision, inputs, targets = draw_problem(seed)
    counts = np.random.default_rng(seed).integers(0, 3, 6)
    counts[0] = 1
    repeated = np.repeat(inputs, counts, axis=0), np.repeat(targets, counts)
    for prior in (
        BayesianLinearRegression(mean, precision, 2.0),
        ConjugateLinearRegression(mean, precision, 1.5, 0.7),
    ):
        heavy, plain = prior.update(inputs, targets, counts), prior.update(*repeated)
        np.testing.assert_allclose(heavy.mean, plain.mean, rtol=1e-7, atol=1e-9)
        assert prior.log_evidence(inputs, targets, counts) == pytest.approx(prior.log_evidence(*repeated), rel=1e-9)


@given(seeds)
def test_the_normal_inverse_gamma_is_a_mixture_over_the_noise(seed):
    """The evidence with unknown noise integrates that with known noise (quadrature over log σ²)."""
    mean, precision, inputs, targets = draw_problem(seed)
    prior = ConjugateLinearRegression(mean, precision, 2.5, 1.5)
    logs = np.linspace(-8, 12, 2001)
    density = jt.InverseGamma(2.5, 1.5).log_prob(np.exp(logs)) + logs
    statistics = regression_statistics(inputs, targets)
    known = [
        BayesianLinearRegression(mean, precision / variance, 1 / variance).log_evidence_of(statistics)
        for variance in np.exp(logs[::20])
    ]
    integrand = np.exp(np.array(known) + density[::20])
    by_quadrature = np.log(integrand.sum() * (logs[20] - logs[0]))
    assert prior.log_evidence(inputs, targets) == pytest.approx(by_quadrature, rel=1e-6, abs=1e-6)


@given(seeds)
def test_predictions_with_unknown_noise_multiply_to_the_evidence(seed):
    """S4-070: Student-t predictions, one row after the other."""
    mean, precision, inputs, targets = draw_problem(seed)
    state = prior = ConjugateLinearRegression(mean, precision, 2.5, 1.5)
    total = 0.0
    for one, target in zip(inputs[:, None], targets[:, None], strict=True):
        total += state.predict(one).log_prob(target)[0]
        state = state.update(one, target)
    assert prior.log_evidence(inputs, targets) == pytest.approx(total, rel=1e-8, abs=1e-8)
    together = prior.update(inputs, targets)
    np.testing.assert_allclose(state.mean, together.mean, rtol=1e-7, atol=1e-9)
    assert (state.shape, state.scale) == pytest.approx((together.shape, together.scale))


def test_a_constant_alone_is_the_conjugate_prior_of_a_gaussian():
    """S4-070: with one feature, the constant, it is `NormalInverseGamma`."""
    from juncture.supervised import LinearBasis

    plain = jt.NormalInverseGamma(0.5, 2.0, 3.0, 1.5)
    prior = ConjugateLinearRegression([0.5], [[2.0]], 3.0, 1.5, LinearBasis(intercept=False))
    data = jt.Gaussian.statistics(T)
    ones = np.ones((10, 1))
    assert prior.log_evidence(ones, T) == pytest.approx(plain.log_evidence(data))
    after, by_family = prior.update(ones, T), plain.posterior(data)
    assert (after.mean[0], after.precision[0, 0]) == pytest.approx((by_family.mean, by_family.strength))
    assert (after.shape, after.scale) == pytest.approx((by_family.shape, by_family.scale))


def test_draws_of_functions_have_the_moments_of_the_posterior():
    posterior = BayesianLinearRegression.standard(4, 1.0, 11.1, PolynomialBasis(3)).update(X, T)
    draws = posterior.sample_functions([0.3, 0.9], 20_000, rng=0)
    variance = posterior.predict([0.3, 0.9]).variance - 1 / 11.1
    np.testing.assert_allclose(
        draws.mean(axis=0), posterior.predict([0.3, 0.9]).mean, atol=5 * np.sqrt(variance / 2e4).max()
    )
    np.testing.assert_allclose(draws.var(axis=0), variance, rtol=5 * np.sqrt(2 / 2e4))
    t = ConjugateLinearRegression.standard(2).update(X, T)
    assert t.weights.degrees == pytest.approx(2 * t.shape)
    assert t.noise_variance == jt.InverseGamma(t.shape, t.scale)


@given(seeds)
def test_the_evidence_has_its_maximum_where_the_fixed_point_ends(seed):
    """No α and β near the answer have a larger evidence; the evidence is that of the prior."""
    rng = np.random.default_rng(seed)
    inputs = rng.normal(size=(40, 3))
    targets = inputs @ rng.normal(size=3) * 2 + rng.normal(size=40) + 1
    fit = jt.fit(BayesianLinearRegression, inputs, targets)
    assert fit.trace.converged
    assert 0 < fit.num_determined < 4
    for factors in ((1.1, 1.0), (1 / 1.1, 1.0), (1.0, 1.1), (1.0, 1 / 1.1)):
        other = BayesianLinearRegression(
            np.zeros(4), factors[0] * fit.prior.precision, fit.noise_precision * factors[1]
        )
        assert other.log_evidence(inputs, targets) < fit.log_likelihood
    scales = np.append(1.0, inputs.std(axis=0))
    assert np.diag(fit.prior.precision) == pytest.approx(fit.precision * scales**2)
    length, residual = np.square(scales * fit.model.mean).sum(), targets - fit.model.predict(inputs).mean
    assert fit.precision == pytest.approx(fit.num_determined / length, rel=1e-4)
    assert fit.noise_precision == pytest.approx((40 - fit.num_determined) / (residual @ residual), rel=1e-4)


def test_evidence_agrees_with_scikit_learn():
    """BayesianRidge with flat hyperpriors and no intercept solves the same problem."""
    from sklearn.linear_model import BayesianRidge

    rng = np.random.default_rng(2)
    inputs = rng.normal(size=(60, 4))
    targets = inputs @ [1.0, 0.5, -2.0, 0.1] + rng.normal(size=60)
    flat = {"alpha_1": 0.0, "alpha_2": 0.0, "lambda_1": 0.0, "lambda_2": 0.0}
    theirs = BayesianRidge(fit_intercept=False, tol=1e-12, max_iter=10_000, **flat).fit(inputs, targets)
    options = {"method": jt.supervised.EvidenceMaximization(standardize=False), "basis": LinearBasis(intercept=False)}
    ours = jt.fit(BayesianLinearRegression, inputs, targets, **options)
    assert ours.precision == pytest.approx(theirs.lambda_, rel=1e-5)
    assert ours.noise_precision == pytest.approx(theirs.alpha_, rel=1e-5)
    np.testing.assert_allclose(ours.model.mean, theirs.coef_, rtol=1e-5)


@pytest.mark.parametrize(("targets", "weights"), [(2 * X + 1, [1.0, 2.0]), (np.zeros(10), [0.0, 0.0])])
def test_targets_without_noise_have_the_noise_of_rounding(targets, weights):
    with pytest.warns(jt.errors.RegularizedWarning, match="linear in the features without noise"):
        fit = jt.fit(BayesianLinearRegression, X, targets)
    np.testing.assert_allclose(fit.model.mean, weights, atol=1e-9)


@pytest.mark.parametrize("noise", [1e-12, 1e-6, 1.0])
def test_noise_of_any_size_is_found(noise):
    """The share of noise is not lost in the products of large targets."""
    wave = np.sin(37 * X)
    fit = jt.fit(BayesianLinearRegression, X, 2 * X + 1 + noise * wave)
    assert fit.trace.converged
    residual = 2 * X + 1 + noise * wave - jt.fit(LinearRegression, X, 2 * X + 1 + noise * wave).model.mean(X)
    assert fit.noise_precision == pytest.approx((10 - fit.num_determined) / (residual @ residual), rel=0.05)


@given(seeds)
def test_targets_that_do_not_depend_on_the_features(seed):
    """The evidence of a grid of α rises to its end in about half of such tables: the weights are 0, the noise all."""
    rng = np.random.default_rng(seed)
    inputs, targets = rng.normal(size=(30, 4)), rng.normal(size=30)
    options = {"method": jt.supervised.EvidenceMaximization(standardize=False), "basis": LinearBasis(intercept=False)}
    fit = jt.fit(BayesianLinearRegression, inputs, targets, **options)
    if fit.num_determined > 1e-6:
        return  # there is a peak
    np.testing.assert_allclose(fit.model.mean, 0.0, atol=1e-9)
    assert fit.noise_precision == pytest.approx(30 / (targets @ targets))
    heights = [
        BayesianLinearRegression.standard(
            4, alpha * fit.noise_precision, fit.noise_precision, LinearBasis(intercept=False)
        ).log_evidence(inputs, targets)
        for alpha in 10.0 ** np.arange(2, 8)
    ]
    assert (np.diff(heights) > 0).all()
    assert fit.log_likelihood >= heights[-1] - 1e-9


def test_intervals_of_the_estimator_cover_what_they_say():
    """Diabetes, ten folds: 95 % intervals hold 93 % to 98 % of the targets, whatever the unit of the target."""
    sklearn = pytest.importorskip("sklearn.datasets")
    from juncture.estimators import BayesianLinearRegression as Estimator

    inputs, targets = sklearn.load_diabetes(return_X_y=True)
    fold = np.random.default_rng(0).permutation(len(targets)) % 10
    shares = []
    for unit in (1.0, 1e-6):
        hits = []
        for part in range(10):
            fitted = Estimator().fit(inputs[fold != part], unit * targets[fold != part])
            mean, deviation = fitted.predict(inputs[fold == part], return_std=True)
            hits.append(np.abs(unit * targets[fold == part] - mean) < 1.96 * deviation)
        shares.append(np.concatenate(hits).mean())
    assert shares[0] == shares[1]
    assert shares[0] == pytest.approx(0.95, abs=3 * np.sqrt(0.95 * 0.05 / len(targets)))


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        (lambda: compare_bases(X, T, []), "at least one basis"),
        (lambda: compare_bases(X, T, [PolynomialBasis(1)], precision=1.0), "give both"),
        (lambda: BayesianLinearRegression.standard(2).update([[1.0, 2.0]], [1.0]), "2 coefficients"),
        (lambda: regression_statistics(X, T) + regression_statistics(X, T, PolynomialBasis(2)), "do not add"),
        (lambda: BayesianLinearRegression.standard(2).update_by(CUBIC), "these statistics are of"),
    ],
)  # fmt: skip
def test_bad_input_is_refused_in_a_sentence(ask, words):
    with pytest.raises(jt.errors.InvalidData, match=words):
        ask()


def test_a_precision_must_be_positive_definite():
    with pytest.raises(jt.errors.InvalidModel, match="symmetric and positive definite"):
        BayesianLinearRegression([0.0, 0.0], [[1.0, 2.0], [2.0, 1.0]], 1.0)


def test_a_precision_is_symmetric_up_to_rounding_of_its_largest_entries():
    """An entry off the diagonal may be nothing but rounding errors."""
    precision = np.array([[200.0, 1e-14], [-1e-14, 150.0]])
    assert BayesianLinearRegression([0.0, 0.0], precision, 1.0).precision.tolist() == precision.tolist()


@pytest.mark.parametrize("unit", [1e3, 1e-6])
def test_the_unit_information_prior_has_no_units(unit):
    """The prior of the class: one row's worth of information; all of its predictions follow the units."""
    generator = np.random.default_rng(0)
    points = generator.normal([0.0, 5.0, -2.0], 1.0, size=(20, 3))
    targets = points @ [1.0, -2.0, 0.5] + generator.normal(size=20)
    found = jt.fit(ConjugateLinearRegression, points, targets)
    features = np.column_stack([np.ones(20), points])
    assert found.prior.precision == pytest.approx(features.T @ features / 20)
    assert found.prior.mean == pytest.approx([targets.mean(), 0.0, 0.0, 0.0])
    assert (found.prior.shape, found.prior.scale) == (0.5, pytest.approx(0.5 * targets.var()))
    other = jt.fit(ConjugateLinearRegression, points * unit, targets * unit)
    here, there = jt.infer(found.model, points)["y"], jt.infer(other.model, points * unit)["y"]
    assert there.location == pytest.approx(here.location * unit, rel=1e-9)
    assert there.scale == pytest.approx(here.scale * unit, rel=1e-9)
    assert other.log_likelihood == pytest.approx(found.log_likelihood - 20 * np.log(unit), rel=1e-9)


def test_rows_without_unit_information_are_refused():
    with pytest.raises(jt.errors.InvalidData, match="all targets are equal"):
        jt.fit(ConjugateLinearRegression, [0.0, 1.0, 2.0], [1.0, 1.0, 1.0])
    with pytest.raises(jt.errors.InvalidData, match="depend linearly on others"):
        jt.fit(ConjugateLinearRegression, [[0.0, 0.0], [1.0, 2.0], [2.0, 4.0]], [0.0, 1.0, 3.0])


@pytest.mark.slow
@pytest.mark.parametrize("unit", [1.0, 1e3, 1e-6])
def test_bands_cover_what_they_say(unit):
    """90 % intervals of 200 tables of 20 rows hold 87 to 93 % of new targets, in all units."""
    hits = []
    for seed in range(200):
        generator = np.random.default_rng(seed)
        points, weights = generator.normal(size=(40, 3)), generator.normal(size=3)
        targets = points @ weights + 0.5 + generator.normal(size=40)
        model = jt.fit(ConjugateLinearRegression, points[:20] * unit, targets[:20] * unit).model
        low, high = (jt.infer(model, points[20:] * unit)["y"].quantile(share) for share in (0.05, 0.95))
        hits.append(((low <= targets[20:] * unit) & (targets[20:] * unit <= high)).mean())
    assert 0.87 <= np.mean(hits) <= 0.93
