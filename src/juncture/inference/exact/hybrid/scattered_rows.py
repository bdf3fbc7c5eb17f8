"""Densities of rows of states and numbers that each observe other variables: all configurations of the states at once.

Where every row has holes of its own, a plan for each takes longer than a sum over all configurations of a network of
few states: in each of them the numbers are a Gaussian, whose density is one of least squares.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from juncture.data.findings import Findings, is_hole
from juncture.data.missingness import number_patterns
from juncture.factors.gaussian import LinearGaussian
from juncture.inference.engines.contract import recall
from juncture.inference.exact.gaussian.least_squares import STIFF, DenseRows, are_few
from juncture.numerics import stable

if TYPE_CHECKING:
    from juncture.networks.bayesian_network import BayesianNetwork

MAX_CONFIGURATIONS = 2**10
MAX_NUMBERS = 2**22  # of the matrices of all configurations
PAIRS_AT_ONCE = 2**18  # of rows and configurations
PLANS = 4  # of numbers alone take as long as one of a strong junction tree


class Configurations(NamedTuple):
    """All joint states of a network, and the numbers of its lines in each of them."""

    states: tuple[str, ...]
    codes: np.ndarray  # (configuration, variable with states)
    log_weights: np.ndarray  # (configuration,)
    numbers: Mapping[str, int]  # of the real-valued variables
    lines: DenseRows  # a case for each configuration

    def log_densities(self, findings: Findings, rows: np.ndarray) -> np.ndarray:
        """log p(findings) of some rows."""
        states, values = self.cells(findings, rows)
        logs = np.empty(len(rows))
        step = max(1, PAIRS_AT_ONCE // len(self.codes))
        for start in range(0, len(rows), step):
            some = slice(start, start + step)
            agrees = find_agreeing(states[some], self.codes)
            row, case = np.nonzero(agrees)
            joint = np.full(agrees.shape, -np.inf)
            joint[row, case] = self.log_weights[case] + self.lines.log_densities(values[some], row, case)
            logs[some] = stable.log_sum_exp(joint, axis=1)
        return logs

    def cells(self, findings: Findings, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(row, variable) of states, -1 for a hole, and of numbers, NaN for a hole."""
        states = np.full((len(rows), len(self.states)), -1, np.int64)
        values = np.full((len(rows), len(self.numbers)), np.nan)
        for name, codes in findings.codes.items():
            states[:, self.states.index(name)] = codes[rows]
        for name, numbers in findings.reals.items():
            values[:, self.numbers[name]] = numbers[rows]
        return states, values

    def find_scattered(self, findings: Findings) -> np.ndarray:
        """The rows that have too few others with the same holes for a plan of their own."""
        columns = {**findings.codes, **findings.reals}
        known = np.stack([np.ones(findings.num_rows, bool), *(~is_hole(each) for each in columns.values())], axis=1)
        first, pattern = number_patterns(known)
        sizes = np.array([1, *(self.codes[:, self.states.index(name)].max() + 1 for name in findings.codes)])
        num_real = known[first, 1 + len(findings.codes) :].sum(axis=1)
        left = len(self.codes) / np.where(known[first, : len(sizes)], sizes, 1).prod(axis=1)
        pairs = np.bincount(pattern, minlength=len(first)) * left
        is_few = are_few(pairs / PLANS, len(self.numbers) - num_real, len(self.numbers))
        return np.flatnonzero(is_few[pattern])


def find_agreeing(states: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """(row, configuration): whether a configuration has the states of a row that are known."""
    agrees = np.ones((len(states), len(codes)), bool)
    for column, other in zip(states.T, codes.T, strict=True):
        agrees &= (column[:, None] == other) | (column[:, None] < 0)
    return agrees


def configurations_of(model: BayesianNetwork) -> Configurations | None:
    """All configurations of a network, kept with it; None for many, other conditionals than lines, and exact ones."""
    return recall(model, "configurations", (), lambda: make_configurations(model), 1)


def make_configurations(model: BayesianNetwork) -> Configurations | None:
    discrete = [variable for variable in model.variables if not variable.is_real]
    order = [name for name in model.graph.topological_order() if model.variable(name).is_real]
    lines = [model[name] for name in order]
    size = math.prod(variable.num_states for variable in discrete)
    tables = [model[variable.name] for variable in discrete]
    are_tables = not any(parent.is_real for part in tables for parent in part.parents)
    are_lines = all(isinstance(part, LinearGaussian) and (part.variance > 0).all() for part in lines)
    if size > MAX_CONFIGURATIONS or size * len(order) ** 2 > MAX_NUMBERS or not are_tables or not are_lines:
        return None
    codes = np.indices([variable.num_states for variable in discrete]).reshape(len(discrete), -1)
    columns = {variable.name: codes[at] for at, variable in enumerate(discrete)}
    log_weights = np.sum([np.zeros(size), *(part.log_prob(columns) for part in tables)], axis=0)
    numbers = {name: at for at, name in enumerate(order)}
    dense = dense_lines(lines, numbers, columns, size)
    names = tuple(variable.name for variable in discrete)
    return None if dense is None else Configurations(names, codes.T, log_weights, numbers, dense)


def dense_lines(
    lines: list[Any], numbers: Mapping[str, int], columns: Mapping[str, np.ndarray], size: int
) -> DenseRows | None:
    """The rows of all lines, parents first, in each configuration; None where one has next to no noise."""
    count, parents = len(lines), dict[int, np.ndarray]()
    slopes, noise = np.zeros((size, count, count)), np.empty((size, count))
    means, covariances = np.empty((size, count)), np.zeros((size, count, count))
    for at, part in enumerate(lines):
        index = part.configuration(columns)
        parents[at] = np.array([numbers[parent.name] for parent in part.parents if parent.is_real], np.int64)
        slopes[:, at, parents[at]] = np.broadcast_to(part.coefficients[index], (size, len(parents[at])))
        noise[:, at] = part.variance[index]
        means[:, at] = part.intercept[index] + (slopes[:, at, :at] * means[:, :at]).sum(axis=1)
        shared = np.einsum("kv,kvw->kw", slopes[:, at], covariances)
        covariances[:, at], covariances[:, :, at] = shared, shared
        covariances[:, at, at] = noise[:, at] + (slopes[:, at] * shared).sum(axis=1)
    variances = covariances.diagonal(axis1=1, axis2=2)
    if not (np.isfinite(means).all() and np.isfinite(variances).all()):
        return None
    scales, deviations = 2.0 ** np.round(0.5 * np.log2(variances)), np.sqrt(noise)
    matrices = (np.eye(count) - slopes) * scales[:, None, :] / deviations[:, :, None]
    if np.abs(matrices).max(initial=0.0) > STIFF:
        return None
    return DenseRows(dict(reversed(parents.items())), matrices, means, scales, np.log(deviations))
