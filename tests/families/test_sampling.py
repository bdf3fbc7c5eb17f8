"""Draws: repeatable, in the support, of the right shape, and of the right distribution."""

from __future__ import annotations

import numpy as np
import pytest

from juncture.errors import InvalidData
from juncture.families.expectation import terms_of
from support.family_examples import (
    INTERIOR,
    MEMBERS,
    as_tuple,
    draws,
    over,
    over_members,
    provides,
    relative_of,
    rows_of,
    toward,
)

SCALAR = [member for member in MEMBERS if not member.event_shape and not isinstance(member.sample(rng=0), tuple)]
REAL = [member for member in SCALAR if not member.support.is_discrete and provides(type(member), "_cdf")]
COUNTS = [member for member in SCALAR if member.support.is_discrete]
UNLIKELY = 1e-4


@over_members
def test_same_seed_same_draws(member):
    for first, second in zip(as_tuple(draws(member, 20)), as_tuple(member.sample(20, rng=0)), strict=True):
        np.testing.assert_array_equal(first, second)
    generator = np.random.default_rng(0)
    one, two = as_tuple(member.sample(20, rng=generator))[0], as_tuple(member.sample(20, rng=generator))[0]
    np.testing.assert_array_equal(one, as_tuple(draws(member, 20))[0])
    assert not np.array_equal(one, two) or len(np.unique(one)) == 1 or len(np.unique(two)) == 1


@over_members
def test_draws_lie_in_the_support(member):
    values = draws(member, 500)
    assert np.isfinite(member.log_prob(values)).all() or (np.asarray(member.log_prob(values)) > -np.inf).all()
    assert np.all(member.support.contains(values))


@over_members
def test_shapes_and_types(member):
    for size, lead in ((3, (3,)), ((2, 3), (2, 3)), (0, (0,)), (np.int64(2), (2,)), ((), ())):
        for part, single in zip(as_tuple(member.sample(size, rng=0)), as_tuple(member.sample(1, rng=0)), strict=True):
            assert np.shape(part) == (*lead, *single.shape[1:])
            assert np.asarray(part).dtype == (np.int64 if member.support.is_discrete else np.float64)
    if not member.event_shape and not isinstance(member.sample(rng=0), tuple):
        assert type(member.sample(rng=0)) is (int if member.support.is_discrete else float)
    with pytest.raises(InvalidData, match="at least 0"):
        member.sample(-1)


@over(REAL)
def test_draws_follow_the_cdf(member):
    """Kolmogorov and Smirnov."""
    from scipy.stats import kstest

    assert kstest(draws(member, 4000, seed=11), member.cdf).pvalue > UNLIKELY


@over(COUNTS)
def test_draws_follow_the_probabilities(member):
    """χ² over cells that each expect at least ten draws."""
    from scipy.stats import chi2

    number = 4000
    x = terms_of(member)
    expected = number * np.asarray(member.prob(x))
    observed = np.bincount((draws(member, number, seed=11) - int(x[0])).astype(int), minlength=len(x))
    assert len(observed) == len(x)
    edges = np.unique(np.floor(np.cumsum(expected) / 20), return_index=True)[1]
    wide_expected, wide_observed = np.add.reduceat(expected, edges), np.add.reduceat(observed, edges)
    enough = wide_expected >= 10
    statistic = ((wide_observed - wide_expected)[enough] ** 2 / wide_expected[enough]).sum()
    assert chi2.sf(statistic, max(enough.sum() - 1, 1)) > UNLIKELY


@over(INTERIOR)
def test_draws_re_weighted_are_draws_of_a_neighbour(member):
    """E q(X)/p(X) = 1 for another member q nearby: densities and draws agree, also for vectors."""
    other = toward(member, relative_of(member), 0.3)
    values = draws(member, 20_000, seed=4)
    ratio = np.exp(np.asarray(other.log_prob(values)) - np.asarray(member.log_prob(values)))
    error = ratio.std() / np.sqrt(len(ratio))
    assert ratio.mean() == pytest.approx(1, abs=6 * error + 1e-6)


@over_members
def test_rows_are_independent_of_the_number_asked_for(member):
    """Draws do not repeat within one call."""
    first, second = rows_of(draws(member, 40), slice(20)), rows_of(draws(member, 40), slice(20, None))
    varied = len(np.unique(as_tuple(first)[0])) > 3
    assert not varied or not np.array_equal(as_tuple(first)[0], as_tuple(second)[0])
