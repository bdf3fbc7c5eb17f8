"""The passes over sequences: forward (Kalman filter) and backward (Rauch-Tung-Striebel smoother), on all cores."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import NoReturn, TypeVar

import numpy as np

from juncture.data.sequences import Sequences
from juncture.errors import InvalidModel
from juncture.kernels.state_space import filter_sequences, smooth_sequences
from juncture.runtime.parallel import map_blocks
from juncture.sequences.state_space.model import LinearGaussianStateSpace
from juncture.sequences.state_space.packing import PackedStateSpace, PackedSteps, pack, pack_model

BLOCK_STEPS = 4096  # about as many steps of short sequences make one piece of work

Pass = TypeVar("Pass", bound="StateDistributions")


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
