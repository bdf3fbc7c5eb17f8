"""HMC and NUTS of blackjax where they are installed; the refusal where they are not."""

from __future__ import annotations

import importlib.util
import sys

import numpy as np
import pytest

import juncture as jt

has_blackjax = all(importlib.util.find_spec(name) is not None for name in ("jax", "blackjax"))
needs_blackjax = pytest.mark.skipif(not has_blackjax, reason="the extra jax is not installed")
COVARIANCE = np.array([[1.0, 0.8], [0.8, 2.0]])
PRECISION = np.linalg.inv(COVARIANCE)


def correlated(z):
    return -0.5 * z @ PRECISION @ z


@needs_blackjax
@pytest.mark.parametrize("method", ["nuts", "hmc"])
def test_moments_of_a_gaussian(method):
    draws = jt.sampling.sample_log_density(correlated, np.zeros(2), method=method, draws=1000, warmup=500, rng=1)
    assert draws["z"].shape == (4, 1000, 2)
    assert draws["z"].dtype == np.float64
    summary = draws.summary()
    assert summary.r_hat < 1.01
    assert all(abs(summary[label].mean) < 4 * summary[label].standard_error for label in ("z[0]", "z[1]"))
    squares = jt.sampling.Draws({"s": (draws["z"] - 0.0) ** 2}).summary()
    for index in range(2):
        row = squares[f"s[{index}]"]
        assert abs(row.mean - COVARIANCE[index, index]) < 4 * row.standard_error


@needs_blackjax
def test_names_and_a_positive_number():
    """The posterior of a rate under a Gamma(3, 2) prior and counts 4, 1: Gamma(8, 4), in the logarithm."""
    import jax.numpy as jnp

    def log_density(z):
        return 8 * z["log_rate"] - 4 * jnp.exp(z["log_rate"])

    draws = jt.sampling.sample_log_density(log_density, {"log_rate": 0.0}, draws=800, warmup=400, rng=2)
    row = jt.sampling.Draws({"rate": np.exp(draws["log_rate"])}).summary()["rate"]
    assert abs(row.mean - 2.0) < 4 * row.standard_error
    again = jt.sampling.sample_log_density(log_density, {"log_rate": 0.0}, draws=800, warmup=400, rng=2)
    assert np.array_equal(again["log_rate"], draws["log_rate"])


@needs_blackjax
def test_what_a_density_may_not_be():
    import jax.numpy as jnp

    with pytest.raises(jt.errors.InvalidModel, match="one number"):
        jt.sampling.sample_log_density(lambda z: z, np.zeros(2), rng=0)
    with pytest.raises(jt.errors.InvalidModel, match="not finite"):
        jt.sampling.sample_log_density(lambda z: jnp.log(-jnp.abs(z).sum()), np.zeros(2), rng=0)


@needs_blackjax
def test_divergences_are_reported():
    """Neal's funnel in the coordinates in which it is hard."""
    import jax.numpy as jnp

    def funnel(z):
        return -(z[0] ** 2) / 18 - 4.5 * z[0] - 0.5 * (z[1:] ** 2).sum() * jnp.exp(-z[0])

    with pytest.warns(jt.errors.NotConvergedWarning, match="diverged"):
        jt.sampling.sample_log_density(funnel, np.zeros(10), draws=500, warmup=300, rng=0)


def test_a_missing_blackjax_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "blackjax", None)
    with pytest.raises(jt.errors.MissingExtra, match=r"pip install 'juncture\[jax\]'"):
        jt.sampling.sample_log_density(correlated, np.zeros(2))


@pytest.mark.parametrize(
    ("start", "options", "words"),
    [
        (np.zeros(2), {"method": "gibbs"}, '"nuts" or "hmc"'),
        (np.zeros(2), {"draws": 0}, "at least 1"),
        ({}, {}, "mapping from names"),
        ({"a": "x"}, {}, "must be numbers"),
        ([np.nan], {}, "finite"),
    ],
)
def test_what_is_refused(start, options, words):
    with pytest.raises(jt.errors.InvalidData, match=words):
        jt.sampling.sample_log_density(correlated, start, **options)
