"""Statistics of counts add bit for bit, however the rows are split: also Σ log h(x), which is a sum of logarithms."""

from __future__ import annotations

from fractions import Fraction
from math import fsum

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import gammaln

from juncture.families.discrete.binomial import Binomial
from juncture.families.discrete.poisson import Poisson
from juncture.families.statistics.sums import add_sums, exact_sum, scale_sum
from juncture.families.statistics_document import statistics_from_dict, statistics_from_json
from juncture.families.vectors.multinomial import Multinomial
from support.family_examples import members_of, over_families, provides


def counted(family):
    """Members whose values are counts, and that have statistics."""
    return [
        m for m in members_of(family) if provides(family, "_summarise") and getattr(m.support, "is_discrete", False)
    ]


@over_families
@settings(max_examples=5)
@given(cuts=st.lists(st.integers(0, 200), min_size=1, max_size=6), seed=st.integers(0, 99))
def test_any_split_adds_up_bit_for_bit(family, cuts, seed):
    for member in counted(family):
        rows = member.sample(200, rng=seed)
        whole = member.statistics(rows)
        parts = [member.statistics(part) for part in np.split(rows, sorted(cuts))]
        assert sum(parts) == whole
        assert sum(parts[::-1]) == whole
        tree = list(parts)
        while len(tree) > 1:
            tree = [sum(tree[k : k + 2]) for k in range(0, len(tree), 2)]
        assert tree[0] == whole
        assert member.statistics(np.random.default_rng(seed).permutation(rows)) == whole


@over_families
def test_weights_scales_and_files_keep_every_bit(family):
    for member in counted(family):
        rows = member.sample(50, rng=1)
        weights = np.arange(50) % 5
        statistics = member.statistics(rows, weights=weights)
        assert statistics == member.statistics(np.repeat(rows, weights, axis=0))
        assert member.statistics(rows).scaled(7) == sum([member.statistics(rows)] * 7)
        assert statistics_from_json(statistics.to_json()) == statistics
        older = {name: value for name, value in statistics.to_dict().items() if name != "log_base_rest"}
        assert statistics_from_dict(older).total.tolist() == statistics.total.tolist()


@given(st.lists(st.floats(-1e9, 1e9), min_size=1, max_size=40), st.integers(0, 40), st.integers(0, 1000))
def test_sums_are_exact(terms, cut, factor):
    """Against fractions: the nearest number, and the rest exactly."""
    terms = np.round(np.array(terms) * 2.0**20) / 2.0**20
    high, low = exact_sum(terms, None)
    total = sum(map(Fraction, terms.tolist()))
    assert Fraction(float(high)) + Fraction(float(low)) == total
    assert float(high) == float(total)
    first, second = exact_sum(terms[:cut], None), exact_sum(terms[cut:], None)
    assert [part.item() for part in add_sums(first, second)] == [high.item(), low.item()]
    scaled = scale_sum((high, low), np.asarray(float(factor)))
    assert Fraction(scaled[0].item()) + Fraction(scaled[1].item()) == factor * total


def test_the_rest_is_small_and_the_sum_is_right():
    rows = Poisson(50.0).sample(5000, rng=0)
    statistics = Poisson.statistics(rows)
    assert float(statistics.log_base) == fsum(-gammaln(rows + 1.0))
    assert abs(statistics.log_base_rest) <= 0.5 * np.spacing(np.abs(statistics.log_base))
    batch = Poisson.statistics(rows.reshape(-1, 5))
    assert fsum([*batch.log_base, *batch.log_base_rest]) == float(statistics.log_base)
    assert batch.log_base_rest.shape == (5,)


def test_long_data_have_the_statistics_of_their_parts():
    """Long data are counted by value in compiled code: the same bits."""
    rows = Binomial(40, 0.3).sample(150_000, rng=0)
    whole = Binomial.statistics(rows, trials=40)
    parts = [Binomial.statistics(rows[start : start + 777], trials=40) for start in range(0, len(rows), 777)]
    assert sum(parts) == whole
    table = Multinomial(6, [0.2, 0.3, 0.5]).sample(20_000, rng=0)
    halves = Multinomial.statistics(table[:9999], trials=6) + Multinomial.statistics(table[9999:], trials=6)
    assert halves == Multinomial.statistics(table, trials=6)
