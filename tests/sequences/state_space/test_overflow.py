"""A state space that grows beyond the largest number is refused by every question, and never answered with inf."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import juncture as jt
from juncture.errors import InvalidModel


@settings(max_examples=30)
@given(
    st.floats(0.5, 200.0),  # log10 of the growth of a step
    st.floats(-100, 100),
    st.integers(1, 3),
    st.integers(1, 40),
    st.booleans(),
)
def test_a_forecast_is_finite_or_refused(growth, mean, size, ahead, has_data):
    transition = 10.0**growth * np.eye(size)
    model = jt.LinearGaussianStateSpace(
        transition,
        np.ones((1, size)),
        np.eye(size),
        1.0,
        initial_mean=np.full(size, mean),
        initial_covariance=np.eye(size),
    )
    known = [[1.0]] if has_data else np.empty((0, 1))
    beliefs = jt.infer(model, known)
    log_deviation = growth * (ahead - 1 + len(known))  # of the last state, up to a factor of some powers of ten
    if 2 * log_deviation > 310:
        with pytest.raises(InvalidModel, match="numbers grow beyond the largest one"):
            beliefs.forecast(ahead)
        return
    assume(2 * log_deviation < 300)
    forecast = beliefs.forecast(ahead)
    for numbers in (forecast.state_mean, forecast.state_covariance, forecast.observation_mean):
        assert np.isfinite(numbers).all()
    assert np.isfinite(forecast.observation_covariance).all()


def test_the_step_at_which_numbers_are_lost_is_named():
    model = jt.LinearGaussianStateSpace(1e100, 1.0, 1.0, 1.0, initial_mean=1.0, initial_covariance=1.0)
    beliefs = jt.infer(model, [[1.0]])
    assert np.isfinite(beliefs.forecast(1).state_covariance).all()
    with pytest.raises(InvalidModel, match="at step 2 numbers grow"):  # a variance of 1e400
        beliefs.forecast(2)
    with pytest.raises(InvalidModel, match="at step 2 numbers grow"):
        beliefs.forecast(8)
