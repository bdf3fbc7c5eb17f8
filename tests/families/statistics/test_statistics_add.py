"""Statistics add: parts give what the whole gives; weights are repetitions; order does not matter."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from juncture.families.continuous.gaussian import Gaussian
from juncture.families.discrete.categorical import Categorical
from juncture.families.statistics.sample_statistics import Sample
from juncture.families.statistics_document import statistics_from_dict, statistics_from_json
from juncture.runtime.parallel import BLOCK, MANY_BLOCKS
from support.family_examples import (
    MEMBERS,
    concatenate_draws,
    draws,
    few,
    known_of,
    numbers_each,
    over,
    provides,
    rows_of,
)

SUMMARISED = [member for member in MEMBERS if provides(type(member), "_summarise")]
over_summarised, over_few = over(SUMMARISED), over(few(SUMMARISED))


def arrays_of(statistics):
    if isinstance(statistics, Sample):
        return gathered(statistics.values, statistics.weights)
    return {name: statistics.__dict__[name] for name in statistics._fields if name not in {"family", "known"}}


def gathered(values, weights):
    """A sample as it counts: each value once, with its whole weight."""
    once, places = np.unique(values, return_inverse=True)
    return {"values": once, "weights": np.bincount(places.ravel(), weights, minlength=len(once))}


def column_of(statistics, column):
    """The arrays of one member of a batch of statistics."""
    if isinstance(statistics, Sample):
        return gathered(statistics.values[:, column], statistics.weights[:, column])
    return {name: array[column] for name, array in arrays_of(statistics).items()}


def scale_of(arrays, name):
    """How large an array is; the residual holds the last digits of the mean, so it is judged by that."""
    return np.abs(arrays["center" if name == "residual" else name]).max(initial=0)


def assert_same(found, expected, *, exact, rtol=1e-12):
    """Counts bit for bit, everything else to rounding; log h(x) is a sum of logarithms and never a count."""
    assert type(found) is type(expected)
    assert found.family is expected.family
    for name, array in arrays_of(found).items():
        wanted = arrays_of(expected)[name]
        assert array.shape == wanted.shape
        if exact and name != "log_base":
            np.testing.assert_array_equal(array, wanted, err_msg=name)
        else:
            scale = scale_of(arrays_of(expected), name)
            np.testing.assert_allclose(array, wanted, rtol=rtol, atol=rtol * scale, err_msg=name)


def is_exact(member):
    return getattr(member.support, "is_discrete", False)


@over_summarised
def test_parts_add_up_to_the_whole(member):
    values = draws(member, 60)
    whole = member.statistics(values)
    for cut in (1, 20, 59):
        parts = member.statistics(rows_of(values, slice(cut))) + member.statistics(rows_of(values, slice(cut, None)))
        assert_same(parts, whole, exact=is_exact(member))
    thirds = [member.statistics(rows_of(values, slice(start, start + 20))) for start in (0, 20, 40)]
    assert_same(sum(thirds), whole, exact=is_exact(member))


@over_summarised
def test_order_does_not_matter(member):
    values = draws(member, 60)
    order = np.random.default_rng(1).permutation(60)
    assert_same(member.statistics(rows_of(values, order)), member.statistics(values), exact=is_exact(member))
    first, second = member.statistics(rows_of(values, slice(9))), member.statistics(rows_of(values, slice(9, None)))
    assert_same(first + second, second + first, exact=is_exact(member))


@over_summarised
def test_weights_are_repetitions(member):
    values = draws(member, 12)
    weights = np.arange(12) % 4
    repeated = rows_of(values, np.repeat(np.arange(12), weights))
    assert_same(member.statistics(values, weights=weights), member.statistics(repeated), exact=is_exact(member))
    assert_same(member.statistics(values, weights=np.ones(12)), member.statistics(values), exact=is_exact(member))


@over_summarised
def test_scaled_is_every_weight_multiplied(member):
    values = draws(member, 12)
    statistics = member.statistics(values)
    assert_same(statistics.scaled(3), member.statistics(values, weights=np.full(12, 3.0)), exact=is_exact(member))
    assert_same(statistics.scaled(0.25), member.statistics(values, weights=np.full(12, 0.25)), exact=is_exact(member))
    assert_same(statistics.scaled(1), statistics, exact=True)
    for factor in (-1, np.nan, np.inf):
        with pytest.raises(ValueError, match="scaled by"):
            statistics.scaled(factor)


@over_summarised
def test_batches_of_weights_are_columns_alone(member):
    """One set of rows with many columns of weights: the statistics of a mixture's components."""
    values = draws(member, 15)
    weights = np.random.default_rng(0).random((15, 3))
    together = member.statistics(values, weights=weights)
    assert together.weight.shape == (3,)
    for column in range(3):
        alone = arrays_of(member.statistics(values, weights=weights[:, column]))
        for name, found in column_of(together, column).items():
            scale = scale_of(alone, name)
            np.testing.assert_allclose(found, alone[name], rtol=1e-11, atol=1e-11 * scale)


@over_few
def test_a_batch_of_rows_is_a_batch_of_statistics(member):
    """Values (row, batch): each column of data on its own."""
    if isinstance(member.sample(rng=0), tuple) or isinstance(member, Categorical):
        pytest.skip("pairs of values and labels come one set at a time")
    values = member.sample((10, 7), rng=0)
    together = member.statistics(values)
    assert together.weight.tolist() == [10] * 7
    for column in range(7):
        alone = arrays_of(member.statistics(values[:, column]))
        for name, found in column_of(together, column).items():
            scale = scale_of(alone, name)
            np.testing.assert_allclose(found, alone[name], rtol=1e-12, atol=1e-12 * scale)


@over_few
def test_long_data_in_blocks(member):
    """Blocks that several threads sum up give what one pass would, the same every time."""
    few = draws(member, 512)
    repeats = (MANY_BLOCKS + 1) * BLOCK // 512 // numbers_each(few)  # blocks are so many numbers
    long = concatenate_draws(*[few] * repeats)
    found = member.statistics(long)
    assert_same(found, member.statistics(few).scaled(repeats), exact=is_exact(member), rtol=1e-11)
    assert found == member.statistics(long)


@over_summarised
def test_nothing_is_neutral(member):
    values = draws(member, 8)
    statistics, nothing = member.statistics(values), member.statistics(rows_of(values, slice(0)))
    assert nothing.weight == 0
    assert_same(statistics + nothing, statistics, exact=True)
    assert_same(nothing + statistics, statistics, exact=True)
    assert_same(statistics + statistics.scaled(0), statistics, exact=True)
    with pytest.raises(ValueError, match="no data"):
        type(member).estimate(nothing)


@over_few
def test_one_row_alone_is_a_row(member):
    values = draws(member, 1)
    alone = member.statistics(rows_of(values, 0))
    assert alone.weight == 1
    assert_same(alone, member.statistics(values), exact=True)


@over_few
def test_travel_as_json_and_pickle_bit_for_bit(member):
    single = member.statistics(draws(member, 7))
    batch = member.statistics(draws(member, 7), weights=np.random.default_rng(0).random((7, 2)))
    for statistics in (single, batch):
        assert statistics_from_json(statistics.to_json()) == statistics
        assert statistics_from_dict(statistics.to_dict()) == statistics
        assert pickle.loads(pickle.dumps(statistics)) == statistics  # noqa: S301
        assert hash(statistics_from_json(statistics.to_json())) == hash(statistics)


@over_few
def test_repr_is_one_short_line(member):
    text = repr(member.statistics(draws(member, 7)))
    assert type(member).__name__ in text
    assert len(text) <= 150
    assert "\n" not in text


@over_few
def test_the_instance_supplies_what_it_knows(member):
    values = draws(member, 7)
    assert type(member).statistics(values, **known_of(member)) == member.statistics(values)


@pytest.mark.parametrize("offset", [0.0, 1e8, -1e8])
def test_real_values_far_from_zero_keep_their_scatter(offset):
    """Centred and merged by Chan's formula: with Σx² every digit of the scatter would be lost."""
    values = offset + np.random.default_rng(0).integers(-8, 9, 1000) / 4  # exact in binary, also with the offset
    from fractions import Fraction

    exact = [Fraction(float(value)) for value in values]
    mean = sum(exact) / len(exact)
    scatter = float(sum((value - mean) ** 2 for value in exact))
    parts = [Gaussian.statistics(values[start : start + 100]) for start in range(0, 1000, 100)]
    for found in (Gaussian.statistics(values), sum(parts), sum(parts[::-1])):
        assert float(found.center) == pytest.approx(float(mean), rel=1e-15)
        assert float(found.scatter) == pytest.approx(scatter, rel=1e-12)
