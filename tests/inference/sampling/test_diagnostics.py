"""Diagnostics of chains: equal to those of arviz-stats, and right where a closed form is known."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest

import juncture as jt
from juncture.inference.sampling.diagnostics import (
    autocorrelation,
    autocovariance,
    effective_sample_size,
    r_hat,
    standard_error,
)

RNG = np.random.default_rng(19)


def autoregressive(rho: float, shape: tuple[int, int], rng: np.random.Generator) -> np.ndarray:
    """x_t = ρ x_{t-1} + √(1 - ρ²) ε_t, stationary."""
    noise = rng.normal(size=shape)
    draws = noise.copy()
    for step in range(1, shape[1]):
        draws[:, step] = rho * draws[:, step - 1] + math.sqrt(1 - rho**2) * noise[:, step]
    return draws


def examples() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(7)
    normal = rng.normal(size=(4, 101))
    return {
        "independent": normal,
        "one odd chain": normal + np.array([0.0, 0.0, 0.0, 2.0])[:, None],
        "spreads differ": normal * np.array([1.0, 1.0, 1.0, 4.0])[:, None],
        "heavy tails": rng.standard_cauchy(size=(3, 200)),
        "sticky": autoregressive(0.95, (2, 400), rng),
        "antithetic": autoregressive(-0.8, (2, 150), rng),
        "alternating": np.tile([1.0, -1.0], (2, 30)) + 1e-3 * rng.normal(size=(2, 60)),
        "indicators": (autoregressive(0.6, (4, 250), rng) > 0.7).astype(float),
        "states": rng.integers(0, 4, size=(5, 80)).astype(float),
        "walk": np.cumsum(rng.normal(size=(4, 97)), axis=1),
        "shortest": rng.normal(size=(2, 4)),
        "five": rng.normal(size=(3, 5)),
        "eight": rng.normal(size=(2, 8)),
        "rare": (rng.random((4, 300)) < 0.004).astype(float),
        "shifted": 1e6 + rng.normal(size=(2, 90)),
    }


@pytest.mark.parametrize("kind", ["r_hat", "bulk", "tail", "mean", "mcse"])
def test_diagnostics_are_those_of_arviz_stats(kind):
    array_stats = pytest.importorskip("arviz_stats.base").array_stats
    ours = {"r_hat": r_hat, "mcse": standard_error}.get(kind, lambda array: effective_sample_size(array, kind))

    def theirs(array: np.ndarray) -> float:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if kind == "r_hat":
                return array_stats.rhat(array)
            if kind == "mcse":
                return array_stats.mcse(array, method="mean")
            return array_stats.ess(array, method=kind, prob=(0.05, 0.95) if kind == "tail" else None)

    for name, array in examples().items():
        assert np.isclose(ours(array), theirs(array), rtol=1e-10, atol=0), (name, ours(array), theirs(array))


def test_further_axes_are_columns_of_their_own():
    array = np.moveaxis(np.array([autoregressive(rho, (3, 60), RNG) for rho in (0.0, 0.3, 0.6, 0.9, -0.5, 0.2)]), 0, -1)
    array = array.reshape(3, 60, 2, 3)
    for function in (r_hat, effective_sample_size, standard_error):
        together = function(array)
        assert together.shape == (2, 3)
        apart = [[function(array[:, :, i, j]) for j in range(3)] for i in range(2)]
        assert np.allclose(together, apart, rtol=1e-12)
    assert r_hat(array[:, :, :0]).shape == (0, 3)


def test_effective_sample_size_of_an_autoregression():
    """τ = (1 + ρ) / (1 - ρ) of a stationary AR(1)."""
    rng = np.random.default_rng(3)
    for rho in (-0.5, 0.0, 0.5, 0.9):
        draws = autoregressive(rho, (8, 4000), rng)
        assert np.isclose(effective_sample_size(draws, "mean"), 32000 * (1 - rho) / (1 + rho), rtol=0.15)


def test_thinning_lowers_the_autocorrelation():
    """S2-174, S3-061: of every d-th draw of an AR(1) it is ρ^d; the mean of fewer draws is no better."""
    draws = autoregressive(0.8, (4, 12_000), np.random.default_rng(6))
    for step in (1, 2, 5):
        assert np.allclose(autocorrelation(draws[:, ::step])[:, 1], 0.8**step, atol=0.05)
    assert standard_error(draws) <= standard_error(draws[:, ::5])
    assert abs(draws.mean()) < 4 * standard_error(draws)


def test_autocovariances_are_the_sums_of_products():
    array = RNG.normal(size=(2, 11, 3))
    centred = array - array.mean(axis=1, keepdims=True)
    direct = [(centred[:, : 11 - lag] * centred[:, lag:]).sum(axis=1) / 11 for lag in range(11)]
    assert np.allclose(autocovariance(array), np.moveaxis(direct, 0, 1))
    assert np.allclose(autocorrelation(array)[:, 3], np.asarray(direct[3]) / np.asarray(direct[0]))


def test_constants():
    still, stuck = np.full((3, 20), 2.5), np.repeat([[1.0], [2.0]], 20, axis=1)
    assert r_hat(still) == 1.0
    assert r_hat(stuck) == math.inf
    assert effective_sample_size(still) == 60
    assert effective_sample_size(stuck, "mean") < 5  # four half chains
    assert standard_error(still) == 0.0
    assert np.array_equal(autocorrelation(still)[0], np.eye(20)[0])


def test_a_single_chain_is_compared_with_itself():
    rng = np.random.default_rng(5)
    assert r_hat(rng.normal(size=(1, 1000))) < 1.01
    assert r_hat(np.linspace(0, 1, 100)[None]) > 2


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ([1.0, 2.0, 3.0, 4.0], "axes"),
        ([[1.0, 2.0, 3.0]], "at least 4 draws"),
        ([[1.0, 2.0, math.nan, 4.0]], "finite"),
        ([["a", "b", "c", "d"]], "numbers"),
    ],
)
def test_what_is_no_array_of_draws_is_refused(values, words):
    with pytest.raises(jt.errors.InvalidData, match=words):
        r_hat(values)
