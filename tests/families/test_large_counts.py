"""Counts beyond the integers of an array are whole floating-point numbers, or refused in one sentence."""

from __future__ import annotations

import numpy as np
import pytest

from juncture.errors import JunctureError
from juncture.families.discrete.beta_binomial import BetaBinomial
from juncture.families.discrete.beta_negative_binomial import BetaNegativeBinomial
from juncture.families.discrete.binomial import Binomial
from juncture.families.discrete.geometric import Geometric
from juncture.families.discrete.hypergeometric import Hypergeometric
from juncture.families.discrete.negative_binomial import NegativeBinomial
from juncture.families.discrete.poisson import Poisson
from juncture.families.vectors.dirichlet_multinomial import DirichletMultinomial
from juncture.families.vectors.multinomial import Multinomial
from support.family_examples import assert_is_a_sentence

NUM_DRAWS = 2000

LARGE = [
    *[Poisson(rate) for rate in (1e13, 2.0**50, 2.0**56, 2.0**61, 2.0**63, 1e19, 1e25, 1e300)],
    *[Binomial(10**20, p) for p in (0.5, 1e-3, 1e-19, 1 - 1e-3, 0.0, 1.0)],
    Binomial(2**62 + 2**20, 0.25),
    *[NegativeBinomial(successes, p) for successes, p in ((3.0, 1e-25), (1e19, 0.5), (2.0, 5e-309))],
    *[Geometric(p) for p in (1e-16, 1e-18, 1e-25, 1e-305)],
    *[BetaBinomial(10**20, a, b) for a, b in ((2.0, 3.0), (1e15, 1.0))],
    BetaBinomial(10, 2.0, 3.0, offset=10**20),
    *[BetaNegativeBinomial(successes, a, b) for successes, a, b in ((1e20, 5.0, 3.0), (2.0, 8.0, 1e25))],
]


@pytest.mark.parametrize("member", LARGE, ids=str)
def test_draws_are_whole_numbers_of_the_distribution(member):
    drawn = np.asarray(member.sample(NUM_DRAWS, rng=0), dtype=float)
    assert (drawn == np.floor(drawn)).all()
    assert (drawn >= 0).all()
    assert np.isfinite(np.asarray(member.log_prob(drawn))).all()
    mean, variance = member.mean, member.variance
    if np.isfinite(variance):
        std = np.sqrt(variance)
        unit = std + 1e-13 * mean
        assert abs(((drawn - mean) / unit).mean()) <= 6 / np.sqrt(NUM_DRAWS) if unit > 0 else (drawn == mean).all()
        if std > 1e-12 * mean:  # the draws are told apart
            assert ((drawn - mean) / std).std() == pytest.approx(1, rel=0.15)


@pytest.mark.parametrize("member", LARGE, ids=str)
def test_the_mode_and_the_text(member):
    assert 0 <= member.mode <= float(member.support.high)
    assert eval(repr(member), {type(member).__name__: type(member)}) == member  # noqa: S307


def test_quantiles():
    for member in (Poisson(1e19), Binomial(10**20, 1e-3), Geometric(1e-25)):
        low, high = member.quantile(0.25), member.quantile(0.75)
        assert 0 < low <= high
        assert member.cdf(low) == pytest.approx(0.25, abs=1e-4)


@pytest.mark.parametrize(
    "ask",
    [
        lambda: Hypergeometric(10**20, 10**19, 5).sample(rng=0),
        lambda: Hypergeometric(3 * 10**9, 10**9, 5).sample(rng=0),
        lambda: Multinomial(10**20, [0.5, 0.5]).sample(rng=0),
        lambda: Multinomial(10**20, [0.5, 0.5]).mode,
        lambda: DirichletMultinomial(10**20, [1.0, 2.0]).sample(rng=0),
    ],
)
def test_what_has_no_draws_says_so(ask):
    with pytest.raises(JunctureError) as caught:
        ask()
    assert_is_a_sentence(caught.value)


@pytest.mark.parametrize(
    "family", [Poisson, lambda x: NegativeBinomial(3.0, 3.0 / (3.0 + x)), lambda x: Binomial(2 * x, 0.5)]
)
def test_one_large_count_many_times(family):
    """No table is made of counts whose next number is not the next count."""
    count = 1e17
    member = family(count)
    alone = member.log_prob(count)
    np.testing.assert_array_equal(member.log_prob(np.full(50, count)), np.full(50, alone))
