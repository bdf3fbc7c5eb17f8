"""Factor analysis and probabilistic PCA: posteriors, likelihoods with holes, and learning."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import juncture as jt
from juncture.estimators import FactorAnalysis
from juncture.latent.factor_analysis.em import FactorData, IncompleteFactors

SEEDS = st.integers(0, 10_000)
KINDS = [jt.FactorAnalysis, jt.ProbabilisticPCA]


def random_model(kind, rng, columns=4, factors=2):
    noise = rng.uniform(0.2, 2.0, columns) if kind is jt.FactorAnalysis else rng.uniform(0.2, 2.0)
    return kind(rng.normal(size=(columns, factors)), rng.normal(size=columns), noise)


def with_holes(rng, rows, share=0.3):
    return np.where(rng.random(rows.shape) < share, np.nan, rows)


def rows_of(model, number, rng):
    return np.stack(list(jt.sample(model, number, rng=rng).columns.values()), axis=1)


def test_the_posterior_of_two_equal_columns():
    """S0-259, with E83 corrected: Λ = (1, 1)ᵀ and Ψ = I give (y1 + y2) / 3 and 1/3."""
    model = jt.FactorAnalysis([[1.0], [1.0]], [0.0, 0.0], 1.0)
    beliefs = jt.infer(model, [0.7, 2.0])
    assert beliefs["factors"].mean == pytest.approx([2.7 / 3])
    assert beliefs["factors"].covariance == pytest.approx(np.array([[1 / 3]]))


@pytest.mark.parametrize("kind", KINDS)
@given(seed=SEEDS)
def test_answers_are_those_of_the_joint_gaussian(kind, seed):
    """S0-258, S0-259, S4-166, S4-167: factors and holes given what is seen, and its density, by conditioning."""
    rng = np.random.default_rng(seed)
    model = random_model(kind, rng)
    rows = with_holes(rng, rows_of(model, 6, rng))
    beliefs = jt.infer(model, rows)
    mean = np.concatenate([np.zeros(2), model.mean])
    covariance = np.block([[np.eye(2), model.loadings.T], [model.loadings, model.covariance]])
    for row, each in enumerate(rows):
        seen = np.flatnonzero(~np.isnan(each))
        gain = np.linalg.solve(covariance[np.ix_(seen + 2, seen + 2)], covariance[seen + 2]).T
        expected = mean + gain @ (each[seen] - model.mean[seen])
        left = covariance - gain @ covariance[seen + 2]
        assert beliefs.mean[row] == pytest.approx(expected[:2])
        assert beliefs.covariance[row] == pytest.approx(left[:2, :2])
        assert beliefs.completed[row] == pytest.approx(expected[2:])
        assert beliefs.standard_deviation[row] ** 2 == pytest.approx(np.diagonal(left)[2:], abs=1e-12)
        block = jt.MultivariateGaussian(model.mean[seen], model.covariance[np.ix_(seen, seen)]) if len(seen) else None
        assert beliefs.log_evidence[row] == pytest.approx(block.log_prob(each[seen]) if len(seen) else 0.0)


@pytest.mark.parametrize("kind", KINDS)
@given(seed=SEEDS)
def test_a_rotation_changes_no_likelihood(kind, seed):
    """S0-262, S4-166."""
    rng = np.random.default_rng(seed)
    model = random_model(kind, rng)
    turned = model.rotate(np.linalg.qr(rng.normal(size=(2, 2)))[0])
    rows = with_holes(rng, rows_of(model, 5, rng))
    assert jt.log_prob(turned, rows) == pytest.approx(jt.log_prob(model, rows))
    assert turned.canonical().loadings == pytest.approx(model.canonical().loadings)
    scaled = model.canonical().loadings.T @ (model.canonical().loadings / model.variances[:, None])
    assert scaled == pytest.approx(np.diag(np.diagonal(scaled)))


@given(seed=SEEDS, standardize=st.booleans())
def test_simple_rotations_have_the_largest_criterion(seed, standardize):
    """No turn of two factors raises it; the likelihood is the same; how the loadings were turned does not matter."""
    rng = np.random.default_rng(seed)
    model = jt.FactorAnalysis(rng.normal(size=(7, 3)), np.zeros(7), 0.1 + rng.random(7))
    for name, share in (("varimax", 1.0), ("quartimax", 0.0)):
        found = model.rotate(name, standardize=standardize)
        assert found.covariance == pytest.approx(model.covariance)
        again = model.rotate(np.linalg.qr(rng.normal(size=(3, 3)))[0]).rotate(name, standardize=standardize)
        assert again.loadings == pytest.approx(found.loadings, abs=1e-6)
        units = np.sqrt(np.diag(model.covariance)) if standardize else np.ones(7)
        best = criterion(found.loadings / units[:, None], share)
        for pair in ([0, 1], [0, 2], [1, 2]):
            turn = np.eye(3)
            for angle in np.linspace(0, np.pi / 2, 8)[1:]:
                turn[np.ix_(pair, pair)] = [[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]
                assert criterion(found.loadings / units[:, None] @ turn, share) <= best * (1 + 1e-12)


def criterion(loadings, share):
    squares = loadings**2
    return (squares**2).sum() - share * (squares.sum(axis=0) ** 2).sum() / len(squares)


def test_rotations_are_those_of_scikit_learn():
    """Their search ends within 1e-6 of the criterion, the square of that of angles."""
    decomposition = pytest.importorskip("sklearn.decomposition")
    rows = rows_of(random_model(jt.FactorAnalysis, np.random.default_rng(1)), 500, 2)
    plain = decomposition.FactorAnalysis(2, svd_method="lapack").fit(rows)
    model = jt.FactorAnalysis(plain.components_.T, plain.mean_, plain.noise_variance_)
    for name, share in (("varimax", 1.0), ("quartimax", 0.0)):
        theirs = decomposition.FactorAnalysis(2, svd_method="lapack", rotation=name).fit(rows).components_
        ours = model.rotate(name).loadings.T
        theirs = theirs[np.argsort(-(theirs**2).sum(axis=1))]
        theirs *= np.sign((theirs * ours).sum(axis=1))[:, None]
        assert ours == pytest.approx(theirs, abs=2e-3)
        assert criterion(ours.T, share) >= criterion(theirs.T, share) * (1 - 1e-12)
        learned = FactorAnalysis(2, rotation=name).fit(rows)
        assert pytest.approx(learned.fit_.model.rotate(name).loadings) == learned.components_.T


def test_rows_follow_the_model():
    """S0-257, S0-258: the covariance of draws, and that of what is left given the factors."""
    model = random_model(jt.FactorAnalysis, np.random.default_rng(1))
    rows = rows_of(model, 40_000, 2)
    assert np.cov(rows.T) == pytest.approx(model.covariance, abs=0.1)
    assert rows.mean(axis=0) == pytest.approx(model.mean, abs=0.05)


# --- learning --------------------------------------------------------------------------------------------------------

PRECISE = jt.ExpectationMaximization(tolerance=1e-13, max_steps=5000)


def example(seed=0, number=150):
    rng = np.random.default_rng(seed)
    model = jt.FactorAnalysis(rng.normal(size=(7, 2)), np.arange(7.0), rng.uniform(0.3, 0.8, 7))
    return rows_of(model, number, rng), rng


def test_the_closed_form_is_the_maximum_and_em_reaches_it():
    """S4-168: the noise is the mean of the discarded eigenvalues, and W Wᵀ = U (Λ - σ²) Uᵀ."""
    rows, _ = example()
    found = jt.fit(jt.ProbabilisticPCA.standard(7, 2), rows)
    values, vectors = np.linalg.eigh(np.cov(rows.T, bias=True))
    assert found.trace.reason == "the maximum in closed form"
    assert found.model.noise == pytest.approx(values[:5].mean())
    top = vectors[:, 5:] * (values[5:] - found.model.noise) @ vectors[:, 5:].T
    assert found.model.loadings @ found.model.loadings.T == pytest.approx(top)
    data = FactorData.of(lambda: iter([(rows, np.ones(len(rows)))]), 7, keep=True)
    problem = IncompleteFactors(jt.ProbabilisticPCA.standard(7, 2), data, None, "random", np.random.default_rng(3))
    state, _ = jt.ExpectationMaximization(1e-14, 5000).run(problem)  # with the steps of rows with holes
    assert state.objective == pytest.approx(found.log_likelihood, abs=1e-8)
    assert state.model.covariance == pytest.approx(found.model.covariance, abs=1e-4)
    for start in ("random", "given"):
        em = jt.fit(jt.ProbabilisticPCA.standard(7, 2), rows, method=PRECISE, start=start, rng=1)
        assert em.log_likelihood == pytest.approx(found.log_likelihood, abs=1e-8)


def test_as_the_noise_vanishes_the_factors_are_principal_components():
    """S4-178: what probabilistic PCA expects of a row is its projection."""
    rows, _ = example()
    model = jt.fit(jt.ProbabilisticPCA.standard(7, 2), rows).model
    centered = rows - rows.mean(axis=0)
    axes = np.linalg.svd(centered, full_matrices=False)[2][:2]
    still = jt.ProbabilisticPCA(model.loadings, model.mean, 1e-9)
    assert jt.infer(still, rows).expected - rows.mean(axis=0) == pytest.approx(centered @ axes.T @ axes, abs=1e-6)


def test_factor_analysis_is_that_of_scikit_learn():
    """The same maximum, and from the same start the same steps; diag(ΛΛᵀ + Ψ) = diag(S) there (S0-261)."""
    decomposition = pytest.importorskip("sklearn.decomposition")
    rows, _ = example()
    theirs = decomposition.FactorAnalysis(2, tol=1e-12, max_iter=2000, svd_method="lapack").fit(rows)
    ours = jt.fit(jt.FactorAnalysis.standard(7, 2), rows, method=PRECISE, start="given")
    assert ours.model.covariance == pytest.approx(theirs.get_covariance(), abs=1e-5)
    assert ours.log_likelihood == pytest.approx(theirs.score(rows) * len(rows), abs=1e-8)
    assert np.diagonal(ours.model.covariance) == pytest.approx(rows.var(axis=0), abs=1e-8)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # neither converges in ten steps
        few = decomposition.FactorAnalysis(2, tol=0.0, max_iter=10, svd_method="lapack").fit(rows)
        ten = jt.ExpectationMaximization(tolerance=0.0, max_steps=10)
        same = jt.fit(jt.FactorAnalysis.standard(7, 2), rows, method=ten, start="given").model
    assert same.covariance == pytest.approx(few.get_covariance(), abs=1e-8)


@pytest.mark.parametrize("kind", KINDS)
def test_rows_without_any_value_change_nothing(kind):
    rows, rng = example()
    rows = with_holes(rng, rows, 0.2)
    more = np.vstack([rows, np.full((3, 7), np.nan), rows[:4]])
    weights = np.r_[np.ones(len(rows)), np.ones(3), np.zeros(4)]
    alone, both = jt.fit(kind.standard(7, 2), rows), jt.fit(kind.standard(7, 2), more, weights=weights)
    assert both.log_likelihood == pytest.approx(alone.log_likelihood, rel=1e-12)
    assert both.model.loadings == pytest.approx(alone.model.loadings, abs=1e-10)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("share", [0.0, 0.2])
def test_weights_are_repetitions_and_the_likelihood_is_that_of_the_rows(kind, share):
    rows, rng = example(number=60)
    rows, counts = with_holes(rng, rows, share), rng.integers(1, 4, 60)
    weighed = jt.fit(kind.standard(7, 2), rows, weights=counts)
    repeated = jt.fit(kind.standard(7, 2), np.repeat(rows, counts, axis=0))
    assert weighed.log_likelihood == pytest.approx(repeated.log_likelihood, rel=1e-9)
    assert weighed.model.covariance == pytest.approx(repeated.model.covariance, abs=1e-6)
    assert weighed.log_likelihood == pytest.approx(counts @ jt.log_prob(weighed.model, rows))


def test_holes_are_learned_around():
    """Of rows with a fifth of their cells missing, the covariance is found as of complete ones, up to sampling."""
    rows, rng = example(number=2000)
    whole = jt.fit(jt.FactorAnalysis.standard(7, 2), rows).model
    found = jt.fit(jt.FactorAnalysis.standard(7, 2), with_holes(rng, rows, 0.2)).model
    assert found.covariance == pytest.approx(whole.covariance, abs=0.15)


def test_squarem_reaches_the_same_maximum_sooner():
    rows, rng = example()
    rows = with_holes(rng, rows, 0.2)
    plain = jt.fit(jt.FactorAnalysis.standard(7, 2), rows, method=jt.ExpectationMaximization(1e-12, 5000))
    quick = jt.fit(
        jt.FactorAnalysis.standard(7, 2), rows, method=jt.ExpectationMaximization(1e-12, 999, acceleration="squarem")
    )
    assert quick.log_likelihood == pytest.approx(plain.log_likelihood, abs=1e-6)
    assert quick.trace.num_steps < plain.trace.num_steps / 2


def test_a_prior_keeps_noise_from_zero():
    """A column that a factor can copy has no noise (a Heywood case): one warning, or a prior."""
    rng = np.random.default_rng(0)
    rows = np.hstack([rng.normal(size=(30, 1)), 10 * rng.normal(size=(30, 2))])
    rows[:, 2] = rows[:, 1]
    with pytest.warns(jt.errors.RegularizedWarning, match="wants no noise in column"):
        jt.fit(jt.FactorAnalysis.standard(3, 1), rows)
    prior = jt.InverseGamma(2.0, 1.0)
    kept = jt.fit(jt.FactorAnalysis.standard(3, 1), rows, prior=prior)
    assert kept.model.noise.min() > 2.0 / 36
    assert list(kept.trace.values) == sorted(kept.trace.values)
    assert kept.trace.values[-1] == pytest.approx(kept.log_likelihood + prior.log_prob(kept.model.noise).sum())


def test_a_source_is_read_block_by_block(tmp_path):
    rows, rng = example()
    rows = with_holes(rng, rows, 0.1)
    table = jt.Dataset(dict(zip("abcdefg", rows.T, strict=True)))
    path = tmp_path / "rows.parquet"
    pytest.importorskip("polars").DataFrame(dict(zip("abcdefg", rows.T, strict=True)), nan_to_null=True).write_parquet(
        path
    )
    from juncture.data.sources.entries import as_source

    kept, read = (jt.fit(jt.FactorAnalysis.standard(7, 2), data) for data in (table, as_source(path)))
    assert read.log_likelihood == pytest.approx(kept.log_likelihood, rel=1e-10)


def test_mistakes_are_explained():
    model, rows = jt.FactorAnalysis.standard(3, 1), np.random.default_rng(0).normal(size=(9, 3))
    with pytest.raises(jt.errors.InvalidData, match="column 1 holds no number"):
        jt.fit(model, np.where([False, True, False], np.nan, rows))
    with pytest.raises(jt.errors.InvalidData, match="nothing to learn from"):
        jt.fit(model, rows, weights=np.zeros(9))
    with pytest.raises(jt.errors.InvalidData, match="every column is constant"):
        jt.fit(model, np.ones((9, 3)))
    with pytest.raises(jt.errors.InvalidData, match="a row has 3 numbers"):
        jt.infer(model, rows[:, :2])
    with pytest.raises(jt.errors.InvalidData, match="must be finite"):
        jt.infer(model, [0.0, np.inf, 1.0])
    with pytest.raises(jt.errors.Unsupported, match="no closed form for factor analysis"):
        jt.fit(model, rows, method="closed-form")
    with pytest.raises(jt.errors.InvalidModel, match="positive variances"):
        jt.ProbabilisticPCA([[1.0], [1.0]], [0.0, 0.0], 0.0)
    with pytest.raises(jt.errors.InvalidModel, match="1 to 2 factors"):
        jt.FactorAnalysis.standard(2, 3)


@pytest.mark.parametrize("share", [0.0, 0.1])
def test_factor_analysis_does_not_depend_on_units(share):
    """Columns of any scale beside each other: the log-likelihood changes by the logarithms of the scales."""
    rng = np.random.default_rng(3)
    scales = np.array([1e9, 1.0, 1e-6, 1e4, 1.0])
    rows = with_holes(rng, rng.normal(size=(80, 1)) @ np.ones((1, 5)) + rng.normal(size=(80, 5)), share)
    plain, scaled = (jt.fit(jt.FactorAnalysis.standard(5, 1), each) for each in (rows, rows * scales))
    shift = (~np.isnan(rows)).sum(axis=0) @ np.log(scales)
    assert scaled.log_likelihood + shift == pytest.approx(plain.log_likelihood, abs=1e-4)
    assert scaled.model.noise / scales**2 == pytest.approx(plain.model.noise, rel=1e-2)


KINDS_OF_NOISE = [(jt.FactorAnalysis, lambda noise: [noise, noise]), (jt.ProbabilisticPCA, lambda noise: noise)]


@pytest.mark.parametrize(("kind", "noise_of"), KINDS_OF_NOISE, ids=["factor analysis", "probabilistic PCA"])
def test_noise_at_the_ends_of_doubles_gives_numbers_or_a_sentence(kind, noise_of):
    """The same model in other units is the same: rows and loadings by u, noise by u², log p less 2 log u."""
    plain, row = kind([[0.5], [0.3]], [0.1, 0.2], noise_of(0.75)), np.array([1.0, -2.0])
    for unit in (2.0**-500, 2.0**-535, 2.0**500):
        scaled = kind(np.array([[0.5], [0.3]]) * unit, np.array([0.1, 0.2]) * unit, noise_of(0.75 * unit * unit))
        assert jt.infer(scaled, row * unit).mean == pytest.approx(jt.infer(plain, row).mean, rel=1e-12)
        found = jt.log_prob(scaled, row * unit) + 2 * np.log(unit)
        assert found == pytest.approx(jt.log_prob(plain, row), rel=1e-12)  # 3/4 u² is exact
    for noise in (5e-324, 1e-310):
        with pytest.raises(
            jt.errors.InvalidModel, match=r"squares of the loadings over the noise add up to \S+; at most 1e\+300"
        ):
            kind([[0.5], [0.3]], [0.0, 0.0], noise_of(noise))
        nothing = kind([[0.0], [0.0]], [0.0, 0.0], noise_of(noise))
        assert jt.log_prob(nothing, row) == -np.inf
        assert jt.infer(nothing, row).mean == 0.0
    small = kind([[1.0], [2.0]], [0.0, 0.0], noise_of(1e-290))
    assert jt.infer(small, [1.0, 2.0]).mean == pytest.approx(1.0)
    with pytest.raises(jt.errors.InvalidData, match=r"a row lies 1e\+345|a row lies inf deviations of the noise"):
        jt.infer(small, [1e200, 1e200])
