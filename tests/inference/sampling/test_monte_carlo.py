"""Monte Carlo integration, and draws of a single number, against closed forms."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from scipy.stats import kstest

import juncture as jt


def test_the_error_falls_with_the_root_of_the_number():
    """S0-278, S3-035, S3-038: E X² of N(0, 2) is 2, its variance 8; n times the squared error is σ² on average."""
    errors = []
    for seed in range(200):
        found = jt.sampling.monte_carlo(np.square, jt.Gaussian(0.0, 2.0), 400, rng=seed)
        errors.append(found.value - 2.0)
    assert 400 * np.mean(np.square(errors)) == pytest.approx(8.0, rel=0.25)
    large = jt.sampling.monte_carlo(np.square, jt.Gaussian(0.0, 2.0), 150_000, rng=0)
    assert large.standard_error == pytest.approx(math.sqrt(8.0 / 150_000), rel=0.02)


def test_intervals_hold_as_often_as_they_say():
    """S3-038: coverage of 90 % intervals over 1000 repetitions, within 3.3 standard deviations."""
    hits = 0
    for seed in range(1000):
        low, high = jt.sampling.monte_carlo(lambda x: x, jt.Exponential(2.0), 400, rng=seed).interval(0.9)
        hits += low <= 0.5 <= high
    assert abs(hits / 1000 - 0.9) < 3.3 * math.sqrt(0.09 / 1000) + 0.005  # a little skewness is left


def test_probabilities_and_several_numbers_at_once():
    """S0-279: p(X ≤ 0) is the mean of an indicator; a sampler may be a function."""
    found = jt.sampling.monte_carlo(
        lambda x: np.stack([x <= 0, x > 1], axis=1), lambda n, rng: rng.normal(size=n), 20_000, rng=0
    )
    assert (abs(found.value - [0.5, 0.158655]) < 4.5 * found.standard_error).all()


def test_importance_estimates():
    """S0-285, S0-288, S3-050, S3-058, S3-059: any constants cancel; a constant function is exact; Z is estimated."""
    wide = jt.Gaussian(0.5, 4.0)
    for shift in (0.0, 300.0):
        found = jt.sampling.importance_estimate(lambda x: x**2, lambda x, s=shift: s - x**2 / 2, wide, 20_000, rng=0)
        assert abs(found.value - 1.0) < 4.5 * found.standard_error
        assert abs(found.log_ratio - shift - math.log(math.sqrt(2 * math.pi))) < 4.5 * found.log_ratio_error
    assert jt.sampling.importance_estimate(
        lambda x: np.ones(len(x)), lambda x: -abs(x), wide, 100, rng=0
    ).value == pytest.approx(1)
    normal = jt.Gaussian(0.0, 1.0)
    plain = jt.sampling.importance_estimate(np.cos, normal.log_prob, wide, 20_000, self_normalized=False, rng=0)
    assert abs(plain.value - math.exp(-0.5)) < 4.5 * plain.standard_error
    smooth = jt.sampling.importance_estimate(np.cos, normal.log_prob, wide, 20_000, smoothing=True, rng=0)
    assert abs(smooth.value - math.exp(-0.5)) < 4.5 * smooth.standard_error


def test_what_is_refused():
    gaussian = jt.Gaussian()
    with pytest.raises(jt.errors.InvalidData, match="a number for each of 10 draws"):
        jt.sampling.monte_carlo(np.sum, gaussian, 10)
    with pytest.raises(jt.errors.InvalidData, match="must be finite"):
        jt.sampling.monte_carlo(lambda x: np.full(len(x), np.nan), gaussian, 10)
    with pytest.raises(jt.errors.InvalidData, match="nothing in common"):
        jt.sampling.importance_estimate(np.cos, lambda x: np.full(len(x), -np.inf), gaussian, 10)
    with pytest.raises(jt.errors.InvalidData, match="one of quantile"):
        jt.sampling.inverse_transform(3)


def test_inverse_transform():
    """S0-281, S0-282, S3-041, S3-042: F⁻¹(U); numerically from F; a categorical by its running sums."""
    by_formula = jt.sampling.inverse_transform(4000, quantile=lambda u: -np.log1p(-u) / 3.0, rng=0)
    by_search = jt.sampling.inverse_transform(4000, cdf=lambda x: -np.expm1(-3.0 * np.maximum(x, 0.0)), rng=0)
    assert by_search == pytest.approx(by_formula, rel=1e-9)
    assert kstest(by_formula, "expon", args=(0, 1 / 3)).pvalue > 0.001
    codes = jt.sampling.inverse_transform(20_000, probabilities=[0.2, 0.0, 0.5, 0.3, 0.0], rng=0)
    assert np.bincount(codes, minlength=5) / 20_000 == pytest.approx([0.2, 0.0, 0.5, 0.3, 0.0], abs=0.015)
    assert set(codes) == {0, 2, 3}


def test_rejection_of_four_states():
    """S0-284, S3-046: p̃ = (1, 2, 3, 4), q uniform, k = 16: acceptance 0.625, accepted (.1, .2, .3, .4)."""
    uniform = jt.Categorical([0.25] * 4)
    draws = jt.sampling.rejection_sample(lambda x: np.log(1.0 + x), uniform, math.log(16.0), 20_000, rng=0)
    assert draws.acceptance_rate == pytest.approx(0.625, abs=0.01)
    assert np.bincount(draws.values.astype(int)) / 20_000 == pytest.approx([0.1, 0.2, 0.3, 0.4], abs=0.015)
    assert abs(draws.log_normalizer - math.log(10.0)) < 4.5 * draws.log_normalizer_error


def test_rejection_of_a_gaussian():
    """S3-047, S3-048: p̃ = exp(-x²/2), q = N(0, 2), k = √(4π): the rate is 1/√2, and draws are exact."""
    log_k = math.log(4 * math.pi) / 2
    draws = jt.sampling.rejection_sample(lambda x: -(x**2) / 2, jt.Gaussian(0.0, 2.0), log_k, 5000, rng=1)
    assert draws.acceptance_rate == pytest.approx(1 / math.sqrt(2), abs=0.02)
    assert kstest(draws.values, "norm").pvalue > 0.001
    with pytest.raises(jt.errors.InvalidData, match="exceeds its bound"):
        jt.sampling.rejection_sample(lambda x: -(x**2) / 2, jt.Gaussian(0.0, 2.0), log_k - 0.5, 5000, rng=1)
    with pytest.raises(jt.errors.InvalidData, match="only 0 of"):
        jt.sampling.rejection_sample(lambda x: -(x**2) / 2, jt.Gaussian(0.0, 2.0), log_k + 50, 5, max_tries=1000, rng=1)


def test_slices_of_two_humps():
    def log_density(x):
        return np.logaddexp(-((x + 2) ** 2) / 2, math.log(3.0) - (x - 2) ** 2 / 2)

    draws = jt.sampling.slice_sample(log_density, [-2.0, 0.0, 2.0, 5.0], 1500, width=4.0, rng=0)
    assert draws.summary()["x"].r_hat < 1.02
    assert (draws["x"] > 0).mean() == pytest.approx(0.75 * 0.97725 + 0.25 * 0.02275, abs=0.03)
    assert draws["x"].mean() == pytest.approx(1.0, abs=0.15)
    with pytest.raises(jt.errors.InvalidData, match="where log_density is finite"):
        jt.sampling.slice_sample(lambda x: np.where(x > 0, -x, -np.inf), -1.0, 10)


def test_the_bound_of_the_variance():
    """S0-286, S3-054, S3-055: (M²/n) ∫ p²/q, 4/3 · M²/n for the two coins; above the variance of each function."""
    bound = jt.sampling.importance_variance_bound
    p, q = np.array([0.5, 0.5]), np.array([0.25, 0.75])
    assert bound(p, q, 1.0, 1) == pytest.approx(4 / 3, rel=1e-12)
    assert bound(p, q, 3.0, 100) == pytest.approx(9 / 100 * 4 / 3, rel=1e-12)
    assert bound(p, q, 0.0, 100) == 0.0
    variances = []
    for f in product(np.linspace(-3, 3, 25), repeat=2):
        terms = np.array(f) * p / q
        variances.append(q @ (terms - q @ terms) ** 2)
    assert max(variances) <= bound(p, q, 3.0, 1)
    assert max(variances) == pytest.approx(bound(p, q, 3.0, 1))  # f = (3, -3), whose mean is 0, attains it
    gaussian = [bound(jt.Gaussian(0.0, 1.0), jt.Gaussian(0.0, variance), 1.0, 1) for variance in (2.0, 0.5, 0.25)]
    assert gaussian == pytest.approx([1.1547005, np.inf, np.inf], abs=5e-8)
    assert bound([0.5, 0.5], [1.0, 0.0], 1.0, 10) == np.inf
    with pytest.raises(jt.errors.InvalidData, match="largest"):
        bound(p, q, -1.0, 1)
