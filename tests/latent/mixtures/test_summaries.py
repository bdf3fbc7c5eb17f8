"""Moments, quantiles and modes of mixtures; scores of rows, and holes that are filled."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import juncture as jt
from juncture.errors import Unsupported

SEEDS = st.integers(0, 2**32 - 1)


def random_mixture(seed):
    rng = np.random.default_rng(seed)
    number = int(rng.integers(1, 4))
    parts = [
        jt.Gaussian(*pair) for pair in zip(rng.normal(0, 3, number), 0.1 + rng.gamma(2.0, 1.0, number), strict=True)
    ]
    return jt.Mixture(rng.dirichlet(np.ones(number)), parts)


@given(seed=SEEDS)
def test_moments_quantiles_and_mode_are_those_of_the_density(seed):
    """S4-022: the mean, the median and the mode are the estimates of the losses with q = 2, 1 and 0."""
    mixture = random_mixture(seed)
    points = np.linspace(-30.0, 30.0, 3001)
    density = np.exp(mixture.log_prob(points))
    mean = np.trapezoid(points * density, points)
    assert mixture.mean == pytest.approx(mean, abs=1e-6)
    assert mixture.variance == pytest.approx(np.trapezoid((points - mean) ** 2 * density, points), rel=1e-6)
    for probability in (0.01, 0.5, 0.9):
        assert mixture.cdf(mixture.quantile(probability)) == pytest.approx(probability, abs=1e-12)
    assert mixture.median == mixture.quantile(0.5)
    assert mixture.log_prob(mixture.mode) >= mixture.log_prob(points).max() - 1e-9


def test_two_bumps_of_equal_height():
    """S4-022: ½N(3x, 1) + ½N(-3x, 1) has its mean and its median between the bumps, where the density is low."""
    mixture = jt.Mixture([0.5, 0.5], [jt.Gaussian(3.0, 1.0), jt.Gaussian(-3.0, 1.0)])
    assert (mixture.mean, mixture.variance) == (0.0, 10.0)
    assert mixture.median == pytest.approx(0.0, abs=1e-7)
    assert abs(mixture.mode) == pytest.approx(3.0, abs=1e-6)


def test_quantiles_of_counts_are_the_least_that_reach_the_probability():
    mixture = jt.Mixture([0.3, 0.7], jt.Poisson([2.0, 9.0]))
    below = np.cumsum(np.exp(mixture.log_prob(np.arange(60))))
    for probability in (0.0, 0.2, 0.5, 0.99):
        assert mixture.quantile(probability) == np.argmax(below >= probability)
    assert mixture.mode == np.argmax(mixture.log_prob(np.arange(60)))
    assert mixture.quantile(1.0) == np.inf


def test_the_mode_of_vectors_is_a_stationary_point_above_all_means():
    parts = [jt.MultivariateGaussian(mean, np.eye(2)) for mean in ([0.0, 0.0], [1.0, 1.0], [6.0, 0.0])]
    mixture = jt.Mixture([0.3, 0.3, 0.4], parts)
    assert all(mixture.log_prob(mixture.mode) >= mixture.log_prob(part.mean) for part in parts)
    assert mixture.mode == pytest.approx([0.5, 0.5], abs=0.01)
    with pytest.raises(Unsupported, match="quantiles are of mixtures of numbers"):
        mixture.quantile(0.5)


@given(seed=SEEDS)
def test_holes_are_filled_with_the_mean_of_the_conditional_distribution(seed):
    """By quadrature over the missing coordinate."""
    rng = np.random.default_rng(seed)
    covariances = [np.cov(rng.normal(size=(2, 6))) + 0.1 * np.eye(2) for _ in range(2)]
    parts = [jt.MultivariateGaussian(rng.normal(size=2), each) for each in covariances]
    mixture = jt.Mixture(rng.dirichlet([2, 2]), parts)
    row = np.array([rng.normal(), np.nan])
    points = np.linspace(-30, 30, 3001)
    density = np.exp(mixture.log_prob(np.c_[np.full(3001, row[0]), points]))
    density /= np.trapezoid(density, points)
    mean = np.trapezoid(points * density, points)
    found = jt.infer(mixture, [row, [1.0, 2.0]]).impute()
    assert found.mean[0] == pytest.approx([row[0], mean], abs=1e-6)
    assert found.standard_deviation[0, 1] ** 2 == pytest.approx(
        np.trapezoid((points - mean) ** 2 * density, points), rel=1e-5
    )
    assert found.standard_deviation[1].tolist() == [0.0, 0.0]


def test_columns_of_categories_are_filled_with_the_most_probable_code():
    columns = [jt.Gaussian([0.0, 9.0], 1.0), jt.Categorical([[0.9, 0.1], [0.2, 0.8]])]
    found = jt.infer(jt.Mixture([0.5, 0.5], jt.Independent(columns)), [[9.0, np.nan], [np.nan, 0.0]]).impute()
    assert found.mean[0, 1] == 1.0
    assert found.standard_deviation[0, 1] == pytest.approx(0.2, abs=1e-9)
    assert found.mean[1, 0] == pytest.approx(9 * 0.2 / 1.1)


def test_scores_of_rows():
    parts = [jt.MultivariateGaussian([0.0, 0.0], np.eye(2)), jt.MultivariateGaussian([8.0, 8.0], np.eye(2))]
    mixture = jt.Mixture([0.5, 0.5], parts)
    beliefs = jt.infer(mixture, [[0.0, 0.0], [4.0, 4.0], [4.0, np.nan], [np.nan, np.nan]])
    scores = beliefs.outlier_score()
    assert scores[0] < 0.1
    assert min(scores[1], scores[2]) > 0.95
    assert beliefs.code_length == pytest.approx(-np.log2(np.exp(beliefs.log_evidence)))
    assert beliefs.code_length[3] == 0.0
    rows = mixture.sample(2000, rng=0)
    assert jt.infer(mixture, rows).outlier_score(rng=1).mean() == pytest.approx(0.5, abs=0.05)
    assert jt.infer(mixture, rows).purity(rows[:, 0] > 4) > 0.99
    assert jt.infer(mixture, rows).purity(np.zeros(2000)) == 1.0
