"""Tests by ranks, and Bayesian comparisons: enumeration, other libraries, calibration."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import juncture as jt

evaluation = jt.evaluation
DIFFERENCES = st.lists(st.integers(-3, 3), min_size=2, max_size=7).map(lambda values: np.array(values, dtype=float))
LEARNERS = ("naive Bayes", "tree", "forest", "logistic")


def signed_ranks(differences):
    ranks = stats.rankdata(np.abs(differences))
    return ranks[differences > 0].sum() + ranks[differences == 0].sum() / 2


# --- Wilcoxon ------------------------------------------------------------------------------------------------------


@given(DIFFERENCES)
def test_the_p_value_is_that_of_all_signs(differences):
    """With ties and zeros: enumeration of the signs, those of zeros without effect."""
    if not differences.any():
        return
    center = len(differences) * (len(differences) + 1) / 4
    far = abs(signed_ranks(differences) - center)
    all_signs = [signed_ranks(np.abs(differences) * signs) for signs in product([-1, 1], repeat=len(differences))]
    share = np.mean(np.abs(np.array(all_signs) - center) >= far - 1e-9)
    assert evaluation.wilcoxon_test(differences, 0 * differences).p_value == pytest.approx(share)


@given(st.integers(6, 12), st.integers(0, 2**31))
def test_the_interval_belongs_to_the_test(number, seed):
    """A shift inside of the interval is not rejected, a shift outside is."""
    scores = np.random.default_rng(seed).normal(size=number)
    test = evaluation.wilcoxon_test(scores, np.zeros(number))
    for shift, inside in [(test.low + 1e-9, True), (test.high - 1e-9, True), (test.low - 1e-9, False)]:
        assert (evaluation.wilcoxon_test(scores, np.full(number, shift)).p_value > 0.05) == inside
    assert test.low <= test.difference <= test.high


def test_few_pairs_have_no_interval():
    test = evaluation.wilcoxon_test([1.0, 2.0, 3.0], [0.0, 0.0, 0.0])
    assert (test.low, test.high, test.p_value) == (-np.inf, np.inf, 0.25)
    assert evaluation.wilcoxon_test([1.0, 2.0], [1.0, 2.0]).p_value == 1.0


# --- Friedman ------------------------------------------------------------------------------------------------------


@given(st.integers(3, 5), st.integers(3, 8), st.integers(0, 2**31))
def test_the_statistic_is_that_of_scipy(number, num_sets, seed):
    table = np.random.default_rng(seed).integers(0, 6, size=(num_sets, number)).astype(float)
    if (table == table[:, :1]).all():
        return
    test = evaluation.friedman_test({str(place): table[:, place] for place in range(number)})
    theirs = stats.friedmanchisquare(*table.T)
    assert (test.statistic, test.p_value) == pytest.approx((theirs.statistic, theirs.pvalue), rel=1e-10)


def test_the_classic_formula_is_corrected_for_ties():
    """12n / k(k+1) (Σ R² - k(k+1)²/4), as Demšar (2006) prints it, over 1 - Σ (t³ - t) / n k (k² - 1)."""
    table = np.array([[0.8, 0.8, 0.7], [0.9, 0.6, 0.6], [0.5, 0.5, 0.5], [0.7, 0.6, 0.5], [0.9, 0.8, 0.8]])
    test = evaluation.friedman_test(dict(zip("abc", table.T, strict=True)))
    classic = 12 * 5 / (3 * 4) * ((test.mean_ranks**2).sum() - 3 * 16 / 4)
    ties = 3 * (2**3 - 2) + (3**3 - 3)  # three pairs and a triple
    assert test.statistic == pytest.approx(classic / (1 - ties / (5 * 3 * 8)))
    assert test.statistic > classic


def test_the_critical_differences_of_demsar():
    """Demšar (2006), section 3.2.2: four learners on 14 data sets, 1.25 at .05 and 1.12 at .10."""
    table = np.random.default_rng(0).normal(size=(14, 4))
    test = evaluation.friedman_test(dict(zip(LEARNERS, table.T, strict=True)))
    assert test.critical_difference == pytest.approx(1.25, abs=0.005)
    test = evaluation.friedman_test(dict(zip(LEARNERS, table.T, strict=True)), level=0.10)
    assert test.critical_difference == pytest.approx(1.12, abs=0.005)


def test_losses_turn_the_ranks():
    table = np.random.default_rng(1).normal(size=(6, 3))
    scores = {name: table[:, place] for place, name in enumerate("abc")}
    up = evaluation.friedman_test(scores)
    down = evaluation.friedman_test(scores, higher_is_better=False)
    assert up.mean_ranks + down.mean_ranks == pytest.approx([4.0] * 3)
    assert up.statistic == pytest.approx(down.statistic)


def test_groups_are_the_largest_sets_within_the_critical_difference():
    table = np.arange(4)[None, :] * 0.5 + np.random.default_rng(2).normal(size=(30, 4))
    test = evaluation.friedman_test(dict(zip(LEARNERS, table.T, strict=True)))
    rank = dict(zip(test.names, test.mean_ranks, strict=True))
    for group in test.groups:
        assert max(rank[name] for name in group) - min(rank[name] for name in group) <= test.critical_difference
    assert {name for group in test.groups for name in group} == set(LEARNERS)
    p_values = test.pair_p_values()
    apart = np.abs(test.mean_ranks[:, None] - test.mean_ranks) > test.critical_difference
    assert ((p_values < 0.05) == apart).all()
    assert test.to_pandas().index[0] == min(rank, key=rank.get)
    assert "critical difference" in test._repr_html_()


def test_the_size_of_friedman_and_iman_davenport():
    """2,000 comparisons of equal learners over ten data sets; χ² is conservative, F near its level."""
    ranks = stats.rankdata(np.random.default_rng(3).normal(size=(2000, 10, 4)), axis=2)
    found = [evaluation.friedman_test(dict(zip("abcd", -table.T, strict=True))) for table in ranks[:300]]
    statistic = 10 * 3 * 10 * ((ranks.mean(axis=1) - 2.5) ** 2).sum(axis=1) / ((ranks - 2.5) ** 2).sum(axis=(1, 2))
    assert [test.statistic for test in found] == pytest.approx(statistic[:300])
    assert np.mean(stats.chi2.sf(statistic, 3) <= 0.05) <= 0.06
    assert np.mean(stats.f.sf(9 * statistic / (30 - statistic), 3, 27) <= 0.05) <= 0.065


# --- Bayesian comparisons ------------------------------------------------------------------------------------------


@given(st.integers(0, 2**31), st.floats(0.0, 0.5))
def test_the_posterior_of_folds_is_a_student_t(seed, rope):
    first, second = np.random.default_rng(seed).normal(size=(2, 10))
    ours = evaluation.bayesian_correlated_t(first, second, 0.1, rope=rope)
    differences = first - second
    posterior = stats.t(9, differences.mean(), np.sqrt(differences.var(ddof=1) * (1 / 10 + 1 / 9)))
    below, above = posterior.cdf(-rope), posterior.sf(rope)
    assert ours.probabilities == pytest.approx((below, 1 - below - above, above), abs=1e-12)
    assert (ours.low, ours.high) == pytest.approx(posterior.interval(0.95))
    assert sum(ours.probabilities) == pytest.approx(1.0)


def test_the_posterior_of_folds_is_calibrated():
    """Where nothing is known beforehand, the credible interval is the confidence interval of the corrected test."""
    first, second = np.random.default_rng(7).normal(size=(2, 10))
    test = evaluation.corrected_t_test(first, second, 0.1)
    bayes = evaluation.bayesian_correlated_t(first, second, 0.1)
    assert (bayes.low, bayes.high) == pytest.approx((test.low, test.high))
    assert 2 * min(bayes.first_better, bayes.second_better) == pytest.approx(test.p_value)


def test_equal_folds_give_a_point():
    assert evaluation.bayesian_correlated_t([1.0, 2.0], [0.9, 1.9], 0.5, rope=0.01).probabilities == (0.0, 0.0, 1.0)
    assert evaluation.bayesian_correlated_t([1.0, 2.0], [1.0, 2.0], 0.5).probabilities == (0.0, 1.0, 0.0)


def test_signed_ranks_of_one_data_set_in_closed_form():
    """One difference d > 0 and the prior at 0: d wins where 1 - w0² > w0², with w0 from Beta(s, 1)."""
    ours = evaluation.bayesian_signed_rank([1.0], [0.0], strength=0.5, draws=20_000, rng=0)
    exact = stats.beta.cdf(np.sqrt(0.5), 0.5, 1.0)
    assert ours.first_better == pytest.approx(exact, abs=4 * np.sqrt(exact * (1 - exact) / 20_000))
    assert ours.second_better == 0.0


def test_signed_ranks_are_symmetric_and_repeatable():
    first, second = np.random.default_rng(8).normal(size=(2, 12))
    one = evaluation.bayesian_signed_rank(first, second, rope=0.1, draws=5000, rng=1)
    other = evaluation.bayesian_signed_rank(second, first, rope=0.1, draws=5000, rng=1)
    assert one.probabilities == pytest.approx(other.probabilities[::-1])
    again = evaluation.bayesian_signed_rank(first, second, rope=0.1, draws=5000, rng=1)
    assert one.probabilities == again.probabilities
    wide = evaluation.bayesian_signed_rank(first, second, rope=100.0, draws=1000, rng=0)
    assert wide.probabilities == (0.0, 1.0, 0.0)


def test_the_signed_rank_posterior_under_the_null():
    """Where there is no difference, its probability is spread evenly: it says "better" by 95 % in few of 100 cases."""
    rng = np.random.default_rng(9)
    sure = [
        max(evaluation.bayesian_signed_rank(rng.normal(size=12), np.zeros(12), draws=500, rng=0).probabilities) > 0.975
        for _ in range(200)
    ]
    assert np.mean(sure) <= 0.05 + 4 * np.sqrt(0.05 * 0.95 / 200)


# --- other libraries, where they are installed ---------------------------------------------------------------------


def test_agreement_with_baycomp():
    baycomp = pytest.importorskip("baycomp")
    first, second = np.random.default_rng(10).normal(0.8, 0.05, size=(2, 50))
    theirs = baycomp.two_on_single(first, second, rope=0.01, runs=5)
    ours = evaluation.bayesian_correlated_t(first, second, 1 / 10, rope=0.01)
    assert ours.probabilities[::-1] == pytest.approx(theirs)  # it names the first learner first


def test_agreement_with_scikit_posthocs():
    posthocs = pytest.importorskip("scikit_posthocs")
    table = np.random.default_rng(11).normal(size=(9, 4))
    test = evaluation.friedman_test(dict(zip(LEARNERS, table.T, strict=True)))
    theirs = np.asarray(posthocs.posthoc_nemenyi_friedman(table))
    assert test.pair_p_values() == pytest.approx(theirs, abs=1e-10)


def test_agreement_with_statsmodels():
    tables = pytest.importorskip("statsmodels.stats.contingency_tables")
    multiple = pytest.importorskip("statsmodels.stats.multitest")
    for exact in (True, False):
        ours = evaluation.mcnemar_test([1] * 9 + [0] * 4 + [1] * 7, [0] * 9 + [1] * 4 + [1] * 7, exact=exact)
        theirs = tables.mcnemar([[7, 9], [4, 0]], exact=exact)
        assert ours.p_value == pytest.approx(theirs.pvalue, rel=1e-10)
    p_values = [0.01, 0.04, 0.03, 0.2]
    adjusted = evaluation.learners.compare.adjust_p_values(p_values)
    assert adjusted == pytest.approx(multiple.multipletests(p_values, method="holm")[1])


# --- the table -----------------------------------------------------------------------------------------------------


def test_the_table_has_all_pairs_best_first():
    rng = np.random.default_rng(12)
    scores = {name: 0.7 + 0.05 * place + 0.01 * rng.normal(size=(2, 5)) for place, name in enumerate(LEARNERS)}
    found = evaluation.compare_learners(scores, test_fraction=1 / 5, rope=0.02, rng=0)
    assert [name for name, _ in found.means] == list(LEARNERS[::-1])
    assert len(found.pairs) == 6
    assert all(pair.difference >= 0 for pair in found.pairs)
    raw = evaluation.corrected_t_test(scores["logistic"], scores["forest"], 1 / 5)
    assert (found.pairs[0].low, found.pairs[0].high) == pytest.approx((raw.low, raw.high))
    assert found.pairs[0].p_value >= raw.p_value
    assert found.to_pandas()["first_better"].between(0, 1).all()
    assert str(found).count("\n") == 8
    assert "equivalent" in found._repr_html_()


def test_losses_and_data_sets_in_the_table():
    losses = {"a": [0.1, 0.2, 0.1, 0.3, 0.2, 0.25], "b": [0.2, 0.5, 0.3, 0.35, 0.3, 0.45]}
    found = evaluation.compare_learners(losses, higher_is_better=False, rng=0)
    assert found.pairs[0].first == "a"
    assert found.test == "Wilcoxon's signed-rank test"
    assert found.pairs[0].p_value == pytest.approx(2 / 64)


def test_pictures_show_the_values():
    from matplotlib.figure import Figure

    table = np.random.default_rng(13).normal(size=(9, 4)) + np.arange(4)
    test = evaluation.friedman_test(dict(zip(LEARNERS, table.T, strict=True)))
    texts = [text.get_text().strip() for text in test.plot(ax=Figure().subplots()).texts]
    assert {*LEARNERS, f"critical difference {test.critical_difference:.2f}"} <= set(texts)
    pairs = evaluation.compare_learners(dict(zip(LEARNERS, table.T, strict=True)), rng=0)
    labels = [label.get_text() for label in pairs.plot(ax=Figure().subplots()).get_yticklabels()]
    assert labels == [f"{pair.first} - {pair.second}" for pair in pairs.pairs]
    bayes = evaluation.bayesian_signed_rank(table[:, 0], table[:, 1], rng=0)
    assert [bar.get_height() for bar in bayes.plot(ax=Figure().subplots()).patches] == list(bayes.probabilities)
