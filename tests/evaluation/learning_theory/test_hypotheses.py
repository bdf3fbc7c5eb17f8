"""Shattering and VC dimension: enumeration against closed forms."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import juncture as jt

evaluation = jt.evaluation
LINE = np.array([0.5, 1.0, 2.0, 3.5, 5.0])
CROSS = np.array([[0.0, 1.0], [0.0, -1.0], [1.0, 0.0], [-1.0, 0.0], [0.0, 0.0]])


@pytest.mark.parametrize(
    ("hypotheses", "points", "dimension"),
    [
        (evaluation.Thresholds(), LINE, 1),
        (evaluation.Intervals(), LINE, 2),
        (evaluation.SignedIntervals(), LINE, 3),
        (evaluation.Rectangles(2), CROSS, 4),
        (evaluation.Discs(), CROSS * [[1.0], [2.0], [3.0], [4.0], [5.0]], 1),
        (evaluation.Singletons(), LINE, 1),
        (evaluation.Hyperplanes(2), CROSS, 3),
        (evaluation.Hyperplanes(1), LINE, 2),
    ],
    ids=repr,
)
def test_search_finds_the_dimension_in_closed_form(hypotheses, points, dimension):
    """S4-134 to S4-136, S4-141 to S4-143: thresholds 1, intervals 2, signed ones 3, rectangles 4, hyperplanes D + 1."""
    assert evaluation.vc_dimension(hypotheses, points) == dimension == evaluation.vc_dimension(hypotheses)


def test_the_point_inside_the_box_is_not_left_out():
    """S4-136: (1, 1, 1, 1, 0) with the fifth point inside is the labeling that no rectangle gives."""
    refused = [
        labels
        for labels in product([False, True], repeat=5)
        if not evaluation.Rectangles(2).realizes(CROSS, np.array(labels))
    ]
    assert (True, True, True, True, False) in refused


def test_hyperplanes_in_three_dimensions():
    """S4-136: D + 1 points in general position are shattered; with one more they never are (Radon)."""
    corners = np.vstack([np.zeros(3), np.eye(3)])
    assert evaluation.shatters(evaluation.Hyperplanes(3), corners)
    rng = np.random.default_rng(5)
    for _ in range(3):
        assert not evaluation.shatters(evaluation.Hyperplanes(3), rng.normal(size=(5, 3)))


@given(st.lists(st.booleans(), min_size=1, max_size=6), st.randoms(use_true_random=False))
def test_realised_labelings_are_those_of_some_hypothesis(labels, random):
    """Thresholds, intervals and signed intervals against all hypotheses with ends between the points."""
    points = np.array(random.sample(range(20), len(labels)), dtype=float)
    wanted = np.array(labels)
    ends = np.concatenate([[-1.0], np.sort(points) + 0.5])
    intervals = {tuple((points > low) & (points < high)) for low in ends for high in ends}
    asked = (points[:, None], wanted)
    assert evaluation.Thresholds().realizes(*asked) == (tuple(wanted) in {tuple(points > end) for end in ends})
    assert evaluation.Intervals().realizes(*asked) == (tuple(wanted) in intervals)
    signed = intervals | {tuple(~np.array(inside)) for inside in intervals}
    assert evaluation.SignedIntervals().realizes(*asked) == (tuple(wanted) in signed)


@pytest.mark.parametrize("number", [3, 5, 8])
def test_a_sine_realises_every_labeling(number):
    """S4-138: one parameter, infinite VC dimension."""
    points = 10.0 ** -np.arange(1, number + 1)
    assert evaluation.shatters(evaluation.Sines(), points)
    assert evaluation.vc_dimension(evaluation.Sines()) == np.inf


def test_the_dimension_of_a_finite_class_is_at_most_its_bits():
    """S4-137: eight thresholds have VC dimension 1, and 3 bits."""

    class Eight:
        vc_dimension = 1.0

        def realizes(self, points, labels):
            return any(((points[:, 0] >= cut) == labels).all() for cut in range(8))

    points = np.arange(8) - 0.5
    assert evaluation.vc_dimension(Eight(), points) == 1 <= evaluation.capacity(8) / np.log(2)


def test_wrong_classes_and_points_are_refused():
    with pytest.raises(jt.errors.InvalidData, match="a class of hypotheses has a method `realizes`"):
        evaluation.shatters(evaluation.Thresholds, [1.0])
    with pytest.raises(jt.errors.InvalidData, match="for at most 16 points; got 17"):
        evaluation.shatters(evaluation.Thresholds(), np.arange(17))
    with pytest.raises(jt.errors.InvalidData, match="points are finite numbers"):
        evaluation.shatters(evaluation.Thresholds(), [np.nan])
    with pytest.raises(jt.errors.InvalidData, match="at most 8 labels; got 9"):
        evaluation.sine_frequency([1] * 9)
