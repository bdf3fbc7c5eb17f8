"""Confusion matrices, curves and errors of numbers: the sources' numbers, scikit-learn, closed forms."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics

import juncture as jt

evaluation = jt.evaluation
LABELS = st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("abc")), min_size=1, max_size=30)


def test_the_matrix_of_the_source():
    """S2-193 to S2-197 (a-10): never the positive class; accuracy .9, rebalanced .5, recall 0, precision 0/0."""
    matrix = evaluation.confusion_matrix(["pos"] * 10 + ["neg"] * 90, ["neg"] * 100, labels=["pos", "neg"])
    assert matrix.counts.tolist() == [[0, 10], [0, 90]]
    assert (matrix.accuracy, matrix.balanced_accuracy, matrix.recall("pos")) == (0.9, 0.5, 0.0)
    assert matrix.balanced_accuracy == (0 * 9 + 90) / (10 * 9 + 90)  # each positive counts N/P = 9
    assert (matrix.precision("pos"), matrix.precision("pos", zero_division=1.0)) == (0.0, 1.0)
    assert matrix.undefined == (("precision", "pos"),)


def test_f_scores_of_the_source():
    """S2-198: P = .5, R = 1 give F.5 = .5556, F1 = .6667, F2 = .8333; β → 0 gives P, β → ∞ gives R."""
    matrix = evaluation.confusion_matrix([1, 1, 0, 0], [1, 1, 1, 1])
    assert [matrix.f_score(1, beta) for beta in (0.5, 1, 2)] == pytest.approx([0.5556, 0.6667, 0.8333], abs=5e-5)
    assert matrix.f_score(1, 1e-6) == pytest.approx(matrix.precision(1))
    assert matrix.f_score(1, 1e6) == pytest.approx(matrix.recall(1))


@given(LABELS, st.randoms(use_true_random=False))
def test_measures_are_those_of_scikit_learn(pairs, random):
    """S2-201, S2-202: also with weights and several classes."""
    truth, predicted = zip(*pairs, strict=True)
    weights = [random.choice([0.5, 1.0, 2.0]) for _ in pairs]
    matrix = evaluation.confusion_matrix(truth, predicted, labels=list("abc"), weights=weights)
    options = {"sample_weight": weights, "labels": list("abc"), "zero_division": 0.0}
    assert matrix.counts == pytest.approx(
        metrics.confusion_matrix(truth, predicted, labels=list("abc"), sample_weight=weights)
    )
    assert matrix.accuracy == pytest.approx(metrics.accuracy_score(truth, predicted, sample_weight=weights))
    theirs = metrics.precision_recall_fscore_support(truth, predicted, beta=2.0, **options)
    assert matrix.precision() == pytest.approx(theirs[0])
    assert matrix.recall() == pytest.approx(theirs[1])
    assert matrix.f_score(beta=2.0) == pytest.approx(theirs[2])
    if len({*truth, *predicted}) > 1:  # else theirs warns, or is not a number
        correlation = metrics.matthews_corrcoef(truth, predicted, sample_weight=weights)
        assert matrix.matthews_correlation() == pytest.approx(correlation, abs=1e-12)
        kappa = metrics.cohen_kappa_score(truth, predicted, sample_weight=weights)
        assert matrix.cohen_kappa() == pytest.approx(kappa, abs=1e-12)


def test_agreement_beyond_chance_in_closed_form():
    """Cohen (1960): 20 + 15 of 50 agree, chance ½, κ = .4; one class on both sides says nothing."""
    counts = {("y", "y"): 20, ("y", "n"): 5, ("n", "y"): 10, ("n", "n"): 15}
    truth, predicted = zip(*(pair for pair, number in counts.items() for _ in range(number)), strict=True)
    matrix = evaluation.confusion_matrix(truth, predicted)
    assert matrix.cohen_kappa() == pytest.approx(0.4, abs=1e-15)
    assert matrix.matthews_correlation() == pytest.approx((20 * 15 - 5 * 10) / np.sqrt(25 * 25 * 30 * 20))
    alone = evaluation.confusion_matrix(["a"] * 3, ["a"] * 3, weights=[0.1, 0.2, 0.3])
    assert (alone.cohen_kappa(), alone.matthews_correlation(zero_division=1.0)) == (0.0, 1.0)


def test_labels_of_frames_and_other_kinds():
    import pandas as pd
    import polars as pl

    for column in (pd.Series(["x", "y", "x"]), pl.Series(["x", "y", "x"]), np.array(["x", "y", "x"], dtype=object)):
        assert evaluation.confusion_matrix(column, ["x", "x", "x"]).counts.tolist() == [[2, 0], [1, 0]]
    matrix = evaluation.confusion_matrix([True, False], [True, True])
    assert matrix.labels == (False, True)
    assert matrix.to_pandas().loc[False, True] == 1
    assert "balanced" in repr(matrix)
    assert "<table>" in matrix._repr_html_()


def test_curves_of_a_perfect_and_of_an_empty_score():
    """S2-199, S2-200: a perfect ranking has precision 1 all along; areas 1; an empty score knows nothing."""
    truth, scores = [0, 0, 0, 1, 1], [0.1, 0.2, 0.3, 0.8, 0.9]
    perfect = evaluation.precision_recall_curve(truth, scores)
    assert perfect.area == pytest.approx(1.0)
    assert (perfect.y[perfect.thresholds >= 0.8] == 1.0).all()
    assert evaluation.roc_curve(truth, scores).area == 1.0
    assert evaluation.roc_curve(truth, [0.5] * 5).area == 0.5
    assert evaluation.precision_recall_curve(truth, [0.5] * 5).area == pytest.approx(0.4)


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 4)), min_size=2, max_size=20))
def test_the_area_is_the_chance_of_a_right_order(pairs):
    truth, scores = (np.array(side) for side in zip(*pairs, strict=True))
    if truth.all() or not truth.any():
        return
    distances = scores[truth][:, None] - scores[~truth]
    assert evaluation.roc_curve(truth, scores).area == pytest.approx(np.mean((distances > 0) + (distances == 0) / 2))


def test_errors_of_numbers():
    """S2-203, S2-204: a constant error c gives |c|; y = ax + b gives ±1."""
    y = np.array([1.0, 4.0, 2.0, 8.0])
    assert evaluation.root_mean_squared_error(y, y - 3) == pytest.approx(3.0)
    assert evaluation.root_mean_squared_error(y, [1, 4, 2, 6], weights=[1, 1, 1, 3]) == pytest.approx(np.sqrt(2.0))
    assert evaluation.pearson_correlation(y, -2 * y + 1) == pytest.approx(-1.0)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: evaluation.confusion_matrix([1, 2], [1]), jt.errors.InvalidData, "got 2 and 1"),
        (
            lambda: evaluation.confusion_matrix([1, None], [1, 1]),
            jt.errors.InvalidData,
            "labels, without holes; got None",
        ),
        (
            lambda: evaluation.confusion_matrix(["a"], ["b"], labels=["a"]),
            jt.errors.InvalidData,
            "the class 'b' occurs",
        ),
        (lambda: evaluation.confusion_matrix([1], [1]).recall(2), jt.errors.UnknownState, "there is no class 2"),
        (lambda: evaluation.roc_curve([1, 1], [0.1, 0.2]), jt.errors.InvalidData, "these are all of one kind"),
        (lambda: evaluation.pearson_correlation([1, 1], [1, 2]), jt.errors.InvalidData, "no correlation"),
        (
            lambda: evaluation.root_mean_squared_error([1, np.nan], [1, 2]),
            jt.errors.InvalidData,
            "a finite true number",
        ),
    ],
)
def test_wrong_predictions_are_refused_in_a_sentence(call, error, words):
    with pytest.raises(error, match=words):
        call()


def test_curves_of_labels_say_how_to_compare_them():
    for curve in (jt.evaluation.roc_curve, jt.evaluation.precision_recall_curve):
        with pytest.raises(jt.errors.InvalidData, match="labels == 'yes'"):
            curve(["yes", "no"], [0.1, 0.2])
        with pytest.raises(jt.errors.InvalidData, match="the truth must be"):
            curve([[1, 2], [3]], [0.1, 0.2])


def test_labels_that_cannot_be_looked_up_are_refused():
    with pytest.raises(jt.errors.InvalidData, match=r"labels are texts, numbers or truth values; got \{\}"):
        jt.evaluation.confusion_matrix(["a"], ["a"], labels=["a", {}])
