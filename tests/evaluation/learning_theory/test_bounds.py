"""Concentration bounds and sample complexity: the numbers of the sources, inverses, exact probabilities."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

import juncture as jt

evaluation = jt.evaluation
SMALL = st.floats(0.01, 0.5)
SIZES = st.integers(1, 10**30)


def test_the_numbers_of_the_source():
    """S4-123, S4-125 to S4-128, S4-131, S4-133: chapter 4, with the corrected formulas (a-18)."""
    assert evaluation.sample_complexity(1000, 0.1, 0.05) == 2120
    assert evaluation.sample_complexity(1000, 0.1, 0.05, realizable=True) == 100
    assert evaluation.sample_complexity(2 ** (16 * 3), 0.1, 0.05) == 7392  # 16 bits for each of D + 1 = 3 weights
    assert evaluation.estimation_error_bound(1000, 1000, 0.05) == pytest.approx(0.145579, abs=5e-7)
    assert evaluation.hoeffding_bound(100, 0.1) == pytest.approx(0.270671, abs=5e-7)
    assert evaluation.structural_risk([0.0], [1000], 1000, 0.05).bounds[0] == pytest.approx(0.0727895, abs=5e-8)
    assert evaluation.threshold_sample_complexity(0.1, 0.05) == 37
    assert evaluation.sample_complexity(2**16, 0.1, 0.05, realizable=True) == 141  # a threshold of 16 bits


def test_capacity_in_nats_and_bits():
    """S4-124, S4-137."""
    assert evaluation.capacity(1000) == pytest.approx(math.log(1000))
    assert evaluation.capacity(2**7) / math.log(2) == pytest.approx(7)


@given(SMALL, SMALL)
def test_hoeffding_and_its_inverses_agree(deviation, delta):
    """S4-128: the samples for a deviation are the fewest whose bound is at most delta."""
    number = evaluation.hoeffding_samples(deviation, delta, low=-1.0, high=2.0)
    limit = 1 + 1e-12
    assert evaluation.hoeffding_bound(number, deviation, low=-1.0, high=2.0) <= delta * limit
    assert number == 1 or evaluation.hoeffding_bound(number - 1, deviation, low=-1.0, high=2.0) * limit > delta
    width = evaluation.hoeffding_deviation(number, delta, low=-1.0, high=2.0)
    assert evaluation.hoeffding_bound(number, width, low=-1.0, high=2.0) == pytest.approx(delta)


@given(st.integers(1, 60), st.floats(0.05, 0.95), SMALL)
def test_hoeffding_holds_for_every_binomial(number, chance, deviation):
    """S4-128: the exact probability of a deviation of a mean of zeros and ones is within the bound."""
    counts = np.arange(number + 1)
    far = np.abs(counts / number - chance) >= deviation
    exact = binom.pmf(counts[far], number, chance).sum()
    assert exact <= evaluation.hoeffding_bound(number, deviation) + 1e-12


@given(SIZES, SMALL, SMALL, st.booleans())
def test_sample_complexity_is_the_inverse_of_the_error(size, epsilon, delta, realizable):
    """S4-126: with that many examples the error is at most epsilon, with one fewer it is not."""
    number = evaluation.sample_complexity(size, epsilon, delta, realizable=realizable)
    limit = 1 + 1e-12
    assert evaluation.estimation_error_bound(number, size, delta, realizable=realizable) <= epsilon * limit
    if number > 1:
        assert evaluation.estimation_error_bound(number - 1, size, delta, realizable=realizable) * limit > epsilon


@given(SIZES, SMALL, SMALL)
def test_uniform_convergence_gives_the_sample_complexity(size, epsilon, delta):
    """S4-129: deviations below epsilon / 2 for all hypotheses are what the agnostic bound rests on."""
    number = evaluation.sample_complexity(size, epsilon, delta)
    assert evaluation.uniform_convergence_bound(number, size, epsilon / 2) <= delta * (1 + 1e-9)


@given(st.integers(0, 50), SMALL, SMALL)
def test_bounds_by_vc_dimension_grow_as_they_should(dimension, epsilon, delta):
    """S4-140: in d, 1/epsilon and 1/delta, with the constants that are given."""
    low, high = evaluation.vc_sample_complexity(dimension, epsilon, delta, constants=(0.5, 64.0))
    assert 0 < low < high
    more = [
        evaluation.vc_sample_complexity(dimension + 1, epsilon, delta, constants=(0.5, 64.0)),
        evaluation.vc_sample_complexity(dimension, epsilon / 2, delta, constants=(0.5, 64.0)),
        evaluation.vc_sample_complexity(dimension, epsilon, delta / 2, constants=(0.5, 64.0)),
    ]
    assert all(other[0] > low and other[1] > high for other in more)


def test_a_margin_limits_the_dimension():
    """S4-139: VC dimension falls as 1/m², and never exceeds D + 1."""
    assert evaluation.margin_vc_bound(1.0, 0.1) == 101
    assert evaluation.margin_vc_bound(1.0, 0.1, dimension=2) == 3
    assert evaluation.margin_vc_bound(2.0, 0.2, dimension=500) == 101


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: evaluation.sample_complexity(0, 0.1, 0.1), "the number of hypotheses must be a whole number"),
        (lambda: evaluation.sample_complexity(10, 0.0, 0.1), "epsilon must be a number above 0 and below 1"),
        (lambda: evaluation.hoeffding_bound(10, 0.1, low=1.0, high=1.0), "high must be a finite number above 1"),
        (lambda: evaluation.hoeffding_samples(0.1, 1.5), "delta must be a number above 0 and below 1; got 1.5"),
    ],
)
def test_wrong_numbers_are_refused_in_a_sentence(call, words):
    with pytest.raises(jt.errors.InvalidData, match=words):
        call()
