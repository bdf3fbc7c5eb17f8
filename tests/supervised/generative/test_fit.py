"""Learning generative classifiers: closed forms, scikit-learn, evidences, EM with missing labels and entries."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import multivariate_normal

import juncture as jt
from juncture.supervised import GenerativeClassifier
from juncture.supervised.generative.learning import ClassProblem, LabelledRows
from support.learned import fit_classifier

seeds = st.integers(0, 2**32 - 1)


def draw_gaussians(rng, num_rows=60, size=2, number=2):
    y = np.concatenate([np.arange(number), rng.integers(0, number, num_rows - number)])
    mixing = rng.normal(size=(number, size, size)) + 2 * np.eye(size)
    return np.einsum("rij,rj->ri", mixing[y], rng.normal(size=(num_rows, size))) + y[:, None], y


@given(seeds)
def test_quadratic_discriminants_are_class_moments(seed):
    """S4-111, S4-162, S0-053: class shares, means and covariances divided by N_k, and SciPy's densities."""
    rng = np.random.default_rng(seed)
    rows, y = draw_gaussians(rng)
    weights = rng.integers(1, 3, len(y)).astype(float)
    found = fit_classifier("qda", rows, y, weights=weights)
    logs = []
    for label in (0, 1):
        own = y == label
        mean, covariance = (
            np.average(rows[own], axis=0, weights=weights[own]),
            np.cov(rows[own].T, aweights=weights[own], bias=True),
        )
        logs.append(multivariate_normal(mean, covariance).logpdf(rows) + np.log(weights[own].sum() / weights.sum()))
    log_joint = np.transpose(logs)
    assert found.model.log_joint(rows) == pytest.approx(log_joint)
    assert found.log_likelihood == pytest.approx(weights @ log_joint[np.arange(len(y)), y])


def test_classes_of_two_points():
    """S4-111, S4-112: by hand; the shared covariance is Σ_k N_k/N · Σ_k."""
    rows, y = [[0.0], [2.0], [10.0], [14.0]], [0, 0, 1, 1]
    own = fit_classifier("qda", rows, y).model.densities
    assert own.means.ravel() == pytest.approx([1.0, 12.0])
    assert own.variances.ravel() == pytest.approx([1.0, 4.0])
    assert fit_classifier("lda", rows, y).model.densities.covariance.item() == pytest.approx(2.5)


@given(seeds)
def test_separate_fits_are_the_optimum_of_the_joint_likelihood(seed):
    """S4-110, S2-090, S2-091: the log-likelihood splits into classes; any other parameters fit worse."""
    rng = np.random.default_rng(seed)
    y = np.repeat([0, 1], 20)
    rows = np.column_stack([rng.poisson(1 + 3 * y), rng.exponential(1.0 + y), rng.integers(0, 2, 40)]).astype(float)
    found = fit_classifier(["poisson", "exponential", "bernoulli"], rows, y, prior=0.0)
    for label, column in ((0, 0), (1, 0), (0, 1), (1, 1), (0, 2), (1, 2)):
        density = found.model.densities.parts[column][label]
        mean = np.ravel(density.families[0].mean if column == 2 else density.mean)
        assert mean == pytest.approx([rows[y == label, column].mean()])
    worse = GenerativeClassifier([0.4, 0.6], found.model.densities)
    assert found.log_likelihood > worse.log_joint(rows)[np.arange(40), y].sum()


def test_tables_are_those_of_scikit_learn():
    naive_bayes = pytest.importorskip("sklearn.naive_bayes")
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 90)
    rows = rng.integers(0, 2, (90, 4)).astype(float)
    counts = rng.poisson(1.0 + y[:, None] * [0.0, 1.0, 2.0, 0.5])
    for alpha in (0.5, 1.0):
        mine = fit_classifier("bernoulli", rows, y, prior=alpha).model
        theirs = naive_bayes.BernoulliNB(alpha=alpha).fit(rows, y)
        assert mine.predict_proba(rows) == pytest.approx(theirs.predict_proba(rows))
        mine = fit_classifier("multinomial", sp.csr_matrix(counts), y, prior=alpha).model
        theirs = naive_bayes.MultinomialNB(alpha=alpha).fit(counts, y)
        assert mine.predict_proba(sp.csr_matrix(counts)) == pytest.approx(theirs.predict_proba(counts))
        assert mine.linear_form().weights == pytest.approx(theirs.feature_log_prob_)


def log_evidence(family, prior, rows):
    return float(prior.log_evidence(family.statistics(rows)))


@given(seeds)
def test_predictive_densities_are_ratios_of_evidences(seed):
    """S4-113: p(row | rows of the class) = p(row, rows) / p(rows) under the same prior, in each class."""
    rng = np.random.default_rng(seed)
    rows, y = draw_gaussians(rng, 20)
    new = rng.normal(size=2)
    model = fit_classifier("qda", rows, y, estimate="bayes").model
    center, variance = rows.mean(axis=0), rows.var(axis=0)
    prior = jt.NormalInverseWishart(center, 0.01, 4.0, np.diag(variance))
    for label in (0, 1):
        own = rows[y == label]
        more = log_evidence(jt.MultivariateGaussian, prior, np.vstack([own, new]))
        expected = more - log_evidence(jt.MultivariateGaussian, prior, own)
        assert model.densities.log_prob(new[None])[0, label] == pytest.approx(expected)
        part = jt.NormalInverseGamma(center[0], 0.01, 2.0 - 0.5, 0.5 * variance[0])
        naive = fit_classifier("gaussian", rows, y, estimate="bayes").model.densities.parts[0]
        more = log_evidence(jt.Gaussian, part, np.append(own[:, 0], new[0]))
        expected = more - log_evidence(jt.Gaussian, part, own[:, 0])
        assert naive.log_prob(new[:1])[0, label] == pytest.approx(expected)


@given(seeds)
def test_predictive_counts_are_ratios_of_evidences(seed):
    """S4-113, S4-196: Gamma priors of Poisson rates, a Dirichlet prior of words, a Beta of zeros and ones."""
    rng = np.random.default_rng(seed)
    y, rows = np.repeat([0, 1], 8), rng.poisson(2.0, (16, 3)).astype(float)
    counts = fit_classifier("poisson", rows[:, :1], y, estimate="bayes").model.densities.parts[0]
    words = fit_classifier("multinomial", rows, y, estimate="bayes", prior=0.5).model.densities
    ones = fit_classifier("bernoulli", rows > 1, y, estimate="bayes", prior=0.5).model.densities
    prior = jt.Gamma(1.0 + max(rows[:, 0].sum(), 0.5) / 16, 1.0)
    for label in (0, 1):
        own = rows[y == label]
        expected = log_evidence(jt.Poisson, prior, np.append(own[:, 0], 3.0)) - log_evidence(
            jt.Poisson, prior, own[:, 0]
        )
        assert counts.log_prob(np.array([3.0]))[0, label] == pytest.approx(expected)
        exact = jt.families.DirichletMultinomial(4, own.sum(axis=0) + 0.5).log_prob([1, 2, 1])
        assert words.log_prob(np.array([[1.0, 2.0, 1.0]]))[0, label] == pytest.approx(float(exact))
        assert ones.probabilities[label] == pytest.approx(((own > 1).sum(axis=0) + 0.5) / (8 + 1.0))


def test_missing_entries_of_a_student_t_are_summed_out():
    rows, y = draw_gaussians(np.random.default_rng(0), 30)
    model = fit_classifier("qda", rows, y, estimate="bayes").model
    found = model.densities.log_prob(np.array([[0.5, np.nan], [np.nan, np.nan]]))
    assert found[0] == pytest.approx(model.densities.family.marginal([0]).log_prob(np.array([[0.5]])))
    assert found[1].tolist() == [0.0, 0.0]


# --- missing labels and entries --------------------------------------------------------------------------------------


def test_with_all_labels_nothing_is_iterated():
    """S2-004: without rows that lack a label, the result is the maximum likelihood estimate exactly."""
    rows, y = draw_gaussians(np.random.default_rng(1))
    found = fit_classifier("lda", rows, y)
    assert found.trace.num_steps == 0
    means = [rows[y == label].mean(axis=0) for label in (0, 1)]
    assert found.model.densities.means == pytest.approx(np.array(means))


@given(seeds)
def test_em_rises_to_a_stationary_point(seed):
    """S2-004, S4-026: labels are missing; the objective rises, and one more step changes nothing."""
    rng = np.random.default_rng(seed)
    rows, y = draw_gaussians(rng, 60)
    rows += 2.0 * y[:, None]
    labels = np.where(rng.random(60) < 0.5, y, np.nan)
    labels[:4] = [0.0, 1.0, 0.0, 1.0]
    rows[:4] = draw_gaussians(rng, 4)[0]
    method = jt.ExpectationMaximization(tolerance=1e-13, max_steps=5000)
    found = fit_classifier("lda", rows, labels, method=method)
    assert (np.diff(found.trace.values) >= -1e-9).all()
    codes = np.where(np.isnan(labels), -1, labels).astype(int)
    problem = ClassProblem(found.model, LabelledRows(rows, codes, np.ones(60)))
    again = problem.maximize(problem.expect(found.model, problem.data).statistics, found.model)
    assert again.densities.means == pytest.approx(found.model.densities.means, abs=1e-4)
    own = codes >= 0
    joint = found.model.log_joint(rows)
    total = joint[own, codes[own]].sum() + np.logaddexp.reduce(joint[~own], axis=1).sum()
    assert found.log_likelihood == pytest.approx(total)


def test_rows_without_a_label_help():
    """S2-004: few labels and many rows without; the learned means are nearer to those of all labels."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 1000)
    rows = rng.normal(size=(1000, 2)) + 3.0 * y[:, None]
    labels = [label if row < 10 else None for row, label in enumerate(y.tolist())]
    whole, some = fit_classifier("gaussian", rows, y).model, fit_classifier("gaussian", rows, labels).model
    few = fit_classifier("gaussian", rows[:10], y[:10]).model

    def distance(model):
        return np.abs(model.densities.means - whole.densities.means).max()

    assert distance(some) < 0.5 * distance(few)


def test_missing_entries_of_vectors_are_learned_from():
    """Against a numerical maximum of the likelihood of what is seen."""
    from scipy.optimize import minimize

    rng = np.random.default_rng(3)
    rows, y = draw_gaussians(rng, 30)
    rows[rng.random(rows.shape) < 0.2] = np.nan
    rows[:, 0] = np.where(np.isnan(rows).all(axis=1), 0.0, rows[:, 0])
    found = fit_classifier("lda", rows, y, method=jt.ExpectationMaximization(tolerance=1e-14, max_steps=9000))

    holes = np.isnan(rows)
    parts = []
    for seen in ([0], [1], [0, 1]):
        own = (~holes).sum(axis=1) == len(seen)
        own &= ~holes[:, seen].any(axis=1)
        parts.append((seen, rows[np.ix_(own, seen)], y[own]))

    def loss(vector):
        factor = np.array([[np.exp(vector[4]), 0.0], [vector[5], np.exp(vector[6])]])
        means, covariance = vector[:4].reshape(2, 2), factor @ factor.T
        return -sum(
            multivariate_normal(np.zeros(len(seen)), covariance[np.ix_(seen, seen)])
            .logpdf(own - means[labels][:, seen])
            .sum()
            for seen, own, labels in parts
        )

    best = minimize(loss, np.zeros(7), method="BFGS")
    shares = np.bincount(y) / len(y)
    assert found.log_likelihood == pytest.approx(-best.fun + np.log(shares)[y].sum(), abs=1e-5)
    assert found.model.densities.means.ravel() == pytest.approx(best.x[:4], abs=1e-3)


# --- priors, frames and what is refused ------------------------------------------------------------------------------


def test_priors_of_classes():
    rows, y = [[0.0], [1.0], [2.0]], ["a", "a", "b"]
    for prior, wanted in ((None, [2 / 3, 1 / 3]), (1.0, [3 / 5, 2 / 5]), ([0.5, 0.5], [0.5, 0.5])):
        assert fit_classifier("poisson", rows, y, class_prior=prior).model.prior == pytest.approx(wanted)
    assert fit_classifier("poisson", rows, y, class_prior={"b": 0.25, "a": 0.75}).model.prior.tolist() == [0.75, 0.25]


def test_frames_and_datasets():
    frame = pd.DataFrame({"u": [0.5, 1.5, 1.0, 4.0, 5.5], "v": [1.0, np.nan, 2.0, 3.0, 2.5]})
    labels = pd.Series(["a", "a", "a", "b", "b"])
    expected = fit_classifier("gaussian", frame.to_numpy(), labels.tolist()).model.with_feature_names(["u", "v"])
    assert fit_classifier("gaussian", frame, labels).model == expected
    assert fit_classifier("gaussian", pl.from_pandas(frame), pl.Series(labels.tolist())).model == expected
    assert fit_classifier("gaussian", jt.Dataset(frame), labels).model == expected
    assert expected.predict(frame).tolist() == ["a", "a", "a", "b", "b"]


def test_a_column_of_zeros_in_a_class_keeps_a_positive_rate():
    rows = np.array([[0.0], [0.0], [4.0], [2.0]])
    rates = fit_classifier("poisson", rows, [0, 0, 1, 1]).model.densities.parts[0].family.rate
    assert rates == pytest.approx([1.5 / 3, 7.5 / 3])  # a row of the mean 1.5 more in each class
    rates = fit_classifier("exponential", rows, [0, 0, 1, 1]).model.densities.parts[0].family.rate
    assert rates == pytest.approx([3 / 1.5, 3 / 7.5])


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        (lambda: fit_classifier("normal", [[0.0]], [0]), "the family of a column must be"),
        (lambda: fit_classifier(3, [[0.0]], [0]), "a name, or a class such as jt.Gamma"),
        (lambda: fit_classifier("gaussian", [[0.0], [1.0]], [0]), "2 rows of inputs, but 1 target"),
        (lambda: fit_classifier("gaussian", [[0.0], [1.0]], [None, None]), "no row has a label"),
        (lambda: fit_classifier("gaussian", [[0.0], [1.0]], [0, 1], weights=[0, 0]), "weights are zero"),
        (lambda: fit_classifier(["gaussian"], [[0.0, 1.0]], [0]), "2 columns, but 1 families"),
        (lambda: fit_classifier("poisson", [[0.5], [1.0]], [0, 1]), "column 0 is Poisson"),
        (lambda: fit_classifier("exponential", [[-0.5], [1.0]], [0, 1]), "column 0 is exponential"),
        (lambda: fit_classifier("categorical", [[0.5], [1.0]], [0, 1]), "column 0 is categorical"),
        (lambda: fit_classifier("bernoulli", [[0.5], [1.0]], [0, 1]), "zeros and ones"),
        (lambda: fit_classifier("multinomial", [[np.nan], [1.0]], [0, 1]), "a count of a word is missing"),
        (lambda: fit_classifier(jt.Gamma, [[-1.0], [1.0]], [0, 1]), "no Gamma fits column 0"),
        (lambda: fit_classifier("poisson", [[np.nan], [np.nan]], [0, 1]), "no observed cell"),
        (lambda: fit_classifier("poisson", [[1.0], [2.0]], [0, 1], prior=-1), "the pseudo-count must be"),
        (lambda: fit_classifier("poisson", [[1.0], [2.0]], [0, 1], prior=0, estimate="bayes"), "must be above 0"),
        (lambda: fit_classifier("poisson", [[1.0], [2.0]], [0, 1], estimate="map"), "estimate must be"),
        (lambda: fit_classifier("poisson", [[1.0], [2.0]], [0, None], estimate="bayes"), "labels"),
        (lambda: fit_classifier("lda", [[1.0], [2.0]], [0, 1], estimate="bayes"), '"full" and "diagonal"'),
        (lambda: fit_classifier(jt.Laplace, [[1.0], [2.0], [4.0]], [0, 1, 1], estimate="bayes"), "no conjugate prior"),
        (lambda: fit_classifier("gaussian", sp.csr_matrix([[1.0], [2.0]]), [0, 1]), "a sparse matrix has counts"),
        (lambda: fit_classifier("poisson", [[1.0], [2.0]], [0, 1], class_prior=[1.0]), "for each, 2 here"),
        (lambda: fit_classifier("poisson", [[1.0], [2.0]], [0, 1], class_prior={0: 1.0}), "one probability for each"),
        (lambda: fit_classifier("poisson", [[1.0], [2.0]], [0, 1], class_prior="even"), "the prior of the classes"),
        (lambda: fit_classifier("poisson", [[1.0], [2.0]], [0, 1], method="newton"), "no method of learning 'newton'"),
        (lambda: fit_classifier("poisson", [["a"], ["b"]], [0, 1]), "rows must be numbers"),
    ],
)  # fmt: skip
def test_what_cannot_be_learned_is_said_in_a_sentence(ask, words):
    with pytest.raises(jt.JunctureError, match=words):
        ask()


# --- shrunk covariances --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["lda", "qda"])
def test_ledoit_wolf_is_that_of_scikit_learn(kind):
    """In standardised columns, about the means of the classes; weights are repetitions; units do not matter."""
    covariance = pytest.importorskip("sklearn.covariance")
    rng = np.random.default_rng(3)
    y, units = np.repeat([0, 1, 2], 12), np.array([1.0, 1e-3, 50.0, 1.0, 1.0, 1.0])
    rows = (rng.normal(size=(36, 6)) @ rng.normal(size=(6, 6)) + y[:, None]) * units
    found, plain = (learn_gaussians(rows, y, kind, shrinkage) for shrinkage in ("ledoit-wolf", None))
    rest = rows - plain.means[y]
    groups = [slice(None)] * 3 if kind == "lda" else [y == code for code in range(3)]
    for code, group in enumerate(groups):
        deviation = np.sqrt(np.diag(plain.full.covariance[code]))
        theirs, shrinkage = covariance.ledoit_wolf(rest[group] / deviation, assume_centered=True)
        assert 0 < shrinkage < 1
        assert found.full.covariance[code] == pytest.approx(theirs * np.outer(deviation, deviation), rel=1e-9)
    twice = learn_gaussians(rows, y, kind, "ledoit-wolf", weights=np.full(36, 2.0))
    repeated = learn_gaussians(np.tile(rows, (2, 1)), np.tile(y, 2), kind, "ledoit-wolf")
    assert twice.covariance == pytest.approx(repeated.covariance)


def learn_gaussians(rows, y, kind, shrinkage, **options):
    found = jt.fit(jt.supervised.GenerativeClassifier, rows, y, families=kind, shrinkage=shrinkage, **options)
    return found.model.densities


def test_shrinkage_by_a_number_ends_at_the_diagonal():
    rng = np.random.default_rng(3)
    rows, y = rng.normal(size=(40, 3)) @ rng.normal(size=(3, 3)), np.arange(40) % 2
    plain = learn_gaussians(rows, y, "lda", None).covariance
    assert learn_gaussians(rows, y, "lda", 0.0).covariance == pytest.approx(plain)
    assert learn_gaussians(rows, y, "lda", 1.0).covariance == pytest.approx(np.diag(np.diag(plain)))
    half = learn_gaussians(rows, y, "lda", 0.5).covariance
    assert half == pytest.approx((plain + np.diag(np.diag(plain))) / 2)
    with pytest.raises(jt.errors.Unsupported, match="shrinkage draws full covariances"):
        learn_gaussians(rows, y, "gaussian", 0.5)
    rows[0, 0] = np.nan
    with pytest.raises(jt.errors.Unsupported, match="shrinkage needs rows without missing cells"):
        learn_gaussians(rows, y, "lda", 0.5)
