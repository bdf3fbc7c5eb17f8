"""Learning a `LinearGaussian`: regression from centred moments, for each combination of discrete parents' states."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations_with_replacement
from typing import Any

import numpy as np

from juncture.data.dataset import Dataset
from juncture.errors import DeterministicRelationWarning, InvalidData, warn_user
from juncture.factors.conditional import as_parents
from juncture.factors.gaussian import AGREEMENT, LinearGaussian
from juncture.learning.conditionals.alignment import align_states, unite_scopes
from juncture.learning.conditionals.contract import (
    EstimationOptions,
    estimate_conditional,
    learns_from,
    log_likelihood_of,
    summarise,
)
from juncture.learning.conditionals.line_prior import LinePrior, line_prior
from juncture.numerics import LOG_TWO_PI
from juncture.values import Value, number_of, read_only
from juncture.variables import Scope, Variable

ON_A_LINE = 1e-14  # a share of the squares that is rounding


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

    def __add__(self, other: object) -> LineMoments:
        if not isinstance(other, LineMoments):
            return NotImplemented
        scope = unite_scopes(self.scope, other.scope)
        mine, theirs = self._align(scope), other._align(scope)
        weight = mine.weight + theirs.weight
        share = np.divide(theirs.weight, weight, out=np.zeros_like(weight), where=weight > 0)
        shift = theirs.center - mine.center
        cross = (mine.weight * share)[..., None, None] * shift[..., :, None] * shift[..., None, :]
        center = mine.center + share[..., None] * shift
        return LineMoments(scope[-1], scope[:-1], weight, center, mine.scatter + theirs.scatter + cross)

    def _align(self, scope: Scope) -> LineMoments:
        """The same on variables that may have more states."""
        narrow, wide = self.discrete, discrete_of(scope)
        arrays = (align_states(array, narrow, wide) for array in (self.weight, self.center, self.scatter))
        return LineMoments(scope[-1], scope[:-1], *arrays)

    def scaled(self, factor: float) -> LineMoments:
        return LineMoments(self.child, self.parents, self.weight * factor, self.center, self.scatter * factor)

    def renamed(self, child: Variable, parents: Scope) -> LineMoments:
        """The same numbers on the variables of another family."""
        return LineMoments(child, parents, self.weight, self.center, self.scatter)

    def __repr__(self) -> str:
        given = f" | {', '.join(self.parents.names)}" if self.parents else ""
        return f"LineMoments({self.child.name}{given}: {self.weight.sum():g})"


def discrete_of(variables: Iterable[Variable]) -> Scope:
    return Scope(variable for variable in variables if not variable.is_real)


@learns_from.register
def _(conditional: LinearGaussian) -> tuple[type, ...]:
    return (LineMoments,)


@summarise.register
def _(conditional: LinearGaussian, data: Dataset) -> LineMoments:
    discrete = discrete_of(conditional.parents)
    real = [parent.name for parent in conditional.parents if parent.is_real]
    values = np.stack([data.columns[name] for name in (*real, conditional.child.name)], axis=1)  # (row, value)
    codes = tuple(data.columns[name].astype(np.int64) for name in discrete.names)
    group = np.ravel_multi_index(codes, discrete.shape) if discrete else np.zeros(len(data), np.int64)
    weights = np.ones(len(data)) if data.weights is None else data.weights
    moments = grouped_moments(values, group, weights, discrete.size)
    arrays = (array.reshape((*discrete.shape, *array.shape[1:])) for array in moments)
    return LineMoments(conditional.child, conditional.parents, *arrays)


def grouped_moments(
    values: np.ndarray, group: np.ndarray, weights: np.ndarray, num_groups: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(weight (group,), mean (group, value), scatter (group, value, value)) of rows of values by group."""
    size = values.shape[1]
    weight = np.bincount(group, weights, minlength=num_groups)
    sums = np.stack([np.bincount(group, weights * column, minlength=num_groups) for column in values.T], axis=-1)
    center = np.divide(sums, weight[:, None], out=np.zeros(sums.shape), where=weight[:, None] > 0)
    apart = values - center[group]
    scatter = np.zeros((num_groups, size, size))
    for one, other in combinations_with_replacement(range(size), 2):
        products = np.bincount(group, weights * apart[:, one] * apart[:, other], minlength=num_groups)
        scatter[:, one, other] = scatter[:, other, one] = products
    return weight, center, scatter


@estimate_conditional.register
def _(conditional: LinearGaussian, part: LineMoments, options: EstimationOptions) -> LinearGaussian:
    prior = line_prior(options, part)
    if prior is None:
        return most_likely_line(part)
    known = part + prior_rows(part, prior)  # the prior of the intercept is rows where all parents are 0
    across = known.scatter[..., :-1, :-1] + prior.strength[..., None, None] * np.eye(part.scatter.shape[-1] - 1)
    coefficients, intercept, squares = fit_lines(known, across)
    variance = prior.variance(part.weight, squares, coefficients.shape[-1], part.child.name)
    return LinearGaussian(part.child, part.parents, coefficients, intercept, variance)


def most_likely_line(part: LineMoments) -> LinearGaussian:
    """Least squares for each combination of the discrete parents' states; the variance divides by the weight."""
    if not part.discrete and not part.weight > 0:
        raise InvalidData(f"there are no rows to find the line of {part.child.name!r} from: give rows, or a prior")
    if not (part.weight > 0).all():
        raise InvalidData(
            f"no row has {some_states(part, part.weight <= 0)} among the parents' states of {part.child.name!r},"
            f" so that the line there is not determined: {remedies(part)}"
        )
    coefficients, intercept, squares = fit_lines(part, part.scatter[..., :-1, :-1])
    is_exact = squares <= ON_A_LINE * part.scatter[..., -1, -1]
    check_determined(part, is_exact)
    variance = np.where(is_exact, 0.0, squares / part.weight)
    return LinearGaussian(part.child, part.parents, coefficients, intercept, variance)


def check_determined(part: LineMoments, is_exact: np.ndarray) -> None:
    """Refuse lines through as many rows as they have parameters; warn of lines through more rows."""
    is_open = is_exact & (part.weight <= part.center.shape[-1])
    if is_open.any():
        raise InvalidData(
            f"the line of {part.child.name!r} is not determined{in_rows_with(part, is_open)}: it has as many parameters"
            f" as there are rows, and meets them all; {remedies(part)}"
        )
    if is_exact.any():
        warn_user(
            f"the values of {part.child.name!r} lie exactly on a line{in_rows_with(part, is_exact)}: its variance there"
            " is 0, so that any other value is impossible",
            DeterministicRelationWarning,
        )


def in_rows_with(part: LineMoments, chosen: np.ndarray) -> str:
    return f" in the rows with {some_states(part, chosen)}" if part.discrete else ""


def remedies(part: LineMoments) -> str:
    prior = f"{{{part.child.name!r}: jt.NormalInverseGamma(mean, strength, shape, scale)}}"
    return f"give more rows, drop a parent, or give a prior, prior={prior}"


def some_states(part: LineMoments, chosen: np.ndarray) -> str:
    """The first of the chosen combinations of states, and how many more there are."""
    first = np.argwhere(chosen)[0]
    states = (f"{one.name}={one.labels[code]}" for one, code in zip(part.discrete, first, strict=True))
    more = int(chosen.sum()) - 1
    return ", ".join(states) + (f" (and {number_of(more, 'more combination')})" if more else "")


def prior_rows(part: LineMoments, prior: LinePrior) -> LineMoments:
    """`strength` rows in which the child has the prior's mean and its real parents are 0."""
    center = np.zeros(part.center.shape)
    center[..., -1] = prior.mean
    return LineMoments(part.child, part.parents, prior.strength, center, np.zeros(part.scatter.shape))


def fit_lines(part: LineMoments, across: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(slopes, intercept, sum of squares about the line) for each combination of states."""
    along = part.scatter[..., :-1, -1]
    coefficients = np.zeros(along.shape)
    for index in np.ndindex(part.weight.shape):
        coefficients[index] = slopes(across[index], along[index], part.child.name)
    intercept = part.center[..., -1] - (coefficients * part.center[..., :-1]).sum(axis=-1)
    squares = part.scatter[..., -1, -1] - (coefficients * along).sum(axis=-1)
    return coefficients, intercept, np.maximum(squares, 0.0)


def slopes(across: np.ndarray, along: np.ndarray, name: str) -> np.ndarray:
    """The least-squares slopes; the minimum-norm solution, with a warning, where parents are linearly dependent."""
    deviations = np.sqrt(np.diag(across))
    scale = np.where(
        deviations > 0, deviations, 1.0
    )  # else a parent with small numbers would look like a linear combination of others
    found, _, rank, _ = np.linalg.lstsq(across / np.outer(scale, scale), along / scale, rcond=1e-13)
    if rank < len(along):
        warn_user(
            f"the real parents of {name!r} depend on each other linearly (rank {rank} of {len(along)}):"
            " the coefficients of minimum norm are taken",
            UserWarning,
        )
    return found / scale


@log_likelihood_of.register
def _(conditional: LinearGaussian, part: LineMoments) -> float:
    """-½ Σ w (log 2πv + E(child - line)² / v), from the moments about the line; a relation that holds counts 0."""
    normal = np.concatenate([-conditional.coefficients, np.ones((*part.weight.shape, 1))], axis=-1)
    offset = (normal * part.center).sum(axis=-1) - conditional.intercept
    squares = np.einsum("...i,...ij,...j", normal, part.scatter, normal)
    has_noise = conditional.variance > 0
    variance = np.where(has_noise, conditional.variance, 1.0)
    logs = part.weight * (np.log(variance) + LOG_TWO_PI) + (squares + part.weight * offset**2) / variance
    spread = (normal**2 * np.diagonal(part.scatter, axis1=-2, axis2=-1)).sum(axis=-1)
    size = np.abs(normal * part.center).sum(axis=-1) + np.abs(conditional.intercept)
    is_off = (part.weight > 0) & ((squares > ON_A_LINE * spread) | (np.abs(offset) > AGREEMENT * size))
    if (is_off & ~has_noise).any():
        return -np.inf
    return float(-0.5 * np.sum(np.where(has_noise, logs, 0.0)))
