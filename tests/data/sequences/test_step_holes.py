"""Masked arrays, and None for a whole vector: what is hidden is missing, wherever sequences are read."""

from __future__ import annotations

import numpy as np
import pytest

import juncture as jt
from juncture.data.sequences import Sequence, as_sequences
from juncture.errors import InvalidData
from juncture.variables import Variable

LETTERS = Variable("symbol", ["a", "b"])
NUMBERS = np.ma.array([1.0, 50.0, 3.0], mask=[False, True, False])
ROWS = np.ma.array([[1.0, 50.0], [7.0, 7.0], [3.0, 4.0]], mask=[[0, 1], [1, 1], [0, 0]])
SEEN_ROWS = [[1.0, np.nan], [np.nan, np.nan], [3.0, 4.0]]


@pytest.mark.parametrize("change", [lambda x: x, list, Sequence, lambda x: x.astype(int), lambda x: x[:, None]])
def test_what_a_mask_hides_is_missing(change):
    for data in (change(NUMBERS), [change(NUMBERS)]):
        found = as_sequences(data).observations
        assert type(found) is np.ndarray
        np.testing.assert_array_equal(found, [1.0, np.nan, 3.0])


@pytest.mark.parametrize("change", [lambda x: x, list, Sequence])
def test_what_a_mask_hides_of_vectors_is_missing(change):
    for data in (change(ROWS), [change(ROWS), []]):
        np.testing.assert_array_equal(as_sequences(data, event_shape=(2,)).observations, SEEN_ROWS)


def test_a_mask_that_hides_nothing_changes_nothing():
    found = as_sequences(np.ma.array([1, 2]))
    assert found.observations.dtype == np.int64
    assert found.observations.tolist() == [1, 2]


def test_masked_labels():
    letters = np.ma.array(["a", "b", "a"], mask=[0, 1, 0])
    states = np.ma.array([0, 1, 1], mask=[0, 1, 0])
    found = as_sequences(Sequence(letters, states=states), symbol_code=LETTERS.code)
    np.testing.assert_array_equal(found.observations, [0, np.nan, 0])
    np.testing.assert_array_equal(found.states, [0, -1, 1])


def test_masked_covariates_are_missing_too_and_refused():
    with pytest.raises(InvalidData, match="covariates must be finite"):
        Sequence([1.0, 2.0, 3.0], covariates=NUMBERS)


@pytest.mark.parametrize(
    "data",
    [
        [[1.0, np.nan], None, [3.0, 4.0]],
        [(1.0, None), np.nan, (3.0, 4.0)],
        [np.array([1.0, np.nan]), None, np.array([3.0, 4.0])],
        [[1.0, None], np.ma.masked, [3.0, 4.0]],
    ],
)
def test_none_among_vectors_is_a_missing_step(data):
    for given, is_single in ((data, True), ([data, []], False), (Sequence(data), True)):
        found = as_sequences(given, event_shape=(2,))
        assert found.is_single == is_single
        np.testing.assert_array_equal(found.observations, SEEN_ROWS)


def test_none_first_or_alone():
    found = as_sequences([[None, [3.0, 4.0]], [None, None], [None]], event_shape=(2,))
    assert found.lengths.tolist() == [2, 2, 1]
    assert np.isnan(found.observations[[0, 2, 3, 4]]).all()
    assert as_sequences([None, None], event_shape=(2,)).observations.shape == (2, 2)
    np.testing.assert_array_equal(as_sequences([[1.0], None], event_shape=(1,)).observations, [[1.0], [np.nan]])
    with pytest.raises(InvalidData, match="different shapes"):
        as_sequences([[1.0, 2.0], 3.0], event_shape=(2,))


STATES = [0.5, 0.5], [[0.9, 0.1], [0.2, 0.8]]
PLANE = jt.LinearGaussianStateSpace(np.eye(2), np.eye(2), np.eye(2), np.eye(2), [0, 0], np.eye(2))


@pytest.mark.parametrize(
    "model",
    [PLANE, jt.HiddenMarkovModel(*STATES, jt.MultivariateGaussian([[0, 0], [1, 1]], [np.eye(2)] * 2))],
    ids=["Kalman", "Gaussian emissions"],
)
def test_models_take_both(model):
    expected = jt.log_prob(model, np.array(SEEN_ROWS))
    assert jt.log_prob(model, ROWS) == expected
    assert jt.log_prob(model, [[1.0, None], None, [3.0, 4.0]]) == expected
    online = jt.online_filter(model)
    for row in ROWS:
        online = online.step(row)
    assert online.log_evidence == pytest.approx(expected)


def test_given_log_likelihoods_and_symbols():
    given, table = jt.HiddenMarkovModel(*STATES, None), jt.HiddenMarkovModel(*STATES, [[0.7, 0.3], [0.1, 0.9]])
    assert jt.log_prob(given, [[-1.0, -2.0], None]) == jt.log_prob(given, [[-1.0, -2.0], [0.0, 0.0]])
    codes = np.ma.array([0, 1, 1], mask=[0, 1, 0])
    assert jt.log_prob(table, codes) == jt.log_prob(table, [0, None, 1])
    assert jt.online_filter(table).step(np.ma.masked).log_evidence == 0.0
