"""Lines as vectors of numbers in the units of their columns, so that SQUAREM can extrapolate them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from juncture.factors.gaussian import LinearGaussian
from juncture.learning.em.squarem import flatten_tables, unflatten_tables
from juncture.learning.networks.line_starts import Level, real_levels

FAR = 30.0  # deviations of a column, or natural logarithms of a variance: beyond, an extrapolation is no model nearby


def as_free(line: LinearGaussian, levels: Mapping[str, Level]) -> list[np.ndarray]:
    """Slopes, the height at the parents' means and log-variances; 0 for a variance that is none."""
    *parents, child = real_levels(line, levels)
    unit, means, units = np.sqrt(child.variance), [one.mean for one in parents], deviations(parents)
    height = line.intercept + (line.coefficients * means).sum(axis=-1) - child.mean
    logs = np.log(np.where(line.variance > 0, line.variance / child.variance, 1.0))
    return [line.coefficients * units / unit, height / unit, logs]


def from_free(
    line: LinearGaussian, numbers: Iterator[np.ndarray], levels: Mapping[str, Level], least: Mapping[str, float]
) -> LinearGaussian:
    """A line like this one with other numbers: its variance is at least the least one, or what it was."""
    *parents, child = real_levels(line, levels)
    unit, means, units = np.sqrt(child.variance), [one.mean for one in parents], deviations(parents)
    slopes, height, logs = (next(numbers) for _ in range(3))
    coefficients = slopes * unit / units
    intercept = height * unit + child.mean - (coefficients * means).sum(axis=-1)
    floor = np.minimum(least.get(line.child.name, 0.0), line.variance)
    variance = np.where(line.variance > 0, np.maximum(np.exp(logs) * child.variance, floor), 0.0)
    return LinearGaussian(line.child, line.parents, coefficients, intercept, variance)


def deviations(levels: list[Level]) -> np.ndarray:
    return np.sqrt([level.variance for level in levels])


def to_line_vector(lines: list[LinearGaussian], levels: Mapping[str, Level]) -> np.ndarray:
    return flatten_tables([array for line in lines for array in as_free(line, levels)])


def from_line_vector(
    vector: np.ndarray, lines: list[LinearGaussian], levels: Mapping[str, Level], least: Mapping[str, float]
) -> list[LinearGaussian] | None:
    """The lines of a vector; None if one of them is far from what it was."""
    old = [array for line in lines for array in as_free(line, levels)]
    if np.abs(vector - flatten_tables(old)).max(initial=0.0) > FAR:
        return None
    numbers = iter(unflatten_tables(vector, old) if old else [])
    return [from_free(line, numbers, levels, least) for line in lines]
