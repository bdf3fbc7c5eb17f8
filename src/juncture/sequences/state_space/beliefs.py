"""`StateSpaceBeliefs`: what is known of the states of one sequence.

The picture has means with bands, and what was observed.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from juncture.base.checks import check_count
from juncture.base.options import as_generator, as_sizes
from juncture.base.values import number_of
from juncture.data.sequences import Sequences
from juncture.drawing.courses import Course, Panel
from juncture.factors.scope_tables import import_pandas
from juncture.families.vectors.multivariate_gaussian import MultivariateGaussian
from juncture.inference.engines.contract import EXACT, Diagnostics, OneVariable
from juncture.inference.engines.display import intervals_html
from juncture.kernels.state_space import covariances, draw_backward
from juncture.runtime.memory import check_table_fits
from juncture.sequences.state_space.forecast import (
    PROBABILITY,
    StateSpaceForecast,
    as_future_inputs,
    central,
    name_part,
    predict_states,
    with_observations,
)
from juncture.sequences.state_space.kalman import Filtered, Smoothed, pack_model
from juncture.sequences.state_space.model import LinearGaussianStateSpace

if TYPE_CHECKING:
    import pandas as pd

PASSES = ("predicted", "filtered", "smoothed")
KEY = "mean", "95 % of the probability", "observed"
MAX_PANELS = 12


@dataclass(frozen=True, eq=False, repr=False)
class StateSpaceBeliefs(OneVariable):
    """The Gaussian of each state of one sequence: predicted from the observations before it, filtered, and smoothed.

    Covariances are symmetric and positive semidefinite.

    Attributes
    ----------
    model
        The state-space model.
    sequence
        The checked sequence.
    forward
        The results of the Kalman filter, with factors of the covariances.
    backward
        The results of the Rauch-Tung-Striebel smoother, with factors of the covariances.
    method
        The name of the algorithm.
    diagnostics
        Whether the answers are exact, and further facts about the run.
    """

    variable = "state"
    model: LinearGaussianStateSpace
    sequence: Sequences  # one
    forward: Filtered
    backward: Smoothed

    method: str = "kalman"
    diagnostics: Diagnostics = EXACT

    @property
    def key(self) -> Any:
        """The key of a sequence in the rows of a table; None of other sequences."""
        return None if self.sequence.keys is None else self.sequence.keys[0]

    @property
    def impossible(self) -> tuple[int, ...]:
        """No sequence has density zero under Gaussian noise: always ()."""
        return ()

    def __getattr__(self, name: str) -> NoReturn:
        """Only for names that are not there: those of a hidden Markov model's tables have two parts here."""
        two = f": a Gaussian has two parts, .{name}_mean and .{name}_covariance" if name in PASSES else ""
        raise AttributeError(f"StateSpaceBeliefs has no {name!r}{two}", name=name, obj=self)

    def __getitem__(self, name: str) -> MultivariateGaussian:
        """p(state at t | all observations): a batch of Gaussians, one a step."""
        self._check_variable(name)
        return MultivariateGaussian(self.smoothed_mean, self.smoothed_covariance)

    def __len__(self) -> int:
        return self.num_steps

    def to_dict(self) -> dict[str, dict[str, np.ndarray]]:
        """Name → "mean", (step, state), and "covariance", (step, state, state)."""
        return {"state": {"mean": self.smoothed_mean, "covariance": self.smoothed_covariance}}

    def to_pandas(self) -> pd.DataFrame:
        """A frame of step, variable, the index of the state's coordinate, its mean and its variance."""
        variances = np.diagonal(self.smoothed_covariance, axis1=-2, axis2=-1)
        records = [
            (step, "state", state, float(mean), float(variances[step, state]))
            for (step, state), mean in np.ndenumerate(self.smoothed_mean)
        ]
        return import_pandas().DataFrame(records, columns=["step", "variable", "coordinate", "mean", "variance"])

    def to_frame(self) -> pd.DataFrame:
        """A wide frame: a line per step, with the mean and the standard deviation of each coordinate of the state.

        The lines have the index of the frame that was given, such as its dates.
        """
        deviations = np.sqrt(np.diagonal(self.smoothed_covariance, axis1=-2, axis2=-1))
        names = [f"{what} {state}" for what in ("mean", "deviation") for state in range(self.model.state_dimension)]
        index = self.sequence.index
        frame = import_pandas().DataFrame(np.hstack([self.smoothed_mean, deviations]), index=index, columns=names)
        return frame.rename_axis("step") if index is None else frame

    @property
    def num_steps(self) -> int:
        return len(self.forward.log_densities)

    @property
    def log_evidence(self) -> float:
        """Log p(observations)."""
        return float(self.forward.log_densities.sum())

    @property
    def log_densities(self) -> np.ndarray:
        """Log p(observation | those before it), (step,)."""
        return self.forward.log_densities

    # -- distributions of the states, (step, state) and (step, state, state)

    @property
    def predicted_mean(self) -> np.ndarray:
        return self.forward.predicted_mean

    @property
    def filtered_mean(self) -> np.ndarray:
        return self.forward.filtered_mean

    @property
    def smoothed_mean(self) -> np.ndarray:
        return self.backward.smoothed_mean

    @cached_property
    def predicted_covariance(self) -> np.ndarray:
        return covariances_of(self.forward.predicted_factor)

    @cached_property
    def filtered_covariance(self) -> np.ndarray:
        return covariances_of(self.forward.filtered_factor)

    @cached_property
    def smoothed_covariance(self) -> np.ndarray:
        return covariances_of(self.backward.smoothed_factor)

    def cross_covariance(self, lag: int = 1) -> np.ndarray:
        """Cov(z[t + lag], z[t] | all observations), (step - lag, later state, earlier state)."""
        lag = check_count(lag, "the lag")
        num = max(0, self.num_steps - lag)
        found = self.smoothed_covariance[lag:]
        for back in range(1, lag + 1):
            gains = self.backward.gains[lag - back : lag - back + num]
            found = found @ np.swapaxes(gains, -2, -1)
        return found

    # -- observations

    @cached_property
    def predictions(self) -> StateSpaceForecast:
        """States and observations one step ahead: the distribution of each given the observations before it."""
        distributions = self.predicted_mean, self.predicted_covariance
        return with_observations(self.model, np.arange(self.num_steps), self.sequence.covariates, distributions)

    def forecast(self, num_steps: int, covariates: Any = None) -> StateSpaceForecast:
        """The distributions of the steps after the end; `covariates` are their inputs, where the model takes any."""
        num_steps = check_count(num_steps, "the number of steps of a forecast")
        self.model.check_length(self.num_steps + num_steps, f"a forecast of {num_steps} steps")
        size = self.model.state_dimension + self.model.observation_dimension
        check_table_fits((num_steps, size, size), f"a forecast of {num_steps:,} steps", "ask for fewer steps")
        inputs = as_future_inputs(self.model, covariates, num_steps)
        distributions = self._predict_states(num_steps, inputs)
        times = np.arange(self.num_steps, self.num_steps + num_steps)
        return with_observations(self.model, times, inputs, distributions)

    def _predict_states(self, num_steps: int, inputs: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
        """Means and covariances of the states to come: from the last one on, or from the first if there was none."""
        last = self.num_steps - 1
        if last < 0:
            parts = pack_model(self.model)
            ahead = predict_states(self.model, 0, (parts.initial_mean, parts.initial_factor), num_steps, inputs)
            return ahead.predicted_mean, covariances_of(ahead.predicted_factor)
        distribution = self.forward.filtered_mean[last], self.forward.filtered_factor[last]
        known = self.sequence.covariates
        both = known if known is None or inputs is None else np.vstack([known[-1:], inputs])
        ahead = predict_states(self.model, last, distribution, num_steps + 1, both)
        return ahead.predicted_mean[1:], covariances_of(ahead.predicted_factor[1:])

    # -- paths

    def sample(self, size: Any = None, *, rng: Any = None) -> np.ndarray:
        """Paths of states drawn from the posterior, (*size, step, state)."""
        shape = as_sizes(size)
        check_table_fits((*shape, *self.smoothed_mean.shape), f"{shape} paths", "draw fewer at a time", copies=1)
        paths = as_generator(rng).standard_normal((*shape, *self.smoothed_mean.shape))
        if paths.size:
            forward, backward = self.forward, self.backward
            flat = paths.reshape(-1, *self.smoothed_mean.shape)
            draw_backward(forward.filtered_mean, forward.predicted_mean, backward.gains, backward.rests, flat)
        return paths

    def to_diagram(self) -> Course:
        """The smoothed mean of each coordinate with a band of 95 %, and what was observed of it."""
        return draw_states(self.model, self.sequence, self.smoothed_mean, self.smoothed_covariance)

    def _repr_html_(self) -> str:
        deviations = np.sqrt(np.diagonal(self.smoothed_covariance, axis1=-2, axis2=-1))
        index = self.sequence.index
        return intervals_html(repr(self), self.smoothed_mean, deviations, self.to_diagram(), index=index)

    def __repr__(self) -> str:
        steps = f"{number_of(self.num_steps, 'step')} of {number_of(self.model.state_dimension, 'state')}"
        return f"StateSpaceBeliefs({steps}; log_evidence={self.log_evidence:.6g}; exact, by {self.method})"


def covariances_of(factors: np.ndarray) -> np.ndarray:
    """L Lᵀ of each factor L."""
    found = np.empty_like(factors)
    covariances(factors, found)
    return found


def draw_states(
    model: LinearGaussianStateSpace, sequence: Sequences, mean: np.ndarray, covariance: np.ndarray
) -> Course:
    """A panel for each coordinate of the state, with the observations that show it directly, but for noise.

    An observation of something else, such as a sum of coordinates, has a panel of its own.
    """
    seen = np.asarray(sequence.observations, np.float64).reshape(len(mean), model.observation_dimension)
    shown = direct_observations(model)
    low, high = central(mean, covariance, PROBABILITY)
    panels = [
        Panel(
            name_part("state", at, mean.shape[1]),
            mean[:, at],
            low[:, at],
            high[:, at],
            tuple(seen[:, observation] for observation, state in shown.items() if state == at),
        )
        for at in range(mean.shape[1])
    ]
    panels += observation_panels(
        model, sequence, (mean, covariance), [at for at in range(seen.shape[1]) if at not in shown]
    )
    note = f"the first {MAX_PANELS} of {len(panels)} parts" if len(panels) > MAX_PANELS else ""
    return Course(tuple(panels[:MAX_PANELS]), sequence.index, KEY, note)


def direct_observations(model: LinearGaussianStateSpace) -> dict[int, int]:
    """Observation → the coordinate of the state that it is, but for noise."""
    look = np.asarray(model.observation)
    if look.ndim != 2 or model.input_to_observation is not None or np.any(model.observation_offset):
        return {}
    rows = ((observation, np.flatnonzero(row)) for observation, row in enumerate(look))
    return {at: int(found[0]) for at, found in rows if len(found) == 1 and look[at, found[0]] == 1.0}


def observation_panels(
    model: LinearGaussianStateSpace,
    sequence: Sequences,
    distributions: tuple[np.ndarray, np.ndarray],
    positions: list[int],
) -> list[Panel]:
    """What the states tell of these observations, noise and all, and the observations themselves."""
    if not positions:
        return []
    times = np.arange(len(distributions[0]))
    course = with_observations(model, times, sequence.covariates, distributions)
    (low, high), num = course.interval(PROBABILITY), course.observation_mean.shape[1]
    seen = np.asarray(sequence.observations, np.float64).reshape(len(times), num)
    return [
        Panel(
            name_part("observation", at, num), course.observation_mean[:, at], low[:, at], high[:, at], (seen[:, at],)
        )
        for at in positions
    ]
