"""Protocols: what folds must hold, what scikit-learn gives, the source's numbers, known errors."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsClassifier

import juncture as jt
from juncture.evaluation.protocols.bootstrap import SHARE

evaluation = jt.evaluation
RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
Y = np.where(X[:, 0] + 0.5 * RNG.normal(size=60) > 0, "yes", "no")


# --- parts of rows -------------------------------------------------------------------------------------------------


@given(st.integers(3, 60), st.lists(st.integers(1, 5), min_size=1, max_size=4), st.integers(0, 99))
def test_parts_are_disjoint_and_whole(number, shares, seed):
    """S2-205: every row in one part, the sizes by the shares."""
    fractions = np.array(shares) / sum(shares)
    parts = evaluation.hold_out(number, fractions, rng=seed)
    assert sorted(np.concatenate(parts).tolist()) == list(range(number))
    assert all(abs(len(part) - share * number) <= 1 for part, share in zip(parts, fractions, strict=True))


def test_the_parts_of_the_source():
    """S2-205: 40/30/30 of 100; stratified, every part has the shares of the classes."""
    classes = np.array(["a"] * 20 + ["b"] * 80)
    parts = evaluation.hold_out(100, stratify=classes, rng=3)
    assert [len(part) for part in parts] == [40, 30, 30]
    assert [(classes[part] == "a").sum() for part in parts] == [8, 6, 6]


@given(st.integers(6, 40), st.integers(2, 5), st.integers(1, 3), st.integers(0, 99))
def test_every_row_is_tested_once_in_a_repeat(number, k, repeats, seed):
    """S2-206."""
    splits = evaluation.make_folds(number, k, repeats=repeats, rng=seed)
    assert len(splits) == k * repeats
    for repeat in range(repeats):
        tested = np.concatenate([test for _, test in splits[repeat * k : (repeat + 1) * k]])
        assert sorted(tested.tolist()) == list(range(number))
    assert all(not set(train) & set(test) for train, test in splits)


def test_folds_by_class_by_group_in_time_and_of_one():
    classes, groups = np.array([0, 1] * 10), np.repeat(np.arange(5), 4)
    for _, test in evaluation.make_folds(20, 5, stratify=classes, rng=0):
        assert classes[test].sum() == 2
    for train, test in evaluation.make_folds(20, 5, groups=groups, rng=0):
        assert not set(groups[train]) & set(groups[test])
    for train, test in evaluation.make_folds(20, 4, order="time", rng=0):
        assert train.max() < test.min()
    assert [test.tolist() for _, test in evaluation.make_folds(4, None, rng=0)] != []
    assert sorted(int(test[0]) for _, test in evaluation.make_folds(4, None, rng=0)) == [0, 1, 2, 3]


# --- cross-validation ----------------------------------------------------------------------------------------------


def test_scores_are_those_of_scikit_learn_on_the_same_folds():
    folds = evaluation.make_folds(60, 5, stratify=Y, rng=7)
    found = evaluation.cross_validate(LogisticRegression(), X, Y, folds=folds, scoring="neg_log_loss", rng=0)
    theirs = cross_val_score(LogisticRegression(), X, Y, cv=folds, scoring="neg_log_loss")
    assert found.scores == pytest.approx(theirs)
    assert found.test_fraction == pytest.approx(1 / 5)


def test_the_variance_of_the_mean_of_the_source():
    """S2-207: with 1/k, 5.1556e-5 for learner A (the printed formula lacks it)."""
    scores = np.array([0.81, 0.82, 0.84, 0.78, 0.85, 0.86, 0.82, 0.83, 0.82, 0.81])
    found = evaluation.CrossValidation(scores, 0.1, "accuracy")
    assert found.standard_error**2 == pytest.approx(5.1556e-5, abs=5e-10)
    assert found.corrected_error > found.standard_error


def test_frames_repeats_and_progress():
    import pandas as pd
    import polars as pl

    seen = []
    frame = pd.DataFrame(X, columns=list("abc"))
    found = evaluation.cross_validate(
        LogisticRegression(),
        frame,
        pd.Series(Y),
        folds=3,
        repeats=2,
        progress=lambda step, score: seen.append(step),
        rng=0,
    )
    assert found.scores.shape == (2, 3)
    assert seen == [1, 2, 3, 4, 5, 6]
    assert found.to_pandas()["repeat"].tolist() == [0, 0, 0, 1, 1, 1]
    again = evaluation.cross_validate(LogisticRegression(), pl.from_pandas(frame), Y, folds=3, repeats=2, rng=0)
    assert again.scores == pytest.approx(found.scores)


def test_the_choice_inside_of_folds_does_not_see_the_test_part():
    """S2-192: labels without any relation to the rows; the best of many choices on all rows would look good."""

    class Guess(ClassifierMixin, BaseEstimator):
        def __init__(self, seed=0):
            self.seed = seed

        def fit(self, X, y):  # noqa: N803
            self.classes_ = np.unique(y)
            return self

        def predict(self, X):  # noqa: N803
            noise = np.sin(1000 * X[:, 0] * (self.seed + 1))
            return self.classes_[(noise > 0).astype(int)]

    labels = np.random.default_rng(1).integers(0, 2, size=60)
    grid = {"seed": list(range(30))}
    outer = [Guess(seed).fit(X, labels).score(X, labels) for seed in grid["seed"]]
    nested = evaluation.cross_validate(Guess(), X, labels, folds=5, grid=grid, inner_folds=3, rng=0)
    assert max(outer) > 0.6
    assert nested.mean < max(outer)
    assert len(nested.chosen) == 5
    assert all(set(choice) == {"seed"} for choice in nested.chosen)


# --- the bootstrap -------------------------------------------------------------------------------------------------


def test_the_632_estimates_by_their_formulas():
    """One nearest neighbour with labels that mean nothing: training error 0, overfitting 1, estimate ½."""
    labels = np.random.default_rng(2).integers(0, 2, size=60)
    found = evaluation.bootstrap_error(KNeighborsClassifier(1), X, labels, draws=40, rng=0)
    assert found.training == 0.0
    assert found.outside == pytest.approx(0.5, abs=0.1)
    assert found.error == pytest.approx(min(found.outside, found.without_knowledge), abs=0.05)
    plain = evaluation.bootstrap_error(KNeighborsClassifier(1), X, labels, draws=40, kind=".632", rng=0)
    assert plain.error == pytest.approx(SHARE * plain.outside)
    assert found.error > plain.error


def test_regressions_have_squared_errors():
    target = X @ [1.0, -2.0, 0.5] + 0.3 * np.random.default_rng(3).normal(size=60)
    found = evaluation.bootstrap_error(LinearRegression(), X, target, draws=30, rng=0)
    assert found.training < found.error < found.outside
    assert found.error == pytest.approx(0.09, rel=0.5)
    pairs = np.mean((target[:, None] - LinearRegression().fit(X, target).predict(X)) ** 2)
    assert found.without_knowledge == pytest.approx(pairs)


# --- curves --------------------------------------------------------------------------------------------------------


def test_training_and_test_scores_approach_each_other():
    """S4-144: with more rows the training score falls and the test score rises."""
    rng = np.random.default_rng(4)
    rows = rng.normal(size=(300, 10))
    target = rows[:, 0] + rng.normal(size=300)
    found = evaluation.learning_curve(LinearRegression(), rows, target, sizes=[20, 60, 200], folds=5, rng=0)
    assert found.values == (20, 60, 200)
    gaps = (found.training - found.test).mean(axis=1)
    assert gaps[0] > gaps[1] > gaps[2] > 0
    assert list(found.to_pandas().columns) == [
        "training rows",
        "training",
        "training_standard_deviation",
        "test",
        "test_standard_deviation",
    ]


def test_a_hyper_parameter_along_its_values():
    found = evaluation.validation_curve(KNeighborsClassifier(), X, Y, "n_neighbors", [1, 5, 15], folds=4, rng=0)
    assert (found.training[0] == 1.0).all()
    assert found.best in (1, 5, 15)


def test_pictures_show_the_scores():
    from matplotlib.figure import Figure

    found = evaluation.cross_validate(LogisticRegression(), X, Y, folds=3, rng=0)
    assert found.plot(ax=Figure().subplots()).lines[0].get_ydata() == pytest.approx(found.scores)
    curve = evaluation.validation_curve(
        KNeighborsClassifier(), X, Y, "weights", ["uniform", "distance"], folds=3, rng=0
    )
    ax = curve.plot(ax=Figure().subplots())
    assert [label.get_text() for label in ax.get_xticklabels()] == ["uniform", "distance"]
    assert ax.lines[1].get_ydata() == pytest.approx(curve.test.mean(axis=1))


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: evaluation.hold_out(10, (0.5, 0.6), rng=0), jt.errors.InvalidData, "add up to 1"),
        (lambda: evaluation.make_folds(3, 5, rng=0), jt.errors.InvalidData, "3 rows for 5 folds"),
        (lambda: evaluation.make_folds(9, 3, order="time", repeats=2, rng=0), jt.errors.InvalidData, "order of time"),
        (
            lambda: evaluation.make_folds(9, 3, stratify=[1, 2], rng=0),
            jt.errors.InvalidData,
            "a label for each of the 9 rows",
        ),
        (
            lambda: evaluation.cross_validate(LogisticRegression, X, Y, rng=0),
            jt.errors.Unsupported,
            "a learner is an estimator",
        ),
        (
            lambda: evaluation.validation_curve(LogisticRegression(), X, Y, "depth", [1], rng=0),
            jt.errors.InvalidData,
            "no hyper-parameter 'depth'",
        ),
    ],
)
def test_wrong_protocols_are_refused_in_a_sentence(call, error, words):
    with pytest.raises(error, match=words):
        call()


def test_a_misspelt_scoring_is_refused_with_the_nearest_name():
    calls = [
        lambda: evaluation.cross_validate(LogisticRegression(), X, Y, scoring="acuracy", rng=0),
        lambda: evaluation.learning_curve(LogisticRegression(), X, Y, scoring="acuracy", rng=0),
        lambda: evaluation.validation_curve(LogisticRegression(), X, Y, "C", [1.0], scoring="acuracy", rng=0),
    ]
    for call in calls:
        with pytest.raises(jt.errors.InvalidData, match="no scoring 'acuracy'; did you mean 'accuracy'"):
            call()
