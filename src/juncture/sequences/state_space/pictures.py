"""What is known of the states of a sequence, as a picture: means with bands, and what was observed."""

from __future__ import annotations

import numpy as np

from juncture.data.sequences import Sequences
from juncture.drawing.courses import Course, Panel
from juncture.sequences.state_space.forecast import central, name_part, with_observations
from juncture.sequences.state_space.model import LinearGaussianStateSpace

KEY = "mean", "95 % of the probability", "observed"
MAX_PANELS = 12
PROBABILITY = 0.95


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
