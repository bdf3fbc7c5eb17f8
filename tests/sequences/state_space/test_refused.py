"""What the Kalman filter refuses, and how its answers print."""

from __future__ import annotations

import numpy as np
import pytest

import juncture as jt
from juncture.data.sequences import Sequence
from juncture.errors import InvalidData
from juncture.sequences.state_space.model import LinearGaussianStateSpace
from juncture.verbs import online_filter
from support.state_space_examples import random_model

WALK = LinearGaussianStateSpace(1.0, 1.0, 0.5, 2.0, 0.0, 1.0)


def test_what_does_not_fit_the_model_is_refused():
    rng = np.random.default_rng(0)
    driven, varying = random_model(rng, 2, 2, inputs=1), random_model(rng, 2, 2, length=3)
    with pytest.raises(InvalidData, match="takes 1 input a step; got 0 covariates: give covariates="):
        jt.infer(driven, np.zeros((3, 2)))
    with pytest.raises(InvalidData, match="takes 1 input a step; got 0 covariates: give covariates="):
        jt.infer(driven, Sequence(np.zeros((1, 2)), covariates=[1.0])).forecast(2)
    with pytest.raises(InvalidData, match="takes 0 inputs a step; got 1"):
        jt.infer(WALK, Sequence([1.0], covariates=[1.0]))
    with pytest.raises(InvalidData, match="longer than the 3 steps"):
        jt.infer(varying, np.zeros((4, 2)))
    with pytest.raises(InvalidData, match="longer than the 3 steps"):
        jt.infer(varying, np.zeros((3, 2))).forecast(1)
    with pytest.raises(InvalidData, match="2 values"):
        jt.infer(driven, np.zeros((3, 3)))
    with pytest.raises(InvalidData, match="finite"):
        jt.infer(WALK, [1.0, np.inf])
    with pytest.raises(InvalidData, match="one row of covariates"):
        jt.infer(driven, Sequence(np.zeros((1, 2)), covariates=[1.0])).forecast(2, covariates=[1.0])
    with pytest.raises(InvalidData, match="one row of 1 numbers a step"):
        jt.infer(WALK, Sequence([1.0], states=["low"]))
    beliefs = jt.infer(WALK, [1.0])
    for wrong in (-1, 1.5, "two"):
        with pytest.raises(InvalidData, match="whole number"):
            beliefs.forecast(wrong)
        with pytest.raises(InvalidData, match="whole number"):
            beliefs.cross_covariance(wrong)
        with pytest.raises(InvalidData, match="whole number"):
            online_filter(WALK, lag=wrong)
    with pytest.raises(InvalidData, match="has 1 numbers"):
        online_filter(WALK).step([1.0, 2.0])
    with pytest.raises(InvalidData, match="takes 1 input a step; got 0 covariates: give covariates=…"):
        online_filter(driven).step([1.0, 2.0])
    with pytest.raises(InvalidData, match="a row of covariates is of finite numbers"):
        online_filter(driven).step([1.0, 2.0], covariates=[np.nan])
    online = online_filter(varying).step([1, 2]).step([1, 2]).step(None)
    with pytest.raises(InvalidData, match="longer than the 3 steps"):
        online.step([1, 2])
    with pytest.raises(InvalidData, match="longer than the 3 steps"):
        _ = online.predicted_mean


def test_beliefs_say_how_they_were_obtained():
    beliefs = jt.infer(WALK, [1.0, None, 2.0])
    assert (beliefs.exact, beliefs.converged, beliefs.method) == (True, True, "kalman")
    assert repr(beliefs) == "StateSpaceBeliefs(3 steps of 1 state; log_evidence=-3.58228; exact, by kalman)"
    assert repr(beliefs.forecast(2)) == "StateSpaceForecast(2 steps of 1 observation)"
    assert repr(online_filter(WALK).step(1.0)) == "KalmanFilter(1 step, lag=0; log_evidence=-1.63491)"
