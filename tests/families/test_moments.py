"""Mean, variance and mode: SciPy's, those of draws, the top of the density."""

from __future__ import annotations

import numpy as np
import pytest

from juncture.families.expectation import terms_of
from support.family_examples import (
    MEMBERS,
    REFERENCES,
    as_tuple,
    asked,
    draws,
    over,
    over_members,
    over_providing,
    provides,
)

SCALAR = [member for member in MEMBERS if not member.event_shape and not isinstance(member.sample(rng=0), tuple)]
REFERENCED = [member for member in SCALAR if type(member).__name__ in REFERENCES]


@over(REFERENCED)
@pytest.mark.parametrize("moment", ["mean", "var"])
def test_equal_scipy(member, moment):
    found = asked(member, {"mean": "mean", "var": "variance"}[moment])
    with np.errstate(all="ignore"):
        expected = float(getattr(REFERENCES[type(member).__name__](member), moment)())
    if found is None:
        assert not np.isfinite(expected)
    else:
        assert found == pytest.approx(expected, rel=1e-9, abs=1e-12)


@over_members
def test_mean_is_the_average_of_draws(member):
    """Within six standard errors; without a finite variance the average has none."""
    mean, variance = asked(member, "mean"), asked(member, "variance")
    if mean is None or variance is None:
        return
    for values, expected, square in zip(
        as_tuple(draws(member, 20_000)), as_tuple(mean), as_tuple(variance), strict=True
    ):
        assert np.shape(expected) == values.shape[1:]
        error = np.sqrt(square) / np.sqrt(len(values))
        gap = np.abs(values.mean(axis=0) - expected)
        assert (gap <= 6 * error + 1e-12 * np.abs(expected)).all(), (values.mean(axis=0), expected)


@over_members
def test_variance_is_the_spread_of_draws(member):
    """By the deviation of twenty groups' variances; a tail that never shows in the draws is SciPy's to judge."""
    variance = asked(member, "variance")
    if variance is None or not all(np.isfinite(part).all() for part in as_tuple(variance)):
        return
    for values, expected in zip(as_tuple(draws(member, 20_000)), as_tuple(variance), strict=True):
        assert np.shape(expected) == values.shape[1:]
        groups = np.stack([group.var(axis=0, ddof=1) for group in np.split(values.astype(float), 20)])
        deviation = groups.std(axis=0) / np.sqrt(20)
        gap = np.abs(groups.mean(axis=0) - expected)
        rare = deviation == 0  # all draws are alike
        assert ((gap <= 6 * deviation + 1e-9 * np.abs(expected)) | rare).all(), (groups.mean(axis=0), expected)


@over_members
def test_std_is_the_root_of_the_variance(member):
    variance = asked(member, "variance")
    if variance is not None and not isinstance(variance, tuple):
        np.testing.assert_allclose(member.standard_deviation, np.sqrt(variance), rtol=1e-14)


@over_providing("mode")
def test_nothing_is_more_probable_than_the_mode(member):
    mode = asked(member, "mode")
    if mode is None:
        return
    top = member.log_prob(mode)
    assert np.isfinite(top) or top == np.inf
    slack = 1e-9 * (1 + abs(top)) if np.isfinite(top) else 0.0
    assert (np.asarray(member.log_prob(draws(member, 2000))) <= top + slack).all()


@over([member for member in SCALAR if provides(type(member), "mode")])
def test_the_mode_is_the_top_of_a_grid(member):
    mode = asked(member, "mode")
    if mode is None:
        return
    if member.support.is_discrete:
        grid = np.arange(max(mode - 1000, float(member.support.low)), min(mode + 1000, float(member.support.high)) + 1)
    else:
        width = float(member.quantile(0.75) - member.quantile(0.25))
        grid = mode + width * np.concatenate([np.linspace(-3, 3, 601), [-1e-3, 1e-3]])
    assert np.max(member.log_prob(grid)) <= member.log_prob(mode) + 1e-12 * (1 + abs(member.log_prob(mode)))


@over([member for member in SCALAR if member.support.is_discrete and provides(type(member), "mean")])
def test_moments_of_counts_by_summation(member):
    mean, variance = asked(member, "mean"), asked(member, "variance")
    if mean is None or not np.isfinite(mean) or not np.isfinite(variance):
        return
    x = terms_of(member)
    p = np.asarray(member.prob(x))
    assert p.sum() == pytest.approx(1, abs=1e-10)
    assert p @ x == pytest.approx(mean, rel=1e-8, abs=1e-12)
    assert p @ (x - mean) ** 2 == pytest.approx(variance, rel=1e-6, abs=1e-12)


@over_members
def test_numbers_are_plain_for_one_distribution(member):
    for name in ("mean", "variance", "mode", "median"):
        found = asked(member, name)
        if found is None or isinstance(found, tuple):
            continue
        if member.event_shape:
            assert np.shape(found) == member.event_shape
        else:
            assert type(found) in {int, float}
