"""`StateSpaceForecast`: the distributions of future states and observations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from juncture.base.checks import central_levels
from juncture.base.values import number_of
from juncture.data.sequences import as_inputs
from juncture.drawing.courses import Course, Panel
from juncture.errors import InvalidData
from juncture.families.vectors.multivariate_gaussian import MultivariateGaussian
from juncture.inference.engines.display import intervals_html
from juncture.sequences.state_space.kalman import (
    Filtered,
    PackedSteps,
    check_filtered,
    pack_model,
    raise_overflow,
    run_filter,
)
from juncture.sequences.state_space.model import LinearGaussianStateSpace
from juncture.sequences.state_space.parts import additions, each_step

PROBABILITY = 0.95  # of the bands in pictures
KEY = "mean", "95 % of the probability", ""  # of line, band and points


@dataclass(frozen=True, eq=False)
class StateSpaceForecast:
    """Gaussian distributions of states and observations, one a step, each given all observations before them.

    Attributes
    ----------
    state_mean
        (step, state).
    state_covariance
        (step, state, state).
    observation_mean
        (step, value).
    observation_covariance
        (step, value, value).
    first_step
        The number of the first step; those of a forecast go on from the sequence, whose first step is 0.
    """

    state_mean: np.ndarray  # (step, state)
    state_covariance: np.ndarray  # (step, state, state)
    observation_mean: np.ndarray  # (step, value)
    observation_covariance: np.ndarray  # (step, value, value)
    first_step: int = 0

    @property
    def states(self) -> MultivariateGaussian:
        """The distributions of the states: a batch of Gaussians, one a step."""
        return MultivariateGaussian(self.state_mean, self.state_covariance)

    @property
    def observations(self) -> MultivariateGaussian:
        """The distributions of the observations: a batch of Gaussians, one a step."""
        return MultivariateGaussian(self.observation_mean, self.observation_covariance)

    def interval(self, confidence: float = 0.9) -> tuple[np.ndarray, np.ndarray]:
        """The lower and upper end (step, value) of the central interval that holds each value with this probability."""
        return central(self.observation_mean, self.observation_covariance, confidence)

    def state_interval(self, confidence: float = 0.9) -> tuple[np.ndarray, np.ndarray]:
        """The lower and upper end (step, state) of the central interval that holds each state with this probability."""
        return central(self.state_mean, self.state_covariance, confidence)

    @property
    def steps(self) -> range:
        """The numbers of the steps, which go on from those of the sequence."""
        return range(self.first_step, self.first_step + len(self))

    def __len__(self) -> int:
        return len(self.state_mean)

    def to_diagram(self) -> Course:
        """The mean of each observation to come with a band of 95 %; the steps go on from those of the sequence."""
        low, high = self.interval(PROBABILITY)
        panels = (
            Panel(name_part("observation", position, low.shape[1]), mean, *ends)
            for position, (mean, *ends) in enumerate(zip(self.observation_mean.T, low.T, high.T, strict=True))
        )
        return Course(tuple(panels), self.steps, KEY)

    def _repr_html_(self) -> str:
        deviations = np.sqrt(np.diagonal(self.observation_covariance, axis1=-2, axis2=-1))
        return intervals_html(repr(self), self.observation_mean, deviations, self.to_diagram(), index=self.steps)

    def __repr__(self) -> str:
        size = number_of(self.observation_mean.shape[1], "observation")
        return f"StateSpaceForecast({number_of(len(self), 'step')} of {size})"


def name_part(what: str, position: int, num: int) -> str:
    """What a panel shows: one of several coordinates of the state or the observation, or the only one."""
    return what if num == 1 else f"{what} {position}"


def central(mean: np.ndarray, covariance: np.ndarray, confidence: float) -> tuple[np.ndarray, np.ndarray]:
    from scipy.special import ndtri

    half = ndtri(central_levels(confidence)[1]) * np.sqrt(np.diagonal(covariance, axis1=-2, axis2=-1))
    return mean - half, mean + half


def with_observations(
    model: LinearGaussianStateSpace,
    times: np.ndarray,
    inputs: np.ndarray | None,
    distributions: tuple[np.ndarray, np.ndarray],  # mean and covariance of the state at each of the times
) -> StateSpaceForecast:
    """States of these distributions together with what is observed of them."""
    mean, covariance = distributions
    look = each_step(model.observation, 2, times)
    _, levels = additions(model, times, inputs)
    with np.errstate(over="ignore", invalid="ignore"):  # looked at below
        seen_covariance = look @ covariance @ np.swapaxes(look, -2, -1) + each_step(model.observation_noise, 2, times)
        seen = np.einsum("tos,ts->to", look, mean) + levels
    for numbers in (mean, covariance, seen, seen_covariance):
        check_finite(numbers, times)
    return StateSpaceForecast(mean, covariance, seen, seen_covariance, int(times[0]) if len(times) else 0)


def check_finite(numbers: np.ndarray, times: np.ndarray) -> None:
    """Raise where the distribution of a step has outgrown the numbers."""
    is_lost = ~np.isfinite(numbers).all(axis=tuple(range(1, numbers.ndim)))
    if is_lost.any():
        raise_overflow(f"step {times[int(np.argmax(is_lost))]}")


def predict_states(
    model: LinearGaussianStateSpace, time: int, distribution: tuple[np.ndarray, np.ndarray], num_steps: int, inputs: Any
) -> Filtered:
    """The distributions of steps without observations; the first state, at `time`, has this mean and factor."""
    times = np.arange(time, time + num_steps)
    shifts, levels = additions(model, times, inputs)
    steps = PackedSteps(np.array([0, num_steps]), np.full_like(levels, np.nan), shifts)
    found = run_filter(pack_model(model).starting(time, *distribution), steps)
    check_filtered(found, lambda step: f"step {time + step}")
    return found


def as_future_inputs(model: LinearGaussianStateSpace, covariates: Any, num_steps: int) -> np.ndarray | None:
    """The inputs of steps to come, checked."""
    inputs = None if covariates is None else as_inputs(covariates)
    model.check_inputs(inputs, num_steps)
    if inputs is not None and len(inputs) != num_steps:
        raise InvalidData(f"there is one row of covariates a step: {num_steps}; got {len(inputs)}")
    return inputs
