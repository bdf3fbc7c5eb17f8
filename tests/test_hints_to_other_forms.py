"""Messages that name the form that works: one row of a classifier, the two parts of a Gaussian."""

from __future__ import annotations

import copy

import numpy as np
import pytest

import juncture as jt
from juncture.errors import InvalidData
from juncture.estimators import BayesianNetworkClassifier


def test_one_row_is_a_list_of_one_mapping():
    classifier = BayesianNetworkClassifier().fit({"income": [1, 2] * 9, "age": [3, 4] * 9}, [0, 1] * 9)
    with pytest.raises(InvalidData, match=r"one row is a list of one mapping, \[\{…\}\]"):
        classifier.predict({"income": 2, "age": 4})
    assert classifier.predict([{"income": 2, "age": 4}]).tolist() == [1]


def test_a_smoothed_gaussian_has_two_parts():
    one = np.eye(1)
    beliefs = jt.infer(jt.LinearGaussianStateSpace(one, one, one, one, [0.0], one), [1.0, 2.0, 3.0])
    with pytest.raises(AttributeError, match=r"two parts, \.smoothed_mean and \.smoothed_covariance"):
        _ = beliefs.smoothed
    assert not hasattr(beliefs, "other")
    assert np.array_equal(copy.deepcopy(beliefs).smoothed_mean, beliefs.smoothed_mean)
