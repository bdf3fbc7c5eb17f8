"""`GaussianElimination`: exact answers for networks of linear Gaussian conditionals.

Every conditional is a linear equation with noise, y - Σ b · x - intercept = noise; one without noise is a deterministic
relation. Variables are eliminated one after the other in an order that keeps the equations sparse, and each leaves its
regression on variables that go later. The regressions give all means, variances, covariances and draws. Nothing is
inverted, so zero variances are ordinary. Cost: the sum of the squares of the numbers of neighbours at elimination.
Cowell, JMLR 6 (2005) has the same potentials; Lauritzen and Jensen, Statistics and Computing 11 (2001).

One row of numbers after the other, in the same columns and for the same targets, is a `RowQuery`: the means are linear
in the numbers, and the variances do not depend on them. Both are found once, so that the mean of a variable is one sum;
all else is eliminated when it is asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import compress
from operator import mul
from typing import Any, ClassVar, NamedTuple, TypeAlias

import numpy as np

from juncture.base.checks import check_number
from juncture.base.options import as_variable_names
from juncture.base.values import number_of
from juncture.data.findings import Findings
from juncture.data.missingness import group_by_pattern, number_patterns
from juncture.errors import InvalidModel, UnknownVariable
from juncture.inference.engines.contract import (
    ALL_QUESTIONS,
    DENSITIES,
    Cost,
    Engine,
    EnginePlan,
    Query,
    Question,
    RowAnswers,
    check_budget,
    recall,
)
from juncture.inference.engines.lowering import check_factors, is_gaussian
from juncture.inference.exact.gaussian.answers import GaussianAnswers, Group
from juncture.inference.exact.gaussian.least_squares import DenseRows, DensityAnswers, are_few, is_dense
from juncture.inference.exact.gaussian.linear_system import LinearSystem, RowNumbers, RowPlan, log_free_density
from juncture.inference.exact.gaussian.precision_system import PrecisionPlan, PrecisionSystem
from juncture.networks.bayesian_network import BayesianNetwork, Network
from juncture.networks.factor_product import FactorProduct
from juncture.runtime.memory import advise_fewer, check_memory
from juncture.variables import Scope, Variable

NUMBERS_AT_ONCE = 2**22  # shifts of steps times cases: more cases go block by block
MAX_PLANS = 64  # of a model, by what is observed and what is asked
TARGET_LISTS, NAMES = frozenset({type(None), list, tuple}), frozenset({str})  # of a quick query
MANY_VARIABLES = 2**12  # beside which what a single row costs besides is little
System: TypeAlias = LinearSystem | PrecisionSystem
KEPT_NUMBERS = 2**22  # of the plans of all patterns of holes, for learning


@dataclass(frozen=True)
class GaussianElimination(Engine):
    """Exact inference in Gaussian networks, by sparse elimination of the variables that are not asked for.

    `tolerance` is how far, relative to the sizes of the terms, evidence may be from a deterministic relation before it
    is impossible, and what of a coefficient is a rounding error. `memory_limit` is in bytes.
    """

    tolerance: float = 1e-9
    memory_limit: int | None = None
    name: ClassVar[str] = "gaussian-elimination"
    answers: ClassVar[frozenset[Question]] = ALL_QUESTIONS

    def __post_init__(self) -> None:
        check_number(self.tolerance, "tolerance", least=0)

    def compile(self, model: Network, observed: Sequence[str] = (), targets: Sequence[str] = ()) -> GaussianPlan:
        check_factors(model, self.name)
        keep, seen = as_variable_names(targets, "targets"), as_variable_names(observed, "observed")
        system = system_for(model)
        for name in (*keep, *seen):
            if name not in system.numbers:
                raise UnknownVariable.among(name, system.names)
        return GaussianPlan(self, model, system, tuple(seen), tuple(keep))

    def answer_row(self, model: Network, evidence: dict[str, Any], targets: Any = None) -> GaussianRowAnswers | None:
        """The answers given one row of numbers; None where a plan has to be run, or a mistake has to be reported."""
        if self.memory_limit is not None or not are_numbers(evidence) or type(targets) not in TARGET_LISTS:
            return None
        key = (tuple(evidence), None if targets is None else tuple(targets))
        if targets is not None and not NAMES.issuperset(map(type, targets)):
            return None
        query = recall(model, "gaussian rows", key, lambda: make_row_query(self, model, *key), MAX_PLANS)
        return None if query is None else query.run(evidence, self.tolerance)


@dataclass(frozen=True, eq=False)
class GaussianPlan(EnginePlan):
    """A plan for the targets; the elimination for each pattern of observed variables is found when it is needed."""

    engine: GaussianElimination
    model: Network
    system: System
    observed: tuple[str, ...]
    targets: tuple[str, ...]
    kept: dict[Hashable, RowPlan | PrecisionPlan] | None = None  # the eliminations, where the model does not keep them

    @cached_property
    def for_learning(self) -> GaussianPlan:
        """The plan for all variables, which keeps the eliminations of many patterns of holes for all steps of EM."""
        return replace(self, targets=self.system.names, kept={})

    @property
    def cost(self) -> Cost:
        return self.layout(self.mark(self.observed)).plan.cost

    def prepare(self) -> None:
        self.layout(self.mark(self.observed))

    @cached_property
    def target_nodes(self) -> np.ndarray:
        return np.array([self.system.numbers[name] for name in self.targets], np.int64)

    def mark(self, names: Sequence[str]) -> np.ndarray:
        """(variable,): whether it is among the names."""
        marks = np.zeros(len(self.system.names), np.bool_)
        marks[[self.system.numbers[name] for name in names]] = True
        return marks

    def layout(self, observed: np.ndarray) -> RowPlan | PrecisionPlan:
        """The elimination where these variables are observed, kept with the model."""
        asked = observed.copy()
        asked[self.target_nodes] = True
        key = (observed.tobytes(), asked.tobytes())

        def make() -> RowPlan | PrecisionPlan:
            kept = self.system.find_needed(asked)
            if isinstance(self.system, LinearSystem):
                return RowPlan.of(self.system, kept, observed)
            return PrecisionPlan.of(self.system, kept, observed)

        found = self.keep(key, make)
        check_memory(
            found.plan.cost.bytes, "Gaussian elimination", "observe more, or ask for fewer targets",
            self.engine.memory_limit,
        )  # fmt: skip
        return found

    def keep(self, key: Hashable, make: Callable[[], RowPlan | PrecisionPlan]) -> RowPlan | PrecisionPlan:
        """The elimination of this key, made if it is not kept."""
        if self.kept is None:
            return recall(self.model, "gaussian plans", key, make, MAX_PLANS)
        found = self.kept.get(key) or make()
        if len(self.kept) * len(self.system.nodes) < KEPT_NUMBERS:
            self.kept[key] = found
        return found

    def run(self, model: Network, query: Query) -> GaussianAnswers:
        findings = query.findings
        if Question.EXPECTED in query.questions and self.kept is None:
            return self.for_learning.run(model, query)
        if query.budget is not None:
            check_budget(self.cost, query.budget)
        check_memory(
            16 * len(self.targets) * findings.num_rows,
            f"the means of {number_of(len(self.targets), 'variable')} for {number_of(findings.num_rows, 'row')}",
            f"ask for fewer targets, or {advise_fewer(findings.num_rows)}",
            self.engine.memory_limit,
        )
        system = self.system if model is self.model else self.system_of(model)
        if (
            query.questions == DENSITIES
            and isinstance(system, LinearSystem)
            and not findings.is_single
            and is_dense(system)
        ):
            logs = self.log_densities(system, findings)
            return DensityAnswers(system, findings, logs, lambda: self.solve_all(system, findings))
        groups = self.solve_all(system, findings)
        return GaussianAnswers(system.names, system.numbers, system.means, system.scales, findings, groups)

    def solve_all(self, system: System, findings: Findings) -> tuple[Group, ...]:
        """The eliminations of all patterns of holes."""
        return tuple(self.solve(system, rows, names, findings) for names, rows in patterns(findings))

    def log_densities(self, system: LinearSystem, findings: Findings) -> np.ndarray:
        """(row,): log p(evidence), by an elimination where many rows have the same holes, else by least squares."""
        values = np.full((findings.num_rows, len(system.names)), np.nan)
        for name in findings.names:
            values[:, system.numbers[name]] = findings.reals[name]
        known = ~np.isnan(values)
        first, pattern = number_patterns(known)
        num_free = len(system.names) - known[first].sum(axis=1)
        by_row = are_few(np.bincount(pattern, minlength=len(first)), num_free, len(system.names))[pattern]
        rows, logs = np.flatnonzero(by_row), np.empty(findings.num_rows)
        logs[rows] = DenseRows.of(system).log_densities(values, rows, np.zeros(len(rows), np.int64))
        rest = np.flatnonzero(~by_row)
        for marks, places in group_by_pattern(known[rest]):
            names = tuple(compress(system.names, marks))
            logs[rest[places]] = self.solve(system, rest[places], names, findings).log_evidence
        return logs

    def system_of(self, model: Network) -> System:
        """The equations of another model of the same structure."""
        other = system_for(model)
        same = (
            type(other) is type(self.system)
            and other.names == self.system.names
            and np.array_equal(other.nodes, self.system.nodes)
        )
        if not same or not np.array_equal(other.starts, self.system.starts):
            raise InvalidModel("the plan was compiled for another structure; compile one for this model")
        return other

    def solve(self, system: Any, rows: np.ndarray, names: Sequence[str], findings: Findings) -> Group:
        """Eliminate for the rows in which just these variables are observed, block by block."""
        layout: Any = self.layout(self.mark(names))
        plan = layout.plan
        values = np.empty((len(names), len(rows)))
        for name in names:
            values[-1 - plan.positions[system.numbers[name]]] = findings.reals[name][rows]
        is_asked = np.zeros(len(plan.order) + len(plan.observed), np.bool_)  # observed variables have negative steps
        is_asked[plan.positions[self.target_nodes]] = True
        steps = np.flatnonzero(is_asked[: len(plan.order)])
        size = max(1, NUMBERS_AT_ONCE // max(1, len(plan.order)))
        means, logs = np.empty((len(steps), len(rows))), np.empty(len(rows))
        for start in range(0, max(1, len(rows)), size):
            block = slice(start, start + size)
            solution = layout.run(system, np.ascontiguousarray(values[:, block]), self.engine.tolerance)
            means[:, block] = solution.means[steps] if len(steps) else 0.0
            logs[block] = np.where(solution.clashes, -np.inf, solution.log_values)
        if not names and isinstance(layout, RowPlan):
            logs[:] = 0.0
        elif len(solution.relations):
            logs += log_free_density(layout, system, self.engine.tolerance)
        return Group(rows, values, solution, means, steps, logs)


def make_row_query(
    engine: GaussianElimination, model: Network, names: tuple[str, ...], targets: tuple[str, ...] | None
) -> RowQuery | None:
    """What rows with these columns share; None for other models and names, many variables, and exact relations."""
    known = model.variables.names
    if not isinstance(model, BayesianNetwork) or not is_gaussian(model) or not {*names, *(targets or ())} <= {*known}:
        return None
    plan = engine.compile(model, names, known if targets is None else targets)
    system, layout = plan.system, plan.layout(plan.mark(names))
    if not isinstance(system, LinearSystem) or not isinstance(layout, RowPlan):
        return None
    if system.is_exact.any() or len(layout.rows) > MANY_VARIABLES:
        return None
    return RowQuery.of(tuple(model.variables), names, plan.targets, layout, layout.numbers_of(system))


def system_for(model: Network) -> System:
    """The equations of a directed model, or the precision matrix of an undirected one, made once."""
    derived = model.derived
    if "gaussian system" not in derived:
        if isinstance(model, FactorProduct) and is_gaussian(model):
            derived["gaussian system"] = PrecisionSystem.of(model)
        else:
            derived["gaussian system"] = LinearSystem.of(model)
    found: System = derived["gaussian system"]
    return found


def patterns(findings: Findings) -> list[tuple[tuple[str, ...], np.ndarray]]:
    """The names that are observed, and the rows in which just these are."""
    if findings.is_single:
        return [(findings.names, np.arange(1))]
    names = findings.names
    known = np.stack([~np.isnan(findings.reals[name]) for name in names], axis=1) if names else None
    if known is None:
        return [((), np.arange(findings.num_rows))]
    return [
        (tuple(name for name, seen in zip(names, pattern, strict=True) if seen), rows)
        for pattern, rows in group_by_pattern(known)
    ]


ONLY_ROW = np.zeros(1, np.int64)
NUMBERS = frozenset({float, int, np.float64})
LARGE = 1e150  # deviations in the units inside, whose squares may be too large for a double
MANY_NUMBERS, MANY_SLOPES = 2**8, 2**15  # of a sum, and of all sums
STEEP = 2.0**10  # in the units inside, slopes beside the deviation of a target: rounding of sums then costs digits


class Lines(NamedTuple):
    """E(target | evidence) = center + slopes · (evidence - its prior means), with a variance that does not vary."""

    centers: list[float]  # (target,)
    slopes: list[list[float]]  # (target, evidence)
    variances: list[float]


@dataclass(frozen=True, eq=False)
class RowQuery:
    """All that rows share: the elimination, the numbers of the model in its order, and where the evidence goes.

    There are no deterministic relations, so that every row of finite numbers is possible.
    """

    variables: tuple[Variable, ...]
    targets: tuple[str, ...]
    layout: RowPlan
    numbers: RowNumbers
    places: np.ndarray  # of the evidence, in its order, among the observed variables
    hidden: Mapping[str, int]  # the targets that are not observed, by their position in `steps`
    steps: np.ndarray  # of these targets

    @classmethod
    def of(
        cls, variables: tuple[Variable, ...], names: tuple[str, ...], targets: tuple[str, ...], layout: RowPlan,
        numbers: RowNumbers,
    ) -> RowQuery:  # fmt: skip
        known, positions = numbers.system.numbers, layout.plan.positions
        places = -1 - positions[[known[name] for name in names]]
        asked = {name: int(step) for name in targets if (step := positions[known[name]]) >= 0}
        steps = np.unique(np.array(list(asked.values()), np.int64))
        hidden = dict(zip(asked, np.searchsorted(steps, list(asked.values())).tolist(), strict=True))
        return cls(variables, targets, layout, numbers, places, hidden, steps)

    @cached_property
    def limits(self) -> list[tuple[float, float]]:
        """(evidence,): the prior means of the observed variables, and how far numbers may be from them."""
        means, scales = self.numbers.means[self.places, 0], self.numbers.scales[self.places, 0]
        return list(zip(means.tolist(), (LARGE * scales).tolist(), strict=True))

    @cached_property
    def lines(self) -> Lines | None:
        """The targets as functions of the evidence, by an elimination for a unit of each number.

        None for many, and where terms of a sum are large and cancel: an elimination of the numbers is more accurate.
        """
        size, system, nodes = len(self.places), self.numbers.system, self.layout.plan.order[self.steps]
        if size > MANY_NUMBERS or size * len(self.layout.plan.order) > MANY_SLOPES:
            return None
        units = np.eye(size, max(1, size))  # one row without evidence
        solution, scales = self.layout.eliminate(self.numbers, units, units, 0.0), system.scales[nodes]
        inner, variances = solution.means[self.steps, :size], solution.variances[self.steps]
        if (np.abs(inner).sum(axis=1) > STEEP * np.sqrt(variances)).any():
            return None
        slopes = (inner * scales[:, None] / self.numbers.scales[:, 0])[:, self.places]
        return Lines(system.means[nodes].tolist(), slopes.tolist(), (variances * scales**2).tolist())

    def run(self, evidence: Mapping[str, float], tolerance: float) -> GaussianRowAnswers | None:
        """The answers; None for values that are not finite, or too large."""
        try:
            values = [float(value) for value in evidence.values()]
        except OverflowError:  # an integer that no float holds
            return None
        deviations = []
        for value, (mean, largest) in zip(values, self.limits, strict=True):
            if not -largest <= value - mean <= largest:  # NaN is not
                return None
            deviations.append(value - mean)
        return GaussianRowAnswers(self, tuple(evidence), values, deviations, tolerance)


NO_TABLES = np.empty((1, 0))


class GaussianRowAnswers(GaussianAnswers, RowAnswers):
    """The answers for one row; they have no tables."""

    query: RowQuery
    observed: tuple[str, ...]
    row: list[float]  # (evidence,)
    deviations: list[float]  # (evidence,): from the prior means
    tolerance: float

    def __init__(
        self, query: RowQuery, observed: tuple[str, ...], row: list[float], deviations: list[float], tolerance: float
    ) -> None:
        system = query.numbers.system
        self.__dict__.update(
            query=query, observed=observed, row=row, deviations=deviations, tolerance=tolerance, targets=query.targets,
            names=system.names, numbers=system.numbers, centers=system.means, scales=system.scales,
        )  # fmt: skip

    @property
    def checks_itself(self) -> bool:
        """Always: every row is possible."""
        return True

    @property
    def views(self) -> Mapping[str, tuple[Scope, slice]]:
        return {}

    @property
    def marginals(self) -> np.ndarray:
        return NO_TABLES

    @cached_property
    def findings(self) -> Findings:
        return Findings(
            self.query.variables, None, {name: np.array([x]) for name, x in zip(self.observed, self.row, strict=True)}
        )

    @cached_property
    def groups(self) -> tuple[Group, ...]:
        """The elimination given these numbers."""
        query, values = self.query, np.empty((len(self.row), 1))
        values[query.places, 0] = self.row
        solution = query.layout.run(query.numbers.system, values, self.tolerance, query.numbers)
        logs = solution.log_values if len(self.row) else np.zeros(1)
        return (Group(ONLY_ROW, values, solution, solution.means[query.steps], query.steps, logs),)

    def moments(self, name: str) -> tuple[float, float]:
        lines, at = self.query.lines, self.query.hidden.get(name)
        if lines is None or at is None:
            return super().moments(name)
        return lines.centers[at] + sum(map(mul, lines.slopes[at], self.deviations)), lines.variances[at]


def are_numbers(evidence: Mapping[Any, Any]) -> bool:
    return NUMBERS.issuperset(map(type, evidence.values()))
