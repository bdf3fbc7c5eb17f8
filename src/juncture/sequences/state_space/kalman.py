"""The passes over sequences: forward (Kalman filter) and backward (Rauch-Tung-Striebel smoother), on all cores.

Model and sequences are packed as the arrays that the kernels take: parts with an axis of time, factors of covariances.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import NoReturn, TypeVar

import numpy as np

from juncture.data.sequences import Sequences
from juncture.errors import InvalidModel, warn_user
from juncture.kernels.state_space import filter_sequences, smooth_sequences
from juncture.runtime.parallel import map_blocks
from juncture.sequences.state_space.model import LinearGaussianStateSpace
from juncture.sequences.state_space.parts import additions, factor_of

BLOCK_STEPS = 4096  # about as many steps of short sequences make one piece of work
Pass = TypeVar("Pass", bound="StateDistributions")
WIDEST = 1e40  # from the smallest variance to the largest


def filtered(
    model: LinearGaussianStateSpace,
    sequences: Sequences,
    *,
    keep: bool = True,
    name_step: Callable[[int], str] | None = None,
) -> Filtered:
    """The forward pass; without `keep` only the densities. `name_step` names a step; by default these sequences do."""
    found = run_filter(*pack(model, sequences), keep=keep)
    check_filtered(found, name_step or sequences.describe_step)
    return found


def run_filter(parts: PackedStateSpace, steps: PackedSteps, *, keep: bool = True) -> Filtered:
    num_steps, num_states = steps.shifts.shape
    found = Filtered.empty(num_steps, num_states, num_steps if keep else 0)

    def run(block: slice) -> None:
        filter_sequences(
            steps.offsets[block.start : block.stop + 1].copy(), steps.observations, steps.shifts,
            parts.transition, parts.observation, parts.transition_noise, parts.observation_noise,
            parts.initial_mean, parts.initial_factor,
            found.predicted_mean, found.predicted_factor, found.filtered_mean, found.filtered_factor,
            found.log_densities,
        )  # fmt: skip

    over_sequences(run, steps.offsets)
    return found


def smoothed(model: LinearGaussianStateSpace, sequences: Sequences, forward: Filtered) -> Smoothed:
    """The backward pass."""
    return run_smoother(pack_model(model), np.array(sequences.offsets), forward)


def run_smoother(parts: PackedStateSpace, offsets: np.ndarray, forward: Filtered) -> Smoothed:
    found = Smoothed.empty(*forward.filtered_mean.shape)

    def run(block: slice) -> None:
        smooth_sequences(
            offsets[block.start : block.stop + 1].copy(), parts.transition, parts.transition_noise,
            forward.predicted_mean, forward.filtered_mean, forward.filtered_factor,
            found.smoothed_mean, found.smoothed_factor, found.gains, found.rests,
        )  # fmt: skip

    over_sequences(run, offsets)
    return found


def over_sequences(run: Callable[[slice], None], offsets: np.ndarray) -> None:
    """`run` on blocks of sequences; a long sequence is a block of its own."""
    num, num_steps = len(offsets) - 1, int(offsets[-1] - offsets[0])
    map_blocks(run, num, max(1, BLOCK_STEPS * num // max(1, num_steps)))


@dataclass(frozen=True, eq=False)
class StateDistributions:
    """Arrays with one row a step."""

    def of(self: Pass, steps: slice) -> Pass:
        """Those of some steps."""
        return type(self)(*(getattr(self, field.name)[steps] for field in fields(self)))


@dataclass(frozen=True, eq=False)
class Filtered(StateDistributions):
    """The distribution of each state given the observations before it, and up to it: means, and factors L of L Lᵀ."""

    predicted_mean: np.ndarray  # (step, state)
    predicted_factor: np.ndarray  # (step, state, state)
    filtered_mean: np.ndarray
    filtered_factor: np.ndarray
    log_densities: np.ndarray  # (step,): log p(observation | those before it)

    @classmethod
    def empty(cls, num_steps: int, num_states: int, num_kept: int) -> Filtered:
        mean, factor = (num_kept, num_states), (num_kept, num_states, num_states)
        return cls(np.empty(mean), np.empty(factor), np.empty(mean), np.empty(factor), np.zeros(num_steps))


@dataclass(frozen=True, eq=False)
class Smoothed(StateDistributions):
    """The distribution of each state given all observations, and given the next state and the observations up to it.

    The latter is N(filtered_mean + gain · (next - its predicted_mean), rest · restᵀ); the last state has gain 0.
    """

    smoothed_mean: np.ndarray  # (step, state)
    smoothed_factor: np.ndarray  # (step, state, state)
    gains: np.ndarray
    rests: np.ndarray

    @classmethod
    def empty(cls, num_steps: int, num_states: int) -> Smoothed:
        return cls(
            np.empty((num_steps, num_states)), *(np.empty((num_steps, num_states, num_states)) for _ in range(3))
        )


def check_filtered(found: Filtered, name_step: Callable[[int], str]) -> None:
    """Raise where an observation has no density, or where states exceed all numbers; `name_step` names a step."""
    if np.isposinf(found.log_densities).any():
        step = int(np.argmax(np.isposinf(found.log_densities)))
        raise InvalidModel(
            f"{name_step(step)} has no density: those before it determine the observation, or a part of it,"
            " without any noise; give observation_noise a positive variance, or leave that part missing"
        )
    is_lost = ~np.isfinite(found.log_densities)
    if len(found.filtered_mean):
        is_lost |= ~np.isfinite(found.filtered_mean).all(axis=1) | ~np.isfinite(found.predicted_factor).all(axis=(1, 2))
    if is_lost.any():
        raise_overflow(name_step(int(np.argmax(is_lost))))


def raise_overflow(where: str) -> NoReturn:
    raise InvalidModel(
        f"at {where} numbers grow beyond the largest one: the transition is not stable and too little is observed, or"
        " an observation lies too far from all that the model allows"
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


def seeing_states(parts: PackedStateSpace) -> PackedStateSpace:
    """The model whose observations are followed by its states as they are."""
    look, noise = parts.observation, parts.observation_noise
    num_states = look.shape[2]
    states = np.broadcast_to(np.eye(num_states), (len(look), num_states, num_states))
    wide = np.pad(noise, [(0, 0), (0, num_states), (0, num_states)])
    return replace(parts, observation=np.concatenate([look, states], axis=1), observation_noise=wide)


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


def with_time(part: np.ndarray) -> np.ndarray:
    """A private copy with an axis of time."""
    return np.array(part if part.ndim > 2 else part[None], order="C")
