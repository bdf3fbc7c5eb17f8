"""Frames of beliefs about sequences keep the index of the frame of observations, such as its dates."""

from __future__ import annotations

import copy

import numpy as np
import pytest

import juncture as jt

pd = pytest.importorskip("pandas")

HMM = jt.HiddenMarkovModel([0.5, 0.5], [[0.9, 0.1], [0.2, 0.8]], [[0.7, 0.3], [0.1, 0.9]], states=["dry", "wet"])
CHAIN = jt.MarkovChain([[0.9, 0.1], [0.2, 0.8]], [0.5, 0.5])
SPACE = jt.LinearGaussianStateSpace(1.0, 1.0, 0.1, 1.0, 0.0, 1.0)
MODELS = {"hidden": HMM, "chain": CHAIN, "space": SPACE}
DATES = pd.date_range("2024-02-27", periods=4, name="day")
SERIES = pd.Series([0, 1, 1, 0], index=DATES)


@pytest.mark.parametrize("kind", MODELS)
def test_the_dates_of_a_series_or_a_frame_or_a_sequence_of_one(kind):
    model = MODELS[kind]
    for given in (SERIES, SERIES.to_frame(), jt.Sequence(SERIES)):
        found = jt.infer(model, given).to_frame()
        assert found.index.equals(DATES)
        assert found.index.name == "day"
        assert np.array_equal(found.to_numpy(), jt.infer(model, SERIES.to_numpy()).to_frame().to_numpy())
    assert jt.infer(model, [0, 1]).to_frame().index.equals(pd.RangeIndex(2, name="step"))


@pytest.mark.parametrize("kind", MODELS)
def test_each_of_many_sequences_has_its_own(kind):
    model = MODELS[kind]
    first, second, third = jt.infer(model, [SERIES[:3], [1, 0], SERIES[3:]])
    assert first.to_frame().index.equals(DATES[:3])
    assert second.to_frame().index.equals(pd.RangeIndex(2))
    assert third.to_frame().index.equals(DATES[3:])
    parts = jt.infer(model, SERIES, lengths=[1, 0, 3])
    assert [len(part.to_frame()) for part in parts] == [1, 0, 3]
    assert parts[2].to_frame().index.equals(DATES[1:])


def test_labelled_states_keep_it_too_and_it_is_not_compared():
    space = jt.Sequence(SERIES.astype(float), states=[[0.0], [np.nan], [1.0], [np.nan]])
    assert jt.infer(SPACE, space).to_frame().index.equals(DATES)
    one = jt.Sequence(SERIES, states=["dry", None, None, "wet"])
    assert jt.infer(HMM, one).to_frame().index.equals(DATES)
    copied = copy.deepcopy(one)
    assert copied == one == jt.Sequence(SERIES.to_numpy(), states=["dry", None, None, "wet"])
    assert copied.index.equals(DATES)
