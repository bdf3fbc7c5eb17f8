"""Classifiers from given densities: Bayes' rule, the log-linear form, hyperplanes, draws."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import softmax
from scipy.stats import multivariate_normal

import juncture as jt
from juncture.components.bernoulli import BernoulliEmissions
from juncture.components.gaussian import GaussianEmissions
from juncture.components.word_counts import MultinomialCounts
from juncture.supervised import GenerativeClassifier, LinearForm

seeds = st.integers(0, 2**32 - 1)


def test_given_densities_are_classified_by_bayes_rule():
    """S2-078, S2-081, S2-082: any families and priors; the joint table; one argmax of three forms."""
    table = np.array([[0.7, 0.2, 0.1], [0.1, 0.3, 0.6]])
    classes = GenerativeClassifier([0.25, 0.75], jt.CategoricalEmissions(table), ["a", "b"])
    joint = np.array([0.25, 0.75])[:, None] * table
    rows = np.arange(3.0)
    assert classes.predict_proba(rows) == pytest.approx((joint / joint.sum(axis=0)).T)
    assert np.exp(classes.log_prob(rows)) == pytest.approx(joint.sum(axis=0))
    assert classes.predict(rows).tolist() == ["a", "b", "b"]
    assert (classes.log_joint(rows).argmax(axis=1) == classes.predict_proba(rows).argmax(axis=1)).all()
    mixed = GenerativeClassifier([0.5, 0.5], [jt.Gaussian(0.0, 1.0), jt.Laplace(0.0, 1.0)])
    log = np.stack([jt.Gaussian(0.0, 1.0).log_prob(rows), jt.Laplace(0.0, 1.0).log_prob(rows)], axis=1)
    assert mixed.predict_proba(rows) == pytest.approx(softmax(log, axis=1))


def test_the_bayes_error_of_two_gaussians_is_that_of_draws():
    """S2-080: N(-1, 1) and N(1, 1) with equal priors have the error Φ(-1) = 0.158655."""
    classes = GenerativeClassifier([0.5, 0.5], jt.Gaussian([-1.0, 1.0], 1.0))
    grid = np.linspace(-12.0, 12.0, 48001)
    error = np.exp(classes.log_prob(grid)) * (1.0 - classes.predict_proba(grid).max(axis=1))
    assert error.sum() * (grid[1] - grid[0]) == pytest.approx(0.158655, abs=1e-6)
    drawn = jt.sample(classes, 4000, rng=0)
    rows, codes = drawn.columns["x0"], drawn.columns["y"]
    assert np.mean(classes.predict(rows) != codes) == pytest.approx(0.158655, abs=0.02)


def test_the_hyperplane_between_spherical_gaussians():
    """S2-087, S2-088: x0 = (1, 0) for equal priors, (1.693147, 0) for .8 and .2; w along the means."""
    means = np.array([[0.0, 0.0], [2.0, 0.0]])
    for prior, wanted in (([0.5, 0.5], 1.0), ([0.8, 0.2], 1.0 + np.log(2.0))):
        classes = GenerativeClassifier(prior, GaussianEmissions(means, np.eye(2), "tied"))
        weights, point = classes.hyperplane(0, 1)
        assert point == pytest.approx([wanted, 0.0])
        assert weights == pytest.approx(means[0] - means[1])
        assert classes.predict_proba([point])[0] == pytest.approx([0.5, 0.5])
    form = classes.linear_form()
    assert form.weights == pytest.approx(means)
    assert form.intercepts == pytest.approx(-0.5 * (means**2).sum(axis=1) + np.log([0.8, 0.2]))


@given(seeds)
def test_the_posterior_of_gaussians_with_one_covariance_is_logistic(seed):
    """S0-054, S0-273, S2-085, S2-089, S3-025, S4-112: softmax of Σ⁻¹μ · x - ½ μᵀΣ⁻¹μ + log π is Bayes' rule."""
    rng = np.random.default_rng(seed)
    size, number = rng.integers(1, 4), rng.integers(2, 4)
    root, means, prior = rng.normal(size=(size, size)), rng.normal(size=(number, size)), rng.dirichlet(np.ones(number))
    covariance = root @ root.T + 0.5 * np.eye(size)
    classes = GenerativeClassifier(prior, GaussianEmissions(means, covariance, "tied"))
    rows = rng.normal(size=(5, size))
    logs = [multivariate_normal(mean, covariance).logpdf(rows) for mean in means]
    expected = softmax(np.reshape(logs, (number, 5)).T + np.log(prior), axis=1)
    form = classes.linear_form()
    assert classes.predict_proba(rows) == pytest.approx(expected)
    assert softmax(rows @ form.weights.T + form.intercepts, axis=1) == pytest.approx(expected)


DENSITIES = {
    "bernoulli": lambda rng: (BernoulliEmissions(rng.uniform(0.05, 0.95, (3, 4))), rng.integers(0, 2, (6, 4))),
    "words": lambda rng: (MultinomialCounts(rng.dirichlet(np.ones(4), 3)), rng.poisson(2.0, (6, 4))),
    "poisson": lambda rng: (jt.Poisson(rng.gamma(2.0, 1.0, 3)), rng.poisson(2.0, 6)),
    "exponential": lambda rng: (jt.Exponential(rng.gamma(2.0, 1.0, 3)), rng.gamma(2.0, 1.0, 6)),
    "geometric": lambda rng: (jt.Geometric(rng.uniform(0.1, 0.9, 3)), rng.poisson(2.0, 6)),
    "columns": lambda rng: (
        jt.Independent([jt.Poisson(rng.gamma(2.0, 1.0, 3)), jt.Bernoulli(rng.uniform(0.1, 0.9, 3))]),
        rng.integers(0, 2, (6, 2)),
    ),
}


@pytest.mark.parametrize("kind", DENSITIES)
@given(seed=seeds)
def test_exponential_families_are_log_linear(kind, seed):
    """S0-266, S2-232, S0-370: [w_k]_j = log μ/(1-μ), b_k = log π_k + Σ log(1-μ_jk) (E88 corrected), and so on."""
    rng = np.random.default_rng(seed)
    densities, rows = DENSITIES[kind](rng)
    classes = GenerativeClassifier(rng.dirichlet(np.ones(3)), densities)
    form = classes.linear_form()
    table = np.reshape(rows, (6, -1)).astype(float)
    found = softmax(table @ form.weights.T + form.intercepts, axis=1)
    assert found == pytest.approx(classes.predict_proba(rows.astype(float)), abs=1e-12)
    weights, intercept = form.log_odds(2, 0)
    odds = classes.predict_log_proba(rows.astype(float))
    assert table @ weights + intercept == pytest.approx(odds[:, 2] - odds[:, 0], abs=1e-9)


@given(seeds)
def test_missing_entries_are_summed_out(seed):
    """Zeros and ones against a sum over what is missing; Gaussian vectors against their marginals."""
    rng = np.random.default_rng(seed)
    prior, table = rng.dirichlet(np.ones(2)), rng.uniform(0.05, 0.95, (2, 3))
    classes = GenerativeClassifier(prior, BernoulliEmissions(table))
    both = np.logaddexp(*(classes.log_joint([[1.0, cell, 0.0]]) for cell in (0.0, 1.0)))
    assert classes.log_joint([[1.0, np.nan, 0.0]]) == pytest.approx(both)
    assert classes.predict_proba([[np.nan] * 3])[0] == pytest.approx(prior)


def test_impossible_rows_get_the_prior_and_one_warning():
    classes = GenerativeClassifier([0.25, 0.75], BernoulliEmissions([[0.0, 0.5], [0.0, 0.5]]))
    with pytest.warns(jt.errors.ImpossibleEvidenceWarning, match="1 of 2 rows .* the first is row 1"):
        found = classes.predict_proba([[0.0, 1.0], [1.0, 1.0]])
    assert found == pytest.approx(np.array([[0.25, 0.75]] * 2))
    certain = GenerativeClassifier([0.5, 0.5], BernoulliEmissions([[1.0, 0.0], [0.5, 0.5]]))
    assert certain.predict_proba([[1.0, 0.0], [1.0, 1.0]]) == pytest.approx(np.array([[0.8, 0.2], [0.0, 1.0]]))


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        (lambda: GenerativeClassifier([0.5, 0.5], jt.Gaussian([0.0, 1.0], 1.0), ["a"]), "2 classes, but 1 labels"),
        (lambda: GenerativeClassifier([0.5, 0.5], jt.Gaussian([0.0], 1.0)), "2 weights, but 1 components"),
        (lambda: GenerativeClassifier([0.5, 0.5], jt.Gaussian([0.0, 1.0], [1.0, 2.0])).linear_form(), "quadratic"),
        (lambda: GenerativeClassifier([0.5, 0.5], jt.Laplace([0.0, 1.0], 1.0)).linear_form(), "not linear"),
        (lambda: GenerativeClassifier([0.5, 0.5], BernoulliEmissions([[0.0], [1.0]])).linear_form(), "pseudo-count"),
        (lambda: GenerativeClassifier([0.5, 0.5], jt.Gaussian([0.0, 1.0], 1.0)).predict(0.5), "a list of rows"),
        (lambda: GenerativeClassifier([0.5, 0.5], jt.Poisson([1.0, 2.0])).hyperplane(0, 1), "is one of Gaussians"),
        (lambda: GenerativeClassifier([0.5, 0.5], jt.Gaussian([0.0, 1.0], 1.0), "ab"), "must be a list"),
        (lambda: GenerativeClassifier([0.5, 0.5], jt.Poisson([1.0, 2.0]), ["a", "b"]).code("c"), "no class 'c'"),
        (
            lambda: GenerativeClassifier([0.5, 0.5], BernoulliEmissions([[0.5], [0.1]])).predict([[0.5]]),
            "zeros and ones",
        ),
        (
            lambda: GenerativeClassifier([0.5, 0.5], MultinomialCounts([[0.5, 0.5]] * 2)).predict([[-1, 1]]),
            "at least 0",
        ),
        (lambda: LinearForm([[1.0]], [0.0, 1.0]), "one entry a class"),
    ],
)
def test_what_is_wrong_is_said_in_a_sentence(ask, words):
    with pytest.raises(jt.JunctureError, match=words):
        ask()


def test_draws_have_the_asked_class():
    classes = GenerativeClassifier([0.5, 0.5], jt.Gaussian([-9.0, 9.0], 1.0), ["left", "right"])
    drawn = jt.sample(classes, 5, given={"y": "right"}, rng=0)
    assert drawn.columns["y"].tolist() == [1] * 5
    assert (drawn.columns["x0"] > 0).all()
    assert classes.with_prior([0.1, 0.9]).prior.tolist() == [0.1, 0.9]
    assert classes.num_parameters == 1 + 4
    assert "left" in repr(classes)
    assert "right" in classes._repr_html_()
