"""What would not fit in memory is refused before it is made; rows that are none are refused with a sentence."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import juncture as jt
from juncture.data.discretization import MAX_BINS
from juncture.errors import InvalidData, JunctureError, TooLarge
from support.bounded import bounded

DATA = jt.Dataset({"x": ["a", "b", "c"], "y": [1.0, None, 3.0]}, weights=[1.0, 2.0, 3.0])


@pytest.mark.parametrize("count", [10**12, 10**30, np.int64(10**15), range(10**12), range(10**30), range(sys.maxsize)])
def test_a_variable_of_more_states_than_memory_holds_is_refused_before_they_are_made(count):
    with bounded(2, 50), pytest.raises(TooLarge, match=r"'x' would have .* states, which take .*; the memory limit is"):
        jt.Variable("x", count)


def test_the_limit_of_states_is_the_memory_limit(monkeypatch):
    monkeypatch.setattr("juncture.runtime.memory.default_memory_limit", lambda: 10**9)
    with bounded(2, 50), pytest.raises(TooLarge, match="10,000,000 states"):
        jt.Variable("x", 10**7)
    monkeypatch.setattr("juncture.runtime.memory.MANY_STATES", 100)
    assert jt.Variable("x", 1000).num_states == 1000
    monkeypatch.setattr("juncture.runtime.memory.default_memory_limit", lambda: 1000)
    with pytest.raises(TooLarge):
        jt.Variable("x", [str(place) for place in range(1000)])


def test_bins_are_as_many_as_states_may_be():
    for bins in (10**9, 10**30, MAX_BINS + 1):
        with bounded(2, 50), pytest.raises(InvalidData, match="at most 1,000,000"):
            jt.Discretizer(bins)
    values = {"x": [1.5, 2.0, 4.0]}
    assert len(jt.Discretizer(MAX_BINS, "frequency").fit(values).cuts["x"]) <= MAX_BINS
    assert len(jt.Discretizer(MAX_BINS // 50, "width").fit(values).cuts["x"]) == MAX_BINS // 50 - 1


@pytest.mark.slow
def test_as_many_bins_of_equal_width_as_states_may_be():
    assert len(jt.Discretizer(MAX_BINS, "width").fit({"x": [1.5, 2.0, 4.0]}).cuts["x"]) <= MAX_BINS


@pytest.mark.parametrize(
    "rows",
    [[0.0], 0.0, "x", ["x"], None, [None], {}, {"x": 1}, [[0, 1]], [0, 3], -4, [-4], [True], [True] * 4, object, 1j],
    ids=repr,
)
def test_rows_that_are_none_are_refused_with_a_sentence(rows):
    with pytest.raises(InvalidData, match="rows are selected by"):
        DATA.take(rows)


@pytest.mark.parametrize(
    ("rows", "kept"),
    [
        (slice(1, None), [1, 2]),
        (1, [1]),
        (np.int8(-1), [2]),
        ([], []),
        (np.array([]), []),
        ([2, 0, 2], [2, 0, 2]),
        ((0, 1), [0, 1]),
        ([True, False, True], [0, 2]),
        (np.array([False, False, False]), []),
        (range(2), [0, 1]),
    ],
    ids=repr,
)
def test_rows_are_chosen_by_slices_positions_and_masks(rows, kept):
    taken = DATA.take(rows)
    assert taken.to_dict()["x"] == [["a", "b", "c"][row] for row in kept]
    assert taken.weights.tolist() == [[1.0, 2.0, 3.0][row] for row in kept]


@pytest.mark.parametrize("size", [10**3, 10**6])
def test_messages_are_short_whatever_the_names_are(size):
    """Also where the value is long, and the sentence keeps its end, which says what to do."""
    name = "x" * size
    wrong = [
        lambda: jt.Variable(name, [name, name]),
        lambda: jt.Variable(name, [None]),
        lambda: jt.Variable(name, ["a"]).code(name),
        lambda: jt.results.Scope([jt.Variable(name, 2)]).axis("y"),
        lambda: DATA.variable(name),
        lambda: jt.Dataset({name: [name]}, [jt.Variable(name, ["y" * size])]),
        lambda: jt.Discretizer(strategy=name),
        lambda: DATA.take([name]),
        lambda: jt.results.FittedDiscretizer({name: [2.0] * size}),
    ]
    for refuse in wrong:
        with pytest.raises(JunctureError) as caught:
            refuse()
        assert 10 < len(str(caught.value)) <= 600
        assert len(repr(caught.value)) <= 700
