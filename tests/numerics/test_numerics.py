"""Logarithms, exponentials and checked tables at their edges."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from juncture.errors import InvalidModel
from juncture.numerics import stable

FINITE = st.floats(-50, 50)
inf = np.inf


def test_log_of_zero_is_an_ordinary_answer():
    assert stable.log([0.0, 1.0]).tolist() == [-inf, 0.0]
    with pytest.raises(FloatingPointError):
        stable.log(-1.0)  # but not of a negative number


@given(arrays(float, (3, 4), elements=FINITE), st.sampled_from([None, 0, 1, (0, 1)]))
def test_log_sum_exp_is_what_it_says(values, axis):
    assert stable.log_sum_exp(values, axis) == pytest.approx(np.log(np.exp(values).sum(axis=axis)))


@pytest.mark.parametrize(
    ("values", "total"),
    [
        ([1000.0, 1000.0], 1000 + np.log(2)),
        ([-1000.0, -1000.0], -1000 + np.log(2)),
        ([-inf, -inf], -inf),
        ([-inf, 3.0], 3.0),
        ([], -inf),
    ],
)
def test_log_sum_exp_at_the_edges(values, total):
    assert stable.log_sum_exp(np.array(values), axis=0) == pytest.approx(total)


def test_log_sum_exp_over_nothing_keeps_the_other_axis():
    assert stable.log_sum_exp(np.empty((2, 0)), axis=1).tolist() == [-inf, -inf]


@given(st.floats(-1000, 1000))
def test_sigmoid(x):
    """S1-047: σ(0) = ½, σ(-a) = 1 - σ(a), nothing overflows."""
    value = float(stable.sigmoid(np.array(x)))
    assert value + float(stable.sigmoid(np.array(-x))) == pytest.approx(1, abs=1e-15)
    if abs(x) < 30:
        assert value == pytest.approx(1 / (1 + np.exp(-x)), rel=1e-14)
    assert stable.sigmoid(np.array([0.0, 1000.0, -1000.0])).tolist() == [0.5, 1.0, 0.0]


@given(arrays(float, (2, 3), elements=FINITE), st.floats(-1e6, 1e6))
def test_softmax_sums_to_one_and_ignores_a_shift(x, shift):
    values = stable.softmax(x)
    assert values.sum(axis=-1) == pytest.approx(1)
    assert stable.softmax(x + shift) == pytest.approx(values, abs=1e-9)


def test_tables_are_private_and_read_only():
    source = np.array([0.25, 0.75])
    table = stable.as_probabilities(source, (2,), name="t")
    source[0] = 9
    assert table.tolist() == [0.25, 0.75]
    assert not table.flags.writeable
    assert np.signbit(stable.as_table([-0.0], (1,), name="t")).tolist() == [False]


@pytest.mark.parametrize("values", [[1, 0], [True, False], [Fraction(1), 0], (1.0, 0), np.array([1, 0], np.int8)])
def test_all_that_is_a_number_will_do(values):
    assert stable.as_probabilities(values, (2,), name="t").tolist() == [1.0, 0.0]


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ([[0.9, 0.1], [0.5, 0.4], [0.1, 0.1]], "sums to 0.9 at [1]"),
        ([[0.9, 0.1], [1.5, -0.5], [2.0, -1.0]], "negative entry -0.5 at [1, 1]"),
        ([[0.9, 0.1], [0.5, np.nan], [0.5, 0.5]], "not a finite number at [1, 1]"),
        ([[0.9, 0.1], [0.5, inf], [0.5, 0.5]], "not a finite number at [1, 1]"),
        ([[0.9, 0.1]], "shape (3, 2)"),
        ([[0.9, 0.1], [0.5], [0.5, 0.5]], "shape (3, 2)"),
        ([["0.9", "0.1"]] * 3, "table of numbers"),
        ([[1j, 0]] * 3, "table of numbers"),
        ([[10**400, 0]] * 3, "table of numbers"),
        ([[None, 1]] * 3, "not a finite number at [0, 0]"),
        ([[{}, 1]] * 3, "table of numbers"),
        (None, "shape (3, 2)"),
        ("half", "table of numbers"),
    ],
)
def test_a_refused_table_is_named_with_place_and_rule(values, words):
    with pytest.raises(InvalidModel, match=r"^the table of x ") as caught:
        stable.as_probabilities(values, (3, 2), name="the table of x")
    assert words in str(caught.value)


def test_rows_may_miss_one_by_1e_9():
    for off in (0.9e-9, -0.9e-9):
        values = [0.5, 0.5 + off]
        assert stable.as_probabilities(values, (2,), name="t").tolist() == values
    with pytest.raises(InvalidModel, match="within 1e-9"):
        stable.as_probabilities([0.5, 0.5 + 1.2e-9], (2,), name="t")
