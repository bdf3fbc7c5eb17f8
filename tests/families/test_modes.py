"""The mode: nowhere is the density larger, whatever the parameters; where there is none, a sentence says why."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from juncture.errors import TooLarge, Unsupported
from juncture.families.continuous.beta import Beta
from juncture.families.exponential_family import ExponentialFamily
from support.family_examples import asked, over_families
from support.family_strategies import members


@over_families
@settings(max_examples=30)
@given(data=st.data())
def test_no_draw_is_denser_than_the_mode(family, data):
    member = data.draw(members(family))
    try:
        mode = asked(member, "mode")
        if mode is None or (isinstance(mode, float) and np.isinf(mode)):  # beyond doubles, where no density is known
            return
        top = float(np.asarray(member.log_prob(mode)))
        found = np.asarray(member.log_prob(member.sample(30, rng=0)))
    except TooLarge:
        return
    assert not np.isnan(top), member
    slack = 1e-9 * (1 + abs(top)) if np.isfinite(top) else 0.0
    rounded = 64 * np.finfo(float).eps * (steepness(member, mode) + parts_of(member))
    assert (found <= top + slack + rounded).all(), (member, mode)


def parts_of(member):
    """The size of what the log-density adds up."""
    if not isinstance(member, ExponentialFamily):
        return 0.0
    with np.errstate(all="ignore"):
        natural, mean = np.abs(member.natural_parameters), np.abs(member.mean_parameters)
    parts = np.where(np.isinf(natural), 0.0, natural) * np.where(np.isinf(mean), 0.0, mean)
    return float(parts.sum())


def steepness(member, mode):
    """How much the log-density changes as the mode changes by a part of itself: its rounding costs that much."""
    if member.event_shape or isinstance(mode, tuple) or not np.isfinite(float(member.log_prob(mode))):
        return 0.0
    nearby = np.clip([mode * (1 - 1e-6), mode * (1 + 1e-6)], *map(float, member.support.closed_ends()))
    if member.support.is_discrete:
        return 0.0
    drops = float(member.log_prob(mode)) - np.asarray(member.log_prob(nearby))
    return float(np.abs(drops[np.isfinite(drops)]).max(initial=0.0)) * 1e6


@pytest.mark.parametrize(
    ("a", "b", "mode"),
    [
        (3.65, 0.54, 1.0),
        (0.54, 3.65, 0.0),
        (1.0, 0.5, 1.0),
        (0.5, 1.0, 0.0),
        (1.0, 3.0, 0.0),
        (3.0, 1.0, 1.0),
        (2.0, 5.0, 0.2),
    ],
)
def test_the_mode_of_a_beta_at_an_end(a, b, mode):
    """The density rises up to 1 where b < 1 ≤ a: it is infinite there, and nowhere else."""
    member = Beta(a, b)
    assert member.mode == pytest.approx(mode)
    inside = np.linspace(0.001, 0.999, 999)
    assert member.log_prob(mode) >= np.max(member.log_prob(inside)) - 1e-9
    if min(a, b) < 1:
        assert member.log_prob(mode) == np.inf
    assert Beta([a, 2.0], [b, 2.0]).mode == pytest.approx([mode, 0.5])


@pytest.mark.parametrize(("a", "b"), [(0.5, 0.5), (1.0, 1.0), (0.5, 0.9)])
def test_a_beta_without_a_single_mode(a, b):
    with pytest.raises(Unsupported, match="no single mode"):
        _ = Beta(a, b).mode
