"""Calibration and proper scores: decompositions, bias, coverage, closed forms against quadrature."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from scipy.integrate import quad
from sklearn import metrics
from sklearn.isotonic import IsotonicRegression

import juncture as jt
from juncture.evaluation.measures.calibration import wilson_interval

evaluation = jt.evaluation
PREDICTED = st.lists(st.tuples(st.booleans(), st.sampled_from([0.0, 0.1, 0.4, 0.5, 0.9, 1.0])), min_size=2, max_size=25)


# --- calibration ---------------------------------------------------------------------------------------------------


@given(PREDICTED)
def test_the_score_is_the_sum_of_its_parts(pairs):
    """And no part is negative: isotonic probabilities are at least as good as the predictions and as their mean."""
    truth, predicted = (np.array(side, dtype=float) for side in zip(*pairs, strict=True))
    found = evaluation.calibration(truth, predicted, draws=2, rng=0)
    assert found.score == pytest.approx(np.mean((truth - predicted) ** 2))
    assert found.score == pytest.approx(found.miscalibration - found.discrimination + found.uncertainty)
    assert min(found.miscalibration, found.discrimination, found.uncertainty) >= -1e-12
    order = np.argsort(predicted, kind="stable")
    theirs = IsotonicRegression().fit(predicted, truth).predict(predicted[order])
    assert found.recalibrated == pytest.approx(theirs)
    assert found.bins[:, 4].sum() == len(truth)
    assert found.error <= found.root_error + 1e-12  # a mean is at most the root of the mean square
    assert 0 <= found.debiased_error <= found.root_error


def test_calibrated_predictions_stay_in_the_band_and_have_no_debiased_error():
    """The plain error of bins is positive by chance; without its bias it vanishes on average."""
    rng = np.random.default_rng(0)
    squared, plain, inside, zeros = [], [], [], 0
    for repeat in range(40):
        predicted = rng.uniform(size=400)
        truth = rng.random(400) < predicted
        found = evaluation.calibration(truth, predicted, draws=60, rng=repeat)
        means, shares, counts = found.bins[:, 0], found.bins[:, 1], found.bins[:, 4]
        squared.append(np.average((means - shares) ** 2 - shares * (1 - shares) / (counts - 1), weights=counts))
        plain.append(found.error)
        assert found.debiased_error == pytest.approx(np.sqrt(max(squared[-1], 0.0)))
        zeros += found.debiased_error == 0
        inside.append(np.mean((found.recalibrated >= found.band_low) & (found.recalibrated <= found.band_high)))
    assert abs(np.mean(squared)) < 4 * np.std(squared) / np.sqrt(40)
    assert np.mean(plain) > 0.02
    assert 0 < zeros < 40  # it is above 0 by chance as well
    assert np.mean(inside) == pytest.approx(0.9, abs=0.05)


def test_wrong_predictions_are_found():
    rng = np.random.default_rng(1)
    predicted = rng.uniform(0.1, 0.9, size=3000)
    found = evaluation.calibration(rng.random(3000) < predicted**2, predicted, rng=0)
    exact = np.sqrt(quad(lambda p: (p - p * p) ** 2, 0.1, 0.9)[0] / 0.8)
    assert found.debiased_error == pytest.approx(exact, abs=0.03)
    assert found.miscalibration > 0.02
    by_width = evaluation.calibration(rng.random(3000) < predicted, predicted, strategy="width", bins=5, rng=0)
    assert (np.diff(by_width.to_pandas()["predicted"]) > 0).all()


def test_wilson_is_that_of_scipy_and_covers():
    """The exact coverage over all outcomes swings around its nominal 90 %; over all probabilities its mean is near."""
    counts = np.arange(41)
    low, high = wilson_interval(counts / 40, np.full(41, 40), 0.9)
    theirs = [stats.binomtest(count, 40).proportion_ci(0.9, method="wilson") for count in counts.tolist()]
    assert np.column_stack([low, high]) == pytest.approx(np.array([[each.low, each.high] for each in theirs]))
    chances = np.linspace(0.02, 0.98, 97)[:, None]
    covered = (stats.binom.pmf(counts, 40, chances) * ((low <= chances) & (chances <= high))).sum(axis=1)
    assert covered.mean() == pytest.approx(0.9, abs=0.01)
    assert covered.min() > 0.8


def test_one_prediction_and_outcomes_that_never_happen():
    found = evaluation.calibration([0, 0, 0], [0.2, 0.2, 0.2], draws=5, rng=0)
    assert len(found.bins) == 1
    assert (found.uncertainty, found.discrimination) == (0.0, 0.0)
    assert found.miscalibration == pytest.approx(0.04)


# --- scores of distributions ---------------------------------------------------------------------------------------


def crps_by_quadrature(distribution, value):
    below = quad(lambda x: distribution.cdf(x) ** 2, -np.inf, value)[0]
    return below + quad(lambda x: (1 - distribution.cdf(x)) ** 2, value, np.inf)[0]


@given(st.floats(-3, 3), st.floats(0.1, 4), st.floats(-4, 4))
def test_the_closed_form_of_a_gaussian(mean, variance, value):
    distribution = jt.Gaussian(mean, variance)
    assert evaluation.crps(distribution, value) == pytest.approx(crps_by_quadrature(distribution, value), rel=1e-6)


def test_the_closed_form_of_a_mixture():
    mixture = jt.Mixture([0.3, 0.7], jt.Gaussian([-1.0, 2.0], [0.5, 2.0]))
    values = np.array([-2.0, 0.5, 3.0])
    exact = [crps_by_quadrature(mixture, value) for value in values]
    assert evaluation.crps(mixture, values) == pytest.approx(exact, rel=1e-7)
    one = jt.Mixture([1.0], jt.Gaussian([0.5], 2.0))
    assert evaluation.crps(one, values) == pytest.approx(evaluation.crps(jt.Gaussian(0.5, 2.0), values))


@pytest.mark.parametrize(
    "distribution",
    [jt.Exponential(0.5), jt.Gamma(2.0, 1.5), jt.Laplace(1.0, 2.0), jt.StudentT(3.0, 0.0, 1.0), jt.Uniform(-1.0, 2.0)],
    ids=lambda distribution: type(distribution).__name__,
)
def test_other_families_by_quadrature(distribution):
    for value in (-0.5, 0.4, 3.0):
        exact = crps_by_quadrature(distribution, value)
        assert evaluation.crps(distribution, value) == pytest.approx(exact, rel=1e-5)


def test_counts_and_states_by_summation():
    """The ranked probability score: Σ (F(k) - 1(k ≥ y))²; between whole numbers the distance to them counts."""
    for distribution in (jt.Poisson(3.0), jt.Categorical([0.2, 0.5, 0.3]), jt.Binomial(6, 0.4)):
        places = np.arange(60) if isinstance(distribution, jt.Poisson) else np.arange(distribution.support.high + 1)
        below = np.asarray(distribution.cdf(places))
        for value in (0, 1, 2):
            assert evaluation.crps(distribution, value) == pytest.approx(((below - (places >= value)) ** 2).sum())
    draws = jt.Poisson(3.0).sample(200_000, rng=0)
    assert evaluation.crps(jt.Poisson(3.0), 2.5) == pytest.approx(evaluation.crps(draws, 2.5), abs=0.01)


@given(st.lists(st.integers(-5, 5), min_size=1, max_size=8), st.integers(-6, 6))
def test_draws_are_their_empirical_distribution(draws, value):
    places = np.array(draws, dtype=float)
    exact = np.abs(places - value).mean() - np.abs(places[:, None] - places).mean() / 2
    assert evaluation.crps(places, value) == pytest.approx(exact, abs=1e-12)


def test_batches_go_row_by_row():
    batch, values = jt.Gaussian([0.0, 1.0], [1.0, 4.0]), np.array([0.5, -1.0])
    ones = [evaluation.crps(batch[place], values[place]) for place in range(2)]
    assert evaluation.crps(batch, values) == pytest.approx(ones)
    rates = jt.Exponential([1.0, 2.0])
    assert evaluation.crps(rates, values + 1) == pytest.approx(
        [evaluation.crps(rates[place], values[place] + 1) for place in range(2)]
    )
    assert evaluation.crps(np.zeros((2, 3)), values) == pytest.approx(np.abs(values))


def test_scores_are_proper():
    """Drawn from one Gaussian, both scores are smaller on average for it than for its neighbours."""
    values = jt.Gaussian(0.0, 1.0).sample(4000, rng=2)
    for score in (evaluation.crps, evaluation.log_score):
        truth = np.mean(score(jt.Gaussian(0.0, 1.0), values))
        assert all(np.mean(score(jt.Gaussian(mean, v), values)) > truth for mean, v in [(0.5, 1), (0, 3), (0, 0.4)])


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: evaluation.calibration([0, 1], [0.5, 1.5], rng=0), jt.errors.InvalidData, "lie between 0 and 1"),
        (lambda: evaluation.calibration([0, 2], [0.5, 0.5], rng=0), jt.errors.InvalidData, "an outcome, 0 or 1"),
        (lambda: evaluation.crps(jt.Gaussian(0.0, 1.0), np.nan), jt.errors.InvalidData, "a finite number"),
        (lambda: evaluation.crps(jt.Dirichlet([1.0, 1.0]), 0.5), jt.errors.Unsupported, "numbers with a finite mean"),
        (lambda: evaluation.crps(np.zeros((3, 2)), [1.0, 2.0]), jt.errors.InvalidData, "do not fit observations"),
        (lambda: evaluation.log_score(3, 1.0), jt.errors.Unsupported, "a distribution with log_prob"),
    ],
)
def test_wrong_predictions_are_refused_in_a_sentence(call, error, words):
    with pytest.raises(error, match=words):
        call()


# --- Brier's score -------------------------------------------------------------------------------------------------


def test_the_brier_score_of_classes():
    """That of scikit-learn; of two classes twice the score of a calibration; refused where no classes are named."""
    rng = np.random.default_rng(0)
    shares, weights = rng.dirichlet(np.ones(3), size=40), rng.random(40)
    truth = np.array(["a", "b", "c"])[rng.integers(3, size=40)]
    theirs = metrics.brier_score_loss(truth, shares, sample_weight=weights, labels=["a", "b", "c"], scale_by_half=False)
    assert evaluation.brier_score(truth, shares, weights=weights) == pytest.approx(theirs)
    frame = pd.DataFrame(shares[:, ::-1], columns=["c", "b", "a"])
    assert evaluation.brier_score(truth, frame, weights=weights) == pytest.approx(theirs)
    event = truth == "a"
    both = np.column_stack([1 - shares[:, 0], shares[:, 0]])
    half = evaluation.calibration(event, shares[:, 0], draws=2, rng=0).score
    assert evaluation.brier_score(event, both) == pytest.approx(2 * half)
    with pytest.raises(jt.errors.InvalidData, match=r"a column for each class, \(2, 1\) here"):
        evaluation.brier_score(["a", "a"], [[0.5, 0.5], [0.2, 0.8]])
    with pytest.raises(jt.errors.InvalidData, match="those of row 1 do not"):
        evaluation.brier_score(["a", "b"], [[0.5, 0.5], [0.2, 0.7]])
