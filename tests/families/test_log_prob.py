"""log_prob: SciPy's value, or sums to 1; -inf outside; the same for lists, booleans, long arrays."""

from __future__ import annotations

import numpy as np
import pytest

from juncture.errors import InvalidData, JunctureError
from juncture.families.discrete.categorical import Categorical
from juncture.families.expectation import expectation
from juncture.runtime.parallel import BLOCK, MANY_BLOCKS
from support.family_examples import (
    MEMBERS,
    REFERENCES,
    assert_is_a_sentence,
    concatenate_draws,
    draws,
    few,
    numbers_each,
    over,
    over_members,
    rows_of,
)  # fmt: skip
from support.family_values import edges_of, outside_of

REFERENCED = [member for member in MEMBERS if type(member).__name__ in REFERENCES]
over_few = over(few(MEMBERS))
SCALAR = [member for member in MEMBERS if not member.event_shape and not isinstance(member.sample(rng=0), tuple)]


def reference_log_prob(member, x):
    """SciPy's, one value at a time: its multivariate distributions disagree about where rows go."""
    frozen = REFERENCES[type(member).__name__](member)
    log_prob = frozen.logpdf if hasattr(frozen, "logpdf") else frozen.logpmf
    with np.errstate(all="ignore"):
        return np.array([float(np.squeeze(log_prob(*x_i) if isinstance(x_i, tuple) else log_prob(x_i))) for x_i in x])


def one_by_one(values):
    count = len(values[0] if isinstance(values, tuple) else values)
    return [rows_of(values, place) for place in range(count)]


@over(REFERENCED)
def test_equals_scipy(member):
    values = draws(member, 40)
    found = member.log_prob(values)
    np.testing.assert_allclose(found, reference_log_prob(member, one_by_one(values)), rtol=1e-9, atol=1e-9)


@over(REFERENCED)
def test_equals_scipy_on_the_edges_and_outside(member):
    """SciPy has no answer (NaN) at infinity for some."""
    values = [*edges_of(member), *([] if member.event_shape else outside_of(member))]
    expected = reference_log_prob(member, values)
    known = ~np.isnan(expected)
    found = np.array([member.log_prob(value) for value in values])
    np.testing.assert_allclose(found[known], expected[known], rtol=1e-9, atol=1e-9)


@over([member for member in SCALAR if member not in REFERENCED])
def test_sums_to_one(member):
    assert expectation(member, lambda x: np.ones(np.shape(x))) == pytest.approx(1, abs=1e-8)


@over_members
def test_is_minus_infinity_outside(member):
    for value in outside_of(member):
        assert member.log_prob(value) == -np.inf, value
        assert member.prob(value) == 0


@over_members
def test_prob_is_its_exponential(member):
    values = draws(member, 20)
    np.testing.assert_array_equal(member.prob(values), np.exp(member.log_prob(values)))


@over_members
def test_rows_are_answered_alike_together_and_alone(member):
    values = draws(member, 6)
    together = member.log_prob(values)
    assert together.shape == (6,)
    alone = [member.log_prob(value) for value in one_by_one(values)]
    assert all(type(number) is float for number in alone)
    np.testing.assert_allclose(together, alone, rtol=1e-13, atol=1e-13)


@over_few
def test_outside_values_do_not_change_their_neighbours(member):
    """-inf stands beside the log-probabilities of the other rows."""
    values = draws(member, 4)
    expected = member.log_prob(values)
    for value in outside_of(member):
        if isinstance(value, tuple) or np.shape(value) != np.shape(rows_of(values, 0)):
            continue
        found = member.log_prob(np.concatenate([values, [value]]))
        np.testing.assert_array_equal(found, [*expected, -np.inf])


@over_members
def test_any_shape_of_values(member):
    if isinstance(member, Categorical):
        pytest.skip("labels with two axes are rows of counts")
    values = draws(member, 6)
    wanted = member.log_prob(values).reshape(1, 6)
    parts = values if isinstance(values, tuple) else (values,)
    shaped = tuple(part.reshape(1, 6, *part.shape[1:]) for part in parts)
    found = member.log_prob(shaped if isinstance(values, tuple) else shaped[0])
    np.testing.assert_allclose(found, wanted, rtol=1e-13, atol=1e-13)


@over_few
def test_long_arrays_equal_short_ones(member):
    """Several blocks, on several threads, give what one block gives."""
    few = draws(member, 1000)
    repeats = (MANY_BLOCKS + 1) * BLOCK // 1000 // numbers_each(few)  # blocks are so many numbers
    long = concatenate_draws(*[few] * repeats, rows_of(few, slice(7)))
    found, once = member.log_prob(long), np.asarray(member.log_prob(few))
    np.testing.assert_allclose(found, np.concatenate([*[once] * repeats, once[:7]]), rtol=1e-13, atol=1e-13)


@over_few
def test_lists_and_other_number_types_are_taken(member):
    values = draws(member, 5)
    if isinstance(values, tuple):
        assert np.array_equal(member.log_prob(tuple(part.tolist() for part in values)), member.log_prob(values))
        return
    expected = np.asarray(member.log_prob(values))
    np.testing.assert_array_equal(member.log_prob(values.tolist()), expected)
    np.testing.assert_array_equal(member.log_prob(values.astype(object)), expected)
    if member.support.is_discrete:
        for kind in (np.int8, np.uint16, np.int32, np.float32, np.float64):
            if (values.astype(kind) == values).all():
                np.testing.assert_allclose(member.log_prob(values.astype(kind)), expected, rtol=1e-13, atol=1e-13)


@over(SCALAR)
def test_booleans_are_zero_and_one(member):
    np.testing.assert_array_equal(member.log_prob([False, True]), member.log_prob([0.0, 1.0]))
    assert member.log_prob(np.True_) == member.log_prob(1)


@over_few
def test_missing_values_are_refused(member):
    values = draws(member, 3)
    parts = values if isinstance(values, tuple) else (values,)
    holes = tuple(np.array(part, dtype=float) for part in parts)
    holes[0][(1,) + (0,) * (holes[0].ndim - 1)] = np.nan
    with pytest.raises(InvalidData, match=r"missing|NaN") as caught:
        member.log_prob(holes if isinstance(values, tuple) else holes[0])
    assert_is_a_sentence(caught.value)


@over_few
def test_what_is_no_number_is_refused(member):
    ragged = [[1.0], [1.0, 2.0], [1.0]]
    for nonsense in (["a", "b"], ragged, None, {"x": 1}, [None, None]):
        with pytest.raises(JunctureError) as caught:
            member.log_prob(nonsense)
        assert_is_a_sentence(caught.value)


@over([member for member in MEMBERS if member.event_shape and not isinstance(member.sample(rng=0), tuple)])
def test_wrong_shapes_are_refused(member):
    wrong = np.zeros((3, *(length + 1 for length in member.event_shape)))
    for values in (wrong, wrong[0], 0.5):
        with pytest.raises(InvalidData, match="shape") as caught:
            member.log_prob(values)
        assert_is_a_sentence(caught.value)
