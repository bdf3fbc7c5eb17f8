"""Independent components and independent factors, against closed forms, integrals, factor analysis and FastICA."""

from __future__ import annotations

import warnings
from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import quad
from sklearn.decomposition import FastICA

import juncture as jt
from juncture.errors import InvalidData, InvalidModel, NotIdentifiedWarning, Unsupported

MIXING = np.array([[2.0, 1.0], [0.5, -1.0]])
DENSE = jt.FactorAnalysis([[1.0, 0.0], [1.0, -1.0], [0.5, 2.0]], [0.0, 1.0, 2.0], [0.5, 1.0, 2.0])


def amari_index(unmixing, mixing):
    """0 where the product is a scaled permutation, at most 1 (Amari, Cichocki and Yang 1996)."""
    product = np.abs(unmixing @ mixing)
    size = len(product)
    over = (product / product.max(axis=1, keepdims=True)).sum() + (product / product.max(axis=0)).sum()
    return (over - 2 * size) / (2 * size * (size - 1))


def drawn(seed, size=1000):
    """Two uniform sources; one uniform, one Laplace and one exponential; three Laplace: each mixed at random."""
    rng = np.random.default_rng(seed)
    for columns in (
        [rng.uniform(-1, 1, size), rng.uniform(-1, 1, size)],
        [rng.uniform(-1, 1, size), rng.laplace(size=size), rng.exponential(size=size)],
        rng.laplace(size=(3, size)),
    ):
        sources = np.transpose(columns)
        mixing = rng.normal(size=(sources.shape[1],) * 2)
        yield sources, mixing, sources @ mixing.T + 3.0


# --- independent components ------------------------------------------------------------------------------------------
def test_two_uniform_sources_are_unmixed_up_to_order_and_sign():
    """S4-169."""
    sources, mixing, rows = next(drawn(0))
    model = jt.fit(jt.IndependentComponents.standard(2), rows).model
    found = jt.infer(model, rows).mean
    table = np.abs(np.corrcoef(sources.T, found.T)[:2, 2:])
    assert sorted(table.argmax(axis=1).tolist()) == [0, 1]
    assert table.max(axis=1).min() > 0.999
    assert amari_index(model.unmixing, mixing) < 0.03
    assert {density.num_components for density in model.sources} == {3}
    assert max(float(np.mean(column**4)) for column in found.T) < 2.1  # a uniform one of variance 1 has 1.8


def test_it_unmixes_no_worse_than_fast_ica():
    """S4-169: the index of Amari, on average over eight draws of each of three mixtures."""
    indices = {"ours": np.zeros(3), "theirs": np.zeros(3)}
    for seed in range(8):
        for at, (_, mixing, rows) in enumerate(drawn(seed, 400)):
            fitted = jt.fit(jt.IndependentComponents.standard(len(mixing)), rows)
            other = FastICA(whiten="unit-variance", random_state=0, tol=1e-8, max_iter=2000).fit(rows)
            indices["ours"][at] += amari_index(fitted.model.unmixing, mixing) / 8
            indices["theirs"][at] += amari_index(other.components_, mixing) / 8
    assert (indices["ours"] <= indices["theirs"]).all(), indices


def test_the_density_is_that_of_the_sources_over_the_volume():
    model = jt.IndependentComponents(MIXING, [1.0, 2.0], [jt.Laplace(0.5, 2.0), jt.StudentT(3.0)])
    point = np.array([0.3, -1.2])
    expected = -abs(0.3 - 0.5) / 2 - np.log(4) + float(jt.StudentT(3.0).log_prob(-1.2)) - np.log(2.5)
    assert jt.log_prob(model, MIXING @ point + [1.0, 2.0]) == pytest.approx(expected, rel=1e-12)
    gaussian = jt.IndependentComponents(MIXING, [1.0, 2.0], jt.Gaussian(0.0, 1.0))
    rows = np.random.default_rng(0).normal(size=(9, 2))
    same = jt.MultivariateGaussian([1.0, 2.0], MIXING @ MIXING.T).log_prob(rows)
    assert jt.log_prob(gaussian, rows) == pytest.approx(same, rel=1e-12)


@pytest.mark.parametrize("degrees", [1.5, 4.0])
def test_at_the_maximum_the_scores_are_uncorrelated_with_the_other_sources(degrees):
    """The relative gradient is 0: the mean of -(log p_i)'(z_i) z_j is 1 for i = j, else 0; that of the scores is 0."""
    _, _, rows = list(drawn(1))[2]
    start = jt.IndependentComponents.standard(3, jt.StudentT(degrees))
    fitted = jt.fit(start, rows, tolerance=1e-13, acceleration="squarem")
    z = jt.infer(fitted.model, rows).mean
    scores = (degrees + 1) * z / (degrees + z**2)
    assert scores.T @ z / len(z) == pytest.approx(np.eye(3), abs=1e-4)
    assert scores.mean(axis=0) == pytest.approx(np.zeros(3), abs=1e-4)


def test_the_canonical_form_is_the_same_distribution():
    bent = jt.Mixture([0.3, 0.7], jt.Gaussian([-1.0, 1.0], [0.5, 0.2]))
    model = jt.IndependentComponents([[0.5, -3.0], [1.0, 1.0]], [1.0, 0.0], [bent, jt.Laplace(0.5, 1.0)])
    rows = np.random.default_rng(0).normal(size=(9, 2))
    turned = model.canonical()
    assert jt.log_prob(turned, rows) == pytest.approx(jt.log_prob(model, rows), rel=1e-12)
    assert turned.loadings.tolist() == [[3.0, 0.5], [-1.0, 1.0]]


# --- independent factors ---------------------------------------------------------------------------------------------
def test_with_gaussian_factors_it_is_factor_analysis():
    """S4-169: the density, the posterior, and what is learned; with holes."""
    model = jt.IndependentFactors(DENSE.loadings, DENSE.mean, DENSE.noise, jt.Gaussian(0.0, 1.0))
    rows = np.array(jt.sample(DENSE, 60, rng=0).to_pandas())
    rows[::7, 1] = np.nan
    assert jt.log_prob(model, rows) == pytest.approx(jt.log_prob(DENSE, rows), rel=1e-12)
    beliefs, expected = jt.infer(model, rows), jt.infer(DENSE, rows)
    assert beliefs.mean == pytest.approx(expected.mean, rel=1e-10)
    assert beliefs.covariance == pytest.approx(expected.covariance, rel=1e-10)
    assert beliefs.completed == pytest.approx(expected.completed, rel=1e-10)
    assert beliefs.standard_deviation == pytest.approx(expected.standard_deviation, rel=1e-10)
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(200, 2)) @ rng.normal(size=(2, 6)) + rng.normal(size=(200, 6))
    learned = jt.fit(jt.IndependentFactors.standard(6, 2, jt.Gaussian(0.0, 1.0)), rows, acceleration="squarem")
    assert learned.log_likelihood == pytest.approx(
        jt.fit(jt.FactorAnalysis.standard(6, 2), rows).log_likelihood, abs=1e-3
    )


def moment(source, x, noise, kink, power):
    """∫ zᵖ p(z) N(x; 1.5 z + 0.5, noise) dz, cut at the kink of the density."""
    peak, reach = (x - 0.5) / 1.5, 14 * np.sqrt(noise) / 1.5

    def joint(z):
        return z**power * np.exp(source.log_prob(z) + jt.Gaussian(x, noise).log_prob(1.5 * z + 0.5))

    ends = [peak - reach, *[kink] * int(abs(kink - peak) < reach), peak, peak + reach]
    return sum(quad(joint, *piece, epsabs=0, epsrel=1e-9, limit=200)[0] for piece in pairwise(sorted(ends)))


@pytest.mark.parametrize(
    "source",
    [jt.Laplace(0.3, 0.7), jt.StudentT(1.0), jt.StudentT(2.5, 0.4, 2.0), jt.StudentT(40.0), jt.Gaussian(1.0, 2.0)],
)
@pytest.mark.parametrize("noise", [0.01, 1.0])
def test_one_factor_is_integrated_out(source, noise):
    """S4-169: log p(x), the mean and the variance of the factor, against adaptive quadrature, near and far."""
    model = jt.IndependentFactors([[1.5]], [0.5], [noise], source)
    center = float(source.location if hasattr(source, "location") else source.mean)
    for x in (0.5 + 1.5 * center, 0.7, -3.0):
        total, first, second = (moment(source, x, noise, center, power) for power in range(3))
        beliefs = jt.infer(model, [x])
        assert beliefs.log_evidence == pytest.approx(np.log(total), abs=3e-6)
        assert beliefs.mean[0] == pytest.approx(first / total, abs=1e-5)
        assert beliefs.covariance[0, 0] == pytest.approx(second / total - (first / total) ** 2, abs=1e-5)


def test_two_factors_are_integrated_out_together():
    """Against a sum over a fine grid; Student's density is smooth, so that the trapezoidal rule is as good as exact."""
    sources = [jt.StudentT(3.0, 0.3, 0.8), jt.Mixture([0.4, 0.6], jt.Gaussian([-1.0, 1.0], [0.5, 0.2]))]
    model = jt.IndependentFactors(DENSE.loadings, DENSE.mean, DENSE.noise, sources)
    row = np.array([0.5, np.nan, 1.0])
    axes = [np.linspace(-12, 12, 601), np.linspace(-8, 8, 401)]
    first, second = np.meshgrid(*axes, indexing="ij")
    logs = sources[0].log_prob(first) + sources[1].log_prob(second)
    for at in (0, 2):
        fitted = model.mean[at] + model.loadings[at, 0] * first + model.loadings[at, 1] * second
        logs += jt.Gaussian(0.0, model.noise[at]).log_prob(row[at] - fitted)
    weights = np.exp(logs)
    total = weights.sum()
    beliefs = jt.infer(model, row)
    cell = (axes[0][1] - axes[0][0]) * (axes[1][1] - axes[1][0])
    means = np.array([(weights * first).sum(), (weights * second).sum()]) / total
    assert beliefs.log_evidence == pytest.approx(np.log(total * cell), abs=3e-6)
    assert beliefs.mean == pytest.approx(means, abs=1e-5)
    product = (weights * (first - means[0]) * (second - means[1])).sum() / total
    assert beliefs.covariance[0, 1] == pytest.approx(product, abs=1e-5)


def test_as_the_noise_vanishes_factors_become_components():
    sources = [jt.StudentT(3.0), jt.Laplace(0.0, 1.0)]
    rows = jt.sample(jt.IndependentComponents(MIXING, [1.0, 2.0], sources), 20, rng=0)
    exact = jt.infer(jt.IndependentComponents(MIXING, [1.0, 2.0], sources), rows)
    gaps = []
    for noise in (1e-2, 1e-4):
        found = jt.infer(jt.IndependentFactors(MIXING, [1.0, 2.0], noise, sources), rows)
        gaps.append(np.abs(found.mean - exact.mean).max())
    assert gaps[1] < 0.02 * gaps[0]


def test_sparse_factors_are_found_where_factor_analysis_knows_them_up_to_a_rotation():
    true = jt.IndependentFactors(np.random.default_rng(0).normal(size=(6, 2)), np.zeros(6), 0.2).canonical()
    rows, others = (jt.sample(true, 1000, rng=seed) for seed in (1, 2))
    fitted = jt.fit(jt.IndependentFactors.standard(6, 2), rows)
    assert fitted.model.loadings == pytest.approx(true.loadings, abs=0.15)
    dense = jt.fit(jt.FactorAnalysis.standard(6, 2), rows)
    assert fitted.log_likelihood > dense.log_likelihood + 50
    assert jt.log_prob(fitted.model, others).sum() > jt.log_prob(dense.model, others).sum() + 50
    assert np.abs(dense.model.loadings - true.loadings).max() > 0.3


def test_what_is_learned_is_a_maximum_with_holes_and_weights():
    """EM ends where the weighted log-likelihood of what is seen has no slope, by central differences."""
    rng = np.random.default_rng(3)
    true = jt.IndependentFactors(rng.uniform(1.0, 2.0, (4, 1)), np.ones(4), 1.0, jt.StudentT(3.0))
    rows, weights = np.array(jt.sample(true, 150, rng=rng).to_pandas()), rng.uniform(0.5, 2.0, 150)
    rows[rng.random(rows.shape) < 0.1] = np.nan
    start = jt.IndependentFactors.standard(4, 1, jt.StudentT(3.0))
    fitted = jt.fit(start, rows, weights=weights, tolerance=1e-13, acceleration="squarem")
    model = fitted.model

    def total(loadings, mean, noise):
        return float(weights @ jt.log_prob(jt.IndependentFactors(loadings, mean, noise, jt.StudentT(3.0)), rows))

    assert fitted.log_likelihood == pytest.approx(total(model.loadings, model.mean, model.noise), rel=1e-12)
    for at in range(4):
        step = 1e-4 * np.eye(4)[at]
        slopes = [
            total(model.loadings + step[:, None], model.mean, model.noise)
            - total(model.loadings - step[:, None], model.mean, model.noise),
            total(model.loadings, model.mean + step, model.noise)
            - total(model.loadings, model.mean - step, model.noise),
            total(model.loadings, model.mean, model.noise + step)
            - total(model.loadings, model.mean, model.noise - step),
        ]
        assert np.array(slopes) / 2e-4 == pytest.approx(np.zeros(3), abs=2e-2)


# --- what is said ----------------------------------------------------------------------------------------------------
def test_sources_of_two_values_are_found_and_rotations_of_gaussian_ones_are_said():
    """Parts of the densities would shrink to points; the prior keeps them from it."""
    coins = np.sign(np.random.default_rng(0).normal(size=(200, 2)))
    two = jt.Mixture([0.4, 0.6], jt.Gaussian([-1.0, 1.0], [0.5, 0.5]))
    fitted = jt.fit(jt.IndependentComponents.standard(2, two), coins @ MIXING.T)
    assert amari_index(fitted.model.unmixing, MIXING) < 1e-3
    assert fitted.log_likelihood > fitted.trace.values[-1]
    with pytest.warns(NotIdentifiedWarning, match="sources 0, 1 are Gaussian"):
        jt.fit(jt.IndependentComponents.standard(2, jt.Gaussian(0.0, 1.0)), coins @ MIXING.T)


def test_a_random_start_is_repeated_by_its_seed():
    _, _, rows = next(drawn(2))
    start = jt.IndependentComponents.standard(2)
    one = jt.fit(start, rows, start="random")
    assert jt.fit(start, rows, start="random", rng=one.seed).model == one.model
    assert jt.fit(start, rows).seed is None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", jt.errors.NotConvergedWarning)
        assert jt.fit(one.model, rows, start="given", max_steps=1).trace.values[0] == pytest.approx(
            one.trace.values[-1]
        )


@pytest.mark.parametrize(
    ("ask", "error", "words"),
    [
        (lambda: jt.IndependentComponents(np.ones((3, 2))), InvalidModel, "as many sources as columns"),
        (lambda: jt.IndependentComponents(np.ones((2, 2))), InvalidModel, "no inverse"),
        (lambda: jt.IndependentComponents(MIXING, sources=jt.Uniform(0.0, 1.0)), InvalidModel, "a source is a"),
        (lambda: jt.IndependentComponents(MIXING, sources=[jt.StudentT(3.0)]), InvalidModel, "2 sources, but 1"),
        (lambda: jt.IndependentFactors.standard(9, 6), InvalidModel, "combinations"),
        (lambda: jt.infer(jt.IndependentComponents(MIXING), [1.0, np.nan]), InvalidData, "take complete rows"),
        (lambda: jt.fit(jt.IndependentComponents(MIXING), [[1.0, 1.0], [2.0, 2.0]]), InvalidData, "depend on each"),
        (lambda: jt.most_probable(jt.IndependentComponents(MIXING), [1.0, 2.0]), Unsupported, "one point"),
    ],
)  # fmt: skip
def test_refused(ask, error, words):
    with pytest.raises(error, match=words):
        ask()
