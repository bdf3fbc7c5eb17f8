"""A state-space model over a number of steps as one Gaussian: all variables are linear in independent noises."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from juncture.base.checks import check_count
from juncture.data.sequences import as_inputs
from juncture.errors import InvalidData
from juncture.runtime.memory import check_table_fits
from juncture.sequences.state_space.parts import additions, each_step

if TYPE_CHECKING:
    from juncture.sequences.state_space.model import LinearGaussianStateSpace


def unroll(model: LinearGaussianStateSpace, length: int, covariates: Any = None) -> tuple[np.ndarray, np.ndarray]:
    """Mean and covariance of all states and then all observations of `length` steps.

    With the moves taken to the left, M z = first state, shifts and noises: z = M⁻¹ (…); then y = O z + levels + noises.
    """
    length = check_count(length, "the length", least=1)
    model.check_length(length, f"a length of {length}")
    inputs = None if covariates is None else as_inputs(covariates)
    if inputs is not None and len(inputs) != length:
        raise InvalidData(f"there is one row of covariates a step: {length}; got {len(inputs)}")
    model.check_inputs(inputs, length)
    width = length * (model.state_dimension + model.observation_dimension)
    check_table_fits(
        (width, width), f"the Gaussian of {length:,} steps", "take fewer steps, or infer, which needs none"
    )
    times = np.arange(length)
    shifts, levels = additions(model, times, inputs)
    moves = each_step(model.transition, 2, times[:-1])
    noise_covariances = each_step(model.transition_noise, 2, times[:-1])
    size = model.state_dimension
    to_noises = np.eye(length * size)  # M
    noises = np.zeros((length * size, length * size))
    noises[:size, :size] = model.initial_covariance
    for time in times[1:]:
        here, before = slice(time * size, (time + 1) * size), slice((time - 1) * size, time * size)
        to_noises[here, before] = -moves[time - 1]
        noises[here, here] = noise_covariances[time - 1]
    from_noises = np.linalg.inv(to_noises)
    mean = from_noises @ np.concatenate([model.initial_mean, *shifts[:-1]])
    covariance = from_noises @ noises @ from_noises.T
    look = block_diagonal(each_step(model.observation, 2, times))
    both = np.vstack([np.eye(len(mean)), look])
    whole = both @ covariance @ both.T
    whole[len(mean) :, len(mean) :] += block_diagonal(each_step(model.observation_noise, 2, times))
    return np.concatenate([mean, look @ mean + levels.ravel()]), (whole + whole.T) / 2


def block_diagonal(blocks: np.ndarray) -> np.ndarray:
    """(step, row, column) as one matrix with the blocks on its diagonal."""
    from scipy.linalg import block_diag

    return block_diag(*blocks)
