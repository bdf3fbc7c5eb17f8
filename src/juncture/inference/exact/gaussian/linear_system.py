"""A Gaussian Bayesian network as linear equations with noise, y - Σ b · x - intercept = noise, and their elimination.

`LinearSystem` has one row a variable. Inside, every variable is the deviation from its prior mean, divided by a power
of two near its standard deviation: the rows then have no constants, and neither large means nor units cost any digits.
`RowPlan` is an elimination of the rows for one set of observed variables.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from juncture.base.values import number_of
from juncture.errors import InvalidModel, Unsupported
from juncture.factors.conditional import signature
from juncture.factors.gaussian import Constant
from juncture.inference.engines.lowering import is_linear
from juncture.inference.exact.gaussian.plan import Solution, SymbolicElimination, find_plan
from juncture.kernels.gaussian.elimination import eliminate_rows
from juncture.kernels.gaussian.minimum_degree import mark_ancestors, place_entries
from juncture.kernels.gaussian.regressions import enter_evidence, find_scales, sum_means
from juncture.networks.bayesian_network import BayesianNetwork, Network
from juncture.numerics.stable import LOG_TWO_PI
from juncture.runtime.memory import check_memory


def check_linear(model: Network) -> BayesianNetwork:
    """Return a Gaussian network; raise `Unsupported` for another model, with a conditional that is not linear."""
    if not isinstance(model, BayesianNetwork):
        raise Unsupported(f"gaussian-elimination takes a Gaussian network; got {type(model).__name__}")
    strange = next((part for part in model.conditionals if not is_linear(part)), None)
    if strange is not None:
        raise Unsupported(
            f"gaussian-elimination takes conditionals that are LinearGaussian in real parents, or Constant; "
            f"{signature(strange)} is not"
        )
    return model


@dataclass(frozen=True, eq=False)
class LinearSystem:
    """The rows of a network: row i has the variables `nodes[starts[i]:starts[i + 1]]`, its child first."""

    names: tuple[str, ...]
    order: np.ndarray  # (node,): parents first
    starts: np.ndarray  # (row + 1,)
    nodes: np.ndarray
    coefficients: np.ndarray  # of the nodes: 1 for the child, minus those of its parents
    intercepts: np.ndarray  # (row,)
    deviations: np.ndarray  # (row,): the standard deviation of the noise

    @classmethod
    def of(cls, network: Network) -> LinearSystem:
        model = check_linear(network)
        names = model.variables.names
        number = {name: node for node, name in enumerate(names)}
        families = [
            [number[part.child.name], *(number[name] for name in part.parents.names)] for part in model.conditionals
        ]
        linear = [linear_parts(part) for part in model.conditionals]
        numbers = np.array([(intercept, variance) for _, intercept, variance in linear]).reshape(-1, 2)
        return cls(
            names=names,
            order=np.array([number[name] for name in model.graph.topological_order()], np.int64),
            starts=np.cumsum([0, *map(len, families)], dtype=np.int64),
            nodes=np.array([node for family in families for node in family], np.int64),
            coefficients=np.array([number for slopes, _, _ in linear for number in (-1.0, *slopes)]) * -1.0,
            intercepts=np.ascontiguousarray(numbers[:, 0]),
            deviations=np.sqrt(numbers[:, 1]),
        )

    @cached_property
    def numbers(self) -> dict[str, int]:
        return {name: node for node, name in enumerate(self.names)}

    @cached_property
    def parents(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(starts, parents, coefficients of the parents) of each variable."""
        is_parent = np.ones(len(self.nodes), np.bool_)
        is_parent[self.starts[:-1]] = False
        return self.starts - np.arange(len(self.starts)), self.nodes[is_parent], -self.coefficients[is_parent]

    @cached_property
    def means(self) -> np.ndarray:
        """(node,): E x."""
        means = np.zeros(len(self.names))
        sum_means(self.order, *self.parents, self.intercepts, means)
        if not np.isfinite(means).all():
            name = self.names[int(self.order[~np.isfinite(means[self.order])][0])]
            raise InvalidModel(
                f"the mean of {name!r} is larger than a double can hold; use smaller coefficients or units"
            )
        return means

    @cached_property
    def scales(self) -> np.ndarray:
        """(node,): the unit of each variable inside, a power of two."""
        scales = np.ones(len(self.names))
        find_scales(self.order, *self.parents, self.deviations, scales)
        return scales

    @cached_property
    def is_exact(self) -> np.ndarray:
        """(row,): whether the row has no noise."""
        return self.deviations == 0

    @cached_property
    def row_scales(self) -> np.ndarray:
        """(row,): what the coefficients of a row are divided by: its deviation, or the unit of the child if exact."""
        children = self.nodes[self.starts[:-1]]
        return np.where(self.is_exact, self.scales[children], self.deviations)

    @cached_property
    def entries(self) -> np.ndarray:
        """The coefficients of the rows inside: in units of the variables and of the noise."""
        rows = np.repeat(np.arange(len(self.names)), np.diff(self.starts))
        return self.coefficients * self.scales[self.nodes] / self.row_scales[rows]

    def find_needed(self, names: np.ndarray) -> np.ndarray:
        """(node,): whether a variable is among these, or an ancestor of one; all others integrate to 1."""
        needed = np.zeros(len(self.names), np.bool_)
        needed[names] = True
        starts, parents, _ = self.parents
        mark_ancestors(self.order, starts, parents, needed)
        return needed

    def __repr__(self) -> str:
        return f"LinearSystem({number_of(len(self.names), 'row')})"


def linear_parts(part: Any) -> tuple[list[float], float, float]:
    """(coefficients, intercept, variance) of a conditional that is linear."""
    if isinstance(part, Constant):
        return [], float(part.value), 0.0
    return part.coefficients.tolist(), float(part.intercept), float(part.variance)


@dataclass(frozen=True, eq=False)
class RowNumbers:
    """The numbers of a model in the order in which a plan uses them."""

    system: LinearSystem
    entries: np.ndarray
    is_exact: np.ndarray  # (row,)
    free_places: np.ndarray
    free_entries: np.ndarray
    means: np.ndarray  # (observed variable, 1)
    scales: np.ndarray  # (observed variable, 1)
    log_scale: float


@dataclass(frozen=True, eq=False)
class RowPlan:
    """Where each row of a model is used: at the step of its first free variable; rows without one come last."""

    plan: SymbolicElimination
    rows: np.ndarray  # in the order of their steps
    row_starts: np.ndarray  # (step + 1,)
    starts: np.ndarray  # (row + 1,): the entries of each row
    index: np.ndarray  # (entry,): which coefficient of the model it is
    places: np.ndarray  # (entry,): its column in the front of the step; -1 - k of the k-th observed variable
    free_starts: np.ndarray
    free: np.ndarray  # the entries of free variables

    # Children go before their parents where that is not dear: each regression is then one on causes, whose coefficients
    # are at most about 1 in the units inside, and nothing is divided by a small number.
    @classmethod
    def of(cls, system: LinearSystem, kept: np.ndarray, observed: np.ndarray) -> RowPlan:
        rows = np.flatnonzero(kept)  # row i is that of variable i
        starts, index = take_rows(system.starts, rows)
        plan = find_plan(starts, system.nodes[index], kept, observed, system.order[::-1].copy())
        steps, places = place_entries(starts, system.nodes[index], plan.positions, plan.starts, plan.separators)
        sorting = np.argsort(steps, kind="stable")
        row_starts = np.searchsorted(steps[sorting], np.arange(len(plan.order) + 1))
        starts, inner = take_rows(starts, sorting)
        is_free = places[inner] >= 0
        return cls(
            plan=plan,
            rows=rows[sorting],
            row_starts=row_starts,
            starts=starts,
            index=index[inner],
            places=places[inner],
            free_starts=np.concatenate([[0], np.cumsum(is_free)])[starts],
            free=np.flatnonzero(is_free),
        )

    def numbers_of(self, system: LinearSystem) -> RowNumbers:
        """The numbers of a model where this plan uses them."""
        entries, is_exact = system.entries[self.index], system.is_exact[self.rows]
        observed = self.plan.observed
        return RowNumbers(
            system,
            entries,
            is_exact,
            self.places[self.free],
            entries[self.free],
            system.means[observed, None],
            system.scales[observed, None],
            self.log_scale(system),
        )

    def run(
        self, system: LinearSystem, values: np.ndarray, tolerance: float, numbers: RowNumbers | None = None
    ) -> Solution:
        """Eliminate all free variables, given values (observed variable, case)."""
        numbers = self.numbers_of(system) if numbers is None else numbers
        magnitudes = np.maximum(np.abs(values), np.abs(numbers.means)) / numbers.scales
        return self.eliminate(numbers, (values - numbers.means) / numbers.scales, magnitudes, tolerance)

    def eliminate(self, numbers: RowNumbers, values: np.ndarray, magnitudes: np.ndarray, tolerance: float) -> Solution:
        """The same, given deviations from the means in the units inside, and the sizes of the terms they come from."""
        plan, cases, is_exact = self.plan, values.shape[1], numbers.is_exact
        constants, sizes = np.zeros((len(self.rows), cases)), np.zeros((len(self.rows), cases))
        enter_evidence(self.starts, self.places, numbers.entries, is_exact, values, magnitudes, constants, sizes)
        gains, shifts = np.empty(len(plan.separators)), np.empty((len(plan.order), cases))
        deviations, log_values, clashes = np.empty(len(plan.order)), np.zeros(cases), np.zeros(cases, np.bool_)
        failed, relations = eliminate_rows(
            plan.work, plan.starts, plan.places, plan.parents, self.row_starts, is_exact, self.free_starts,
            numbers.free_places, numbers.free_entries, constants, sizes, tolerance, gains, shifts, deviations,
            log_values, clashes,
        )  # fmt: skip
        if failed >= 0:
            name = numbers.system.names[plan.order[failed]]
            raise InvalidModel(f"{name!r} has no distribution: its coefficients are too small for a double")
        log_values += numbers.log_scale
        known = slice(self.row_starts[-1], None)  # rows without free variables
        if known.start < len(self.rows):
            log_values -= 0.5 * ((constants[known] ** 2 + LOG_TWO_PI) * ~is_exact[known, None]).sum(axis=0)
            clashes |= ((np.abs(constants[known]) > tolerance * sizes[known]) & is_exact[known, None]).any(axis=0)
        return Solution(plan, gains, shifts, deviations, log_values, clashes, relations.reshape(-1, cases))

    def log_scale(self, system: LinearSystem) -> float:
        """The logarithm of what the units inside change in a density.

        An exact row whose variables are all observed says that they do not clash, and has no density.
        """
        counted = ~system.is_exact[self.rows]
        counted[: self.row_starts[-1]] = True
        variables = np.log(system.scales[self.plan.order]).sum()
        return float(variables - np.log(system.row_scales[self.rows[counted]]).sum())


def take_rows(starts: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The starts of some rows one after the other, and the indices of their entries."""
    sizes = np.diff(starts)[rows]
    new = np.concatenate([[0], np.cumsum(sizes)])
    return new, np.arange(new[-1]) - np.repeat(new[:-1] - starts[:-1][rows], sizes)


def log_free_density(layout: RowPlan, system: LinearSystem, tolerance: float) -> float:
    """What to add to the log-density of the evidence, so that it is one over the free coordinates."""
    tied = find_tied(layout, system)
    observed, size = layout.plan.observed[tied], len(layout.plan.observed)
    memory = 8 * (2 * len(layout.rows) + len(layout.plan.order) + size) * len(observed)
    check_memory(memory, "the deterministic relations among the observed variables", "observe fewer of them")
    unit = np.zeros((size, len(observed)))
    unit[tied, np.arange(len(observed))] = 1.0
    relations = layout.eliminate(layout.numbers_of(system), unit, unit, tolerance).relations
    position = np.full(len(system.names), -1)
    position[system.order] = np.arange(len(system.order))
    substitute_known(relations, layout, system, observed, position)
    columns = np.argsort(-position[observed])  # the last variables first: those that earlier ones determine
    log_determinant, determined = eliminate_columns(relations, columns, tolerance)
    return float(np.log(system.scales[observed[determined]]).sum() - log_determinant)


def find_tied(layout: RowPlan, system: LinearSystem) -> np.ndarray:
    """Which of the observed variables are in an exact row."""
    rows = np.repeat(layout.rows, np.diff(layout.starts))
    places = layout.places[system.is_exact[rows]]
    return np.unique(-1 - places[places < 0])


def substitute_known(
    relations: np.ndarray, layout: RowPlan, system: LinearSystem, observed: np.ndarray, position: np.ndarray
) -> None:
    """Replace each observed variable that its observed parents determine by them, in all relations."""
    number = {int(node): column for column, node in enumerate(observed)}
    known = layout.rows[layout.row_starts[-1] :]
    exact = [int(row) for row in known if system.is_exact[row]]
    for row in sorted(exact, key=lambda row: -position[row]):
        entries = range(system.starts[row], system.starts[row + 1])
        column = relations[:, number[row]].copy()
        for index in entries:
            relations[:, number[int(system.nodes[index])]] -= column * system.entries[index]


def eliminate_columns(relations: np.ndarray, columns: np.ndarray, tolerance: float) -> tuple[float, list[int]]:
    """(log |det|, the columns it is over): each row determines the first of the columns, in order, that it can."""
    rows, sizes = relations.copy(), np.abs(relations)
    total, chosen, done = 0.0, list[int](), 0
    for column in columns.tolist():
        left = np.abs(rows[done:, column])
        if done < len(rows) and left.max() > 0:
            pivot = done + int(np.argmax(left))
            rows[[done, pivot]], sizes[[done, pivot]] = rows[[pivot, done]], sizes[[pivot, done]]
            total += float(np.log(abs(rows[done, column])))
            factors = rows[done + 1 :, [column]] / rows[done, column]
            rows[done + 1 :] -= factors * rows[done]
            sizes[done + 1 :] += np.abs(factors) * sizes[done]
            rows[done + 1 :][np.abs(rows[done + 1 :]) <= tolerance * sizes[done + 1 :]] = 0.0
            chosen.append(column)
            done += 1
    return total, chosen
