"""`StrongJunctionTree`: exact answers in networks with real-valued variables, by a strong elimination order.

For conditional linear Gaussian networks: real-valued variables with real-valued parents and parents with states, and
variables with states whose parents have states, or are real-valued and observed. Real-valued variables are eliminated
first, for all configurations of the states at once; what is left is a product of tables over the variables with states.
Every answer is exact: that of a real-valued variable is the whole mixture. Cost: the configurations that real-valued
variables depend on together. Each question is planned for the part of the network that it needs; one that is too large
is refused with its size, and the others are answered (Lauritzen and Jensen 2001; Cowell 2005). Each pattern of observed
variables takes a run of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from juncture.base.checks import check_number
from juncture.base.options import as_variable_names
from juncture.base.values import few, number_of
from juncture.data.findings import Findings, drop_uninformative, drop_unobserved, is_hole
from juncture.data.missingness import group_by_pattern
from juncture.errors import ImpossibleEvidence, TooLarge, Unsupported
from juncture.inference.engines.contract import (
    ALL_QUESTIONS,
    DENSITIES,
    EXACT,
    Answers,
    Cost,
    Diagnostics,
    Engine,
    EnginePlan,
    Query,
    Question,
    check_budget,
)
from juncture.inference.engines.lowering import has_real_variables
from juncture.inference.engines.posterior_mixtures import Components, MixedJoint
from juncture.inference.exact.hybrid.clique_tables import align_rows
from juncture.inference.exact.hybrid.equations import of_case
from juncture.inference.exact.hybrid.expected import LearningPlans, expected_statistics
from juncture.inference.exact.hybrid.modes import best_configurations
from juncture.inference.exact.hybrid.plan import Planner
from juncture.inference.exact.hybrid.run import AlikeRows, Run, draw_rows
from juncture.inference.exact.hybrid.scattered_rows import configurations_of
from juncture.inference.exact.junction_tree.engine import JunctionTree
from juncture.networks.bayesian_network import BayesianNetwork, Network
from juncture.runtime.memory import advise_fewer, check_memory
from juncture.variables import Scope

if TYPE_CHECKING:
    from juncture.inference.engines.posterior_mixtures import RealMarginal


@dataclass(frozen=True)
class StrongJunctionTree(Engine):
    """Exact inference in networks of real variables and variables with states, by a strong junction tree.

    Parameters
    ----------
    tolerance
        How far, relative to the size of its terms, evidence may be off a relation without noise before it counts as
        impossible.
    memory_limit
        How many bytes a run may take; by default half of what is free.
    """

    tolerance: float = 1e-9
    memory_limit: int | None = None
    name: ClassVar[str] = "strong-junction-tree"
    answers: ClassVar[frozenset[Question]] = ALL_QUESTIONS

    def __post_init__(self) -> None:
        check_number(self.tolerance, "tolerance", least=0)

    def compile(self, model: Network, observed: Sequence[str] = (), targets: Sequence[str] = ()) -> Any:
        if not has_real_variables(model):
            return JunctionTree(self.memory_limit).compile(model, observed, targets)
        if not isinstance(model, BayesianNetwork):
            raise Unsupported(f"a strong junction tree takes a network; got {type(model).__name__}")
        keep, seen = as_variable_names(targets, "targets"), as_variable_names(observed, "observed")
        return StrongPlan(self, model, tuple(seen), tuple(keep))


@dataclass(frozen=True, eq=False)
class StrongPlan(EnginePlan):
    """A plan for the targets, given values of the observed variables."""

    engine: StrongJunctionTree
    model: BayesianNetwork
    observed: tuple[str, ...]
    targets: tuple[str, ...]

    @property
    def cost(self) -> Cost:
        """What a run takes where the variables named are observed, with all targets together or one by one."""
        planner = Planner(self.model, frozenset(self.observed), frozenset(self.observed), self.engine.memory_limit)
        return planner.cost(self.targets)

    @cached_property
    def plans(self) -> LearningPlans:
        """What all steps of learning share."""
        return LearningPlans()

    def run(self, model: BayesianNetwork, query: Query) -> HybridAnswers:  # type: ignore[override]  # checked by `compile`
        findings = query.findings
        if query.budget is not None:
            check_budget(self.cost, query.budget)
        options = self.engine.tolerance, self.engine.memory_limit
        if Question.EXPECTED in query.questions:
            return HybridAnswers(model, findings, self.targets, *options, self.plans)
        answers = HybridAnswers(model, findings, self.targets, *options)
        if query.questions == DENSITIES and not findings.is_single and not findings.likelihoods:
            answers.find_densities()
            return answers
        for pattern in answers.patterns[:1]:
            pattern.planner.common(self.targets)  # which refuses conditionals that it cannot take
        return answers


@dataclass(frozen=True, eq=False)
class Pattern:
    """Rows with the same variables observed, and the runs of the parts that were asked for."""

    model: BayesianNetwork
    indices: np.ndarray
    rows: AlikeRows
    targets: tuple[str, ...]
    tolerance: float
    memory_limit: int | None
    runs: dict[Any, Run] = field(default_factory=dict)

    @cached_property
    def planner(self) -> Planner:
        found = frozenset(self.rows.findings.names)
        return Planner(self.model, self.rows.observed, found, self.memory_limit)

    @cached_property
    def common(self) -> Run | None:
        """One run for all targets, where it is small."""
        part = self.planner.common(self.targets)
        return None if part is None else Run(self.model, part, self.rows, self.tolerance)

    @cached_property
    def log_evidence(self) -> np.ndarray:
        if not self.rows.findings.names:
            return np.zeros(self.rows.num_rows)  # to the last digit
        run = self.run((), whole=True) if self.common is None else self.common
        return run.log_total

    def run_for(self, names: tuple[str, ...]) -> Run:
        """A run that has the joint of these variables in a clique."""
        common = self.common
        if common is not None and set(names) <= set(self.targets):
            free = (name for name in names if name not in self.rows.observed)
            if common.part.tree.holds(common.part.joint_states(free)):
                return common
        return self.run(names, whole=False)

    def run(self, names: tuple[str, ...], *, whole: bool) -> Run:
        part = self.planner.checked(names, whole=whole)
        return self.runs.setdefault(id(part), Run(self.model, part, self.rows, self.tolerance))


@dataclass(frozen=True, eq=False)
class HybridAnswers(Answers):
    """The network, the findings, and what was asked for."""

    model: BayesianNetwork
    findings: Findings
    targets: tuple[str, ...]
    tolerance: float
    memory_limit: int | None
    plans: LearningPlans = field(default_factory=LearningPlans)  # shared by all steps of learning
    diagnostics: ClassVar[Diagnostics] = EXACT

    @cached_property
    def patterns(self) -> list[Pattern]:
        """The rows grouped by which of their variables are observed."""
        return [
            Pattern(
                self.model, indices, AlikeRows.of(self.model, part), self.targets, self.tolerance, self.memory_limit
            )
            for indices, part in split_rows(self.findings)
        ]

    @cached_property
    def log_evidence(self) -> np.ndarray:
        values = np.empty(self.findings.num_rows)
        for pattern in self.patterns:
            values[pattern.indices] = pattern.log_evidence
        return values

    def find_densities(self) -> None:
        """Find `log_evidence`: of rows that few others share their holes with by a sum over all configurations."""
        found = configurations_of(self.model)
        if found is None:
            return
        rows = found.find_scattered(self.findings)
        rest = np.setdiff1d(np.arange(self.findings.num_rows), rows)
        values = np.empty(self.findings.num_rows)
        values[rows] = found.log_densities(self.findings, rows)
        values[rest] = replace(self, findings=take_findings(self.findings, rest)).log_evidence
        self.__dict__["log_evidence"] = values

    def marginal(self, names: tuple[str, ...]) -> np.ndarray:
        scope = Scope(self.model.variable(name) for name in names)
        values = np.empty((self.findings.num_rows, *scope.shape))
        for pattern in self.patterns:
            free = tuple(name for name in names if name not in pattern.rows.observed)
            table = pattern.run_for(names).weights(free)
            values[pattern.indices] = with_observed(table, scope, pattern)
            self._check_possible(pattern, names)
        if self.is_impossible is not None:
            values[self.is_impossible] = np.nan
        return values

    @property
    def checks_itself(self) -> bool:
        """Whether p(evidence) is too large to compute: each answer then checks the findings that it depends on."""
        return self.is_impossible is None

    @cached_property
    def is_impossible(self) -> np.ndarray | None:
        """(row,): where the evidence has probability zero; None where that is too large to compute."""
        try:
            return np.isneginf(self.log_evidence)
        except TooLarge:
            return None

    def _check_possible(self, pattern: Pattern, names: tuple[str, ...]) -> None:
        """Raise for a single row whose evidence contradicts itself in the part of these variables."""
        if self.findings.is_single and np.isneginf(pattern.run_for(names).log_total[0]):
            raise ImpossibleEvidence(f"the evidence that {few(names)} depends on has probability zero")

    def distribution(self, names: tuple[str, ...], is_single: bool) -> RealMarginal | MixedJoint:
        """The exact mixture of a real-valued variable, or the joint of real-valued variables and others."""
        found = self._components(names)
        if len(names) > 1:
            return MixedJoint(Scope(self.model.variable(name) for name in names), found, is_single)
        from juncture.inference.engines.posterior_mixtures import RealMarginal

        arrays = found.weights, found.means[..., 0], found.covariances[..., 0, 0]
        return RealMarginal(names[0], *(each[0] if is_single else each for each in arrays))

    def _components(self, names: tuple[str, ...]) -> Components:
        parts = [(pattern, pattern.run_for(names)) for pattern in self.patterns]
        sizes = [run.part.tree.size(run.part.joint_states(self._free(pattern, names))) for pattern, run in parts]
        num_real = sum(self.model.variable(name).is_real for name in names)
        count = self.findings.num_rows * max(sizes, default=1.0)
        what = f"the mixtures of {few(names)} for {number_of(self.findings.num_rows, 'row')}"
        advice = advise_fewer(self.findings.num_rows)
        check_memory(8 * 4 * count * (1 + num_real + num_real**2), what, advice, self.memory_limit)
        for pattern, _ in parts:
            self._check_possible(pattern, names)
        found = [(pattern.indices, joint_components(run, names)) for pattern, run in parts]
        joined = Components.join(found, self.findings.num_rows)
        if self.is_impossible is not None:
            joined.weights[self.is_impossible] = np.nan
        return joined

    def _free(self, pattern: Pattern, names: Sequence[str]) -> list[str]:
        return [name for name in names if name not in pattern.rows.observed]

    def best(self, targets: tuple[str, ...], count: int) -> tuple[np.ndarray, np.ndarray]:
        return best_configurations(self.patterns, targets, count, self.findings.num_rows)

    def sample(self, num_rows: int, rng: np.random.Generator) -> dict[str, np.ndarray]:
        return draw_rows(self.patterns[0].run((), whole=True), num_rows, rng, self.memory_limit)

    def expected(self, requests: Sequence[Any], weights: np.ndarray) -> list[list[np.ndarray]]:
        """Expected counts of tables; weight, mean and scatter of (real parents, child) of real-valued children."""
        pieces = self.plans.pieces(self.model, self.findings, self.tolerance, self.memory_limit)
        found, log_evidence = expected_statistics(pieces, requests, weights, self.findings.num_rows)
        impossible = np.isneginf(log_evidence) & (weights > 0)
        if impossible.any():
            return self.expected(requests, np.where(impossible, 0.0, weights))
        self.__dict__["log_evidence"] = log_evidence
        return found


def split_rows(findings: Findings) -> Iterator[tuple[np.ndarray, Findings]]:
    """Rows with the same variables observed: their indices, and their findings."""
    if findings.is_single:
        yield np.zeros(1, np.int64), findings
        return
    columns = {**findings.codes, **findings.reals}
    known = (
        np.stack([~is_hole(column) for column in columns.values()], axis=1)
        if columns
        else np.zeros((findings.num_rows, 0), bool)
    )
    for _, rows in group_by_pattern(known):
        yield rows, take_findings(findings, rows)


def take_findings(findings: Findings, rows: np.ndarray) -> Findings:
    """The findings of some rows, without what says nothing in them."""
    codes, reals, likelihoods = (
        {name: array[rows] for name, array in part.items()}
        for part in (findings.codes, findings.reals, findings.likelihoods)
    )
    parts = drop_unobserved(codes), drop_unobserved(reals), drop_uninformative(likelihoods)
    return Findings(findings.variables, *parts, num_rows=len(rows))


def with_observed(table: np.ndarray, scope: Scope, pattern: Pattern) -> np.ndarray:
    """A joint of the unobserved variables as one of all: observed ones are in their state with certainty."""
    axes = [1 if variable.name in pattern.rows.observed else variable.num_states for variable in scope]
    table = table.reshape(len(table), *axes)
    for at, variable in enumerate(scope):
        if variable.name in pattern.rows.observed:
            seen = np.eye(variable.num_states)[pattern.rows.codes[variable.name]]
            ones = [1] * len(scope)
            ones[at] = variable.num_states
            table = table * seen.reshape(len(table), *ones)
    return table


def joint_components(run: Run, names: tuple[str, ...]) -> Components:
    """The weight, the states, the means and the covariances of every configuration, in each row."""
    free = [name for name in names if name not in run.rows.observed]
    states = run.part.joint_states(free)
    weights = run.weights(states)
    shape = weights.shape
    weights = weights.reshape(shape[0], -1)
    real = [name for name in names if run.model.variable(name).is_real]
    discrete = [name for name in names if not run.model.variable(name).is_real]
    means = np.stack([*(mean_of(run, name, states, shape) for name in real), np.empty(weights.shape)], axis=-1)[
        ..., :-1
    ]
    covariances = np.zeros((*weights.shape, len(real), len(real)))
    for one, first in enumerate(real):
        for other, second in enumerate(real[: one + 1]):
            covariance = covariance_of(run, first, second, states, shape)
            covariances[..., one, other] = covariances[..., other, one] = covariance
    codes = np.zeros((*weights.shape, len(discrete)), np.int64)
    index = np.unravel_index(np.arange(weights.shape[1]), shape[1:]) if states else ()
    for at, name in enumerate(discrete):
        seen = name in run.rows.observed
        codes[..., at] = run.rows.codes[name][:, None] if seen else index[states.index(name)]
    return Components(weights, codes, means, covariances)


def mean_of(run: Run, name: str, states: tuple[str, ...], shape: tuple[int, ...]) -> np.ndarray:
    """The mean of a real-valued variable, (row, configuration)."""
    if name in run.rows.reals:
        return np.repeat(run.rows.reals[name][:, None], int(np.prod(shape[1:])), axis=1)
    solved, case = run.solved_of(name)
    means = solved.mean(solved.form(name), run.rows.reals, case)
    return np.broadcast_to(align_rows(means, solved.group.states, states), shape).reshape(shape[0], -1)


def covariance_of(
    run: Run, one: str, other: str, states: tuple[str, ...], shape: tuple[int, ...]
) -> np.ndarray | float:
    """The covariance of two real-valued variables given the configuration, (row, configuration)."""
    group_of = run.part.group_of
    if one in run.rows.reals or other in run.rows.reals or group_of[one] is not group_of[other]:
        return 0.0
    solved, case = run.solved_of(one)
    values = of_case(solved.covariance(solved.form(one), solved.form(other)), case)
    return np.broadcast_to(align_rows(values, solved.group.states, states), shape).reshape(shape[0], -1)
