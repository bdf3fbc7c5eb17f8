"""What weights say about themselves: closed forms, and ArviZ's smoothing."""

from __future__ import annotations

import math

import numpy as np
import pytest

from juncture.inference.sampling import importance_weights as weights


def test_chi_square_of_two_coins():
    """S0-287, S3-055: p = (1/2, 1/2), q = (1/4, 3/4): ∫ p²/q = 4/3, χ² = 1/3; here on draws in the shares of q."""
    logs = np.log([2.0, 2 / 3, 2 / 3, 2 / 3])
    assert weights.chi_square(logs) == pytest.approx(1 / 3)
    assert weights.effective_sample_size(logs) == pytest.approx(3.0)
    assert weights.log_mean(logs) == pytest.approx(0.0)  # S3-051: E w = 1


def test_chi_square_of_two_gaussians():
    """S3-055: N(0, 1) against N(0, s²) has s²/√(2s² - 1): 1.1547005 at s² = 2."""
    x = math.sqrt(2.0) * np.random.default_rng(0).standard_normal(400_000)
    logs = -(x**2) / 2 + x**2 / 4 + math.log(2.0) / 2
    assert weights.chi_square(logs) + 1.0 == pytest.approx(1.1547005, abs=0.003)


def test_weights_may_be_scaled():
    """S0-288, S3-058: only ratios of the weights matter; their mean is the ratio of the constants."""
    logs = np.random.default_rng(1).normal(size=1000)
    for shift in (-2000.0, 700.0):
        assert weights.effective_sample_size(logs + shift) == pytest.approx(weights.effective_sample_size(logs))
        assert weights.pareto_k(logs + shift) == pytest.approx(weights.pareto_k(logs))
        assert weights.log_mean(logs + shift) == pytest.approx(weights.log_mean(logs) + shift)


@pytest.mark.parametrize("spread", [0.3, 1.0, 3.0])
def test_smoothing_is_that_of_arviz(spread):
    stats = pytest.importorskip("arviz_stats.base")
    logs = np.random.default_rng(2).normal(scale=spread, size=2000)
    theirs, k = stats.array_stats.psislw(-logs)  # which takes log-likelihoods
    mine, own_k = weights.smooth_weights(logs)
    assert own_k == pytest.approx(float(k), abs=1e-10)
    assert weights.pareto_k(logs) == own_k
    difference = mine - theirs  # theirs are normalised
    assert difference == pytest.approx(np.full(2000, difference[0]), abs=1e-10)


@pytest.mark.parametrize("k", [0.2, 0.5, 0.9])
def test_the_shape_of_a_tail_is_found(k):
    uniforms = np.random.default_rng(3).random(20_000)
    logs = np.log1p((uniforms**-k - 1.0) / k)
    assert weights.pareto_k(logs) == pytest.approx(k, abs=0.15)


@pytest.mark.parametrize("logs", [np.zeros(100), np.full(3, -5.0), np.r_[np.zeros(50), np.full(50, -np.inf)]])
def test_equal_weights_have_no_tail(logs):
    smoothed, k = weights.smooth_weights(logs)
    assert abs(k) == math.inf
    assert np.array_equal(smoothed, logs)
    assert weights.has_reliable_errors(logs)


def test_no_weight_at_all():
    logs = np.full(10, -np.inf)
    assert weights.effective_sample_size(logs) == 0.0
    assert weights.chi_square(logs) == math.inf


def test_weights_of_too_heavy_a_tail_are_not_trusted():
    """S3-056: a proposal that is too narrow."""
    x = 0.3 * np.random.default_rng(4).standard_normal(5000)
    logs = -(x**2) / 2 + x**2 / (2 * 0.09)
    assert weights.pareto_k(logs) > 0.7
    assert not weights.has_reliable_errors(logs)
