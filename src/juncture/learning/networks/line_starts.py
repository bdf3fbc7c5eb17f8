"""Where the lines of real children start: from the rows in which their families are complete, or at random."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from juncture.data.dataset import Dataset
from juncture.data.missingness import has_hole
from juncture.data.sources.contract import RowSource
from juncture.factors.gaussian import LinearGaussian
from juncture.learning.conditionals.contract import summarise
from juncture.learning.conditionals.line_floor import least_variance, reference_variance
from juncture.learning.conditionals.line_moments import LineMoments, discrete_of, fit_lines
from juncture.learning.networks.statistics import datasets_of
from juncture.numerics import Moments, grouped_moments, merge_moments
from juncture.variables import Scope

SMOOTHING = 1.0  # a row without any dependence, so that every line is determined
NOISE = 0.2  # the standard deviation of the perturbation of symmetric states, in those of the noise


@dataclass(frozen=True)
class Level:
    """The mean and the variance of what was observed of a real variable."""

    mean: float
    variance: float

    @property
    def floor(self) -> float:
        """The least variance that EM gives it."""
        return least_variance(self.mean, self.variance)


def observed_levels(variables: Scope, data: Dataset | RowSource) -> dict[str, Level]:
    """The level of each real variable that some row observes."""
    found: dict[str, Moments] = {}
    for rows in datasets_of(data):
        weights = np.ones(len(rows)) if rows.weights is None else rows.weights
        for variable in variables:
            if variable.is_real and variable.name in rows.columns:
                column = rows.columns[variable.name]
                known = ~has_hole(column)
                group = np.zeros(int(known.sum()), np.int64)
                part = grouped_moments(column[known][:, None], group, weights[known], 1)
                before = found.get(variable.name)
                found[variable.name] = part if before is None else merge_moments(before, part)
    return {name: level_of(part) for name, part in found.items() if part.weight[0] > 0}


def level_of(part: Moments) -> Level:
    mean, variance = float(part.center[0, 0]), float(part.scatter[0, 0, 0] / part.weight[0])
    return Level(mean, reference_variance(mean, variance))


def line_from_rows(
    part: LinearGaussian, data: Dataset | RowSource, levels: Mapping[str, Level], rng: np.random.Generator
) -> LinearGaussian:
    """Least squares in the rows in which the family is complete and a row without dependence; else at random."""
    names = (*part.parents.names, part.child.name)
    moments, observed = independent_row(part, levels), set[str]()
    for rows in datasets_of(data):
        known = {name: ~has_hole(rows.columns[name]) for name in names if name in rows.columns}
        observed |= {name for name, marks in known.items() if marks.any()}
        if len(known) == len(names):
            moments = moments + summarise(part, rows.take(np.logical_and.reduce(list(known.values()))))
    if len(observed) < len(names):
        return draw_line(part, levels, rng)
    coefficients, intercept, squares = fit_lines(moments, moments.scatter[..., :-1, :-1])
    return LinearGaussian(part.child, part.parents, coefficients, intercept, squares / moments.weight)


def independent_row(part: LinearGaussian, levels: Mapping[str, Level]) -> LineMoments:
    """The moments of a row in which the real variables of a family do not depend on each other."""
    real = real_levels(part, levels)
    shape = discrete_of(part.parents).shape
    center = np.broadcast_to([level.mean for level in real], (*shape, len(real)))
    scatter = np.diag([SMOOTHING * level.variance for level in real])
    weight = np.full(shape, SMOOTHING)
    return LineMoments(part.child, part.parents, weight, center, np.broadcast_to(scatter, (*shape, *scatter.shape)))


def real_levels(part: LinearGaussian, levels: Mapping[str, Level]) -> list[Level]:
    """The levels of the real parents and of the child; a hidden variable counts as standard normal."""
    names = [variable.name for variable in (*part.parents, part.child) if variable.is_real]
    return [levels.get(name, Level(0.0, 1.0)) for name in names]


def draw_line(part: Any, levels: Mapping[str, Level], rng: np.random.Generator) -> Any:
    """A line at random that keeps the level of its child; a hidden child keeps its line."""
    if not isinstance(part, LinearGaussian) or part.child.name not in levels:
        return part
    *parents, child = real_levels(part, levels)
    deviation = np.sqrt(child.variance)
    slopes = rng.standard_normal(part.coefficients.shape) / np.sqrt(max(1, len(parents)))
    coefficients = slopes * deviation / np.sqrt([level.variance for level in parents])
    apart = deviation * rng.standard_normal(part.intercept.shape) if part.intercept.ndim else 0.0
    intercept = child.mean + apart - (coefficients * [level.mean for level in parents]).sum(axis=-1)
    return LinearGaussian(
        part.child, part.parents, coefficients, intercept, np.full(part.variance.shape, child.variance)
    )


def perturb_line(part: LinearGaussian, rng: np.random.Generator) -> LinearGaussian:
    """The same with intercepts moved a little, each by itself."""
    moved = part.intercept + NOISE * np.sqrt(part.variance) * rng.standard_normal(part.intercept.shape)
    return LinearGaussian(part.child, part.parents, part.coefficients, moved, part.variance)
