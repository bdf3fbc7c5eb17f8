"""Numerical tricks: logarithms of zero, sums of exponentials, centred moments, checks of tables that sum to one."""

from __future__ import annotations

from itertools import combinations_with_replacement
from typing import Any, NamedTuple

import numpy as np

from juncture.base.values import read_only
from juncture.errors import InvalidModel

ROW_SUM_TOLERANCE = 1e-9
SHORT = 16
SMALLEST = float(np.finfo(np.float64).tiny)  # below, doubles lose digits
LOG_SMALLEST = float(np.log(SMALLEST))
LOG_LARGEST = float(np.log(np.finfo(np.float64).max))
MAX_LOG = 1e15  # beyond, neighbouring doubles are so far apart that a logarithm says nothing
LOG_TWO_PI = float(np.log(2 * np.pi))

Real = Any  # a float, or an array of several


def plain(array: Any) -> Any:
    """A Python number for a single value, an array for several."""
    array = np.asarray(array)
    return array.item() if array.ndim == 0 else array


def log(values: Any) -> np.ndarray:
    """Natural logarithm in which log 0 = -inf is an ordinary answer."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(values))


def log1p(values: Any) -> np.ndarray:
    """log(1 + values), in which log 0 = -inf is an ordinary answer."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.log1p(values))


def softplus(x: np.ndarray) -> np.ndarray:
    """log(1 + exp(x)), never overflowing; the derivative of x is taken also along a complex direction."""
    positive = x.real > 0
    small = np.exp(np.where(positive, -x, x))
    return np.asarray(np.log1p(small) + np.where(positive, x, 0.0))


def log_sum_exp(log_values: np.ndarray, axis: int | tuple[int, ...] | None = None) -> np.ndarray:
    """log Σ exp(log_values), never overflowing; -inf where every term is."""
    if log_values.size == 0:
        return np.full(np.sum(log_values, axis=axis).shape, -np.inf)
    top = np.maximum.reduce(log_values, axis=axis, keepdims=True)
    shift = np.where(np.isfinite(top), top, 0.0)
    total = log(np.add.reduce(np.exp(log_values - shift), axis=axis, keepdims=True)) + shift
    return np.asarray(total.squeeze(axis))


def sum_last(values: np.ndarray) -> np.ndarray:
    """Σ along the last axis; column by column when it is short, as adding up many short rows is slow."""
    if values.ndim < 2 or not 0 < values.shape[-1] <= SHORT:
        return np.asarray(values.sum(axis=-1))
    total = values[..., 0]
    for column in range(1, values.shape[-1]):
        total = total + values[..., column]
    return np.asarray(total)


def sigmoid(x: np.ndarray) -> np.ndarray:
    """1 / (1 + exp(-x)), exact at both ends; x may be complex, for derivatives by a complex step."""
    positive = x.real >= 0
    small = np.exp(np.where(positive, -x, x))
    return np.asarray(np.where(positive, 1.0, small) / (1.0 + small))


def softmax(x: np.ndarray) -> np.ndarray:
    """exp(x) / Σ exp(x) along the last axis."""
    raised = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return raised / raised.sum(axis=-1, keepdims=True)


class Moments(NamedTuple):
    """The weight, mean and scatter (the sum of squares and products about the mean) of values, with any axes before."""

    weight: np.ndarray  # (*group)
    center: np.ndarray  # (*group, value)
    scatter: np.ndarray  # (*group, value, value)


def grouped_moments(values: np.ndarray, group: np.ndarray, weights: np.ndarray, num_groups: int) -> Moments:
    """The moments of rows of values (row, value) by group."""
    size = values.shape[1]
    weight = np.bincount(group, weights, minlength=num_groups)
    sums = np.stack([np.bincount(group, weights * column, minlength=num_groups) for column in values.T], axis=-1)
    center = np.divide(sums, weight[:, None], out=np.zeros(sums.shape), where=weight[:, None] > 0)
    apart = values - center[group]
    scatter = np.zeros((num_groups, size, size))
    for one, other in combinations_with_replacement(range(size), 2):
        products = np.bincount(group, weights * apart[:, one] * apart[:, other], minlength=num_groups)
        scatter[:, one, other] = scatter[:, other, one] = products
    return Moments(weight, center, scatter)


def merge_moments(mine: Moments, theirs: Moments) -> Moments:
    """The moments of both, by Chan's formula: a large common offset costs no digits."""
    weight = mine.weight + theirs.weight
    share = np.divide(theirs.weight, weight, out=np.zeros_like(weight), where=weight > 0)
    shift = theirs.center - mine.center
    cross = (mine.weight * share)[..., None, None] * shift[..., :, None] * shift[..., None, :]
    return Moments(weight, mine.center + share[..., None] * shift, mine.scatter + theirs.scatter + cross)


def as_table(values: Any, shape: tuple[int, ...], *, name: str, axes: str = "") -> np.ndarray:
    """A read-only float table of the given shape whose entries are finite and not negative."""
    table = as_numbers(values, shape, name=name, axes=axes)
    negative = table < 0
    if negative.any():
        raise InvalidModel(
            f"{name} has the negative entry {table[negative][0]:g}{where(negative)}; entries must be at least 0"
        )
    return table


def as_logs(values: Any, shape: tuple[int, ...], *, name: str, axes: str = "") -> np.ndarray:
    """A read-only table of logarithms of the given shape; -inf, the logarithm of 0, is an ordinary entry."""
    try:
        given = np.asarray(values)
        given = given.astype(np.float64) if given.dtype.kind == "O" else given
    except (TypeError, ValueError, OverflowError) as error:
        raise InvalidModel(f"{name} must be a table of numbers of shape {shape}: {error}") from error
    if given.dtype.kind not in "biuf":
        return as_numbers(given, shape, name=name, axes=axes)  # refused there, by its type
    is_zero = np.isneginf(given)
    logs = np.where(is_zero, -np.inf, as_numbers(np.where(is_zero, 0.0, given), shape, name=name, axes=axes))
    beyond = np.isfinite(logs) & (np.abs(logs) > MAX_LOG)
    if beyond.any():
        raise InvalidModel(
            f"{name} has the logarithm {logs[beyond][0]:g}{where(beyond)}; logarithms must lie between "
            f"-{MAX_LOG:g} and {MAX_LOG:g}, where doubles have digits after the point"
        )
    return read_only(logs)


def doubles_hold(logs: np.ndarray) -> bool:
    """Whether a double holds the exponential of every entry, with all its digits."""
    return not ((logs > LOG_LARGEST) | ((logs < LOG_SMALLEST) & (logs > -np.inf))).any()


def keeps_entries(table: np.ndarray, is_positive: np.ndarray) -> bool:
    """Whether a computed table is finite, and has all its digits wherever it has to be positive."""
    return bool(np.isfinite(table).all()) and not ((table < SMALLEST) & is_positive).any()


def as_probabilities(values: Any, shape: tuple[int, ...], *, name: str, axes: str = "") -> np.ndarray:
    """A read-only table that sums to 1 along its last axis, within 1e-9."""
    table = as_table(values, shape, name=name, axes=axes)
    sums = table.sum(axis=-1)
    wrong = np.abs(sums - 1) > ROW_SUM_TOLERANCE
    if wrong.any():
        raise InvalidModel(
            f"{name} has a row that sums to {sums[wrong][0]:.12g}{where(wrong)}; each row must sum to 1 within 1e-9"
        )
    return table


def as_numbers(values: Any, shape: tuple[int, ...], *, name: str, axes: str = "") -> np.ndarray:
    """A read-only float array of the given shape whose entries are finite; `axes` says what its axes are."""
    try:
        given = np.asarray(values)
        array = given.astype(np.float64, copy=False) if given.dtype.kind in "biufO" else None
    except (TypeError, ValueError, OverflowError) as error:
        raise InvalidModel(f"{name} must be a table of numbers of shape {shape}: {error}") from error
    if array is None:
        raise InvalidModel(f"{name} must be a table of numbers of shape {shape}; got values of type {given.dtype}")
    if array.shape != shape:
        wanted = f"{shape}, {axes}" if axes else f"{shape}"
        raise InvalidModel(f"{name} must have the shape {wanted}; it has {array.shape}")
    if not np.isfinite(array).all():
        raise InvalidModel(f"{name} has an entry that is not a finite number{where(~np.isfinite(array))}")
    return read_only(array + 0.0)  # + 0.0 turns -0.0 into 0.0


def where(wrong: np.ndarray) -> str:
    """' at [i, j]': the first place where something is wrong, or nothing for a single number."""
    if wrong.ndim == 0:
        return ""
    return f" at {[int(axis[0]) for axis in np.nonzero(wrong)]}"
