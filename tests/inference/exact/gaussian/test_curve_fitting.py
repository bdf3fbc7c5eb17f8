"""Bayesian curve fitting as a linear-Gaussian network: weights are roots, targets their children (S1-025 to S1-029)."""

from __future__ import annotations

import numpy as np
import pytest

import juncture as jt

ALPHA, NOISE = 5e-3, 1 / 11.1  # the precision of each weight, and the variance of a target
INPUTS = np.linspace(0.0, 1.0, 10)
TARGETS = np.array(  # Bishop's ten points: sin 2πx and noise
    [0.349486, 0.830839, 1.007332, 0.971507, 0.133066, 0.166823, -0.848307, -0.445686, -0.563567, 0.261502]
)
NEW = np.array([0.25, 1.0, -0.2, 1.5])


def design(inputs, degree):
    """Φ: a column for each power of the input, 1 first."""
    return np.vander(np.atleast_1d(inputs), degree + 1, increasing=True)


def curve(degree, inputs, alpha=ALPHA, noise=NOISE):
    """The network w0, w1, … → t0, t1, …, with a target for each input."""
    weights = [jt.Variable(f"w{power}") for power in range(degree + 1)]
    roots = [jt.LinearGaussian(weight, [], [], 0.0, 1.0 / alpha) for weight in weights]
    targets = [
        jt.LinearGaussian(jt.Variable(f"t{place}"), weights, powers, 0.0, noise)
        for place, powers in enumerate(design(inputs, degree))
    ]
    return jt.BayesianNetwork([*roots, *targets])


def seen(targets):
    return {f"t{place}": float(value) for place, value in enumerate(targets)}


def closed_form(degree, inputs, targets, alpha=ALPHA, noise=NOISE):
    """(m_N, S_N): S_N⁻¹ = αI + ΦᵀΦ/σ², m_N = S_N Φᵀt/σ²."""
    phi = design(inputs, degree)
    covariance = np.linalg.inv(alpha * np.eye(degree + 1) + phi.T @ phi / noise)
    return covariance @ phi.T @ targets / noise, covariance


def posterior(beliefs, degree):
    names = [f"w{power}" for power in range(degree + 1)]
    return beliefs.joint(*names) if degree else beliefs["w0"]


@pytest.mark.parametrize("degree", [1, 3, 9])
def test_weights_and_predictions_have_the_closed_forms(degree):
    """S1-028, S1-029, S0-334, S0-336, S4-014: N(m_N, S_N), and N(m_Nᵀφ, σ² + φᵀS_Nφ) at a new input."""
    model = curve(degree, [*INPUTS, *NEW])
    beliefs = jt.infer(model, seen(TARGETS))
    mean, covariance = closed_form(degree, INPUTS, TARGETS)
    found = posterior(beliefs, degree)
    assert found.mean == pytest.approx(mean, rel=1e-8, abs=1e-8)
    assert found.covariance == pytest.approx(covariance, rel=1e-8, abs=1e-8)
    for place, powers in enumerate(design(NEW, degree), start=len(INPUTS)):
        predicted = beliefs[f"t{place}"]
        assert predicted.mean == pytest.approx(powers @ mean, rel=1e-8)
        assert predicted.variance == pytest.approx(NOISE + powers @ covariance @ powers, rel=1e-8)
        assert predicted.variance > NOISE


def test_published_predictions_and_evidence():
    """S4-015 and S4-019: predictions of the polynomial of degree 9; the evidence is largest for degree 4."""
    beliefs = jt.infer(curve(9, [*INPUTS, *NEW]), seen(TARGETS))
    assert (beliefs["t10"].mean, beliefs["t10"].variance) == pytest.approx((0.917069, 0.121036), abs=5e-7)
    assert (beliefs["t11"].mean, beliefs["t11"].variance) == pytest.approx((0.253536, 0.178561), abs=5e-7)
    found = [jt.infer(curve(degree, INPUTS), seen(TARGETS)).log_evidence for degree in range(10)]
    published = [-23.1027, -17.8842, -20.3088, -13.9341, -13.7129, -14.3587, -14.9812, -15.4811, -15.9059, -16.2903]
    assert found == pytest.approx(published, abs=5e-5)


def test_the_evidence_is_the_product_of_predictions():
    """S4-016 to S4-018: each target is predicted from those before, in any order, and then observed."""
    model, total = curve(3, INPUTS), 0.0
    beliefs = jt.infer(model)
    for place in np.random.default_rng(0).permutation(10):
        total += beliefs[f"t{place}"].log_prob(TARGETS[place])
        beliefs = beliefs.with_evidence({f"t{place}": float(TARGETS[place])})
    assert total == pytest.approx(jt.infer(model, seen(TARGETS)).log_evidence, rel=1e-10)
    assert beliefs.log_evidence == pytest.approx(total, rel=1e-10)
    assert posterior(beliefs, 3).mean == pytest.approx(posterior(jt.infer(model, seen(TARGETS)), 3).mean, rel=1e-12)


def test_the_joint_density_and_the_evidence():
    """S1-026, S1-027, S4-017: log p(t, w) is the prior and a term for each target; p(t) is N(0, σ²I + ΦΦᵀ/α)."""
    weights = np.array([0.3, -1.0, 0.5])
    model, phi = curve(2, INPUTS), design(INPUTS, 2)
    row = {**seen(TARGETS), **{f"w{power}": float(weight) for power, weight in enumerate(weights)}}
    prior = jt.Gaussian(0.0, 1.0 / ALPHA).log_prob(weights).sum()
    likelihood = (TARGETS - phi @ weights) ** 2 / NOISE + np.log(2 * np.pi * NOISE)
    assert jt.log_prob(model, row) == pytest.approx(prior - 0.5 * likelihood.sum(), rel=1e-12)
    marginal = jt.MultivariateGaussian(np.zeros(10), NOISE * np.eye(10) + phi @ phi.T / ALPHA)
    assert jt.infer(model, seen(TARGETS)).log_evidence == pytest.approx(marginal.log_prob(TARGETS), rel=1e-10)


def test_limits():
    """S1-025, S1-028, S0-335: no rows give the prior, α → 0 least squares, any α ridge regression; M = 0 by hand."""
    model, phi = curve(2, INPUTS), design(INPUTS, 2)
    assert posterior(jt.infer(model), 2).covariance == pytest.approx(np.eye(3) / ALPHA)
    ridge = np.linalg.solve(phi.T @ phi + ALPHA * NOISE * np.eye(3), phi.T @ TARGETS)
    assert posterior(jt.infer(model, seen(TARGETS)), 2).mean == pytest.approx(ridge, rel=1e-10)
    flat = jt.infer(curve(2, INPUTS, alpha=1e-12), seen(TARGETS))
    assert posterior(flat, 2).mean == pytest.approx(np.linalg.lstsq(phi, TARGETS)[0], rel=1e-8)
    level = posterior(jt.infer(curve(0, INPUTS), seen(TARGETS)), 0)
    precision = ALPHA + len(TARGETS) / NOISE
    assert (level.mean, level.variance) == pytest.approx((TARGETS.sum() / NOISE / precision, 1 / precision))


def test_a_polynomial_goes_through_as_many_points_without_noise():
    """S1-025: with σ² = 0 and N = M + 1 the weights are those of the interpolation, and are certain."""
    points, values = [-1.0, 0.0, 0.5, 2.0], [1.0, -2.0, 0.25, 4.0]
    beliefs = jt.infer(curve(3, points, noise=0.0), seen(values))
    found = posterior(beliefs, 3)
    assert found.mean == pytest.approx(np.linalg.solve(design(points, 3), values), rel=1e-12)
    assert found.covariance == pytest.approx(np.zeros((4, 4)), abs=1e-12)
