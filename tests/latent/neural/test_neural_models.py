"""Neural models: enumeration, closed forms and probabilistic PCA; what JAX learns, where it is installed."""

from __future__ import annotations

import importlib.util
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import juncture as jt
from juncture.latent.boltzmann.deep.layers import all_binary
from juncture.latent.neural.helmholtz import WakeSleepEpochs, log_given, log_ratios
from juncture.numerics.stable import sigmoid

has_jax = importlib.util.find_spec("jax") is not None and importlib.util.find_spec("optax") is not None
needs_jax = pytest.mark.skipif(not has_jax, reason="the extra jax is not installed")
seeds = st.integers(0, 2**32 - 1)
LINES = np.array([[1, 1, 0, 0], [0, 0, 1, 1], [1, 1, 1, 1]] * 60, float)


def correlated_rows(count: int = 400) -> np.ndarray:
    rng = np.random.default_rng(0)
    return rng.standard_normal((count, 2)) @ rng.standard_normal((2, 4)) + 0.3 * rng.standard_normal((count, 4)) + 1.0


def helmholtz(seed: int, visible: int = 3, hidden: int = 2) -> jt.neural.HelmholtzMachine:
    rng = np.random.default_rng(seed)
    shapes = ((visible, hidden), visible, hidden, (visible, hidden), hidden)
    return jt.neural.HelmholtzMachine(*(rng.standard_normal(shape) for shape in shapes))


def linear_vae(seed: int = 0) -> jt.neural.VariationalAutoencoder:
    rng = np.random.default_rng(seed)
    encoder = [(0.3 * rng.standard_normal((4, 4)), np.zeros(4))]
    return jt.neural.VariationalAutoencoder(encoder, [(rng.standard_normal((2, 4)), np.ones(4))], 0.5)


# --- autoencoders --------------------------------------------------------------------------------------------------


@given(seeds)
def test_no_input_of_length_one_moves_a_unit_more(seed):
    """S4-181: w / ‖w‖ maximises the unit among inputs of bounded length."""
    rng = np.random.default_rng(seed)
    model = jt.neural.Autoencoder.random(5, 2, hidden=[3], rng=seed)
    weights = model.encoder[0][0]
    best = model.maximizing_input(1)
    others = rng.standard_normal((50, 5))
    others /= np.linalg.norm(others, axis=1, keepdims=True)
    assert np.linalg.norm(best) == pytest.approx(1.0)
    assert (others @ weights[:, 1] <= best @ weights[:, 1] + 1e-12).all()


def test_principal_components_are_an_autoencoder():
    """S4-148, S4-177: encoder and decoder of PCA give back the rows but for the discarded eigenvalues."""
    rows = correlated_rows()
    mean, (_, sizes, axes) = rows.mean(axis=0), np.linalg.svd(rows - rows.mean(axis=0), full_matrices=False)
    model = jt.neural.Autoencoder([(axes[:2].T, -axes[:2] @ mean)], [(axes[:2], mean)])
    assert model.reconstruction_error(rows) == pytest.approx((sizes[2:] ** 2).sum(), rel=1e-10)
    assert model.decode(model.encode(rows[0])) == pytest.approx(model.decode(model.encode(rows))[0], abs=1e-12)


@needs_jax
def test_a_linear_autoencoder_reaches_the_error_of_principal_components():
    """S4-181."""
    rows = correlated_rows()
    best = (np.linalg.svd(rows - rows.mean(axis=0), compute_uv=False)[2:] ** 2).sum()
    fitted = jt.fit(jt.neural.Autoencoder.random(4, 2, rng=1), rows, learning_rate=0.02, epochs=60, rng=2)
    assert best <= fitted.model.reconstruction_error(rows) < 1.1 * best
    assert fitted.trace.num_steps == 60
    assert fitted.trace.values[-1] == pytest.approx(fitted.statistics.mean, rel=1e-5)
    assert fitted.statistics.standard_error > 0


# --- variational autoencoders --------------------------------------------------------------------------------------


def test_a_linear_decoder_is_probabilistic_pca():
    """S4-255: ELBO ≤ bound of 10 samples ≤ log p(x), the likelihood of probabilistic PCA."""
    model, rows = linear_vae(), correlated_rows(6)
    ((weights, shift),) = model.decoder
    exact = jt.log_prob(jt.ProbabilisticPCA(weights.T, shift, model.noise), rows)
    one, ten = (model.bound(rows, size, draws=5_000, rng=0) for size in (1, 10))
    error = jt.infer(model, rows, draws=5_000, rng=0).standard_error
    assert (one <= ten + 4 * error).all()
    assert (ten <= exact + 4 * error).all()
    assert (one < exact).all()


def test_the_bound_is_tight_with_the_posterior_as_encoder():
    """With one latent dimension the posterior is in the family: every draw has the ratio log p(x)."""
    weights, noise, shift = np.array([[0.5, -1.0, 2.0]]), 0.7, np.array([0.1, 0.2, 0.3])
    precision = float(1 + (weights**2).sum() / noise)
    up = np.concatenate([weights.T / noise / precision, np.zeros((3, 1))], axis=1)
    bias = np.array([-float(shift @ up[:, 0]), -0.5 * np.log(precision)])
    model = jt.neural.VariationalAutoencoder([(up, bias)], [(weights, shift)], noise)
    rows = np.random.default_rng(0).standard_normal((5, 3))
    exact = jt.log_prob(jt.ProbabilisticPCA(weights.T, shift, noise), rows)
    assert model.log_ratios(rows, 3, rng=0) == pytest.approx(np.repeat(exact[:, None], 3, axis=1), abs=1e-10)
    beliefs = jt.infer(model, rows[0], rng=0)
    assert beliefs.log_evidence == pytest.approx(exact[0], abs=1e-10)
    assert not beliefs.exact


@needs_jax
def test_a_linear_variational_autoencoder_learns_probabilistic_pca():
    """S4-255: the likelihood that it learns is that of the closed form within 0.1 a row."""
    rows = correlated_rows()
    fitted = jt.fit(linear_vae(3), rows, learning_rate=0.02, epochs=150, rng=0)
    ((weights, shift),) = fitted.model.decoder
    learned = jt.log_prob(jt.ProbabilisticPCA(weights.T, shift, fitted.model.noise), rows).mean()
    best = jt.fit(jt.ProbabilisticPCA.standard(4, 2), rows, method="closed-form").log_likelihood / len(rows)
    assert best - 0.1 < learned <= best + 1e-9
    assert fitted.log_likelihood / len(rows) < learned
    assert fitted.statistics.num_rows == 40


@needs_jax
def test_a_bernoulli_variational_autoencoder_learns_lines():
    first = jt.neural.VariationalAutoencoder.random(4, 2, "bernoulli", hidden=[8], rng=0)
    fitted = jt.fit(first, LINES, epochs=60, rng=1)
    assert fitted.statistics.mean > first.bound(LINES[:3], rng=0).mean() + 0.5
    drawn = jt.sample(fitted.model, 5, rng=0)
    assert len(drawn) == 5


def test_draws_have_the_moments_of_the_model():
    model = linear_vae()
    ((weights, shift),) = model.decoder
    drawn = np.stack(list(jt.sample(model, 20_000, rng=0).columns.values()), axis=1)
    covariance = weights.T @ weights + model.noise * np.eye(4)
    assert drawn.mean(axis=0) == pytest.approx(shift, abs=5 * np.sqrt(covariance.max() / 20_000))
    assert np.cov(drawn.T) == pytest.approx(covariance, abs=5 * covariance.max() * np.sqrt(2 / 20_000))


# --- Helmholtz machines --------------------------------------------------------------------------------------------


@given(seeds)
def test_log_p_is_the_sum_over_hidden_states(seed):
    """S4-256, by a network of tables."""
    model = helmholtz(seed)
    total = np.zeros(8)
    rows = all_binary(3)
    for h in all_binary(2):
        prior = np.prod(np.where(h == 1, sigmoid(model.hidden_bias), 1 - sigmoid(model.hidden_bias)))
        on = sigmoid(model.weights @ h + model.visible_bias)
        total += prior * np.prod(np.where(rows == 1, on, 1 - on), axis=1)
    assert np.exp(jt.log_prob(model, rows)) == pytest.approx(total, abs=1e-12)


def test_the_bound_of_the_recognition_network_is_below_log_p():
    model, row = helmholtz(3), np.array([[1.0, 0.0, 1.0]])
    states, odds = all_binary(2), row @ helmholtz(3).recognition_weights + helmholtz(3).recognition_bias
    q = np.exp(log_given(states, odds))
    joint = log_given(states, model.hidden_bias) + log_given(row, states @ model.weights.T + model.visible_bias)
    expected = q @ (joint - np.log(q))
    draws = log_ratios(model, np.repeat(row, 20_000, axis=0), np.random.default_rng(0))
    assert draws.mean() == pytest.approx(expected, abs=4 * draws.std() / np.sqrt(20_000))
    assert expected < jt.log_prob(model, row[0])


def test_the_wake_phase_rests_where_the_model_made_the_rows():
    """S4-256: with the exact posterior as q, the expected steps are 0 at the distribution of the model."""
    model = helmholtz(1, 3, 1)
    silent = np.logaddexp(0, model.visible_bias).sum() - np.logaddexp(0, model.visible_bias + model.weights[:, 0]).sum()
    exact = jt.neural.HelmholtzMachine(
        model.weights, model.visible_bias, model.hidden_bias, model.weights, model.hidden_bias + silent
    )
    rng = np.random.default_rng(0)
    rows = np.stack([jt.sample(exact, 40_000, rng=1).columns[f"v{unit}"] for unit in range(3)], axis=1).astype(float)
    moved = WakeSleepEpochs(exact, rows, jt.neural.WakeSleep(), rng).move(exact, rows, 1.0)
    for name in exact._fields:
        assert getattr(moved, name) == pytest.approx(getattr(exact, name), abs=5 * 0.5 / np.sqrt(40_000))


def test_wake_and_sleep_raise_the_likelihood():
    first = jt.neural.HelmholtzMachine.random(4, 3, rng=0)
    fitted = jt.fit(first, LINES, learning_rate=0.3, epochs=60, rng=1)
    assert fitted.statistics.exact
    assert fitted.log_likelihood == pytest.approx(jt.log_prob(fitted.model, LINES).sum())
    assert fitted.log_likelihood > jt.log_prob(first, LINES).sum() + 50
    large = jt.fit(jt.neural.HelmholtzMachine.random(4, 10, rng=0), LINES, epochs=3, rng=1)
    assert not large.statistics.exact
    assert large.statistics.standard_error > 0


# --- values and wrong input ----------------------------------------------------------------------------------------


def test_a_missing_jax_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "jax", None)
    for model in (jt.neural.Autoencoder.random(4, 2), jt.neural.VariationalAutoencoder.random(4, 2)):
        with pytest.raises(jt.errors.MissingExtra, match=r"juncture\[jax\]"):
            jt.fit(model, LINES)


def test_wrong_input_gets_a_sentence():
    model = jt.neural.Autoencoder.random(3, 2, rng=0)
    with pytest.raises(jt.errors.InvalidModel, match="one must undo the other"):
        jt.neural.Autoencoder([([[1.0]], [0.0])], [([[1.0, 1.0]], [0.0, 0.0])])
    with pytest.raises(jt.errors.InvalidModel, match="two for each"):
        jt.neural.VariationalAutoencoder([([[1.0]], [0.0])], [([[1.0]], [0.0])])
    with pytest.raises(jt.errors.InvalidModel, match="a pair of weights and bias"):
        jt.neural.Autoencoder([1.0], [1.0])
    with pytest.raises(jt.errors.InvalidModel, match="gives 1: make them equal"):
        jt.neural.Autoencoder([([[1.0]], [0.0]), ([[1.0], [1.0]], [0.0])], [([[1.0]], [0.0])])
    with pytest.raises(jt.errors.InvalidModel, match="there is no unit 2"):
        model.maximizing_input(2)
    with pytest.raises(jt.errors.InvalidModel, match="all 0"):
        jt.neural.Autoencoder([([[0.0]], [0.0])], [([[1.0]], [0.0])]).maximizing_input(0)
    with pytest.raises(jt.errors.InvalidData, match="complete rows"):
        model.encode([1.0, np.nan, 0.0])
    with pytest.raises(jt.errors.InvalidData, match="has 3 columns"):
        model.encode([1.0])
    with pytest.raises(jt.errors.InvalidData, match="are 0 or 1"):
        jt.infer(jt.neural.VariationalAutoencoder.random(3, 2, "bernoulli", rng=0), [1, 2, 0])
    with pytest.raises(jt.errors.InvalidModel, match="recognition_bias must have the shape"):
        jt.neural.HelmholtzMachine([[1.0]], [0.0], [0.0], [[1.0]], [0.0, 0.0])
    with pytest.raises(jt.TooLarge, match="2\\^17 hidden states"):
        jt.log_prob(jt.neural.HelmholtzMachine.random(2, 17, rng=0), [0, 1])
    with pytest.raises(jt.errors.InvalidData, match="no rows"):
        jt.fit(helmholtz(0), np.empty((0, 3)))
