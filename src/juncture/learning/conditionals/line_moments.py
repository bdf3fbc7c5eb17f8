"""`LineMoments`: what a `LinearGaussian` is estimated from, and least squares from it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from juncture.base.values import Value, read_only
from juncture.errors import warn_user
from juncture.factors.conditional import as_parents
from juncture.learning.conditionals.alignment import align_states, unite_scopes
from juncture.numerics.stable import Moments, merge_moments
from juncture.variables import Scope, Variable


class LineMoments(Value):
    """Weight, mean and scatter of (real parents, child), for each combination of the discrete parents' states.

    Centred, and merged by Chan's formula: a large common offset costs no digits.
    """

    _fields = ("child", "parents", "weight", "center", "scatter")
    child: Variable
    parents: Scope
    weight: np.ndarray  # (*discrete parents)
    center: np.ndarray  # (*discrete parents, real parents and child)
    scatter: np.ndarray  # (*discrete parents, real parents and child, real parents and child)

    def __init__(self, child: Variable, parents: Iterable[Variable], weight: Any, center: Any, scatter: Any) -> None:
        self._set(child=child, parents=as_parents(child, parents))
        self._set(weight=read_only(weight, float), center=read_only(center, float), scatter=read_only(scatter, float))

    @property
    def scope(self) -> Scope:
        return Scope((*self.parents, self.child))

    @property
    def discrete(self) -> Scope:
        return discrete_of(self.parents)

    @property
    def moments(self) -> Moments:
        return Moments(self.weight, self.center, self.scatter)

    def __add__(self, other: object) -> LineMoments:
        if not isinstance(other, LineMoments):
            return NotImplemented
        scope = unite_scopes(self.scope, other.scope)
        mine, theirs = self._align(scope), other._align(scope)
        return LineMoments(scope[-1], scope[:-1], *merge_moments(mine.moments, theirs.moments))

    def _align(self, scope: Scope) -> LineMoments:
        """The same on variables that may have more states."""
        narrow, wide = self.discrete, discrete_of(scope)
        arrays = (align_states(array, narrow, wide) for array in self.moments)
        return LineMoments(scope[-1], scope[:-1], *arrays)

    def scaled(self, factor: float) -> LineMoments:
        return LineMoments(self.child, self.parents, self.weight * factor, self.center, self.scatter * factor)

    def renamed(self, child: Variable, parents: Scope) -> LineMoments:
        """The same numbers on the variables of another family."""
        return LineMoments(child, parents, *self.moments)

    def __repr__(self) -> str:
        given = f" | {', '.join(self.parents.names)}" if self.parents else ""
        return f"LineMoments({self.child.name}{given}: {self.weight.sum():g})"


def discrete_of(variables: Iterable[Variable]) -> Scope:
    return Scope(variable for variable in variables if not variable.is_real)


def fit_lines(
    part: LineMoments, across: np.ndarray, chosen: np.ndarray | None = None, *, warns: bool = True
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(slopes, intercept, sum of squares about the line) for each combination of states; flat where not `chosen`."""
    along = part.scatter[..., :-1, -1]
    coefficients = np.zeros(along.shape)
    for index in np.ndindex(part.weight.shape):
        if chosen is None or chosen[index]:
            coefficients[index], rank = slopes(across[index], along[index])
            if warns and rank < across.shape[-1]:
                warn_of_dependence(part.child.name, rank, across.shape[-1])
    intercept = part.center[..., -1] - (coefficients * part.center[..., :-1]).sum(axis=-1)
    squares = part.scatter[..., -1, -1] - (coefficients * along).sum(axis=-1)
    return coefficients, intercept, np.maximum(squares, 0.0)


def slopes(across: np.ndarray, along: np.ndarray) -> tuple[np.ndarray, int]:
    """(the least-squares slopes, the rank): those of minimum norm where parents are linearly dependent."""
    deviations = np.sqrt(np.diag(across))
    scale = np.where(
        deviations > 0, deviations, 1.0
    )  # else a parent with small numbers would look like a linear combination of others
    found, _, rank, _ = np.linalg.lstsq(across / np.outer(scale, scale), along / scale, rcond=1e-13)
    return found / scale, int(rank)


def warn_of_dependence(name: str, rank: int, size: int) -> None:
    warn_user(
        f"the real parents of {name!r} depend on each other linearly (rank {rank} of {size}):"
        " the coefficients of minimum norm are taken",
        UserWarning,
    )
