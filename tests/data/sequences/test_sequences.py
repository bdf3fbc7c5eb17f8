"""Sequences from whatever users have: lists, arrays, frames, `Sequence`; and the sentences that refuse the rest."""

from __future__ import annotations

import copy
import pickle
from array import array
from collections import deque
from dataclasses import FrozenInstanceError

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from juncture.data.sequences import Sequence, Sequences, as_sequences
from juncture.errors import InvalidData, UnknownState
from juncture.variables import Variable

WEATHER = Variable("state", ["dry", "wet"])


def as_lists(sequences: Sequences) -> list[list[float]]:
    return [part.observations.tolist() for part in sequences]


@pytest.mark.parametrize(
    ("data", "event_shape", "expected", "is_single"),
    [
        ([1.0, 2.0, 3.0], (), [[1, 2, 3]], True),
        (np.array([1, 2, 3]), (), [[1, 2, 3]], True),
        (np.array([[1], [2]]), (), [[1, 2]], True),
        ([True, False], (), [[1, 0]], True),
        ([[1, 2], [3]], (), [[1, 2], [3]], False),
        (([1, 2], np.array([3.0])), (), [[1, 2], [3]], False),
        ([np.array([[1], [2]]), [5]], (), [[1, 2], [5]], False),
        ([[], [4.0], []], (), [[], [4], []], False),
        ([], (), [[]], True),
        ([[], []], (), [[], []], False),
        ([Sequence([1, 2]), [3]], (), [[1, 2], [3]], False),
        (Sequence([1, 2]), (), [[1, 2]], True),
        ([[1, 2], [3, 4]], (2,), [[[1, 2], [3, 4]]], True),
        ([[[1, 2], [3, 4]], []], (2,), [[[1, 2], [3, 4]], []], False),
        ([[], []], (2,), [[], []], False),
        ([Sequence([]), Sequence([])], (2,), [[], []], False),
        ([Sequence([[1]]), Sequence([[2]])], (1,), [[[1]], [[2]]], False),
        ([np.array([[1, 2]]), np.zeros((0, 2))], (2,), [[[1, 2]], []], False),
        ([1, 2], (1,), [[[1], [2]]], True),
        ([[1], [2]], (1,), [[[1], [2]]], True),
        ([[1, 2], [3]], (1,), [[[1], [2]], [[3]]], False),
        (pd.Series([1, 2]), (), [[1, 2]], True),
        (pl.Series([1, 2]), (), [[1, 2]], True),
        ([pd.Series([1, 2]), pl.Series([3])], (), [[1, 2], [3]], False),
        (pd.DataFrame({"a": [1, 2], "b": [3, 4]}), (2,), [[[1, 3], [2, 4]]], True),
        (pl.DataFrame({"a": [1, 2], "b": [3, 4]}), (2,), [[[1, 3], [2, 4]]], True),
        (pd.DataFrame({"a": [1, 2]}), (), [[1, 2]], True),
    ],
)
def test_what_is_one_sequence_and_what_are_many(data, event_shape, expected, is_single):
    found = as_sequences(data, event_shape=event_shape)
    assert as_lists(found) == expected
    assert found.is_single == is_single
    assert found.offsets.dtype == np.int64
    assert found.observations.flags.c_contiguous
    assert found.observations.shape == (found.num_steps, *event_shape)


@pytest.mark.parametrize(
    "data",
    [
        [1.0, None, 3.0],
        [1, np.nan, 3],
        np.array([1.0, np.nan, 3.0]),
        np.array([1, None, 3], dtype=object),
        pd.Series([1, None, 3], dtype="Int64"),
        pd.Series([1, pd.NA, 3], dtype=object),
        pl.Series([1, None, 3]),
        Sequence([1, None, 3]),
        [1, pd.NA, 3],
    ],
)
def test_every_kind_of_hole_is_nan(data):
    observations = as_sequences(data).observations
    assert observations.dtype == np.float64
    np.testing.assert_array_equal(observations, [1, np.nan, 3])


def test_whole_numbers_stay_whole_and_holes_make_floats():
    assert as_sequences([1, 2]).observations.dtype == np.int64
    assert as_sequences([[1, 2], [None]]).observations.dtype == np.float64


def test_labels_of_symbols_and_states_become_codes():
    found = as_sequences(
        [Sequence(["wet", None, "dry"], states=["wet", None, -1]), ["dry"]],
        state_code=WEATHER.code,
        symbol_code=WEATHER.code,
    )
    np.testing.assert_array_equal(found.observations, [1, np.nan, 0, 0])
    np.testing.assert_array_equal(found.states, [1, -1, -1, -1])


def test_numbers_and_truths_are_labels_too():
    dice = Variable("symbol", [1, 2, 6])
    np.testing.assert_array_equal(as_sequences([6, 1, 2.0], symbol_code=dice.code).observations, [2, 0, 1])
    truth = Variable("symbol", [True, False])
    found = as_sequences(Sequence([False, True]), symbol_code=truth.code)
    np.testing.assert_array_equal(found.observations, [1, 0])
    minus = Variable("state", [-1, 1])
    labelled = as_sequences(Sequence([0, 0, 0], states=[-1, 1, None]), state_code=minus.code)
    np.testing.assert_array_equal(labelled.states, [0, 1, -1])


def test_without_names_states_are_numbers():
    found = as_sequences(Sequence([5, 6, 7], states=[0, np.nan, 2]))
    np.testing.assert_array_equal(found.states, [0, -1, 2])


@given(st.lists(st.integers(0, 5), max_size=8))
def test_lengths_cut_a_stack_as_a_list_would_be(lengths):
    stack = np.arange(sum(lengths), dtype=float)
    many = as_sequences(stack, lengths)
    parts = np.split(stack, np.cumsum(lengths)[:-1]) if lengths else []
    assert as_lists(many) == [part.tolist() for part in parts]
    assert not many.is_single
    np.testing.assert_array_equal(many.lengths, lengths)


def test_parts_are_sequences_with_all_they_have():
    many = as_sequences(
        [
            Sequence([1, 2], states=[0, 1], covariates=[[1.0], [2.0]], weight=2.0),
            Sequence([3], covariates=[[3.0]]),
            Sequence([4, 5, 6], covariates=[4, 5, 6]),
        ]
    )
    last = many.take(slice(1, 3))
    assert (last.num, last.num_steps) == (2, 4)
    np.testing.assert_array_equal(last.offsets, [0, 1, 4])
    np.testing.assert_array_equal(last.states, [-1, -1, -1, -1])
    np.testing.assert_array_equal(last.covariates[:, 0], [3, 4, 5, 6])
    np.testing.assert_array_equal(many.weights, [2, 1, 1])
    assert many.take(slice(2, 1)).num == 0
    assert many.describe_step(3) == "step 0 of sequence 2"
    assert as_sequences(many) is many


def test_a_sequence_is_a_frozen_value():
    one = Sequence([1.5, None, 2.0], states=["a", None, "b"], covariates=[[1], [2], [3]], weight=0.5)
    for other in (pickle.loads(pickle.dumps(one)), copy.deepcopy(one)):  # noqa: S301
        assert other == one
    assert one != Sequence([1.5, None, 2.0], states=["a", None, "b"], covariates=[[1], [2], [3]])
    with pytest.raises(FrozenInstanceError):
        one.weight = 2.0
    with pytest.raises(ValueError, match="read-only"):
        one.observations[0] = 3.0
    assert repr(one) == "Sequence(3 steps, states of 2 known, 1 covariate, weight=0.5)"
    assert repr(as_sequences([[1], [2, 3]])) == "Sequences(2 of 3 steps)"
    assert repr(Sequence([[1, 2]], states=["a"])) == "Sequence(1 step of 2 values, states known)"


@pytest.mark.parametrize("steps", [range(4), (0, 1, 2, 3), deque([0, 1, 2, 3]), array("d", [0, 1, 2, 3])])
def test_a_range_and_its_like_is_a_sequence(steps):
    found = as_sequences(steps)
    assert found.is_single
    assert found.observations.tolist() == Sequence(steps).observations.tolist() == [0, 1, 2, 3]
    assert as_sequences([steps, range(2)]).lengths.tolist() == [4, 2]


@pytest.mark.parametrize("wrong", [{0, 1}, {"a": 1}, b"01", iter([0, 1])])
def test_what_has_no_order_or_can_be_read_but_once_is_no_sequence(wrong):
    with pytest.raises(InvalidData, match="a sequence must be a list, an array or a frame"):
        as_sequences(wrong)


def test_labels_keep_their_kind():
    assert Sequence([1, 2], states=["a", "bc"]).states.dtype == np.dtype("<U2")
    assert Sequence([1, 2], states=np.array(["a", "bc"], dtype="<U9")).states.dtype == np.dtype("<U2")
    assert Sequence([1, 2], states=np.array(["a", "bc"], dtype=object)).states.dtype == np.dtype("<U2")
    assert Sequence([1, 2], states=["a", None]).states.tolist() == ["a", None]
    assert Sequence(["a", "b"]).observations.dtype == np.dtype("<U1")
    assert Sequence([1, 2], states=[True, False]).states.dtype == bool


@pytest.mark.parametrize(
    ("build", "sentence"),
    [
        (
            lambda: as_sequences(np.ones((3, 2))),
            "one observation is one number; got an array of the shape (3, 2); "
            "for many sequences, one per row, write list(array)",
        ),
        (
            lambda: as_sequences(np.ones((2, 3)), event_shape=(2,)),
            "one observation has 2 values; got an array of the shape (2, 3)",
        ),
        (
            lambda: as_sequences([np.ones((1, 2)), np.ones((1, 3))], event_shape=(2,)),
            "one observation of sequence 1 has 2 values; got an array of the shape (1, 3)",
        ),
        (lambda: as_sequences([1, np.inf]), "step 1 holds inf; observations must be finite or missing"),
        (
            lambda: as_sequences([[1, 2], [3, -np.inf]]),
            "step 1 of sequence 1 holds -inf; observations must be finite or missing",
        ),
        (lambda: as_sequences([1, "x"]), "step 1 holds 'x'; an observation must be a number or missing"),
        (
            lambda: as_sequences([1, [2]]),
            "a list of sequences holds sequences only; its entry 0 is 1: write [1]",
        ),
        (
            lambda: as_sequences([[1, 2], [3]], event_shape=(2,)),
            "the steps have different shapes; all have the same number of values",
        ),
        (lambda: as_sequences([1, 2, 3], [1, 1]), "the lengths add up to 2, but there are 3 steps"),
        (
            lambda: as_sequences([1, 2], [1.5, 0.5]),
            "lengths must be whole numbers of at least 0, one per sequence; got [1.5, 0.5]",
        ),
        (
            lambda: as_sequences([[1], [2]], [1, 1]),
            "`lengths` cuts one stacked array into sequences; a list of sequences has its own lengths",
        ),
        (lambda: as_sequences(5), "a sequence must be a list, an array or a frame with one entry per step; got 5"),
        (lambda: Sequence([1, 2], states=[0]), "a sequence of 2 steps has as many states; got 1"),
        (lambda: Sequence([1, 2], covariates=[0]), "a sequence of 2 steps has as many covariates; got 1"),
        (lambda: Sequence([1], weight=-1), "the weight of a sequence must be finite and at least 0; got -1"),
        (
            lambda: as_sequences([Sequence([1], covariates=[1]), [2]]),
            "all sequences have the same number of covariates, or none has any",
        ),
    ],
)
def test_what_is_refused_and_how(build, sentence):
    with pytest.raises(InvalidData) as error:
        build()
    assert str(error.value) == sentence


def test_an_unknown_label_is_refused_with_its_place():
    with pytest.raises(UnknownState) as error:
        as_sequences([["dry"], ["dry", "wett"]], symbol_code=WEATHER.code)
    assert str(error.value) == "step 1 of sequence 1: variable 'state' has no state 'wett'; did you mean 'wet'?"
    with pytest.raises(UnknownState, match=r"^step 1: variable 'state' has no state 2;"):
        as_sequences(Sequence([1, 2], states=["wet", 2]), state_code=WEATHER.code)
