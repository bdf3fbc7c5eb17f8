"""Empirical risk minimisation against enumeration; what theory says of it against exact probabilities."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import juncture as jt

evaluation = jt.evaluation
EXAMPLES = st.lists(st.tuples(st.integers(-5, 5), st.booleans()), min_size=1, max_size=12)


@given(EXAMPLES)
def test_the_threshold_is_the_best_of_all(examples):
    """S4-121: the training error is piecewise constant, so trying a threshold in every gap is exact."""
    points, labels = (np.array(column) for column in zip(*examples, strict=True))
    found = evaluation.fit_threshold(points, labels)
    risks = [np.mean((points >= cut) != labels) for cut in np.arange(-6, 7) - 0.5]
    assert found.risk == pytest.approx(min(risks))
    assert np.mean((points >= found.threshold) != labels) == pytest.approx(found.risk)


def test_thresholds_are_learned_as_often_as_theory_says():
    """S4-120, S4-121, S4-133: x uniform on [-1, 1], risk |a| / 2; exact success is at least 1 - 2 (1 - ε)^N."""

    def learn(rng):
        x = rng.uniform(-1, 1, size=37)
        return min(abs(evaluation.fit_threshold(x, x >= 0).threshold), 1.0) / 2

    exact = 1 - 2 * (1 - 0.1) ** 37
    share = evaluation.pac_frequency(learn, 0.0, 0.1, num_trials=2000, rng=1)
    assert share >= exact - 4 * np.sqrt(exact * (1 - exact) / 2000)


def test_singletons_are_learned_with_the_examples_of_the_bound():
    """S4-141 (problem 4.1): the point with label 1 if it was seen, else 0 everywhere; |X| = 20, ε = .1, δ = .1."""
    number = evaluation.sample_complexity(21, 0.1, 0.1, realizable=True)

    def learn(rng):
        return 0.0 if (rng.integers(20, size=number) == 7).any() else 1 / 20

    assert evaluation.pac_frequency(learn, 0.0, 0.1, num_trials=200, rng=0) == 1.0  # a risk of 1/20 is allowed as well
    assert evaluation.pac_frequency(learn, 0.0, 0.01, num_trials=2000, rng=0) >= 0.9  # 1 - (19/20)^54 = .937


def test_no_free_lunch():
    """S4-122: over all labelings of eight points, any rule is wrong on half of the unseen ones."""

    def majority(labels):
        return sum(labels) >= 2

    wrong = [np.mean([majority(labels[:4]) != label for label in labels[4:]]) for labels in product([0, 1], repeat=8)]
    assert np.mean(wrong) == 0.5


@given(st.lists(st.floats(0, 1), min_size=1, max_size=5))
def test_structural_risk_is_the_smallest_bound(risks):
    """S4-131: one class gives empirical risk minimisation; a larger class pays a larger penalty."""
    sizes = [10 ** (2 * position) for position in range(len(risks))]
    found = evaluation.structural_risk(risks, sizes, 500, 0.05)
    assert found.bounds[found.best] == min(found.bounds)
    assert list(found.penalties) == sorted(found.penalties)
    assert found.bounds == pytest.approx(np.add(risks, found.penalties))


def test_bounds_of_all_classes_hold_together():
    """S4-129, S4-131: coins as hypotheses of two classes; some bound fails no more often than δ allows."""
    rng = np.random.default_rng(3)
    chances, sizes = np.full(30, 0.3), [10, 30]
    draws = rng.binomial(100, chances, size=(4000, 30)) / 100
    penalties = evaluation.structural_risk([0.0, 0.0], sizes, 100, 0.2).penalties
    fails = np.zeros(4000, bool)
    for size, penalty in zip(sizes, penalties, strict=True):
        fails |= (chances[:size] > draws[:, :size] + penalty).any(axis=1)
    assert fails.mean() <= 0.2


def test_wrong_examples_are_refused():
    with pytest.raises(jt.errors.InvalidData, match="from at least one example"):
        evaluation.fit_threshold([], [])
    with pytest.raises(jt.errors.InvalidData, match="labels are 0 or 1, one for each of the 2 points"):
        evaluation.fit_threshold([1.0, 2.0], [0, 3])
    with pytest.raises(jt.errors.InvalidData, match="a risk between 0 and 1 and a size for each class"):
        evaluation.structural_risk([0.5], [10, 20], 100, 0.1)
