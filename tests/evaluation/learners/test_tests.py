"""Tests of differences: the numbers of the sources, other libraries, enumeration, size under the null, coverage."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import juncture as jt

evaluation = jt.evaluation
A = [0.81, 0.82, 0.84, 0.78, 0.85, 0.86, 0.82, 0.83, 0.82, 0.81]
B = [0.80, 0.77, 0.70, 0.83, 0.80, 0.78, 0.75, 0.80, 0.78, 0.77]
SCORES = st.integers(0, 2**31).map(lambda seed: np.random.default_rng(seed).normal(size=(2, 8)))


# --- t-tests -------------------------------------------------------------------------------------------------------


def test_the_worked_test_of_the_source():
    """S2-208, S2-209, S2-211, S2-212: T = 2.98 beyond 2.262, so no difference is *rejected* (printed the wrong way)."""
    test = evaluation.paired_t_test(A, B)
    assert test.difference == pytest.approx(0.046)
    assert test.statistic == pytest.approx(2.980346, abs=5e-7)
    assert test.p_value == pytest.approx(0.0154409, abs=5e-8)
    assert test.is_significant()
    assert test.critical_value(0.05) == pytest.approx(2.262, abs=5e-4)
    assert test.difference - test.low == pytest.approx(2.262157 * 0.0154344, abs=1e-6)


TABLE_OF_T = """
1  3.078  6.314 12.706 31.821 63.657
2  1.886  2.920  4.303  6.965  9.925
3  1.638  2.353  3.182  4.541  5.841
4  1.533  2.132  2.776  3.747  4.604
5  1.476  2.015  2.571  3.365  4.032
6  1.440  1.943  2.447  3.143  3.707
7  1.415  1.895  2.365  2.998  3.499
8  1.397  1.860  2.306  2.896  3.355
9  1.383  1.833  2.262  2.821  3.250
10  1.372  1.812  2.228  2.764  3.169
11  1.363  1.796  2.201  2.718  3.106
12  1.356  1.782  2.179  2.681  3.055
13  1.350  1.771  2.160  2.650  3.012
14  1.345  1.761  2.145  2.624  2.977
15  1.341  1.753  2.131  2.602  2.947
16  1.337  1.746  2.120  2.583  2.921
17  1.333  1.740  2.110  2.567  2.898
18  1.330  1.734  2.101  2.552  2.878
19  1.328  1.729  2.093  2.539  2.861
20  1.325  1.725  2.086  2.528  2.845
21  1.323  1.721  2.080  2.518  2.831
22  1.321  1.717  2.074  2.508  2.819
23  1.319  1.714  2.069  2.500  2.807
24  1.318  1.711  2.064  2.492  2.797
25  1.316  1.708  2.060  2.485  2.787
26  1.315  1.706  2.056  2.479  2.779
27  1.314  1.703  2.052  2.473  2.771
28  1.313  1.701  2.048  2.467  2.763
29  1.311  1.699  2.045  2.462  2.756
30  1.310  1.697  2.042  2.457  2.750
32  1.309  1.694  2.037  2.449  2.738
34  1.307  1.691  2.032  2.441  2.728
36  1.306  1.688  2.028  2.434  2.719
38  1.304  1.686  2.024  2.429  2.712
∞  1.282  1.645  1.960  2.326  2.576
"""  # degrees of freedom, then t of .100, .050, .025, .010 and .005
HALF_A_DIGIT = 0.0005 + 1e-12


def test_the_table_of_t():
    """S2-210, S2-213: all 175 entries, one-sided and two-sided; at .025 also the half-width of the interval."""
    lines = [line.split() for line in TABLE_OF_T.strip().splitlines()]
    assert sum(len(entries) for _, *entries in lines) == 175
    for name, *entries in lines:
        degrees = 10**5 if name == "∞" else int(name)
        draws = np.random.default_rng(degrees).normal(size=degrees + 1)
        error = draws.std(ddof=1) / np.sqrt(degrees + 1)
        greater, less, both = (
            evaluation.paired_t_test(draws, np.zeros(degrees + 1), alternative=alternative)
            for alternative in ("greater", "less", "two-sided")
        )
        for level, entry in zip((0.1, 0.05, 0.025, 0.01, 0.005), entries, strict=True):
            assert greater.critical_value(level) == pytest.approx(float(entry), abs=HALF_A_DIGIT)
            assert less.critical_value(level) == -greater.critical_value(level)
            assert both.critical_value(2 * level) == greater.critical_value(level)
        assert (both.high - both.difference) / error == pytest.approx(float(entries[2]), abs=HALF_A_DIGIT)


def significant_by_value(test, level):
    value = test.critical_value(level)
    if test.null == "binomial" or test.alternative == "less":
        return test.statistic <= value
    return (abs(test.statistic) if test.alternative == "two-sided" and test.null == "t" else test.statistic) >= value


@given(st.integers(0, 2**31), st.sampled_from([0.01, 0.05, 0.1, 0.3]))
def test_a_p_value_below_the_level_is_a_statistic_in_the_critical_region(seed, level):
    """S2-208: for all tests with a table of critical values."""
    rng = np.random.default_rng(seed)
    a, b = rng.normal(0.7, 1.0, 10), rng.normal(0.0, 1.0, 10)
    right_a, right_b = rng.random(40) < 0.8, rng.random(40) < 0.5
    tests = [evaluation.paired_t_test(a, b, alternative=side) for side in ("two-sided", "greater", "less")]
    tests += [evaluation.corrected_t_test(a, b, 0.1)]
    tests += [evaluation.five_by_two_test(a.reshape(5, 2), b.reshape(5, 2), kind=kind) for kind in ("F", "t")]
    tests += [evaluation.mcnemar_test(right_a, right_b, exact=exact) for exact in (True, False)]
    for test in tests:
        assert significant_by_value(test, level) == test.is_significant(level)


def test_critical_values_at_the_ends():
    """Five discordant examples are never significant at .05 (2 / 2^5), six are where all are on one side."""
    right = np.ones(6, dtype=bool)
    assert evaluation.mcnemar_test(right[:5], ~right[:5]).critical_value() == -1
    assert evaluation.mcnemar_test(right, ~right).critical_value() == 0
    with pytest.raises(jt.errors.Unsupported, match="compare its p-value with the level"):
        evaluation.wilcoxon_test(A, B).critical_value()


@given(SCORES, st.sampled_from(["two-sided", "greater", "less"]))
def test_the_paired_test_is_that_of_scipy(scores, alternative):
    """S2-214: one-sided p-values are half of two-sided ones, on the side of the difference."""
    ours = evaluation.paired_t_test(*scores, alternative=alternative, confidence=0.9)
    theirs = stats.ttest_rel(*scores, alternative=alternative)
    interval = theirs.confidence_interval(0.9)
    assert (ours.statistic, ours.p_value) == pytest.approx((theirs.statistic, theirs.pvalue), rel=1e-10)
    assert (ours.low, ours.high) == pytest.approx((interval.low, interval.high), rel=1e-10)


@given(SCORES)
def test_swapping_the_learners_turns_the_sign(scores):
    for compare in (evaluation.paired_t_test, lambda a, b: evaluation.corrected_t_test(a, b, 0.1)):
        one, other = compare(*scores), compare(*scores[::-1])
        assert (one.statistic, one.p_value, one.low) == pytest.approx((-other.statistic, other.p_value, -other.high))


def test_the_correction_by_hand():
    """Repeated folds: the variance of the mean is s² (1/n + 1/(k - 1))."""
    rng = np.random.default_rng(0)
    first, second = rng.normal(size=(2, 10, 5))
    test = evaluation.corrected_t_test(first, second, 1 / 5)
    error = np.sqrt((first - second).var(ddof=1) * (1 / 50 + 1 / 4))
    assert test.statistic == pytest.approx((first - second).mean() / error)
    assert test.p_value == pytest.approx(2 * stats.t.sf(abs(test.statistic), 49))


def test_equal_differences_have_no_variance():
    same = evaluation.paired_t_test([1.0, 2.0, 3.0], [1.0, 2.0, 3.0])
    assert (same.statistic, same.p_value, same.low, same.high) == (0.0, 1.0, 0.0, 0.0)
    apart = evaluation.paired_t_test([1.5, 2.5, 3.5], [1.0, 2.0, 3.0])
    assert (apart.statistic, apart.p_value, apart.difference) == (np.inf, 0.0, 0.5)


def test_five_by_two_by_hand():
    """Dietterich's t and Alpaydın's F, from the formulas."""
    first, second = np.random.default_rng(2).normal(size=(2, 5, 2))
    differences = first - second
    variances = differences.var(axis=1) * 2
    t = differences[0, 0] / np.sqrt(variances.mean())
    f = (differences**2).sum() / (2 * variances.sum())
    ours = evaluation.five_by_two_test(first, second, kind="t")
    assert (ours.statistic, ours.p_value) == pytest.approx((t, 2 * stats.t.sf(abs(t), 5)))
    ours = evaluation.five_by_two_test(first, second)
    assert (ours.statistic, ours.p_value) == pytest.approx((f, stats.f.sf(f, 10, 5)))


# --- size under the null, and coverage -----------------------------------------------------------------------------

NUM_FOLDS, NUM_COMPARISONS = 10, 2000


def correlated_scores(rng, correlation):
    """Differences of folds with mean 0 and this correlation, as those of cross-validation have; (comparison, fold)."""
    shared = rng.normal(size=(NUM_COMPARISONS, 1)) * np.sqrt(correlation)
    return shared + rng.normal(size=(NUM_COMPARISONS, NUM_FOLDS)) * np.sqrt(1 - correlation)


def rejections(test, differences):
    """The share of comparisons that are significant at 5 %."""
    return np.mean([test(row).p_value <= 0.05 for row in differences])


def test_the_corrected_test_keeps_its_level_and_the_plain_one_does_not():
    """2,000 comparisons where there is no difference, the correlation that of ten folds: 1/10."""
    differences, zeros = correlated_scores(np.random.default_rng(4), 1 / NUM_FOLDS), np.zeros(NUM_FOLDS)
    assert rejections(lambda row: evaluation.corrected_t_test(row, zeros, 1 / NUM_FOLDS), differences) <= 0.06
    assert rejections(lambda row: evaluation.paired_t_test(row, zeros), differences) > 0.1


def test_independent_differences_keep_the_level_of_the_plain_test_and_of_five_by_two():
    rng, zeros = np.random.default_rng(5), np.zeros(NUM_FOLDS)
    differences = correlated_scores(rng, 0.0)
    assert rejections(lambda row: evaluation.paired_t_test(row, zeros), differences) <= 0.06
    tables = rng.normal(size=(NUM_COMPARISONS, 5, 2))
    for kind in ("t", "F"):
        assert rejections(lambda row, kind=kind: evaluation.five_by_two_test(row, 0 * row, kind=kind), tables) <= 0.06


def test_intervals_cover_the_difference():
    """At 95 %, of a true mean of 0.3; four standard errors of 2,000 comparisons are allowed."""
    margin = 4 * np.sqrt(0.95 * 0.05 / NUM_COMPARISONS)
    rng, zeros = np.random.default_rng(6), np.zeros(NUM_FOLDS)
    for correlation, test in [
        (0.0, lambda row: evaluation.paired_t_test(row, zeros)),
        (1 / NUM_FOLDS, lambda row: evaluation.corrected_t_test(row, zeros, 1 / NUM_FOLDS)),
    ]:
        found = [test(row) for row in 0.3 + correlated_scores(rng, correlation)]
        assert np.mean([each.low <= 0.3 <= each.high for each in found]) == pytest.approx(0.95, abs=margin)


# --- McNemar -------------------------------------------------------------------------------------------------------


@given(st.integers(0, 8), st.integers(0, 8), st.integers(0, 5))
def test_mcnemar_is_the_sign_test_of_discordant_examples(better, worse, same):
    """Against the enumeration of all ways in which the discordant examples may fall."""
    if better + worse + same == 0:
        return
    first = [1] * better + [0] * worse + [1] * same
    second = [0] * better + [1] * worse + [1] * same
    number = better + worse
    as_far = [abs(2 * sum(signs) - number) >= abs(better - worse) for signs in product([0, 1], repeat=number)]
    test = evaluation.mcnemar_test(first, second)
    assert test.p_value == pytest.approx(np.mean(as_far))
    assert test.difference == pytest.approx((better - worse) / len(first))
    assert test.low <= test.difference <= test.high


def test_mcnemar_is_never_too_eager():
    """The exact probability of rejecting at 5 %, at most 5 % for every number of discordant examples."""
    for number in range(1, 30):
        p_values = [
            evaluation.mcnemar_test([1] * k + [0] * (number - k), [0] * k + [1] * (number - k)).p_value
            for k in range(number + 1)
        ]
        chances = stats.binom.pmf(np.arange(number + 1), number, 0.5)
        assert chances[np.array(p_values) <= 0.05].sum() <= 0.05


def test_the_interval_of_paired_proportions_covers():
    """Exact coverage at 40 examples, by the trinomial distribution, near its nominal 95 %."""
    number = 40
    pairs = [(better, worse) for better in range(number + 1) for worse in range(number + 1 - better)]
    counts = [(better, worse, number - better - worse) for better, worse in pairs]
    intervals = [evaluation.learners.paired_tests.paired_interval(b, w, number, 0.95) for b, w, _ in counts]
    for up, down in [(0.1, 0.1), (0.3, 0.1), (0.05, 0.02)]:
        chances = stats.multinomial.pmf(counts, number, [up, down, 1 - up - down])
        covered = [low <= up - down <= high for low, high in intervals]
        assert chances[np.array(covered)].sum() >= 0.94


def test_the_chi_squared_form():
    """Edwards's corrected statistic on 25 and 10 discordant examples: (15 - 1)² / 35 = 5.6."""
    test = evaluation.mcnemar_test([1] * 25 + [0] * 10, [0] * 25 + [1] * 10, exact=False)
    assert (test.statistic, test.p_value) == pytest.approx((5.6, stats.chi2.sf(5.6, 1)))
    assert evaluation.mcnemar_test([1, 1], [1, 1], exact=False).p_value == 1.0


# --- what is refused -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: evaluation.paired_t_test([1.0, 2.0], [1.0]), r"the same shape and at least 2 pairs"),
        (lambda: evaluation.paired_t_test([1.0, np.nan], [1.0, 2.0]), "a score is missing or infinite"),
        (lambda: evaluation.corrected_t_test(A, B, 10), "test_fraction must be a number above 0 and below 1; got 10"),
        (lambda: evaluation.paired_t_test(A, B, alternative="bigger"), "alternative must be"),
        (lambda: evaluation.five_by_two_test(A, B), r"scores of shape \(5, 2\): repeat, fold"),
        (lambda: evaluation.five_by_two_test(np.ones((5, 2)), np.zeros((5, 2))), "has no variance"),
        (lambda: evaluation.mcnemar_test([1, 0, 2], [1, 1, 1]), "classified rightly"),
        (lambda: evaluation.mcnemar_test([1, 0], [1]), "the same examples; got 2 and 1"),
        (lambda: evaluation.friedman_test({"a": [1, 2], "b": [2, 1]}), "there must be 3 learners or more"),
        (lambda: evaluation.compare_learners({"a": [1, 2]}, rng=0), "two learners or more"),
    ],
)
def test_wrong_scores_are_refused_in_a_sentence(call, words):
    with pytest.raises(jt.errors.InvalidData, match=words):
        call()
