"""Covariances of any doubles: the largest are kept, and what is refused is refused in one line."""

from __future__ import annotations

import numpy as np
import pytest

import juncture as jt
from juncture.errors import InvalidModel
from juncture.sequences.state_space.parts import as_covariance

LARGEST = float(np.finfo(np.float64).max)


@pytest.mark.parametrize("variance", [LARGEST, 1e308, 5e-324, 0.0])
def test_any_variance_is_kept_to_the_last_bit(variance):
    assert as_covariance([[variance, 0.0], [0.0, 1.0]], 2, name="noise").tolist() == [[variance, 0.0], [0.0, 1.0]]


def test_entries_that_differ_by_rounding_become_their_mean():
    found = as_covariance([[2.0, 1.0], [np.nextafter(1.0, 2) + 2**-51, 2.0]], 2, name="noise")
    assert found[0, 1] == found[1, 0] == 1.0 + (2**-52 + 2**-51) / 2


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ([[1.0, LARGEST], [-LARGEST, 1.0]], "transition_noise must be symmetric"),
        ([[-1.0, 0.0], [0.0, 1.0]], "transition_noise must be positive semidefinite"),
    ],
)
def test_what_is_no_covariance_is_refused_in_one_line(wrong, message):
    with pytest.raises(InvalidModel, match=message) as caught:
        jt.LinearGaussianStateSpace(np.eye(2), np.eye(2), wrong, np.eye(2), np.zeros(2), np.eye(2))
    assert "\n" not in str(caught.value)
