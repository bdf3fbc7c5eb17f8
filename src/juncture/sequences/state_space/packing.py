"""A state-space model and sequences as the arrays that the Kalman kernels take."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from juncture.data.sequences import Sequences
from juncture.errors import warn_user
from juncture.sequences.state_space.model import LinearGaussianStateSpace
from juncture.sequences.state_space.parts import additions, factor_of

WIDEST = 1e40  # from the smallest variance to the largest


@dataclass(frozen=True, eq=False)
class PackedStateSpace:
    """The parts with a leading axis of time, of length 1 where they do not vary; factors L for covariances L Lᵀ."""

    transition: np.ndarray  # (time, state, state)
    observation: np.ndarray  # (time, value, state)
    transition_noise: np.ndarray  # (time, state, state)
    observation_noise: np.ndarray  # (time, value, value)
    initial_mean: np.ndarray  # (state,)
    initial_factor: np.ndarray  # (state, state)

    def starting(self, time: int, mean: np.ndarray, factor: np.ndarray) -> PackedStateSpace:
        """The model from a later time on, where its state has this distribution."""

        def later(part: np.ndarray) -> np.ndarray:
            return part[min(time, len(part) - 1) :]  # no move follows the last step

        return PackedStateSpace(
            later(self.transition),
            later(self.observation),
            later(self.transition_noise),
            later(self.observation_noise),
            mean.copy(),
            factor.copy(),
        )


@dataclass(frozen=True, eq=False)
class PackedSteps:
    """The steps of sequences: observations less what offsets and inputs add, and what these add to the next state."""

    offsets: np.ndarray  # (sequence + 1,)
    observations: np.ndarray  # (step, value)
    shifts: np.ndarray  # (step, state)


def pack_model(model: LinearGaussianStateSpace) -> PackedStateSpace:
    """Made once per model."""
    if "kalman" not in model.derived:
        warn_of_span(model)
        model.derived["kalman"] = PackedStateSpace(
            with_time(model.transition),
            with_time(model.observation),
            with_time(factor_of(model.transition_noise)),
            with_time(factor_of(model.observation_noise)),
            np.array(model.initial_mean),
            factor_of(model.initial_covariance),
        )
    found: PackedStateSpace = model.derived["kalman"]
    return found


def warn_of_span(model: LinearGaussianStateSpace) -> None:
    """Warn where variances differ by more than the factors of states that move one another keep digits for."""
    covariances = (model.initial_covariance, model.transition_noise, model.observation_noise)
    variances = np.concatenate([np.diagonal(part, axis1=-2, axis2=-1).reshape(-1) for part in covariances])
    positive = variances[variances > 0]
    if model.state_dimension > 1 and len(positive) and positive.min() < positive.max() / WIDEST:
        warn_user(
            f"the variances of the state space go from {positive.min():g} to {positive.max():g}: where states that"
            f" differ by more than {WIDEST:g} move one another, the smaller variances may lose all their digits;"
            " measure in other units, or take a narrower prior",
            UserWarning,
        )


def pack(model: LinearGaussianStateSpace, sequences: Sequences) -> tuple[PackedStateSpace, PackedSteps]:
    """Model and steps; states that are given are further observations, without noise."""
    times = np.arange(sequences.num_steps) - np.repeat(sequences.offsets[:-1], sequences.lengths)
    shifts, levels = additions(model, times, sequences.covariates)
    offsets, observations, parts = np.array(sequences.offsets), sequences.observations - levels, pack_model(model)
    if sequences.states is not None:
        observations = np.hstack([observations, sequences.states])
        parts = seeing_states(parts)
    return parts, PackedSteps(offsets, observations, shifts)


def seeing_states(parts: PackedStateSpace) -> PackedStateSpace:
    """The model whose observations are followed by its states as they are."""
    look, noise = parts.observation, parts.observation_noise
    num_states = look.shape[2]
    states = np.broadcast_to(np.eye(num_states), (len(look), num_states, num_states))
    wide = np.pad(noise, [(0, 0), (0, num_states), (0, num_states)])
    return replace(parts, observation=np.concatenate([look, states], axis=1), observation_noise=wide)


def with_time(part: np.ndarray) -> np.ndarray:
    """A private copy with an axis of time."""
    return np.array(part if part.ndim > 2 else part[None], order="C")
