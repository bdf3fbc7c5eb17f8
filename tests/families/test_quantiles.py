"""cdf, quantiles and intervals: SciPy's, and consistent with each other and with the density."""

from __future__ import annotations

import numpy as np
import pytest

from juncture.errors import InvalidData, Unsupported
from support.family_examples import MEMBERS, REFERENCES, asked, assert_is_a_sentence, over, over_providing, provides

WITH_CDF = over_providing("_cdf")
PROBABILITIES = np.array([1e-6, 0.01, 0.2, 0.5, 0.7, 0.99, 1 - 1e-6])


def grid_of(member):
    """Values across the distribution and beyond it."""
    middle = np.asarray(member.quantile(PROBABILITIES), dtype=float)
    reach = max(middle[-1] - middle[0], 1.0)
    return np.sort(np.concatenate([middle, middle[:-1] + np.diff(middle) / 3, [middle[0] - reach, middle[-1] + reach]]))


@over([member for member in MEMBERS if provides(type(member), "_cdf") and type(member).__name__ in REFERENCES])
def test_equal_scipy(member):
    frozen, grid = REFERENCES[type(member).__name__](member), grid_of(member)
    with np.errstate(all="ignore"):
        expected = frozen.cdf(grid)
    np.testing.assert_allclose(member.cdf(grid), expected, rtol=1e-9, atol=1e-10)


@WITH_CDF
def test_the_cdf_rises_from_zero_to_one(member):
    found = np.asarray(member.cdf(grid_of(member)))
    assert ((found >= 0) & (found <= 1)).all()
    assert (np.diff(found) >= -1e-14).all()
    assert member.cdf(-np.inf) == 0
    assert member.cdf(np.inf) == 1


@WITH_CDF
def test_the_quantile_is_where_the_cdf_gets_there(member):
    """The smallest x with P(X ≤ x) ≥ p."""
    quantiles = np.asarray(member.quantile(PROBABILITIES), dtype=float)
    reached = np.asarray(member.cdf(quantiles))
    if member.support.is_discrete:
        assert (reached >= PROBABILITIES - 1e-12).all()
        assert (np.asarray(member.cdf(quantiles - 1)) < PROBABILITIES + 1e-12).all()
    else:
        np.testing.assert_allclose(reached, PROBABILITIES, rtol=1e-8, atol=1e-9)


@WITH_CDF
def test_quantiles_rise_and_end_in_the_support(member):
    found = np.asarray(member.quantile(np.linspace(0, 1, 101)), dtype=float)
    assert (np.diff(found[1:-1]) >= 0).all()
    assert member.support.contains(found[1:-1]).all()
    assert found[0] <= found[1]
    assert found[-2] <= found[-1]
    assert member.median == member.quantile(0.5)


@WITH_CDF
def test_the_ends_of_the_quantiles_are_the_ends_of_the_support(member):
    if not member.support.is_discrete:
        assert member.quantile(0) == pytest.approx(float(member.support.low), rel=1e-14)
        assert member.quantile(1) == pytest.approx(float(member.support.high), rel=1e-14)


@WITH_CDF
def test_the_cdf_is_the_sum_of_the_density(member):
    """By summation, or Gauss and Legendre's rule between neighbouring quantiles."""
    cuts = np.asarray(member.quantile(np.linspace(0.2, 0.8, 41)), dtype=float)
    if member.support.is_discrete:
        x = np.arange(cuts[0] + 1, min(cuts[-1], cuts[0] + 5000) + 1)
        expected, high = np.asarray(member.prob(x)).sum(), x[-1] if len(x) else cuts[0]
    else:
        nodes, weights = np.polynomial.legendre.leggauss(12)
        half = 0.5 * np.diff(cuts)[:, None]
        expected = (member.prob(cuts[:-1, None] + half + half * nodes) * weights * half).sum()
        high = cuts[-1]
    assert member.interval_prob(cuts[0], high) == pytest.approx(expected, rel=1e-8, abs=1e-9)


@WITH_CDF
def test_intervals_add_up(member):
    low, middle, high = (float(q) for q in member.quantile(np.array([0.1, 0.4, 0.95])))
    parts = member.interval_prob(low, middle) + member.interval_prob(middle, high)
    assert member.interval_prob(low, high) == pytest.approx(parts, abs=1e-12)
    assert member.interval_prob(-np.inf, np.inf) == 1
    assert member.interval_prob(low, low) == 0
    with pytest.raises(InvalidData, match="from low to high"):
        member.interval_prob(high + 1, low)


@WITH_CDF
def test_what_is_no_probability_is_refused(member):
    for wrong in (-0.1, 1.1, np.nan, [0.5, 2]):
        with pytest.raises(InvalidData, match="probability from 0 to 1"):
            member.quantile(wrong)


@WITH_CDF
def test_missing_values_are_refused(member):
    with pytest.raises(InvalidData, match=r"NaN|missing"):
        member.cdf(np.nan)
    with pytest.raises(InvalidData):
        member.interval_prob(np.nan, 1.0)


@over([member for member in MEMBERS if not provides(type(member), "_cdf")])
def test_without_a_cdf_there_is_a_sentence(member):
    with pytest.raises(Unsupported) as caught:
        member.cdf(0.5)
    assert_is_a_sentence(caught.value)
    assert asked(member, "median") is None
