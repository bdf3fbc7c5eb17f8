"""Quantiles of counts: the smallest count with P(X ≤ x) ≥ p, also where both are equal; against exact fractions."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from juncture.families.discrete.bernoulli import Bernoulli
from juncture.families.discrete.beta_binomial import BetaBinomial
from juncture.families.discrete.beta_negative_binomial import BetaNegativeBinomial
from juncture.families.discrete.binomial import Binomial
from juncture.families.discrete.categorical import Categorical
from juncture.families.discrete.geometric import Geometric
from juncture.families.discrete.hypergeometric import Hypergeometric
from juncture.families.discrete.negative_binomial import NegativeBinomial
from support.family_examples import members_of, over_providing_families

EPS = 2.0**-50  # masses above it are told apart from P(X ≤ x) near 1


@cache
def rising(base, steps):
    return rising(base, steps - 1) * (base + steps - 1) if steps else Fraction(1)


def hypergeometric(population, targets, draws):
    low, high = max(0, draws - (population - targets)), min(targets, draws)
    return [Fraction(comb(targets, x) * comb(population - targets, draws - x), comb(population, draws))
            for x in range(low, high + 1)]  # fmt: skip


def beta_binomial(n, a, b):
    a, b = Fraction(a), Fraction(b)
    return [comb(n, k) * rising(a, k) * rising(b, n - k) / rising(a + b, n) for k in range(n + 1)]


def binomial(n, p):
    p = Fraction(p)
    return [comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(n + 1)]


def negative_binomial(successes, p):
    p = Fraction(p)
    return [comb(k + successes - 1, k) * p**successes * (1 - p) ** k for k in range(60)]


def beta_negative_binomial(successes, a, b):
    a, b = Fraction(a), Fraction(b)
    whole = successes + 0
    return [comb(k + whole - 1, k) * rising(a, whole) * rising(b, k) / rising(a + b, whole + k) for k in range(60)]


EXACT = [
    (Bernoulli(0.25), [Fraction(3, 4), Fraction(1, 4)]),
    (Categorical([0.7, 0.1, 0.2]), [Fraction(7, 10), Fraction(1, 10), Fraction(2, 10)]),
    *[(Hypergeometric(*given), hypergeometric(*given)) for given in ((50, 10, 10), (10, 5, 5), (20, 7, 12), (6, 3, 2))],
    *[(BetaBinomial(*given), beta_binomial(*given)) for given in ((3, 1, 1), (100, 1, 1), (20, 2, 3), (30, 0.5, 0.5))],
    *[(Binomial(*given), binomial(*given)) for given in ((3, 0.5), (10, 0.25), (64, 0.5))],
    *[(Geometric(p), negative_binomial(1, p)) for p in (0.5, 0.25, 0.125, 0.75)],
    *[(NegativeBinomial(*given), negative_binomial(*given)) for given in ((2, 0.5), (3, 0.25))],
    *[(BetaNegativeBinomial(*given), beta_negative_binomial(*given)) for given in ((1, 2, 3), (2, 3, 1))],
]


@pytest.mark.parametrize(("member", "masses"), EXACT, ids=[str(row[0])[:50] for row in EXACT])
def test_the_quantile_of_a_sum_of_masses_is_the_last_of_them(member, masses):
    """Of p = P(X ≤ k) exactly, rounded to a number; a little more is the next count."""
    low, reached = int(member.support.low), Fraction(0)
    for k, mass in enumerate(masses):
        reached += mass
        if reached >= 1 or (mass < EPS and reached > Fraction(1, 2)):
            continue
        assert member.quantile(float(reached)) == low + k
        assert member.cdf(low + k) == pytest.approx(float(reached), rel=1e-13)
        if k + 1 < len(masses) and masses[k + 1] > 1e-9:
            assert member.quantile(float(reached) * (1 + 1e-12)) == low + k + 1


@over_providing_families("_cdf")
def test_the_quantile_of_the_cdf_is_the_count(family):
    """quantile(cdf(k)) is k for each k whose mass rounding does not hide."""
    for member in members_of(family):
        if not member.support.is_discrete:
            return
        middle = float(member.median)
        counts = np.arange(
            max(middle - 30, float(member.support.low)), min(middle + 30, float(member.support.high)) + 1
        )
        below, masses = np.asarray(member.cdf(counts)), np.asarray(member.prob(counts))
        told_apart = (below < 1) & (masses > 1e-12 * below) & ((masses > EPS) | (below < 0.5))
        np.testing.assert_array_equal(np.asarray(member.quantile(below))[told_apart], counts[told_apart])


@settings(max_examples=25)
@given(st.integers(1, 40), st.integers(1, 8), st.integers(1, 8), st.integers(0, 40))
def test_any_tie_of_a_beta_binomial(n, a, b, k):
    masses = beta_binomial(n, a, b)
    reached = sum(masses[: min(k, n) + 1])
    if reached < 1:
        assert BetaBinomial(n, a, b).quantile(float(reached)) == min(k, n)


@settings(max_examples=25)
@given(st.integers(1, 60), st.integers(0, 60), st.integers(0, 60), st.integers(0, 60))
def test_any_tie_of_a_hypergeometric(population, targets, draws, k):
    targets, draws = min(targets, population), min(draws, population)
    masses = hypergeometric(population, targets, draws)
    k = min(k, len(masses) - 1)
    reached = sum(masses[: k + 1])
    if reached < 1 and (masses[k] > EPS or 2 * reached < 1):
        low = max(0, draws - (population - targets))
        assert Hypergeometric(population, targets, draws).quantile(float(reached)) == low + k
