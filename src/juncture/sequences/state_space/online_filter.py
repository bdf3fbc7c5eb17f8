"""`online_filter` of state-space models: the Kalman filter, one observation at a time."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from juncture.base.checks import check_count
from juncture.base.shown import Shown
from juncture.base.values import number_of
from juncture.data.tables.foreign import unwrap_frame
from juncture.errors import InvalidData
from juncture.sequences.state_space.kalman import (
    Filtered,
    PackedSteps,
    Smoothed,
    check_filtered,
    pack_model,
    run_filter,
    run_smoother,
)
from juncture.sequences.state_space.model import LinearGaussianStateSpace
from juncture.sequences.state_space.parts import additions


@dataclass(frozen=True, eq=False, repr=False)
class KalmanFilter(Shown):
    """An online Kalman filter: `step` gives the filter after one more observation.

    Attributes
    ----------
    model
        The state-space model.
    lag
        How many steps the smoothed distribution (`lagged_mean`, `lagged_covariance`) stays behind.
    num_steps
        The number of observations so far.
    log_evidence
        The log-density of the observations so far.
    next_mean, next_factor
        The mean of the next state, and a matrix F such that F Fᵀ is its covariance.
    window
        The filtered distributions of the last lag + 1 steps.
    """

    model: LinearGaussianStateSpace
    lag: int
    num_steps: int
    log_evidence: float
    next_mean: np.ndarray  # (state,)
    next_factor: np.ndarray  # (state, state)
    window: Filtered  # the last steps: one, and as many as the lag before it

    def step(self, observation: Any, covariates: Any = None) -> KalmanFilter:
        """The filter after one more observation; None or NaN is missing, `covariates` are the step's inputs."""
        time, model = self.num_steps, self.model
        model.check_length(time + 1, f"a sequence of {time + 1} steps")
        values = as_row(observation, model.observation_dimension, what="an observation", may_miss=True)
        if covariates is None:
            model.check_inputs(None, 1)
        inputs = as_row(covariates, model.num_inputs, what="a row of covariates", may_miss=False)
        shifts, levels = additions(model, np.array([time]), inputs[None])
        ahead = 1 if model.max_length == time + 1 else 2  # the state to come is one that nothing is observed of
        rows = np.vstack([values - levels, np.full_like(levels, np.nan)])[:ahead]
        steps = PackedSteps(np.array([0, ahead]), rows, np.repeat(shifts, ahead, axis=0))
        found = run_filter(pack_model(model).starting(time, self.next_mean, self.next_factor), steps)
        check_filtered(found, lambda step: f"step {time + step}")
        return replace(
            self,
            num_steps=time + 1,
            log_evidence=self.log_evidence + float(found.log_densities[0]),
            next_mean=found.predicted_mean[-1],
            next_factor=found.predicted_factor[-1],
            window=concatenate_filtered(self.window, found.of(slice(0, 1)), self.lag + 1),
        )

    # -- distributions

    @property
    def filtered_mean(self) -> np.ndarray:
        """The filtered mean of the last state, (state,); before the first observation, the initial mean."""
        return np.asarray(self.window.filtered_mean[-1] if self.num_steps else self.next_mean)

    @property
    def filtered_covariance(self) -> np.ndarray:
        return covariance_of(self.window.filtered_factor[-1] if self.num_steps else self.next_factor)

    @property
    def predicted_mean(self) -> np.ndarray:
        """The predicted mean of the next state, (state,)."""
        self.model.check_length(self.num_steps + 1, "a prediction")
        return self.next_mean

    @property
    def predicted_covariance(self) -> np.ndarray:
        self.model.check_length(self.num_steps + 1, "a prediction")
        return covariance_of(self.next_factor)

    @property
    def lagged_mean(self) -> np.ndarray:
        """The mean of the state `lag` steps before the last (or of the first state) given all observations so far."""
        return np.asarray(self._smoothed_window().smoothed_mean[0] if self.num_steps else self.next_mean)

    @property
    def lagged_covariance(self) -> np.ndarray:
        return covariance_of(self._smoothed_window().smoothed_factor[0] if self.num_steps else self.next_factor)

    def _smoothed_window(self) -> Smoothed:
        length = len(self.window.log_densities)
        parts = pack_model(self.model).starting(self.num_steps - length, self.next_mean, self.next_factor)
        return run_smoother(parts, np.array([0, length]), self.window)

    def __repr__(self) -> str:
        steps = number_of(self.num_steps, "step")
        return f"KalmanFilter({steps}, lag={self.lag}; log_evidence={self.log_evidence:.6g})"


def start_kalman_filter(model: LinearGaussianStateSpace, *, lag: int = 0) -> KalmanFilter:
    """The filter before its first observation."""
    lag = check_count(lag, "the lag")
    parts = pack_model(model)
    window = Filtered.empty(0, model.state_dimension, 0)
    return KalmanFilter(model, int(lag), 0, 0.0, parts.initial_mean.copy(), parts.initial_factor.copy(), window)


def concatenate_filtered(window: Filtered, added: Filtered, length: int) -> Filtered:
    """The last steps of two, as many as `length`."""
    pairs = ((getattr(window, field.name), getattr(added, field.name)) for field in fields(Filtered))
    return Filtered(*(np.concatenate(pair)[-length:] for pair in pairs))


def covariance_of(factor: np.ndarray) -> np.ndarray:
    return factor @ factor.T


def as_row(given: Any, size: int, *, what: str, may_miss: bool) -> np.ndarray:
    """The numbers of one step; None stands for all missing, or for none where there are to be none."""
    try:
        row = np.full(size, np.nan) if given is None else np.asarray(unwrap_frame(given), dtype=np.float64).reshape(-1)
    except (TypeError, ValueError) as error:
        raise InvalidData(f"{what} is {size} numbers; got {given!r}") from error
    if len(row) != size:
        raise InvalidData(f"{what} has {size} numbers; got {len(row)}")
    if np.isinf(row).any() or (np.isnan(row).any() and not may_miss):
        raise InvalidData(
            f"{what} is of finite numbers{', or NaN where they are missing' if may_miss else ''}; got {row}"
        )
    return row
