"""Learning a `LinearGaussian`: regression from centred moments, for each combination of discrete parents' states."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np

from juncture.data.dataset import Dataset
from juncture.errors import InvalidData
from juncture.factors.conditional import checked_parents
from juncture.factors.gaussian import LinearGaussian
from juncture.learning.kinds.contract import Wishes, estimated, log_likelihood_of, summarise
from juncture.numerics import LOG_TWO_PI
from juncture.values import Value, read_only
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
        self._set(child=child, parents=checked_parents(child, parents))
        self._set(weight=read_only(weight, float), center=read_only(center, float), scatter=read_only(scatter, float))

    def __add__(self, other: object) -> LineMoments:
        if not isinstance(other, LineMoments):
            return NotImplemented
        if (self.child, self.parents) != (other.child, other.parents):
            raise InvalidData(f"the moments of {self.child.name!r} add for the same parents with the same states only")
        weight = self.weight + other.weight
        share = np.divide(other.weight, weight, out=np.zeros_like(weight), where=weight > 0)
        shift = other.center - self.center
        cross = (self.weight * share)[..., None, None] * shift[..., :, None] * shift[..., None, :]
        center = self.center + share[..., None] * shift
        return LineMoments(self.child, self.parents, weight, center, self.scatter + other.scatter + cross)

    def scaled(self, factor: float) -> LineMoments:
        return LineMoments(self.child, self.parents, self.weight * factor, self.center, self.scatter * factor)

    def __repr__(self) -> str:
        given = f" | {', '.join(self.parents.names)}" if self.parents else ""
        return f"LineMoments({self.child.name}{given}: {self.weight.sum():g})"


@summarise.register
def _(conditional: LinearGaussian, data: Dataset) -> LineMoments:
    discrete = Scope(parent for parent in conditional.parents if not parent.is_real)
    real = [parent.name for parent in conditional.parents if parent.is_real]
    values = np.stack([data.columns[name] for name in (*real, conditional.child.name)], axis=1)  # (row, value)
    codes = tuple(data.columns[name].astype(np.int64) for name in discrete.names)
    group = np.ravel_multi_index(codes, discrete.shape) if discrete else np.zeros(len(data), np.int64)
    weights = np.ones(len(data)) if data.weights is None else data.weights
    weight = np.bincount(group, weights, minlength=discrete.size)
    sums = np.stack([np.bincount(group, weights * column, minlength=discrete.size) for column in values.T], axis=-1)
    center = np.divide(sums, weight[:, None], out=np.zeros_like(sums), where=weight[:, None] > 0)
    apart = values - center[group]
    products = weights[:, None, None] * apart[:, :, None] * apart[:, None, :]
    size = values.shape[1]
    flat = products.reshape(len(data), -1).T
    scatter = np.stack([np.bincount(group, column, minlength=discrete.size) for column in flat], axis=-1)
    shape = discrete.shape
    return LineMoments(
        conditional.child,
        conditional.parents,
        weight.reshape(shape),
        center.reshape(*shape, size),
        scatter.reshape(*shape, size, size),
    )


@estimated.register
def _(conditional: LinearGaussian, part: LineMoments, wishes: Wishes) -> LinearGaussian:
    if not (part.weight > 0).all():
        raise InvalidData(
            f"no row has some combination of the parents' states of {part.child.name!r},"
            " of whose numbers nothing is known then: give rows for each, or drop the parent"
        )
    across, along = part.scatter[..., :-1, :-1], part.scatter[..., :-1, -1]
    coefficients = np.zeros(along.shape)
    for place in np.ndindex(part.weight.shape):
        coefficients[place] = slopes(across[place], along[place], part.child.name)
    intercept = part.center[..., -1] - (coefficients * part.center[..., :-1]).sum(axis=-1)
    rest = part.scatter[..., -1, -1] - (coefficients * along).sum(axis=-1)
    variance = rest / part.weight
    if not (variance > 1e-14 * (part.scatter[..., -1, -1] / part.weight)).all():
        raise InvalidData(
            f"the variance of {part.child.name!r} given its parents would be 0: its rows lie on a line exactly;"
            " give more rows than parents, with some spread"
        )
    return LinearGaussian(part.child, part.parents, coefficients, intercept, variance)


def slopes(across: np.ndarray, along: np.ndarray, name: str) -> np.ndarray:
    """The least-squares slopes; the shortest where parents depend on each other linearly, which is said."""
    found, _, rank, _ = np.linalg.lstsq(across, along, rcond=None)
    if rank < len(along):
        warnings.warn(
            f"the real parents of {name!r} depend on each other linearly (rank {rank} of {len(along)}):"
            " of all slopes that fit alike, the shortest are taken",
            UserWarning,
            stacklevel=2,
        )
    return np.asarray(found)


@log_likelihood_of.register
def _(conditional: LinearGaussian, part: LineMoments) -> float:
    """-½ Σ w (log 2πv + E(child - line)² / v), from the moments about the line."""
    normal = np.concatenate([-conditional.coefficients, np.ones((*part.weight.shape, 1))], axis=-1)
    offset = (normal * part.center).sum(axis=-1) - conditional.intercept
    squares = np.einsum("...i,...ij,...j", normal, part.scatter, normal) + part.weight * offset**2
    logs = part.weight * (np.log(conditional.variance) + LOG_TWO_PI)
    return float(-0.5 * np.sum(logs + squares / conditional.variance))
