"""Black-box variational inference where JAX is installed; the refusal where it is not."""

from __future__ import annotations

import importlib.util
import math
import sys

import numpy as np
import pytest

import juncture as jt
from juncture.errors import InvalidData, InvalidModel, MissingExtra, Unsupported
from juncture.inference.variational.black_box import Climb
from juncture.inference.variational.jax_families import as_approximation

has_jax = importlib.util.find_spec("jax") is not None and importlib.util.find_spec("optax") is not None
needs_jax = pytest.mark.skipif(not has_jax, reason="the extra jax is not installed")
COVARIANCE = np.array([[1.0, 0.9], [0.9, 1.0]])


def correlated(z, x):
    """log N(z; x, covariance) + 2, so that log p(x) = 2."""
    precision = np.linalg.inv(COVARIANCE)
    return -0.5 * (z - x) @ precision @ (z - x) - 0.5 * np.linalg.slogdet(2 * np.pi * COVARIANCE)[1] + 2.0


def test_a_missing_jax_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "jax", None)
    with pytest.raises(MissingExtra, match=r"pip install 'juncture\[jax\]'"):
        jt.families.black_box_variational(correlated, jt.Gaussian(np.zeros(2), np.ones(2)), np.zeros(2), rng=0)
    with pytest.raises(MissingExtra, match=r"juncture\[jax\]"):
        jt.neural.amortized_variational(lambda z, x: 0.0, np.zeros((2, 1)), 1, rng=0)


def test_what_is_refused():
    with pytest.raises(InvalidData, match="q starts as a Gaussian"):
        jt.families.black_box_variational(correlated, 3, rng=0)
    with pytest.raises(InvalidData, match="gradient"):
        jt.families.black_box_variational(correlated, jt.Gaussian(), gradient="exact", rng=0)
    with pytest.raises(Unsupported, match="no smooth function"):
        jt.families.black_box_variational(correlated, jt.Categorical([0.5, 0.5]), gradient="reparametrization", rng=0)


@needs_jax
@pytest.mark.parametrize(("gradient", "error"), [("reparametrization", 0.03), ("score", 0.08)])
def test_independent_gaussians_find_the_mean_field_optimum(gradient, error):
    """S4-247, S4-250 to S4-252: variances 0.19 for a correlation of 0.9, and a gap of 0.830366."""
    x, start = np.array([1.0, -2.0]), jt.Gaussian(np.zeros(2), np.ones(2))
    fitted = jt.families.black_box_variational(correlated, start, x, gradient=gradient, draws=32, rng=0)
    assert fitted.q.mean == pytest.approx(x, abs=3 * error)
    assert fitted.q.variance == pytest.approx([0.19, 0.19], abs=error)
    assert fitted.bound.value == pytest.approx(2.0 - 0.830366, abs=5 * fitted.bound.standard_error + error)
    assert fitted.trace[-100:].mean() > fitted.trace[:100].mean()


@needs_jax
def test_a_correlated_gaussian_closes_the_gap():
    """S4-240: tight where the posterior is in the family."""
    fitted = jt.families.black_box_variational(
        correlated, jt.MultivariateGaussian(np.zeros(2), np.eye(2)), np.array([1.0, 0.5]), rng=0
    )
    assert fitted.q.covariance == pytest.approx(COVARIANCE, abs=0.05)
    assert fitted.bound.value == pytest.approx(2.0, abs=0.01)


@needs_jax
def test_both_gradients_have_one_mean_and_control_variates_lower_the_variance():
    """S4-250 to S4-252, against the exact gradient of the bound at the start."""
    mean, precision = np.array([0.5, -0.5]), np.linalg.inv(COVARIANCE)
    family = as_approximation(jt.Gaussian(np.zeros(2), np.ones(2)))
    exact = precision @ mean  # d/dm of -½ E (z - x)ᵀΛ(z - x)
    spreads = {}
    for gradient, control in (("score", False), ("score", True), ("reparametrization", True)):
        climb = Climb(lambda z: correlated(z, mean) - 20.0, family, gradient, control)
        found = climb.gradients(2000, 8)["mean"]
        spreads[gradient, control] = found.std(axis=0)
        assert found.mean(axis=0) == pytest.approx(exact, abs=5 * found.std(axis=0).max() / math.sqrt(2000))
    assert (spreads["score", True] < 0.5 * spreads["score", False]).all()
    assert (spreads["reparametrization", True] < 0.7 * spreads["score", True]).all()


@needs_jax
def test_a_discrete_model_ends_where_mean_field_does():
    """S4-250: independent categoricals for a network, with hard and soft evidence."""
    model, evidence = jt.example("cancer"), {"Xray": "positive", "Smoker": [0.9, 0.2]}
    fitted = jt.families.black_box_variational(model, data=evidence, draws=64, learning_rate=0.05, rng=0)
    found = jt.infer(model, evidence, method=jt.MeanField())
    assert sorted(fitted.q) == sorted(set(model.variables.names) - {"Xray"})
    assert fitted.bound.value == pytest.approx(found.log_evidence, abs=0.02)
    for name, shares in fitted.q.items():
        assert shares == pytest.approx(found[name].values, abs=0.03)
    with pytest.raises(Unsupported, match="positive probability"):
        jt.families.black_box_variational(jt.example("asia"), rng=0)


@needs_jax
def test_a_linear_encoder_is_the_posterior_of_probabilistic_pca():
    """S4-253: z ~ N(0, 1), x = w z + N(0, σ² I) has E z = wᵀx / (wᵀw + σ²)."""
    rng = np.random.default_rng(0)
    loading, noise = np.array([1.0, -0.5, 2.0]), 0.5
    rows = rng.standard_normal((400, 1)) * loading + math.sqrt(noise) * rng.standard_normal((400, 3))

    def log_joint(z, x):
        return -0.5 * (z**2).sum() - 0.5 * ((x - z * loading) ** 2).sum() / noise

    fitted = jt.neural.amortized_variational(log_joint, rows, 1, max_steps=1500, rng=0)
    q, total = fitted.encode(rows[:5]), loading @ loading + noise
    assert q.mean[:, 0] == pytest.approx(rows[:5] @ loading / total, abs=0.05)
    assert q.variance == pytest.approx(noise / total, abs=0.02)


@needs_jax
def test_parameters_are_learned_along_with_the_encoder():
    """S4-254, S4-255: the likelihood of linear decoders reaches that of probabilistic PCA."""
    from jax import numpy

    rng = np.random.default_rng(1)
    rows = rng.standard_normal((500, 1)) * [1.0, -1.0, 2.0] + 0.6 * rng.standard_normal((500, 3))

    def log_joint(z, x, theta):
        variance = numpy.exp(theta["log_variance"])
        misfit = ((x - z * theta["loading"]) ** 2).sum() / variance + 3 * theta["log_variance"]
        return -0.5 * (misfit + (z**2).sum() + 4 * math.log(2 * math.pi))

    first = {"loading": np.array([0.1, 0.2, 0.3]), "log_variance": 0.0}
    fitted = jt.neural.amortized_variational(log_joint, rows, 1, parameters=first, max_steps=3000, draws=8, rng=0)
    values, vectors = np.linalg.eigh(rows.T @ rows / len(rows))
    variance = values[:2].mean()
    loading = vectors[:, 2] * math.sqrt(values[2] - variance)
    assert np.exp(fitted.parameters["log_variance"]) == pytest.approx(variance, rel=0.1)
    assert abs(fitted.parameters["loading"] @ loading) == pytest.approx(loading @ loading, rel=0.1)


@needs_jax
def test_hidden_layers_and_numbers_that_are_not_finite():
    fitted = jt.neural.amortized_variational(
        lambda z, x: -((z - x**2) ** 2).sum(), [[0.5], [-1.0]], 1, hidden=[8], max_steps=50
    )
    assert fitted.encode([[0.5]]).mean.shape == (1, 1)
    assert "after 50 steps" in repr(fitted)
    with pytest.raises(InvalidModel, match="no finite number"):
        jt.families.black_box_variational(lambda z, x: z.sum() * np.nan, jt.Gaussian([0.0], [1.0]), max_steps=3, rng=0)
