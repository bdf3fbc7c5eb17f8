"""Constraints on parameters, declared as data: the rule in words, the number of axes of a value, and the check."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from juncture.base.values import read_only
from juncture.errors import InvalidModel
from juncture.numerics.stable import ROW_SUM_TOLERANCE, where

SYMMETRY_TOLERANCE = 1e-9
AS_WHOLE = np.frompyfunc(int, 1, 1)  # also beyond the integers of an array


class InvalidParameter(InvalidModel):
    """Parameters of a batch that break their rule: which members, and which of those reached a limit of their range.

    A limit is an infinity, or the excluded end of the range: a scale of 0 that was meant to be e^-400.
    """

    is_wrong: np.ndarray  # (*batch,)
    is_limit: np.ndarray  # (*batch,)


@dataclass(frozen=True)
class Constraint:
    """A set of allowed parameter values, each with `axes` axes; `is_met` says which members of a batch lie in it.

    `limits` are the numbers outside a set of single numbers that its members come arbitrarily near to.
    """

    rule: str
    axes: int
    is_met: Callable[[np.ndarray], np.ndarray]
    is_whole: bool = False
    limits: tuple[float, ...] = ()

    def check(self, value: Any, *, name: str) -> np.ndarray:
        """The value as a read-only float array whose last `axes` axes are one parameter, or one sentence why not."""
        try:
            array = np.asarray(value, dtype=np.float64)
        except (TypeError, ValueError, OverflowError) as error:
            raise InvalidModel(f"{name} must be {self.rule}; got {value!r}") from error
        if array.ndim < self.axes:
            raise InvalidModel(f"{name} must be {self.rule}, so have at least {self.axes} axes; it has {array.ndim}")
        wrong = ~self.is_met(array)
        if wrong.any():
            first = array[tuple(axis[0] for axis in np.nonzero(wrong))] if wrong.ndim else array
            shown = np.array2string(np.asarray(first), precision=6, threshold=6, separator=", ").replace("\n", "")
            refusal = InvalidParameter(f"{name} must be {self.rule}; got {shown}{where(wrong)}")
            refusal.is_wrong, refusal.is_limit = wrong, np.isin(array, self.limits) if not self.axes else wrong & False
            raise refusal
        return read_only(array + 0.0)  # + 0.0 turns -0.0 into 0.0

    def format(self, array: np.ndarray) -> str:
        """A checked value as text; a small single one in full, so that it can be built again."""
        if array.ndim == self.axes and array.size <= 9:
            return repr(np.asarray(AS_WHOLE(array), object).tolist() if self.is_whole else array.tolist())
        return np.array2string(array, precision=6, threshold=8, edgeitems=2, separator=", ").replace("\n", "")


def _is_positive_definite(matrices: np.ndarray) -> np.ndarray:
    if matrices.shape[-1] != matrices.shape[-2] or matrices.shape[-1] == 0:
        return np.zeros(matrices.shape[:-2], bool)
    finite = np.isfinite(matrices).all(axis=(-2, -1))
    safe = np.where(finite[..., None, None], matrices, np.eye(matrices.shape[-1]))
    scale = np.abs(safe).max(axis=(-2, -1), keepdims=True)
    symmetric = (np.abs(safe - np.swapaxes(safe, -2, -1)) <= SYMMETRY_TOLERANCE * scale).all(axis=(-2, -1))
    diagonal = np.diagonal(safe, axis1=-2, axis2=-1)
    positive = np.asarray((diagonal > 0).all(axis=-1))
    units = np.sqrt(np.where(positive[..., None], diagonal, 1.0))
    with np.errstate(over="ignore"):  # eigenvalues of the correlations: columns may have very different units
        correlations = np.clip(safe / units[..., :, None] / units[..., None, :], -2.0, 2.0)
    return np.asarray(finite & symmetric & positive & (np.linalg.eigvalsh(correlations)[..., 0] > 0))


def _is_simplex(rows: np.ndarray) -> np.ndarray:
    inside = (rows >= 0).all(axis=-1) & np.isfinite(rows).all(axis=-1) & (rows.shape[-1] > 0)
    sums = np.where(inside[..., None], rows, 0.0).sum(axis=-1)
    return np.asarray(inside & (np.abs(sums - 1) <= ROW_SUM_TOLERANCE))


INFINITIES = (-np.inf, np.inf)

REAL = Constraint("a finite number", 0, np.isfinite, limits=INFINITIES)
POSITIVE = Constraint("a positive finite number", 0, lambda v: np.isfinite(v) & (v > 0), limits=(0.0, np.inf))
NON_NEGATIVE = Constraint("a finite number of at least 0", 0, lambda v: np.isfinite(v) & (v >= 0), limits=(np.inf,))
PROBABILITY = Constraint("a number from 0 to 1", 0, lambda v: (v >= 0) & (v <= 1))
POSITIVE_PROBABILITY = Constraint("a number above 0 and at most 1", 0, lambda v: (v > 0) & (v <= 1), limits=(0.0,))
COUNT = Constraint("a whole number of at least 0", 0, lambda v: np.isfinite(v) & (v >= 0) & (v == np.floor(v)), True)
REAL_VECTOR = Constraint("a vector of finite numbers", 1, lambda v: np.isfinite(v).all(axis=-1) & (v.shape[-1] > 0))
POSITIVE_VECTOR = Constraint(
    "a vector of positive finite numbers", 1, lambda v: (np.isfinite(v) & (v > 0)).all(axis=-1) & (v.shape[-1] > 0)
)
SIMPLEX = Constraint("a vector of numbers of at least 0 that sum to 1 within 1e-9", 1, _is_simplex)
POSITIVE_DEFINITE = Constraint("a symmetric positive definite matrix", 2, _is_positive_definite)


def is_total(number: int, axes: Sequence[int]) -> bool:
    """Whether numbers and vectors (0 and 1 axes) of one dimension can have so many entries together.

    Where there are matrices, `unvec` says which numbers of entries make one: here it suffices that there are enough.

    >>> is_total(4, [0, 1]), is_total(4, [0, 0, 0]), is_total(1, [1, 2])
    (True, False, False)
    """
    if any(axes):
        return number >= len(axes)
    return number == len(axes)
