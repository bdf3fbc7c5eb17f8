"""The step of EM for a `LinearGaussian`: least squares, with a lower bound on the variance.

Where cells are missing or a parent is hidden, a line can come to meet its rows exactly, and its density grows without
bound as the variance vanishes. So the variance is at least FLOOR of that of the child's column, and so large that the
rounding of the column's values does not count. A variance that was below the bound before may stay where it was: no
step of EM makes the fit worse. A line without noise, and one that no row speaks of, stay as they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from juncture.base.values import few
from juncture.errors import InvalidData, RegularizedWarning, UnseenParentsWarning, warn_user
from juncture.factors.gaussian import LinearGaussian
from juncture.learning.conditionals.contract import EstimationOptions
from juncture.learning.conditionals.line_moments import LineMoments, fit_lines

FLOOR = 1e-10  # of the variance of the child
EPSILON = float(np.finfo(float).eps)
CONSTANT = 4 * EPSILON  # of the mean: a column with a smaller deviation differs by rounding only
ROUNDING = 64 * EPSILON  # of the mean: deviations from which the rounding of a value does not count
NEGLIGIBLE = 1e-20  # of all rows: a combination of states with less weight has seen nothing


def improve_line(before: LinearGaussian, part: LineMoments, least: Mapping[str, float]) -> LinearGaussian:
    """The most likely line and variance among those that are allowed, given the line of the step before."""
    is_live = is_learned(before, part)
    coefficients, intercept, squares = fit_lines(part, part.scatter[..., :-1, :-1], is_live, warns=False)
    variance = np.divide(squares, part.weight, out=np.zeros_like(squares), where=is_live)
    variance = np.maximum(variance, np.minimum(floor_of(part, least), before.variance))
    return LinearGaussian(
        part.child,
        part.parents,
        np.where(is_live[..., None], coefficients, before.coefficients),
        np.where(is_live, intercept, before.intercept),
        np.where(is_live, variance, before.variance),
    )


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
    """Warn of lines whose variance the floor holds up or whose parents are dependent, and of those no row speaks of."""
    least = options.least_variances or {}
    held, unseen = [], []
    for line in lines:
        part = parts[line.child.name]
        is_live = is_learned(line, part)
        fit_lines(part, part.scatter[..., :-1, :-1], is_live)  # which warns
        if (is_live & (line.variance <= floor_of(part, least))).any():
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
