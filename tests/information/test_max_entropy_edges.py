"""Maximum entropy near and on the edge of what is possible: multipliers that give the probabilities back."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import softmax

from juncture.errors import InvalidData
from juncture.information.bounds import chebyshev_bound, samples_needed
from juncture.information.maximum_entropy import max_entropy
from juncture.information.maximum_entropy_density import max_entropy_density

CORNERS = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])


def given_back(found, features, step=0.0):
    return softmax(features @ (found.face_multipliers + step * found.direction))


@pytest.mark.parametrize("moment", [1e-3, 1e-6, 1e-8, 1e-9, 1e-10, 1e-12])
def test_near_the_edge_the_multiplier_is_the_logarithm(moment):
    """Of 0 … 3 with a small mean m: probabilities r^k with r/(1-r) near m, so λ = log r."""
    ratio = moment / (1 + moment)  # of the geometric on all counts, which differs by m⁴
    for points, wanted, sign in ((range(4), moment, 1), ([0, -1, -2, -3], -moment, -1)):
        found = max_entropy(points, lambda x: x, wanted)
        assert found.multipliers == pytest.approx([sign * np.log(ratio)], rel=1e-7)
        assert found.moments == pytest.approx([wanted], rel=1e-9)
        assert (found.direction == 0).all()
        np.testing.assert_array_equal(found.multipliers, found.face_multipliers)


@pytest.mark.parametrize("share", [1e-3, 1e-8, 1e-9, 1e-11])
def test_near_a_face_of_a_square(share):
    """Two independent coins: each multiplier is the logarithm of odds."""
    found = max_entropy(CORNERS, CORNERS, [share, 0.3])
    assert found.multipliers == pytest.approx([np.log(share / (1 - share)), np.log(0.3 / 0.7)], rel=1e-6)
    assert found.probabilities == pytest.approx(softmax(CORNERS @ found.multipliers), rel=1e-9)


@pytest.mark.parametrize(("end", "sign"), [(0.0, -1), (3.0, 1)])
def test_on_the_edge_the_multiplier_is_infinite(end, sign):
    found = max_entropy(range(4), lambda x: x, end)
    assert found.multipliers.tolist() == [sign * np.inf]
    assert np.isfinite(found.face_multipliers).all()
    assert given_back(found, np.arange(4.0)[:, None], 1e3) == pytest.approx(found.probabilities, abs=1e-12)
    assert found.duality_gap == pytest.approx(0.0, abs=1e-12)


def test_only_what_is_forced_is_infinite():
    found = max_entropy(CORNERS, CORNERS, [0.0, 0.3])
    assert found.multipliers[0] == -np.inf
    assert found.multipliers[1] == pytest.approx(np.log(0.3 / 0.7))
    assert found.probabilities.tolist() == pytest.approx([0.7, 0.3, 0.0, 0.0])
    found = max_entropy(CORNERS, CORNERS, [1.0, 0.0])
    assert found.multipliers.tolist() == [np.inf, -np.inf]


def test_a_face_across_the_features():
    """Of a triangle's long side: both multipliers grow alike, and what they differ by is in face_multipliers."""
    triangle = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    found = max_entropy(triangle, triangle, [0.25, 0.75])
    assert found.multipliers.tolist() == [np.inf, np.inf]
    assert found.face_multipliers @ [-1, 1] == pytest.approx(np.log(3))
    assert given_back(found, triangle, 1e3) == pytest.approx([0.0, 0.25, 0.75], abs=1e-12)


@settings(max_examples=30)
@given(st.integers(0, 9999), st.integers(3, 8), st.integers(1, 3), st.booleans())
def test_the_multipliers_give_the_probabilities_back(seed, num_points, num_features, on_edge):
    """The limit of exp((λ + t d)·u) is the distribution, inside (d = 0) and on faces."""
    rng = np.random.default_rng(seed)
    features = rng.integers(-3, 4, (num_points, num_features)).astype(float)
    shares = rng.dirichlet(np.ones(num_points))
    if on_edge:
        shares = shares * (features[:, 0] == features[:, 0].max())
        shares = shares / shares.sum()
    found = max_entropy(np.arange(num_points), features, shares @ features)
    size = np.abs(found.direction).max()
    step = 1e4 if size > 0 else 0.0
    assert given_back(found, features, step) == pytest.approx(found.probabilities, abs=1e-7)
    assert (np.isinf(found.multipliers) == (found.direction != 0)).all()
    assert found.log_partition - found.face_multipliers @ found.moments == pytest.approx(found.entropy, abs=1e-6)


def test_densities_have_the_same_parts():
    found = max_entropy_density(lambda x: x, 2.0, low=0.0)
    np.testing.assert_array_equal(found.multipliers, found.face_multipliers)
    assert found.direction.tolist() == [0.0]


# -- bounds where squares underflow


def test_samples_needed_for_a_tiny_error():
    assert abs(samples_needed(1.0, 1e-200, 0.05) - 2 * 10**401) < 10**392
    assert samples_needed(1.0, 1e200, 0.05) == samples_needed(0.0, 1e-200, 0.05) == 1
    assert samples_needed(np.float32(0.25), np.float64(0.5), 1) == 1
    assert chebyshev_bound(1.0, 1e-200) == 1
    assert chebyshev_bound(1e-300, 1e-200) == 1


@pytest.mark.parametrize(
    "given",
    [
        ("x", 1.0, 0.5),
        (1.0, None, 0.5),
        (1.0, [1.0, 2.0], 0.5),
        (np.nan, 1.0, 0.5),
        (np.inf, 1.0, 0.5),
        (1.0, np.inf, 0.5),
    ],
)
def test_samples_needed_of_other_things(given):
    with pytest.raises(InvalidData):
        samples_needed(*given)
