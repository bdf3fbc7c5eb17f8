"""The evidence lower bound of latent models: its forms, its gap, and where it touches the log-likelihood."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad

import juncture as jt

SEEDS = st.integers(0, 10_000)


def gaussians(rng):
    model = jt.Mixture(rng.dirichlet([2, 2, 2]), jt.MultivariateGaussian(rng.normal(size=(3, 2)), np.eye(2)))
    return model, np.asarray(model.sample(6, rng=rng))


def mixed(rng):
    columns = [jt.Gaussian(rng.normal(size=2), 1.0), jt.Poisson([1.0, 4.0]), jt.Categorical(rng.dirichlet([1, 1], 2))]
    model = jt.Mixture(rng.dirichlet([2, 2]), jt.Independent(columns))
    return model, np.asarray(model.sample(6, rng=rng), float)


def drawn(seed):
    """A mixture, rows with holes of which one is missing completely, and responsibilities at random."""
    rng = np.random.default_rng(seed)
    model, rows = (gaussians, mixed)[seed % 2](rng)
    rows[rng.random(rows.shape) < 0.2] = np.nan
    rows[3] = np.nan
    q = rng.dirichlet(np.ones(model.num_components), len(rows))
    q[0] = np.eye(model.num_components)[0]
    return model, rows, q


@given(seed=SEEDS)
def test_the_three_forms_of_a_mixture_agree(seed):
    """S4-155, S4-156, S0-070: below log p(row), by the divergence from the posterior."""
    model, rows, q = drawn(seed)
    found = jt.elbo(model, q, rows)
    assert list(found.forms.values()) == pytest.approx([found.value] * 3, rel=1e-12, abs=1e-12)
    assert found.log_evidence == pytest.approx(jt.log_prob(model, rows), rel=1e-12)
    assert (found.values <= found.log_evidence + 1e-12).all()
    posterior = jt.infer(model, rows)["component"].values
    divergence = [jt.information.kl_divergence(mine, theirs) for mine, theirs in zip(q, posterior, strict=True)]
    assert found.gap == pytest.approx(divergence, rel=1e-9, abs=1e-12)
    exact = jt.elbo(model, jt.infer(model, rows), rows)
    assert exact.gap == pytest.approx(np.zeros(len(rows)), abs=1e-12)


@given(seed=SEEDS)
def test_more_draws_tighten_the_bound(seed):
    """S4-157: never below the bound of fewer draws, never above log p(row), and near it with many."""
    model, rows, q = drawn(seed)
    q = 0.9 * q + 0.1 / model.num_components
    found = jt.elbo(model, q, rows)
    courses = np.array([found.multi_sample(number) for number in (1, 2, 3, 8, 25)])
    assert courses[0] == pytest.approx(found.values, rel=1e-12)
    assert (np.diff(courses, axis=0) >= -1e-12).all()
    assert (courses <= found.log_evidence + 1e-12).all()


def test_problem_5_2():
    """S4-156, S4-157: the numbers of one observation 2.75, with θ = 1 and q uniform."""
    model = jt.Mixture([0.5, 0.5], [jt.Gaussian(1.0, 0.5), jt.Gaussian(2.0, 0.5)])
    found = jt.elbo(model, [0.5, 0.5], [2.75])
    assert found.value == pytest.approx(-2.3848649429, abs=1e-10)
    assert found.log_evidence == pytest.approx([-1.7491223892], abs=1e-10)
    courses = [found.multi_sample(number)[0] for number in (1, 2, 3, 5, 10)]
    assert courses == pytest.approx([-2.384865, -2.066994, -1.939307, -1.844830, -1.789891], abs=1e-6)
    ratios = np.exp(model.component_log_prob(2.75) - jt.log_prob(model, 2.75))  # p(x, z) / (q(z) p(x))
    left = found.log_evidence - found.multi_sample(400)
    assert left == pytest.approx(np.var(ratios) / 800, rel=0.05)  # the variance over 2K, and terms of the order 1/K²
    assert jt.elbo(model, {"component": [0.5, 0.5]}, 2.75).value == found.value


@given(seed=SEEDS)
def test_rows_together_are_all_assignments(seed):
    """S0-066, S1-161: E log p(rows, components) by a sum over all assignments of components to rows."""
    model, rows, q = drawn(seed)
    rows, q = rows[:3], q[:3]
    logs = np.log(model.weights) + model.component_log_prob(rows)
    total = 0.0
    for assignment in product(range(model.num_components), repeat=3):
        total += np.prod(q[range(3), assignment]) * logs[range(3), assignment].sum()
    assert jt.elbo(model, q, rows).expected_log_joint.sum() == pytest.approx(total, rel=1e-10)


def test_a_mixture_is_a_network():
    z, x = jt.Variable("z", 2), jt.Variable("x", 3)
    table = [[0.7, 0.2, 0.1], [0.1, 0.3, 0.6]]
    network = jt.BayesianNetwork([jt.Conditional(z, [], [0.4, 0.6]), jt.Conditional(x, [z], table)])
    by_listing = jt.elbo(network, {"z": [0.2, 0.8]}, {"x": 1})
    found = jt.elbo(jt.Mixture([0.4, 0.6], jt.Categorical(table)), [0.2, 0.8], 1)
    assert list(found.forms.values()) == pytest.approx(list(by_listing.forms.values()), rel=1e-12)
    assert found.multi_sample(4) == pytest.approx(by_listing.multi_sample(4), rel=1e-12)


@given(seed=SEEDS)
def test_the_bound_has_the_slope_of_the_log_likelihood_where_it_touches(seed):
    """S1-160, S4-160, S0-067: Fisher's identity for the means of a mixture, by finite differences."""
    rng = np.random.default_rng(seed)
    model, rows = gaussians(rng)
    direction = rng.normal(size=(3, 2))
    q = jt.infer(model, rows)

    def moved(size):
        means = np.array([part.mean for part in model]) + size * direction
        return jt.Mixture(model.weights, jt.MultivariateGaussian(means, np.eye(2)))

    for size in (-0.7, 0.4):
        assert jt.elbo(moved(size), q, rows).value <= jt.log_prob(moved(size), rows).sum()
    step = 1e-5
    slopes = [
        (of(moved(step)) - of(moved(-step))) / (2 * step)
        for of in (lambda each: jt.log_prob(each, rows).sum(), lambda each: jt.elbo(each, q, rows).value)
    ]
    assert slopes[0] == pytest.approx(slopes[1], rel=1e-5, abs=1e-5)


def factors(seed):
    rng = np.random.default_rng(seed)
    model = jt.FactorAnalysis(rng.normal(size=(4, 2)), rng.normal(size=4), rng.uniform(0.5, 2.0, 4))
    rows = rng.normal(size=(5, 4))
    rows[rng.random(rows.shape) < 0.2] = np.nan
    rows[2] = np.nan
    root = rng.normal(size=(5, 2, 2))
    return model, rows, jt.MultivariateGaussian(rng.normal(size=(5, 2)), root @ np.swapaxes(root, 1, 2) + np.eye(2))


@given(seed=SEEDS)
def test_the_three_forms_of_factors_agree(seed):
    """S4-155, S4-167: Gaussians over the factors of rows with holes."""
    model, rows, q = factors(seed)
    found = jt.elbo(model, q, rows)
    assert list(found.forms.values()) == pytest.approx([found.value] * 3, rel=1e-10)
    assert (found.gap >= 0).all()
    assert found.log_evidence == pytest.approx(jt.log_prob(model, rows), rel=1e-12)
    exact = jt.elbo(model, jt.infer(model, rows), rows)
    assert exact.values == pytest.approx(exact.log_evidence, rel=1e-10, abs=1e-10)


def test_the_bound_of_one_factor_by_quadrature():
    model = jt.ProbabilisticPCA([[1.0], [2.0], [-0.5]], [0.0, 1.0, 2.0], 0.7)
    row = np.array([0.3, np.nan, 1.0])
    q = jt.MultivariateGaussian([0.4], [[0.3]])

    def integrand(z):
        noise = jt.Gaussian(model.mean[[0, 2]] + model.loadings[[0, 2], 0] * z, 0.7)
        log_joint = np.sum(noise.log_prob(row[[0, 2]])) + jt.Gaussian(0.0, 1.0).log_prob(z)
        log_q = jt.Gaussian(0.4, 0.3).log_prob(z)
        return np.exp(log_q) * (log_joint - log_q)

    assert jt.elbo(model, q, row).value == pytest.approx(quad(integrand, -8, 8, epsabs=1e-11)[0], abs=1e-9)


@pytest.mark.parametrize(
    ("q", "message"),
    [
        ([0.5, 0.4], "sums to 0.9"),
        ([[0.5, 0.5]] * 3, "must have the shape"),
        ({"state": [0.5, 0.5]}, 'of "component" and of nothing else'),
        ("posterior", "q, the probabilities of the components"),
    ],
)
def test_a_wrong_q_is_refused(q, message):
    model = jt.Mixture([0.5, 0.5], [jt.Gaussian(1.0, 0.5), jt.Gaussian(2.0, 0.5)])
    with pytest.raises(jt.JunctureError, match=message):
        jt.elbo(model, q, [1.0, 2.0])


def test_what_a_component_cannot_make_has_no_bound():
    model = jt.Mixture([0.5, 0.5], jt.Categorical([[1.0, 0.0], [0.5, 0.5]]))
    with pytest.raises(jt.JunctureError, match="the model excludes"):
        jt.elbo(model, [0.5, 0.5], [1, 0])
    assert jt.elbo(model, [[0.0, 1.0], [0.5, 0.5]], [1, 0]).multi_sample(2)[0] == pytest.approx(np.log(0.25))


def test_a_wrong_q_of_factors_is_refused():
    model, rows, _ = factors(0)
    with pytest.raises(jt.JunctureError, match="q must be a MultivariateGaussian"):
        jt.elbo(model, [0.0, 1.0], rows)
    with pytest.raises(jt.JunctureError, match="over 2 factors"):
        jt.elbo(model, jt.MultivariateGaussian(np.zeros((3, 2)), np.eye(2)), rows)
