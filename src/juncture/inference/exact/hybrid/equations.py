"""Linear equations with Gaussian noise, and the elimination of variables from them.

A `LinearGaussian` child is the equation child − Σ coefficient · parent − intercept = noise of its variance, which may
be 0. Every array begins with the axes of the configurations: one for the distinct states of the observed parents, then
one for each unobserved variable with states that the equations depend on, of length 1 where one of them does not. So
all configurations are eliminated at once (Cowell 2005, with rotations in place of exchanges).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import singledispatch
from typing import NamedTuple

import numpy as np

from juncture.errors import InvalidModel
from juncture.factors.conditional import AnyConditional
from juncture.factors.gaussian import Constant, LinearGaussian

ROUNDING = 1e-12  # relative: what is left of a coefficient of an exact relation that cancels


class Equation(NamedTuple):
    """Σ coefficient · variable + constant = noise."""

    columns: tuple[str, ...]
    coefficients: np.ndarray  # (*configuration, variable, and the constant last)
    variance: np.ndarray  # (*configuration)


class Regression(NamedTuple):
    """Variable = Σ coefficient · column + constant + noise, given the columns."""

    name: str
    columns: tuple[str, ...]
    coefficients: np.ndarray  # (*configuration, column, and the constant last)
    variance: np.ndarray  # (*configuration)


@singledispatch
def equation_of(part: AnyConditional, free: Sequence[str], codes: Mapping[str, np.ndarray]) -> Equation:
    """The equation of a conditional over the configurations of the `free` parents and the observed ones' `codes`."""
    raise NotImplementedError


@equation_of.register
def _(part: Constant, free: Sequence[str], codes: Mapping[str, np.ndarray]) -> Equation:
    ones = (1,) * (1 + len(free))
    return Equation((part.child.name,), np.array([1.0, -float(part.value)]).reshape(*ones, 2), np.zeros(ones))


@equation_of.register
def _(part: LinearGaussian, free: Sequence[str], codes: Mapping[str, np.ndarray]) -> Equation:
    index, num_axes = configuration_index(part, free, codes), 1 + len(free)
    coefficients, intercept, variance = (
        take(table, index, num_axes) for table in (part.coefficients, part.intercept, part.variance)
    )
    real = tuple(parent.name for parent in part.parents if parent.is_real)
    ones = np.ones((*intercept.shape, 1))
    return Equation(
        (part.child.name, *real),
        np.concatenate([ones, -coefficients, -intercept[..., None]], axis=-1),
        variance,
    )


def configuration_index(
    part: AnyConditional, free: Sequence[str], codes: Mapping[str, np.ndarray]
) -> tuple[np.ndarray, ...]:
    """For each parent with states the states that it takes, along the axes of the configurations."""
    index = []
    for parent in part.parents:
        if not parent.is_real:
            axis = 1 + free.index(parent.name) if parent.name in free else 0
            states = codes[parent.name] if axis == 0 else np.arange(parent.num_states)
            index.append(states.reshape([-1 if at == axis else 1 for at in range(1 + len(free))]))
    return tuple(index)


def take(table: np.ndarray, index: tuple[np.ndarray, ...], num_axes: int) -> np.ndarray:
    return table[index] if index else table.reshape((1,) * num_axes + table.shape)


def eliminate(equations: Sequence[Equation], name: str) -> tuple[Regression, list[Equation]]:
    """The regression of a variable on all others, and the equations that are left without it.

    Two equations with noise s₁², s₂² and coefficients a₁, a₂ of the variable become z = (a₂/a₁) r₁ − r₂, which is
    without the variable, and r₁ less its part that depends on z; the change of variables has the determinant ±1.
    """
    bucket = [each for each in equations if name in each.columns]
    rest = [each for each in equations if name not in each.columns]
    columns = tuple(dict.fromkeys(column for each in bucket for column in each.columns if column != name))
    rows = [spread(each, (name, *columns)) for each in bucket]
    (pivot, variance), *others = pivot_first(rows)
    for row, noise in others:
        ratio = row[..., :1] / pivot[..., :1]
        scaled = ratio * pivot
        left, total = scaled - row, ratio[..., 0] ** 2 * variance + noise
        exact = total == 0
        cancelled = exact[..., None] & (np.abs(left) <= ROUNDING * (np.abs(scaled) + np.abs(row)))
        left = np.where(cancelled, 0.0, left)
        left[..., 0] = 0.0
        safe = np.where(exact, 1.0, total)
        gain = np.where(exact, 0.0, ratio[..., 0] * variance / safe)
        pivot, variance = pivot - gain[..., None] * left, np.where(exact, variance, variance * (noise / safe))
        rest.append(Equation(columns, left[..., 1:], total))
    scale = pivot[..., :1]
    return Regression(name, columns, -pivot[..., 1:] / scale, variance / scale[..., 0] ** 2), rest


def spread(equation: Equation, columns: tuple[str, ...]) -> tuple[np.ndarray, np.ndarray]:
    """The coefficients over more columns, 0 where the equation has none."""
    wide = np.zeros((*equation.coefficients.shape[:-1], len(columns) + 1))
    places = [columns.index(name) for name in equation.columns]
    wide[..., [*places, -1]] = equation.coefficients
    return wide, equation.variance


def pivot_first(rows: list[tuple[np.ndarray, np.ndarray]]) -> list[tuple[np.ndarray, np.ndarray]]:
    """The row that says most about the first column comes first, in every configuration: the largest |a| / s.

    An exact row says more than any other; of several, that in which the column has the largest share.
    """
    shape = np.broadcast_shapes(*(noise.shape for _, noise in rows))
    exact, noisy = (
        np.stack([np.broadcast_to(part, shape) for part in parts])
        for parts in zip(*(weigh(*row) for row in rows), strict=True)
    )
    stacked = np.where(np.max(exact, axis=0) > 0, exact, noisy)
    best = np.argmax(stacked, axis=0)
    if not (np.max(stacked, axis=0, initial=0.0) > 0).all():
        raise InvalidModel("the coefficients of the real-valued variables differ too much in size to be solved")
    first = int(best.flat[0])
    if (best == first).all():
        return [rows[first], *rows[:first], *rows[first + 1 :]]
    size = rows[0][0].shape[-1]
    tables = np.stack([np.broadcast_to(row, (*shape, size)) for row, _ in rows])
    noises = np.stack([np.broadcast_to(noise, shape) for _, noise in rows])
    swap(tables, best[None, ..., None])
    swap(noises, best[None])
    return list(zip(tables, noises, strict=True))


def weigh(row: np.ndarray, variance: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The share of the first column in an exact row, 0 in others; and |a| / s of it in others, 0 in an exact row."""
    size = np.abs(row[..., 0])
    largest = np.abs(row[..., :-1]).max(axis=-1)
    exact = variance == 0
    share = size / np.where(largest > 0, largest, 1.0)
    return np.where(exact, share, 0.0), np.where(exact, 0.0, size / np.sqrt(np.where(exact, 1.0, variance)))


def swap(rows: np.ndarray, chosen: np.ndarray) -> None:
    """Exchange the first row and the chosen one, in every configuration."""
    best, first = np.take_along_axis(rows, chosen, axis=0), rows[:1].copy()
    np.put_along_axis(rows, chosen, first, axis=0)
    rows[:1] = best
