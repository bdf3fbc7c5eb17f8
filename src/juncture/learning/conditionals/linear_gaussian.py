"""Learning a `LinearGaussian`: regression from centred moments, for each combination of discrete parents' states."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from juncture.base.values import finding_text, number_of
from juncture.data.dataset import Dataset
from juncture.errors import DeterministicRelationWarning, InvalidData, warn_user
from juncture.factors.gaussian import AGREEMENT, Constant, LinearGaussian
from juncture.learning.conditionals.contract import (
    EstimationOptions,
    estimate_conditional,
    learns_from,
    log_likelihood_of,
    summarise,
    summarise_expected,
)
from juncture.learning.conditionals.line_floor import improve_line
from juncture.learning.conditionals.line_moments import LineMoments, discrete_of, fit_lines
from juncture.learning.conditionals.line_prior import LinePrior, line_prior
from juncture.numerics.stable import LOG_TWO_PI, grouped_moments

ON_A_LINE = 1e-14  # a share of the squares that is rounding


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
def _(conditional: LinearGaussian, part: LineMoments, options: EstimationOptions) -> LinearGaussian:
    prior = line_prior(options, part)
    if prior is None:
        least = options.least_variances
        return most_likely_line(part) if least is None else improve_line(conditional, part, least)
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
