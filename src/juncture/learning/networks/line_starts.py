"""Where the lines of real children start: from the rows in which their families are complete, or at random."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from juncture.factors.gaussian import LinearGaussian
from juncture.learning.conditionals.line_floor import least_variance, reference_variance
from juncture.learning.conditionals.line_moments import LineMoments, discrete_of, fit_lines
from juncture.numerics.stable import Moments

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


def observed_levels(moments: Mapping[str, Moments]) -> dict[str, Level]:
    """The level of each real variable that some row observes, from the moments of what was observed."""
    return {name: level_of(part) for name, part in moments.items() if part.weight[0] > 0}


def level_of(part: Moments) -> Level:
    mean, variance = float(part.center[0, 0]), float(part.scatter[0, 0, 0] / part.weight[0])
    return Level(mean, reference_variance(mean, variance))


def line_from_rows(part: LinearGaussian, seen: LineMoments, levels: Mapping[str, Level]) -> LinearGaussian:
    """Least squares in the rows in which the family is complete and a row without dependence."""
    moments = independent_row(part, levels) + seen
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
