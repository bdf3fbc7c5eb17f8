"""Entropy, cross-entropy and KL divergence, against expectations, draws and each other."""

from __future__ import annotations

import numpy as np
import pytest

from juncture.families.discrete.bernoulli import Bernoulli
from juncture.families.exponential_family import ExponentialFamily
from support.family_examples import (
    EXPONENTIAL,
    INTERIOR,
    MEMBERS,
    draws,
    few,
    members_of,
    over,
    over_interior,
    relative_of,
    toward,
)

# by quadrature or summation where a family is not exponential: fewer of those
HAS_NUMBERS = EXPONENTIAL + few(
    [member for member in MEMBERS if not isinstance(member, ExponentialFamily) and not member.event_shape]
)
NUM_DRAWS = 10_000


def assert_mean(samples, expected):
    """The mean of draws is what is expected, within its error; infinite where a draw is."""
    if np.isinf(expected) or np.isinf(samples).any():
        assert samples.mean() == expected
        return
    error = samples.std() / np.sqrt(len(samples))
    assert samples.mean() == pytest.approx(expected, abs=5.5 * error + 1e-9 * abs(expected) + 1e-6)


def relatives(member):
    """Other examples of the family with values of the same shape."""
    return [other for other in members_of(type(member)) if other.event_shape == member.event_shape][:3]


@over(HAS_NUMBERS)
def test_entropy_is_the_expected_surprise(member):
    entropy = member.entropy()
    assert type(entropy) is float
    assert_mean(-np.asarray(member.log_prob(draws(member, NUM_DRAWS))), entropy)


@over(HAS_NUMBERS)
def test_cross_entropy_is_entropy_and_divergence(member):
    """H(p, q) = H(p) + KL(p ‖ q)."""
    for other in relatives(member):
        cross, divergence = member.cross_entropy(other), member.kl_divergence(other)
        expected = member.entropy() + divergence
        size = abs(member.entropy()) + abs(divergence) + 1
        assert cross == expected or abs(cross - expected) <= 1e-8 * size


@over(HAS_NUMBERS)
def test_kl_divergence_is_the_expected_log_ratio(member):
    values = draws(member, NUM_DRAWS, seed=2)
    own = np.asarray(member.log_prob(values))
    for other in relatives(member):
        divergence = member.kl_divergence(other)
        ratio = own - np.asarray(other.log_prob(values))
        if np.isfinite(divergence):
            assert_mean(ratio, divergence)
        else:
            assert divergence == np.inf


@over(HAS_NUMBERS)
def test_kl_divergence_is_zero_only_for_itself(member):
    assert member.kl_divergence(member) == pytest.approx(0, abs=1e-12)
    for other in relatives(member):
        assert member.kl_divergence(other) >= 0
        if other != member:
            assert member.kl_divergence(other) > 1e-14


@over(HAS_NUMBERS)
def test_kl_divergence_is_infinite_where_the_other_has_no_mass(member):
    values = draws(member, 500)
    for other in relatives(member):
        if np.isinf(np.asarray(other.log_prob(values))).any():
            assert member.kl_divergence(other) == np.inf
            assert member.cross_entropy(other) == np.inf


@over([member for member in INTERIOR if not member.event_shape and not isinstance(member.sample(rng=0), tuple)])
def test_kl_divergence_equals_quadrature(member):
    """The Bregman form against summation or quadrature of the log-ratio (S4-061)."""
    from juncture.families.family import Family

    other = toward(member, relative_of(member), 0.5)
    expected = Family.kl_divergence(member, other)
    assert member.kl_divergence(other) == pytest.approx(expected, rel=1e-6, abs=1e-8)


@over_interior
def test_kl_divergence_is_a_bregman_divergence(member):
    """KL(η ‖ η') = A(η') - A(η) - μ·(η' - η) (S4-061)."""
    other = relative_of(member)
    change = other.natural_parameters - member.natural_parameters
    terms = [other.log_partition(), -member.log_partition(), *(-change * member.mean_parameters)]
    size = np.abs(terms).sum()
    assert member.kl_divergence(other) == pytest.approx(sum(terms), rel=1e-8, abs=1e-12 * size + 1e-14)


@over_interior
def test_nearby_the_divergence_is_half_the_information_square(member):
    """KL ≈ ½ ΔᵀJΔ for a small change Δ of η (S4-061; without ½ it would be wrong)."""
    near = toward(member, relative_of(member), 1e-2)
    change = near.natural_parameters - member.natural_parameters
    square = 0.5 * change @ member.fisher_information() @ change
    rounding = 1e-14 * (abs(member.log_partition()) + np.abs(change * member.mean_parameters).sum())
    assert member.kl_divergence(near) == pytest.approx(square, rel=0.05, abs=rounding)


def test_bernoulli_by_natural_parameters():
    """η = 0.3 and 0.31: exactly 1.22168e-5, half the square 1.22229e-5 (S4-061)."""
    first, second = (Bernoulli.from_natural_parameters([eta]) for eta in (0.3, 0.31))
    assert first.kl_divergence(second) == pytest.approx(1.22168e-5, rel=1e-5)
    assert 0.5 * 0.01**2 * first.fisher_information()[0, 0] == pytest.approx(1.22229e-5, rel=1e-5)


@over(EXPONENTIAL)
def test_the_entropy_is_the_largest_cross_entropy_gain(member):
    """No other member codes the draws of this one better: H(p, q) ≥ H(p) (Gibbs)."""
    for other in relatives(member):
        assert member.cross_entropy(other) >= member.entropy() - 1e-9 * (1 + abs(member.entropy()))
