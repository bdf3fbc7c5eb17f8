"""Logarithms of factorials against whole-number arithmetic, which is exact."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from juncture.families.log_factorial import log_choose, log_factorial, log_rising, look_up, stirling_error


def log_exact(numerator: int, denominator: int = 1) -> float:
    return math.log(numerator) - math.log(denominator)


@given(st.integers(0, 400), st.integers(0, 400))
def test_binomial_coefficients(first, second):
    """S1-007."""
    assert log_choose(first + second, second) == pytest.approx(math.log(math.comb(first + second, second)), rel=1e-14)


def test_printed_coefficient():
    """S1-007: C(5, 2) = 10."""
    assert np.exp(log_choose(5, 2)) == pytest.approx(10)


def test_coefficients_of_huge_numbers():
    for total, chosen in [(10**12, 3), (10**12, 10**12 - 3), (10**15, 2), (10**9, 1)]:
        assert log_choose(total, chosen) == pytest.approx(math.log(math.comb(total, min(chosen, 3))), rel=1e-14)


@given(st.integers(1, 10**12), st.integers(0, 60))
def test_rising_factorials(base, steps):
    exact = math.log(math.prod(range(base, base + steps)))
    assert log_rising(base, steps) == pytest.approx(exact, rel=2e-14, abs=1e-13)


def test_no_step_is_exactly_nothing():
    bases = np.array([1e-300, 1e-12, 0.5, 15.9, 16.0, 1e12])
    assert (log_rising(bases, 0) == 0).all()


def test_rising_by_parts():
    """Γ(b+s)/Γ(b) = b Γ(b+1+s-1)/Γ(b+1), across the place where Stirling's series takes over."""
    bases = np.linspace(10, 20, 41)
    np.testing.assert_allclose(log_rising(bases, 7.5), np.log(bases) + log_rising(bases + 1, 6.5), rtol=1e-14)


def test_stirling():
    x = np.array([1.0, 2.0, 10.0, 15.0, 16.0, 17.0, 30.0])
    exact = [math.log(math.factorial(int(k))) - (k + 0.5) * math.log(k) + k - 0.5 * math.log(2 * math.pi) for k in x]
    np.testing.assert_allclose(stirling_error(x), exact, atol=3e-14)


@pytest.mark.parametrize("values", [[], [3], [5, 5, 5, 5], [7, 9, 8, 7, 9, 8, 7, 9, 8, 7, 9, 8, 7, 9], [0, 10**9]])
def test_a_table_changes_nothing(values):
    counts = np.array(values, dtype=float)
    assert look_up(lambda x: x * x, counts).tolist() == (counts * counts).tolist()
    np.testing.assert_allclose(log_factorial(counts), [math.lgamma(k + 1) for k in values], rtol=1e-14)
