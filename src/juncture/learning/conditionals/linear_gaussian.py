"""Learning a `LinearGaussian`: regression from centred moments, for each combination of discrete parents' states.

`LineMoments` are the sufficient statistics. The estimate is least squares, or with a prior ridge regression.

The prior is conjugate, normal-inverse-gamma: variance ~ InverseGamma(shape, scale), intercept | variance ~ N(mean,
variance / strength), and each slope | variance ~ N(0, variance / strength): a ridge regression towards a line that is
flat at `mean`.

A step of EM is least squares with a lower bound on the variance. Where cells are missing or a parent is hidden, a line
can come to meet its rows exactly, and its density grows without bound as the variance vanishes. So the variance is at
least FLOOR of that of the child's column, and so large that the rounding of the column's values does not count. A
variance that was below the bound before may stay where it was: no step of EM makes the fit worse. A line without noise,
and one that no row speaks of, stay as they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from juncture.base.notes import NO_NOTES, Note, Notes
from juncture.base.values import Value, few, finding_text, number_of, read_only
from juncture.data.dataset import Dataset
from juncture.errors import (
    DeterministicRelationWarning,
    InvalidData,
    RegularizedWarning,
    UnseenParentsWarning,
    warn_user,
)
from juncture.factors.conditional import as_parents
from juncture.factors.gaussian import AGREEMENT, Constant, LinearGaussian
from juncture.learning.conditionals.contract import (
    EstimationOptions,
    Point,
    estimate_conditional,
    learns_from,
    log_likelihood_of,
    log_prior,
    summarise,
    summarise_expected,
    takes_prior,
)
from juncture.learning.conditionals.row_counts import align_states, unite_scopes
from juncture.learning.conditionals.table import prior_of
from juncture.numerics.stable import LOG_TWO_PI, Moments, grouped_moments, merge_moments
from juncture.variables import Scope, Variable

ON_A_LINE = 1e-14  # a share of the squares that is rounding
FLOOR = 1e-10  # of the variance of the child
EPSILON = float(np.finfo(float).eps)
CONSTANT = 4 * EPSILON  # of the mean: a column with a smaller deviation differs by rounding only
ROUNDING = 64 * EPSILON  # of the mean: deviations from which the rounding of a value does not count
NEGLIGIBLE = 1e-20  # of all rows: a combination of states with less weight has seen nothing


class LineMoments(Value):
    """Weight, mean and scatter of (real parents, child), for each combination of the discrete parents' states.

    Centred, and merged by Chan's formula: a large common offset costs no digits.
    """

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


class Lines(NamedTuple):
    """The lines of least squares for each combination of the discrete parents' states, and notes on dependent parents.

    `squares` is the sum of squares about each line.
    """

    slopes: np.ndarray
    intercept: np.ndarray
    squares: np.ndarray
    notes: Notes


def fit_lines(part: LineMoments, across: np.ndarray, chosen: np.ndarray | None = None) -> Lines:
    """The line for each combination of states; flat where not `chosen`."""
    along, size, notes = part.scatter[..., :-1, -1], across.shape[-1], []
    coefficients = np.zeros(along.shape)
    for index in np.ndindex(part.weight.shape):
        if chosen is None or chosen[index]:
            coefficients[index], rank = slopes(across[index], along[index])
            if rank < size:
                notes.append(note_dependence(part.child.name, rank, size))
    intercept = part.center[..., -1] - (coefficients * part.center[..., :-1]).sum(axis=-1)
    squares = part.scatter[..., -1, -1] - (coefficients * along).sum(axis=-1)
    return Lines(coefficients, intercept, np.maximum(squares, 0.0), Notes(tuple(notes)))


def slopes(across: np.ndarray, along: np.ndarray) -> tuple[np.ndarray, int]:
    """(the least-squares slopes, the rank): those of minimum norm where parents are linearly dependent."""
    deviations = np.sqrt(np.diag(across))
    scale = np.where(
        deviations > 0, deviations, 1.0
    )  # else a parent with small numbers would look like a linear combination of others
    found, _, rank, _ = np.linalg.lstsq(across / np.outer(scale, scale), along / scale, rcond=1e-13)
    return found / scale, int(rank)


def note_dependence(name: str, rank: int, size: int) -> Note:
    end = f" depend on each other linearly (rank {rank} of {size}): the coefficients of minimum norm are taken"
    return Note(UserWarning, "the real parents of ", repr(name), end)


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


@summarise_expected.register(LinearGaussian)
@summarise_expected.register(Constant)
def _(conditional: LinearGaussian | Constant, tables: Sequence[np.ndarray]) -> LineMoments:
    return LineMoments(conditional.child, conditional.parents, *tables)


@estimate_conditional.register
def _(conditional: LinearGaussian, part: LineMoments, options: EstimationOptions) -> tuple[LinearGaussian, Notes]:
    prior = line_prior(options, part)
    if prior is None:
        least = options.least_variances
        return most_likely_line(part) if least is None else improve_line(conditional, part, least)
    known = part + prior_rows(part, prior)  # the prior of the intercept is rows where all parents are 0
    across = known.scatter[..., :-1, :-1] + prior.strength[..., None, None] * np.eye(part.scatter.shape[-1] - 1)
    lines = fit_lines(known, across)
    variance = prior.variance(part.weight, lines.squares, lines.slopes.shape[-1], part.child.name)
    return LinearGaussian(part.child, part.parents, lines.slopes, lines.intercept, variance), lines.notes


def most_likely_line(part: LineMoments) -> tuple[LinearGaussian, Notes]:
    """Least squares for each combination of the discrete parents' states; the variance divides by the weight."""
    if not part.discrete and not part.weight > 0:
        raise InvalidData(f"there are no rows to find the line of {part.child.name!r} from: give rows, or a prior")
    if not (part.weight > 0).all():
        raise InvalidData(
            f"no row has {some_states(part, part.weight <= 0)} among the parents' states of {part.child.name!r},"
            f" so that the line there is not determined: {remedies(part)}"
        )
    lines = fit_lines(part, part.scatter[..., :-1, :-1])
    is_exact = lines.squares <= ON_A_LINE * part.scatter[..., -1, -1]
    notes = lines.notes + check_determined(part, is_exact)
    variance = np.where(is_exact, 0.0, lines.squares / part.weight)
    return LinearGaussian(part.child, part.parents, lines.slopes, lines.intercept, variance), notes


def check_determined(part: LineMoments, is_exact: np.ndarray) -> Notes:
    """Refuse lines through as many rows as they have parameters; note lines through more rows."""
    is_open = is_exact & (part.weight <= part.center.shape[-1])
    if is_open.any():
        raise InvalidData(
            f"the line of {part.child.name!r} is not determined{in_rows_with(part, is_open)}: it has as many parameters"
            f" as there are rows, and meets them all; {remedies(part)}"
        )
    if not is_exact.any():
        return NO_NOTES
    end = (
        f" lie exactly on a line{in_rows_with(part, is_exact)}: its variance there is 0, so that any other value is"
        " impossible"
    )
    return Notes((Note(DeterministicRelationWarning, "the values of ", repr(part.child.name), end),))


def in_rows_with(part: LineMoments, chosen: np.ndarray) -> str:
    return f" in the rows with {some_states(part, chosen)}" if part.discrete else ""


def remedies(part: LineMoments) -> str:
    prior = f"{{{part.child.name!r}: jt.NormalInverseGamma(mean, strength, shape, scale)}}"
    return f"give more rows, drop a parent, or give a prior, prior={prior}"


def some_states(part: LineMoments, chosen: np.ndarray) -> str:
    """The first of the chosen combinations of states, and how many more there are."""
    first = np.argwhere(chosen)[0]
    states = (finding_text(one.name, one.labels[code]) for one, code in zip(part.discrete, first, strict=True))
    more = int(chosen.sum()) - 1
    return ", ".join(states) + (f" (and {number_of(more, 'more combination')})" if more else "")


def prior_rows(part: LineMoments, prior: LinePrior) -> LineMoments:
    """`strength` rows in which the child has the prior's mean and its real parents are 0."""
    center = np.zeros(part.center.shape)
    center[..., -1] = prior.mean
    return LineMoments(part.child, part.parents, prior.strength, center, np.zeros(part.scatter.shape))


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


@dataclass(frozen=True, eq=False)
class LinePrior:
    """The parameters of the prior, each in the shape of the discrete parents' states, and the point to take."""

    mean: np.ndarray
    strength: np.ndarray
    shape: np.ndarray
    scale: np.ndarray
    point: Point

    def variance(self, weight: np.ndarray, squares: np.ndarray, num_slopes: int, name: str) -> np.ndarray:
        """The variance at the point of the posterior, from the rows' weight and the penalised squares about the line.

        The mean is that of the variance's own distribution, the mode that of all parameters together.
        """
        scale = self.scale + 0.5 * squares
        if self.point == "mode":
            return np.asarray(scale / (self.shape + 0.5 * weight + 1.0 + 0.5 * (num_slopes + 1)))
        excess = self.shape + 0.5 * weight - 1.0
        if not (excess > 0).all():
            raise InvalidData(
                f"the variance of {name!r} has no posterior mean where its parents' states have no rows: give its prior"
                ' a shape above 1, or ask for point="mode"'
            )
        return np.asarray(scale / excess)

    def log_density(self, conditional: LinearGaussian) -> float:
        """What the estimate maximises together with the log-likelihood, up to a constant."""
        num_slopes = conditional.coefficients.shape[-1]
        power = self.shape - 1.0 if self.point == "mean" else self.shape + 1.0 + 0.5 * (num_slopes + 1)
        squares = (conditional.intercept - self.mean) ** 2 + (conditional.coefficients**2).sum(axis=-1)
        variance = conditional.variance
        return float(-np.sum(power * np.log(variance) + (self.scale + 0.5 * self.strength * squares) / variance))


def line_prior(options: EstimationOptions, family: Any) -> LinePrior | None:
    """The prior of this child; None when it has none, as a prior for all children may be one of tables."""
    from juncture.families.vectors.normal_gamma import NormalInverseGamma

    name = family.child.name
    prior: Any = prior_of(options.prior, name)
    is_normal = isinstance(prior, NormalInverseGamma)
    if prior is None or (options.prior is prior and not is_normal):
        return None
    if not is_normal:
        raise InvalidData(
            f"the prior of {name!r}, a linear function of its parents with Gaussian noise, is a"
            f" jt.NormalInverseGamma(mean, strength, shape, scale); got {prior!r}"
        )
    shape = Scope(parent for parent in family.parents if not parent.is_real).shape
    try:
        given = (prior.mean, prior.strength, prior.shape, prior.scale)
        mean, strength, alpha, scale = (np.broadcast_to(np.asarray(one, float), shape) for one in given)
    except ValueError:
        raise InvalidData(
            f"the prior of {name!r} is a batch of the shape {prior.batch_shape}; its parents' states have {shape}"
        ) from None
    return LinePrior(mean, strength, alpha, scale, options.point)


@log_prior.register
def _(conditional: LinearGaussian, options: EstimationOptions) -> float:
    prior = line_prior(options, conditional)
    return 0.0 if prior is None else prior.log_density(conditional)


@takes_prior.register
def _(conditional: LinearGaussian) -> bool:
    return True


def improve_line(before: LinearGaussian, part: LineMoments, least: Mapping[str, float]) -> tuple[LinearGaussian, Notes]:
    """The most likely line and variance among those that are allowed, given the line of the step before."""
    is_live = is_learned(before, part)
    lines = fit_lines(part, part.scatter[..., :-1, :-1], is_live)
    variance = np.divide(lines.squares, part.weight, out=np.zeros_like(lines.squares), where=is_live)
    variance = np.maximum(variance, np.minimum(floor_of(part, least), before.variance))
    moved = LinearGaussian(
        part.child,
        part.parents,
        np.where(is_live[..., None], lines.slopes, before.coefficients),
        np.where(is_live, lines.intercept, before.intercept),
        np.where(is_live, variance, before.variance),
    )
    return moved, lines.notes


def is_learned(line: LinearGaussian, part: LineMoments) -> np.ndarray:
    """For each combination of the discrete parents' states whether a step of EM moves its line."""
    return is_seen(part) & (line.variance > 0)


def is_seen(part: LineMoments) -> np.ndarray:
    """For each combination of the discrete parents' states whether some row speaks of it."""
    return np.asarray(part.weight > NEGLIGIBLE * part.weight.sum())


def floor_of(part: LineMoments, least: Mapping[str, float]) -> float:
    """The least variance of a child that was observed, or of a hidden one by what is expected of it."""
    name = part.child.name
    if name in least:
        return least[name]
    weight, center = part.weight, part.center[..., -1]
    total = max(float(weight.sum()), np.finfo(float).tiny)
    mean = float((weight * center).sum()) / total
    spread = part.scatter[..., -1, -1] + weight * (center - mean) ** 2
    return least_variance(mean, float(spread.sum()) / total)


def least_variance(mean: float, variance: float) -> float:
    """The floor for a column of this mean and variance."""
    return max(FLOOR * reference_variance(mean, variance), (ROUNDING * mean) ** 2)


def reference_variance(mean: float, variance: float) -> float:
    """The variance; of a column that is constant, the square of its value, or 1."""
    square = mean**2 if mean else 1.0
    return variance if variance > CONSTANT**2 * square else square


def report_lines(lines: Iterable[Any], parts: Mapping[str, LineMoments], options: EstimationOptions) -> None:
    """Warn of lines whose variance the floor holds up, and of those no row speaks of."""
    least = options.least_variances or {}
    held, unseen = [], []
    for line in lines:
        part = parts[line.child.name]
        if (is_learned(line, part) & (line.variance <= floor_of(part, least))).any():
            held.append(repr(line.child.name))
        if not is_seen(part).all():
            unseen.append(repr(line.child.name))
    if held:
        warn_user(
            f"the variance of {few(held)} has shrunk to {FLOOR:g} of the variance of its column and was kept there, for"
            " the rows leave no noise: give more rows, drop a parent, or give a prior, a jt.NormalInverseGamma",
            RegularizedWarning,
        )
    if unseen:
        message = f"no row speaks of some combinations of the parents' states of {few(unseen)}"
        if options.on_unseen == "error":
            raise InvalidData(f'{message}; give a prior, a jt.NormalInverseGamma, or on_unseen="uniform"')
        warn_user(
            f"{message}: the lines there are those that learning started from; give a prior, a jt.NormalInverseGamma,"
            " to change this",
            UnseenParentsWarning,
        )
