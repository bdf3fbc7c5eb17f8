"""Linear equations with Gaussian noise in a group of real-valued variables, for every configuration of the states.

A `SolvedGroup` has the regressions of a group, and gives densities, moments and draws. A `LinearGaussian` child is the
equation child − Σ coefficient · parent − intercept = noise of its variance, which may be 0. Every array begins with the
axes of the configurations: one for the distinct states of the observed parents, then one for each unobserved variable
with states that the equations depend on, of length 1 where one of them does not. So all configurations are eliminated
at once (Cowell 2005, with rotations in place of exchanges).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, singledispatch
from typing import Any, NamedTuple

import numpy as np

from juncture.errors import InvalidModel
from juncture.factors.conditional import AnyConditional
from juncture.factors.gaussian import Constant, LinearGaussian
from juncture.inference.exact.hybrid.plan import Group
from juncture.numerics.stable import LOG_TWO_PI

PRODUCTS_AT_ONCE = 2**17  # of numbers in a product of matrices: larger ones wait for threads that the caller may need


class Form(NamedTuple):
    """A variable as a linear function of observed numbers and of independent noise."""

    coefficients: np.ndarray  # (*configuration, observed number, and the constant last)
    noise: dict[str, np.ndarray]  # (*configuration) of the noise of each regression


class Residual(NamedTuple):
    """An observed child less its prediction, over its standard deviation where it has noise."""

    columns: tuple[str, ...]  # the child first
    coefficients: np.ndarray  # (*configuration, column, and the constant last)
    log_scale: np.ndarray  # (*configuration): -½ log 2πσ², and 0 without noise
    exact: np.ndarray | None  # (*configuration): where there is no noise; None if nowhere

    @classmethod
    def of(cls, each: Regression) -> Residual:
        exact = each.variance == 0
        noise = np.where(exact, 1.0, each.variance)
        table = np.concatenate([np.ones((*noise.shape, 1)), -each.coefficients], axis=-1) / np.sqrt(noise)[..., None]
        log_scale = np.where(exact, 0.0, -0.5 * (np.log(noise) + LOG_TWO_PI))
        return cls((each.name, *each.columns), table, log_scale, exact if exact.any() else None)


class Density(NamedTuple):
    """log p(observed children | configuration), and how many of them are exact functions of the rest."""

    logs: np.ndarray  # (row, *configuration)
    num_exact: np.ndarray | None  # (row, *configuration); None if there are none


@dataclass(frozen=True, eq=False)
class SolvedGroup:
    """The regressions of a group, in the order of elimination, for distinct states of the observed parents."""

    group: Group
    shape: tuple[int, ...]  # the numbers of states of `group.states`
    hidden: tuple[Regression, ...]
    observed: tuple[Regression, ...]

    @classmethod
    def of(cls, group: Group, codes: Mapping[str, np.ndarray], sizes: Mapping[str, int]) -> SolvedGroup:
        """`codes` are the distinct joint states of the observed parents, one array a parent."""
        equations: list[Equation] = [equation_of(part, group.states, codes) for part in group.families]
        solved = []
        for name in (*group.hidden, *group.observed):
            regression, equations = eliminate(equations, name)
            solved.append(regression)
        count = len(group.hidden)
        return cls(group, tuple(sizes[name] for name in group.states), tuple(solved[:count]), tuple(solved[count:]))

    @property
    def size(self) -> int:
        """The numbers that it holds."""
        return sum(each.coefficients.size + each.variance.size for each in (*self.hidden, *self.observed))

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """The observed numbers."""
        return (*self.group.observed, *self.group.inputs)

    @cached_property
    def residuals(self) -> tuple[Residual, ...]:
        """The observed children less their predictions, over their standard deviations."""
        return tuple(Residual.of(each) for each in self.observed)

    @cached_property
    def log_scale(self) -> np.ndarray:
        """(*configuration): the sum of -½ log 2πσ² over the observed children that have noise."""
        parts = [each.log_scale for each in self.residuals]
        return np.asarray(sum(parts, np.zeros((1,) * (1 + len(self.shape)))))

    def density(self, values: Mapping[str, np.ndarray], case: np.ndarray, tolerance: float) -> Density:
        """The density of the observed children in rows of numbers; `case` numbers the states of observed parents."""
        logs: Any = of_case(self.log_scale, case)
        num_exact: Any = None
        for each in self.residuals:
            error = predict(each.coefficients, each.columns, values, case)
            if each.exact is None:
                logs = logs - 0.5 * np.square(error, out=error)
                continue
            is_exact = of_case(each.exact, case)
            sizes = {name: np.abs(values[name]) for name in each.columns}
            holds = np.abs(error) <= tolerance * predict(np.abs(each.coefficients), each.columns, sizes, case)
            logs = logs + np.where(is_exact, np.where(holds, 0.0, -np.inf), -0.5 * error**2)
            num_exact = is_exact.astype(np.int64) + (0 if num_exact is None else num_exact)
        return Density(np.broadcast_to(logs, (len(case), *logs.shape[1:])), num_exact)

    def log_peak(self, case: np.ndarray) -> np.ndarray:
        """The log-density of the hidden variables at their mode, (row, *configuration); inf where it has no bound."""
        with np.errstate(divide="ignore"):
            logs = [-0.5 * (np.log(of_case(each.variance, case)) + LOG_TWO_PI) for each in self.hidden]
        return np.asarray(sum(logs, np.zeros((len(case), *(1,) * len(self.shape)))))

    def form(self, name: str) -> Form:
        """A hidden variable as a function of the observed numbers and of noise."""
        weights: dict[str, Any] = {name: np.ones((1,) * (1 + len(self.shape)))}
        constant: Any = 0.0
        noise: dict[str, np.ndarray] = {}
        for each in self.hidden:
            weight = weights.pop(each.name, None)
            if weight is not None:
                noise[each.name] = weight
                constant = constant + weight * each.coefficients[..., -1]
                for at, column in enumerate(each.columns):
                    weights[column] = weights.get(column, 0.0) + weight * each.coefficients[..., at]
        parts = [np.asarray(part) for part in (*(weights.get(column, 0.0) for column in self.columns), constant)]
        shape = np.broadcast_shapes(*(part.shape for part in parts))
        return Form(np.stack([np.broadcast_to(part, shape) for part in parts], axis=-1), noise)

    def covariance(self, one: Form, other: Form) -> np.ndarray:
        """(*configuration)."""
        parts = [
            one.noise[each.name] * other.noise[each.name] * each.variance
            for each in self.hidden
            if each.name in one.noise and each.name in other.noise
        ]
        return np.asarray(sum(parts, np.zeros((1,) * (1 + len(self.shape)))))

    def mean(self, form: Form, values: Mapping[str, np.ndarray], case: np.ndarray) -> np.ndarray:
        """(row, *configuration)."""
        return predict(form.coefficients, self.columns, values, case)

    def fill(
        self, columns: dict[str, np.ndarray], case: np.ndarray, configuration: Sequence[np.ndarray], rng: Any = None
    ) -> None:
        """Set the hidden variables in rows of known configuration: drawn at random, or at their means without `rng`."""
        for each in reversed(self.hidden):
            index = tuple(
                np.where(length == 1, 0, codes)
                for length, codes in zip(each.variance.shape, (case, *configuration), strict=True)
            )
            inputs = rows_of(each.columns, columns, len(case))
            values = (each.coefficients[index] * inputs).sum(axis=1)
            if rng is not None:
                values = values + np.sqrt(each.variance[index]) * rng.standard_normal(len(case))
            columns[each.name] = values


def of_case(table: np.ndarray, case: np.ndarray) -> np.ndarray:
    """A table of each case for each row; of length 1 if it does not depend on the case."""
    return table if len(table) == 1 else table[case]


def rows_of(names: Sequence[str], values: Mapping[str, np.ndarray], num_rows: int) -> np.ndarray:
    """(row, name): columns of numbers, and a column of ones last."""
    return np.stack([*(values[name] for name in names), np.ones(num_rows)], axis=1)


def predict(
    coefficients: np.ndarray, names: Sequence[str], values: Mapping[str, np.ndarray], case: np.ndarray
) -> np.ndarray:
    """Σ coefficient · number + constant for each row and configuration."""
    inputs, shape = rows_of(names, values, len(case)), coefficients.shape[1:-1]
    flat = coefficients.reshape(len(coefficients), -1, coefficients.shape[-1])  # (case, configuration, column)
    found = np.empty((len(case), flat.shape[1]))
    step = max(1, PRODUCTS_AT_ONCE // flat[0].size)
    for start in range(0, len(case), step):
        rows = slice(start, start + step)
        if len(flat) == 1:
            np.matmul(inputs[rows], flat[0].T, out=found[rows])
        else:
            np.einsum("rkc,rc->rk", flat[case[rows]], inputs[rows], out=found[rows])
    return found.reshape(len(case), *shape)


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
