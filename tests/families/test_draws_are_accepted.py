"""What a family draws, it accepts: log-densities are not -inf, and statistics take every draw."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from juncture.errors import InvalidData
from juncture.families.continuous.beta import Beta
from juncture.families.continuous.weibull import Weibull
from juncture.families.registry import FAMILIES
from juncture.families.vectors.inverse_wishart import InverseWishart
from juncture.families.vectors.wishart import Wishart
from support.family_examples import EXAMPLES, over_families, provides
from support.family_strategies import members

MATRICES = {"Wishart", "InverseWishart", "NormalInverseWishart"}  # their scales may be singular to working precision


def assert_accepted(member):
    drawn = member.sample(20, rng=0)
    log_prob = np.asarray(member.log_prob(drawn))
    assert not np.isnan(log_prob).any(), member
    assert (log_prob > -np.inf).all(), member
    if provides(type(member), "_summarise") or hasattr(member, "_summarise_pairs"):
        assert member.statistics(drawn).weight == 20


@over_families
@settings(max_examples=40)
@given(data=st.data())
def test_draws_of_extreme_members(family, data):
    if family.__name__ in MATRICES:
        return
    member = data.draw(members(family))
    if isinstance(member, Weibull) and abs(member.shape * np.log(member.scale)) > 600:
        return  # x^shape, its statistic, is beyond all numbers: see below
    assert_accepted(member)


@over_families
def test_draws_of_the_examples(family):
    for example in EXAMPLES[family.__name__]:
        for place in np.ndindex(example.batch_shape):
            assert_accepted(example[place] if example.batch_shape else example)


@pytest.mark.parametrize("family", [Wishart, InverseWishart])
@pytest.mark.parametrize("excess", [1e-6, 1e-3, 0.1, 1.0, 1e6])
@pytest.mark.parametrize("dimension", [1, 2, 4])
def test_matrices_with_few_degrees(family, excess, dimension):
    assert_accepted(family(dimension - 1 + excess, np.eye(dimension)))


def test_a_beta_at_its_upper_end():
    drawn = Beta(5, 0.01).sample(1000, rng=0)
    assert drawn.max() == np.nextafter(1.0, 0.0)
    assert Beta.statistics(drawn).weight == 1000
    assert Beta(0.01, 5).sample(1000, rng=0).min() > 0


def test_powers_beyond_all_numbers_are_refused_in_a_sentence():
    member = Weibull(shape=200, scale=1e6)
    with pytest.raises(InvalidData, match="overflow"):
        member.statistics(member.sample(5, rng=0))
    assert Weibull.statistics(member.sample(5, rng=0)).weight == 5  # the sample itself, where the shape is not known


def test_every_family_is_drawn():
    assert all(provides(family, "_draw") or hasattr(family, "pair_type") for family in FAMILIES.values())
