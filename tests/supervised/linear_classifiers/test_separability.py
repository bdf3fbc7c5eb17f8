"""Linear separability by a linear program."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import juncture as jt
from juncture.supervised.linear_classifiers.hyperplane import find_separation

CORNERS = np.array(list(product([0.0, 1.0], repeat=2)))


def test_fourteen_of_sixteen_boolean_functions_are_separable():
    """S2-220: all but exclusive or and its negation."""
    tables = list(product([False, True], repeat=4))
    refused = [table for table in tables if find_separation(CORNERS, table) is None]
    assert refused == [(False, True, True, False), (True, False, False, True)]


@given(st.integers(0, 2**31), st.integers(1, 3), st.integers(1, 12))
def test_a_separation_separates(seed, dimension, number):
    """Labels by a hyperplane with a margin are separated; the weights that are found give the same labels."""
    rng = np.random.default_rng(seed)
    points, weights = rng.normal(size=(number, dimension)), rng.normal(size=dimension)
    labels = points @ weights > np.median(points @ weights)
    found = find_separation(points, labels)
    assert found is not None
    assert ((points @ found[0] + found[1] > 0) == labels).all()


def test_the_same_point_in_both_classes_is_not_separable():
    assert find_separation([1.0, 1.0], [0, 1]) is None


def test_ragged_labels_are_refused():
    with pytest.raises(jt.errors.InvalidData, match="one label a point, 2 labels here; got 1"):
        find_separation([1.0, 2.0], [1])
