"""The numbers of a group of real-valued variables: regressions for every configuration, densities, moments, draws."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from juncture.inference.exact.hybrid.equations import Equation, Regression, eliminate, equation_of
from juncture.inference.exact.hybrid.parts import Group
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
