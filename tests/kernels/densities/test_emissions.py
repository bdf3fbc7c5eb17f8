"""The kernels of emissions against the plain formulas."""

from __future__ import annotations

import numpy as np
import pytest

from juncture.kernels.densities.emissions import TILE, add_counts, diagonal_log_prob, diagonal_moments, full_log_prob

LENGTHS = [0, 1, TILE - 1, TILE, 3 * TILE + 5]


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.mark.parametrize("num_rows", LENGTHS)
def test_counts_are_sums_of_weights(rng, num_rows):
    codes, weights, counts = rng.integers(0, 4, num_rows), rng.random((num_rows, 3)), np.zeros((4, 3))
    add_counts(codes, weights, counts)
    expected = [[weights[codes == code, state].sum() for state in range(3)] for code in range(4)]
    np.testing.assert_allclose(counts, expected, rtol=1e-13)


@pytest.mark.parametrize("num_rows", LENGTHS)
def test_diagonal_log_prob_leaves_holes_out(rng, num_rows):
    rows, mean, half, constant = rng.normal(size=(num_rows, 3)), *rng.normal(size=(3, 5, 3))
    rows[rng.random(rows.shape) < 0.2] = np.nan
    found = np.empty((num_rows, 5))
    diagonal_log_prob(rows, mean, half, constant, found)
    terms = constant - half * (rows[:, None] - mean) ** 2
    np.testing.assert_allclose(found, np.nansum(terms, axis=2), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("num_rows", LENGTHS)
def test_full_log_prob_whitens_each_row(rng, num_rows):
    rows, mean, constant = rng.normal(size=(num_rows, 3)), rng.normal(size=(5, 3)), rng.normal(size=5)
    whitening = np.tril(rng.normal(size=(5, 3, 3)))
    found = np.empty((num_rows, 5))
    full_log_prob(rows, mean, whitening, constant, found)
    white = np.einsum("kij,nkj->nki", whitening, rows[:, None] - mean)
    np.testing.assert_allclose(found, constant - 0.5 * (white**2).sum(axis=2), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("num_rows", LENGTHS)
@pytest.mark.parametrize("shift", [0.0, 1e6])
def test_diagonal_moments_are_centred(rng, num_rows, shift):
    rows, weights = shift + rng.normal(size=(num_rows, 2)), rng.random((num_rows, 3))
    rows[rng.random(rows.shape) < 0.2] = np.nan
    weights[:, 2] = 0.0
    weight, pivot, center, scatter = diagonal_moments(rows, weights)
    seen = ~np.isnan(rows)
    shares = (weights[:, :, None] * seen[:, None]).astype(np.longdouble)
    values = np.where(seen, rows, 0.0).astype(np.longdouble)[:, None]
    total = shares.sum(axis=0)
    mean = (shares * values).sum(axis=0) / np.where(total > 0, total, 1)
    expected = (shares * (values - mean) ** 2).sum(axis=0)
    np.testing.assert_allclose(weight, total.astype(float), rtol=1e-13)
    np.testing.assert_allclose((pivot + center)[total > 0], mean[total > 0].astype(float), rtol=1e-15, atol=1e-15)
    np.testing.assert_allclose(scatter, expected.astype(float), rtol=1e-12, atol=1e-12)
