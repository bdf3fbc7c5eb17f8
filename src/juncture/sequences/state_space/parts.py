"""The parts of a linear-Gaussian state-space model, checked: matrices, offsets, covariances, constant or per step."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from juncture.base.values import read_only
from juncture.errors import InvalidModel
from juncture.numerics.stable import where

if TYPE_CHECKING:
    from juncture.sequences.state_space.model import LinearGaussianStateSpace

SYMMETRY_TOLERANCE = 1e-9
NEGATIVE_TOLERANCE = 1e-10  # of an eigenvalue of the correlations
ZERO = 2.0**-50  # of an eigenvalue of the correlations, a row


def as_part(given: Any, shape: tuple[int | None, ...], *, name: str, may_vary: bool = True) -> np.ndarray:
    """A read-only array of the shape, or with a leading axis of time; a number alone stands for one of length 1.

    Where the shape has None, any length of at least 1 will do.
    """
    try:
        array = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise InvalidModel(f"{name} must be an array of numbers: {error}") from error
    if array.ndim == 0:
        array = array.reshape((1,) * len(shape))
    own = array.shape[1:] if may_vary and array.ndim == len(shape) + 1 else array.shape
    fits = len(own) == len(shape) and all(size == (want or max(1, size)) for size, want in zip(own, shape, strict=True))
    if not fits or 0 in array.shape:
        wanted = " × ".join("n" if size is None else str(size) for size in shape)
        varying = ", or that with a leading axis of time" if may_vary else ""
        raise InvalidModel(f"{name} must have the shape {wanted}{varying}; it has {array.shape}")
    if not np.isfinite(array).all():
        raise InvalidModel(f"{name} has an entry that is not a finite number{where(~np.isfinite(array))}")
    return read_only(array + 0.0)


def as_covariance(given: Any, size: int, *, name: str, may_vary: bool = True) -> np.ndarray:
    """A covariance, which may be singular."""
    array = as_part(given, (size, size), name=name, may_vary=may_vary)
    turned = np.swapaxes(array, -2, -1)
    with np.errstate(over="ignore"):  # a difference beyond all doubles is one
        skew = np.abs(array - turned) > SYMMETRY_TOLERANCE * np.abs(array).max(axis=(-2, -1), keepdims=True)
    if skew.any():
        raise InvalidModel(f"{name} must be symmetric; it is not{where(skew)}")
    symmetric = np.where(array == turned, array, array / 2 + turned / 2)
    correlations, scale = standardize(symmetric)
    lowest = np.linalg.eigvalsh(correlations)[..., 0]
    wrong = (lowest < -NEGATIVE_TOLERANCE) | (np.diagonal(symmetric, axis1=-2, axis2=-1) < 0).any(axis=-1)
    wrong |= ((scale[..., :, None] * scale[..., None, :] == 0) & (symmetric != 0)).any(axis=(-2, -1))
    if wrong.any():
        shown = np.array2string(symmetric[wrong][0] if wrong.ndim else symmetric, precision=6, separator=", ")
        raise InvalidModel(
            f"{name} must be positive semidefinite: a covariance{where(wrong)} has no negative variance in any"
            f" direction; got {' '.join(shown.split())}"
        )
    return read_only(symmetric)


def standardize(covariance: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Correlations and standard deviations: columns may have very different units. A variance of 0 stays one."""
    scale = np.sqrt(np.maximum(np.diagonal(covariance, axis1=-2, axis2=-1), 0.0))
    units = np.where(scale > 0, scale, 1.0)
    return covariance / units[..., :, None] / units[..., None, :], scale


def factor_of(covariance: np.ndarray) -> np.ndarray:
    """L, lower triangular, with L Lᵀ = covariance; also of a singular one."""
    if covariance.shape[-1] == 1:
        return np.sqrt(np.maximum(covariance, 0.0))
    correlations, scale = standardize(covariance)
    values, vectors = np.linalg.eigh(correlations)
    values = np.where(values > ZERO * values.shape[-1], values, 0.0)
    root = scale[..., :, None] * vectors * np.sqrt(values)[..., None, :]
    upper = np.linalg.qr(np.swapaxes(root, -2, -1), mode="r")
    signs = np.where(np.diagonal(upper, axis1=-2, axis2=-1) < 0, -1.0, 1.0)
    return np.ascontiguousarray(np.swapaxes(upper * signs[..., :, None], -2, -1)) + 0.0


def each_step(part: np.ndarray, axes: int, times: np.ndarray) -> np.ndarray:
    """The part at each of the times, whether it varies or not."""
    if part.ndim == axes:
        return np.broadcast_to(part, (len(times), *part.shape))
    return part[np.minimum(times, len(part) - 1)]  # no move follows the last step: its entry may be left out


def additions(
    model: LinearGaussianStateSpace, times: np.ndarray, inputs: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray]:
    """What offsets and inputs add at each of the times: to the next state (step, state), to the observation."""
    shifts = np.zeros((len(times), model.state_dimension))
    levels = np.zeros((len(times), model.observation_dimension))
    add_steps(shifts, model.transition_offset, model.input_to_state, times, inputs)
    add_steps(levels, model.observation_offset, model.input_to_observation, times, inputs)
    return shifts, levels


def add_steps(
    out: np.ndarray, offset: np.ndarray | None, weights: np.ndarray | None, times: np.ndarray, inputs: np.ndarray | None
) -> None:
    if offset is not None:
        out += each_step(offset, 1, times)
    if weights is not None and inputs is not None:
        out += np.einsum("toi,ti->to", each_step(weights, 2, times), inputs)
