"""The kernels of mixtures against the plain formulas."""

from __future__ import annotations

import numpy as np

from juncture.kernels.densities.mixtures import add_components, weight_shares


def test_sums_and_shares_of_components():
    rng = np.random.default_rng(0)
    parts, weights = rng.normal(scale=5.0, size=(50, 3, 4)), rng.dirichlet(np.ones(4), 3)
    weights[1] = [0.0, 0.5, 0.5, 0.0]
    parts[3, 2] = -np.inf
    parts[4] -= 1e4
    with np.errstate(divide="ignore"):
        log_weights = np.log(weights)
    joint = (parts + log_weights).astype(np.longdouble)
    expected = np.logaddexp.reduce(joint, axis=2)
    found, shares = np.empty((50, 3)), parts.reshape(50, 12).copy()
    add_components(shares, log_weights, found)
    np.testing.assert_allclose(found, expected.astype(float), rtol=1e-13, atol=1e-13)
    assert found[3, 2] == -np.inf
    possible = np.where(np.isfinite(expected), expected, 0)[..., None]
    np.testing.assert_allclose(shares.reshape(50, 3, 4), np.exp(joint - possible).astype(float), rtol=1e-11)
    beliefs = rng.random((50, 3))
    weighed = shares.copy()
    weight_shares(weighed, beliefs, 4)
    np.testing.assert_array_equal(weighed, shares * np.repeat(beliefs, 4, axis=1))
