"""Variable elimination: one variable after the other is summed, or maximised, out of a product of tables.

`VariableElimination` is the engine. Tables are first reduced by the evidence; every query and every distinct row of
evidence takes one pass. Every factor is put into the bucket of the first of its nodes in the order. The product of a
bucket, its node summed out, goes to the bucket of the next of its nodes (Zhang and Poole 1994; Dechter 1999, also for
maximising after summing). Tables hold logarithms, so nothing underflows. Cost: the tables that eliminations make;
`compile` lists them before a run, step by step.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, TypeAlias, TypeVar

import numpy as np

from juncture.base.options import as_names
from juncture.data.findings import Findings
from juncture.data.tables.distinct import distinct_rows
from juncture.errors import InvalidData, TooLarge
from juncture.factors.conditional import draw_codes
from juncture.inference.engines.contract import (
    ALL_QUESTIONS,
    EXACT,
    Answers,
    Cost,
    Diagnostics,
    Engine,
    EnginePlan,
    Query,
    Question,
    Request,
    check_budget,
    expected_from_marginals,
)
from juncture.inference.engines.lowering import HIDDEN, check_factors, determined_nodes, lower
from juncture.inference.engines.relevance import relevant_part
from juncture.inference.exact.best_states import Allowed, Solver, best_states, first_of_ties
from juncture.inference.exact.clique_search import (
    BYTES_PER_CELL,
    MAX_CORE,
    OPERATIONS_PER_CELL,
    best_order,
    order_by_scopes,
)
from juncture.inference.exact.log_tables import LogFactor, multiply, normalize
from juncture.kernels.elimination_orders.greedy_orders import moral_graph
from juncture.networks.marginalization import as_order
from juncture.numerics import stable
from juncture.runtime.memory import check_memory
from juncture.variables import Scope

if TYPE_CHECKING:
    from juncture.networks.bayesian_network import Network


@dataclass(frozen=True)
class VariableElimination(Engine):
    """Bucket elimination: sum out one variable after another.

    Parameters
    ----------
    order
        The order of elimination, which names all variables; by default an order with small tables.
    memory_limit
        In bytes; by default a share of the free memory. A question that needs more raises `TooLarge`.
    """

    order: Sequence[str] | None = None
    memory_limit: int | None = None
    name: ClassVar[str] = "variable-elimination"
    answers: ClassVar[frozenset[Question]] = ALL_QUESTIONS

    def __post_init__(self) -> None:
        if self.order is not None:
            object.__setattr__(self, "order", as_order(self.order))

    def compile(self, model: Network, observed: Sequence[str] = (), targets: Sequence[str] = ()) -> EliminationPlan:
        """The steps to the joint posterior of the targets, given that some variables are observed.

        >>> from juncture.formats.bundled import example
        >>> print(VariableElimination().compile(example("fuel"), observed=["G"], targets=["B"]))
        sum F out of (B, F): 4 entries
        leaves (B): 2 entries
        """
        check_factors(model, "variable elimination")
        self.check_order(model)
        named = {"observed": observed, "targets": targets}
        gone, keep = ([model.variable(name).name for name in as_names(names, what)] for what, names in named.items())
        return EliminationPlan(self, relevant_part(model, {*gone, *keep}), tuple(gone), tuple(keep))

    def plan(
        self, scope: Scope, scopes: Sequence[Sequence[int]], keep: frozenset[int], maximized: frozenset[int]
    ) -> Elimination:
        """Return the steps that sum out all variables of the scope but `keep`, from factors over `scopes`."""
        order = None if self.order is None else nodes_in_order(self.order, scope, keep)
        return plan_elimination(
            scopes, scope.shape, keep=keep, maximized=maximized, memory_limit=self.memory_limit, order=order
        )

    def check_order(self, model: Network) -> None:
        for name in self.order or ():
            model.variable(name)  # an unknown name is refused here


@dataclass(frozen=True, eq=False)
class EliminationPlan(EnginePlan):
    """The steps to the joint posterior of the targets, by name; `print` shows them."""

    engine: VariableElimination
    part: Any  # of the model: what the targets and the observed variables need
    observed: tuple[str, ...]
    targets: tuple[str, ...]

    @cached_property
    def variables(self) -> Scope:
        """The variables of the part, then hidden ones."""
        return lower(self.part).scope

    @cached_property
    def elimination(self) -> Elimination:
        lowered = lower(self.part)
        nodes = {name: node for node, name in enumerate(lowered.scope.names)}
        scopes = [*(factor.scope.names for factor in lowered.factors), *([name] for name in self.targets)]
        free = [[nodes[name] for name in names if name not in self.observed] for names in scopes]
        kept = frozenset(nodes[name] for name in (*self.observed, *self.targets))
        return self.engine.plan(lowered.scope, free, kept, frozenset())

    @property
    def cost(self) -> Cost:
        return self.elimination.cost

    def run(self, model: Network, query: Query) -> EliminationAnswers:
        if query.budget is not None:
            check_budget(self.cost, query.budget)
        return EliminationAnswers(relevant_part(model, self.part.variables.names), query.findings, self.engine.plan)

    def __repr__(self) -> str:
        return f"EliminationPlan({len(self.variables)} variables; {self.cost})"

    def __str__(self) -> str:
        return self.elimination.describe([name.removeprefix(HIDDEN) for name in self.variables.names])


def nodes_in_order(order: Sequence[str], scope: Scope, keep: frozenset[int]) -> list[int]:
    """The nodes of the given names, after the hidden nodes, which a user cannot name."""
    nodes = {name: node for node, name in enumerate(scope.names)}
    hidden = [name for name in nodes if name.startswith(HIDDEN)]
    named = set(order).union(hidden)
    for name, node in nodes.items():
        if name not in named and node not in keep:
            raise InvalidData(f"the elimination order leaves out {name!r}, which is neither observed nor a target")
    return [nodes[name] for name in (*hidden, *order) if name in nodes]


class Bucket(NamedTuple):
    """A node, the other nodes of its bucket, and the bucket's product over these and, last, the node."""

    node: int
    nodes: tuple[int, ...]
    logs: np.ndarray


class EliminationStep(NamedTuple):
    """One elimination: the node, the other nodes of its bucket, and the shape of the bucket, the node last."""

    node: int
    nodes: tuple[int, ...]
    shape: tuple[int, ...]

    @property
    def cells(self) -> int:
        return math.prod(self.shape)


@dataclass(frozen=True)
class Elimination:
    """The steps in order, nodes to be `maximized` after all that are summed, and the nodes that are left over."""

    steps: tuple[EliminationStep, ...]
    maximized: frozenset[int]
    left: Mapping[int, int]  # node → number of states

    @property
    def cells(self) -> int:
        """The number of entries of all tables together."""
        return sum(step.cells for step in self.steps) + math.prod(self.left.values())

    @property
    def cost(self) -> Cost:
        tables = [*(step.shape for step in self.steps), tuple(self.left.values())]
        largest, cells = float(max(math.prod(shape) for shape in tables)), float(self.cells)
        width = max(len(shape) for shape in tables) - 1
        return Cost(width, largest, BYTES_PER_CELL * cells, OPERATIONS_PER_CELL * cells)

    def run(
        self, factors: Iterable[LogFactor], remembered: Collection[int] | None = None
    ) -> tuple[LogFactor, list[Bucket]]:
        """What is left, and the buckets of the `remembered` nodes (by default the maximised ones), last first."""
        left, buckets = self.reduce(factors, self.maximized if remembered is None else remembered)
        return multiply(left), buckets

    def reduce(
        self, factors: Iterable[LogFactor], remembered: Collection[int] = ()
    ) -> tuple[list[LogFactor], list[Bucket]]:
        """The factors that are left, not multiplied, and the buckets of the `remembered` nodes, last first."""
        buckets: list[Bucket] = []

        def eliminate(index: int, bucket: Sequence[LogFactor]) -> list[LogFactor]:
            step = self.steps[index]
            (*rest, _), logs = multiply(bucket, last=step.node)
            if step.node in remembered:
                buckets.append(Bucket(step.node, tuple(rest), logs))
            out = logs.max(axis=-1) if step.node in self.maximized else stable.log_sum_exp(logs, axis=-1)
            return [LogFactor(tuple(rest), out)]

        ones = [LogFactor((step.node,), np.zeros(step.shape[-1])) for step in self.steps]
        left = eliminate_in_order([step.node for step in self.steps], [*ones, *factors], eliminate)
        return left, buckets[::-1]

    def split(self) -> tuple[Elimination, Elimination]:
        """The steps that sum, and the steps that maximise what these leave."""
        summed = tuple(step for step in self.steps if step.node not in self.maximized)
        both = summed, self.steps[len(summed) :]
        first, second = (Elimination(steps, self.maximized, self.left) for steps in both)
        return first, second

    def describe(self, names: Sequence[str]) -> str:
        """A line for each step: what goes, out of a table over what, of how many entries."""
        lines = []
        for step in self.steps:
            verb = "maximise" if step.node in self.maximized else "sum"
            over = ", ".join(names[node] for node in (*step.nodes, step.node))
            lines.append(f"{verb} {names[step.node]} out of ({over}): {step.cells:,} entries")
        left = ", ".join(names[node] for node in self.left)
        return "\n".join([*lines, f"leaves ({left}): {math.prod(self.left.values()):,} entries"])

    def __str__(self) -> str:
        return self.describe([str(node) for node in range(1 + max([*self.left, *(s.node for s in self.steps)]))])


@dataclass(frozen=True, eq=False)
class ReducedModel:
    """The variables (a model's, then hidden ones), the codes of those observed, and tables over the others."""

    scope: Scope
    codes: dict[int, int]
    factors: tuple[LogFactor, ...]

    @classmethod
    def of(cls, model: Network, findings: Findings) -> ReducedModel:
        """The model given the findings of a single row."""
        found = {name: int(column[0]) for name, column in findings.codes.items()}
        lowered = lower(model, {name: model.variable(name).labels[code] for name, code in found.items()})
        nodes = {name: node for node, name in enumerate(lowered.scope.names)}
        codes = {nodes[name]: code for name, code in found.items()}
        tables = [
            LogFactor(tuple(nodes[name] for name in factor.scope.names), factor.log_values)
            for factor in lowered.factors
        ]
        soft = [LogFactor((nodes[name],), stable.log(table[0])) for name, table in findings.likelihoods.items()]
        return cls(lowered.scope, codes, tuple(reduce_factor(factor, codes) for factor in (*tables, *soft)))

    @cached_property
    def nodes(self) -> dict[str, int]:
        return {name: node for node, name in enumerate(self.scope.names)}

    @property
    def observed(self) -> frozenset[int]:
        return frozenset(self.codes)

    @property
    def scopes(self) -> list[tuple[int, ...]]:
        return [factor.nodes for factor in self.factors]

    def maximized(self, targets: Collection[int]) -> frozenset[int]:
        """The nodes to maximise over: the targets, and the nodes that all others determine if all others are known."""
        every = determined_nodes(self.scope.names).union(targets)
        return every if len(every | self.observed) == len(self.scope) else frozenset(targets)

    def free(self, names: tuple[str, ...]) -> list[int]:
        """The nodes of these names but for those observed, in this order."""
        return [self.nodes[name] for name in names if self.nodes[name] not in self.codes]


def reduce_factor(factor: LogFactor, codes: Mapping[int, int]) -> LogFactor:
    """The factor reduced to these codes of some nodes, over the other nodes."""
    index: tuple[Any, ...] = tuple(codes.get(node, slice(None)) for node in factor.nodes)
    return LogFactor(tuple(node for node in factor.nodes if node not in codes), np.asarray(factor.logs[index]))


def distinct_findings(findings: Findings) -> tuple[list[Findings], np.ndarray]:
    """Each different row of findings once, and for each row which of them it is, (row,)."""
    columns = [column[:, np.newaxis] for column in findings.codes.values()]
    table = np.hstack([np.zeros((findings.num_rows, 1)), *columns, *findings.likelihoods.values()])
    which, first = distinct_rows(table)
    return [findings.row(int(row)) for row in first], which


PlanElimination: TypeAlias = Callable[[Scope, Sequence[Sequence[int]], frozenset[int], frozenset[int]], Elimination]
"""(variables, scopes of the factors, nodes to keep, nodes to maximise) → elimination."""


@dataclass(frozen=True, eq=False)
class EliminationAnswers(Answers):
    """A model, its evidence, and how to plan the elimination of its variables."""

    model: Network
    findings: Findings
    plan: PlanElimination
    diagnostics: ClassVar[Diagnostics] = EXACT

    @cached_property
    def _distinct(self) -> tuple[list[ReducedModel], np.ndarray]:
        """The model reduced by each different row of evidence, and which of these each row has, (row,)."""
        rows, which = distinct_findings(self.findings)
        return [ReducedModel.of(self.model, row) for row in rows], which

    @cached_property
    def log_evidence(self) -> np.ndarray:
        rows, which = self._distinct
        return np.array([float(self._log_joint(row, ())) for row in rows])[which]

    def marginal(self, names: tuple[str, ...]) -> np.ndarray:
        rows, which = self._distinct
        shape = Scope(self.model.variable(name) for name in names).shape
        tables = np.array([self._posterior(row, names, shape) for row in rows]).reshape(-1, *shape)
        return tables[which]

    def _log_joint(self, row: ReducedModel, names: tuple[str, ...]) -> np.ndarray:
        """Log p(names, evidence), one axis per name that was not observed."""
        nodes = row.free(names)
        asked = [LogFactor((node,), np.zeros(row.scope[node].num_states)) for node in nodes]
        scopes = [*row.scopes, *((node,) for node in nodes)]
        elimination = self._plan_once(row.scope, scopes, row.observed.union(nodes))
        left, _ = elimination.run([*row.factors, *asked])
        return left.logs.transpose([left.nodes.index(node) for node in nodes])

    def _plan_once(self, scope: Scope, scopes: Sequence[Sequence[int]], keep: frozenset[int]) -> Elimination:
        """The elimination of all nodes but `keep`, which rows with the same variables observed share."""
        key = tuple(scope.names), tuple(scope.shape), tuple(map(tuple, scopes)), keep
        if key not in self._plans:
            self._plans[key] = self.plan(scope, scopes, keep, frozenset())
        return self._plans[key]

    @cached_property
    def _plans(self) -> dict[Any, Elimination]:
        return {}

    def _posterior(self, row: ReducedModel, names: tuple[str, ...], shape: tuple[int, ...]) -> np.ndarray:
        """p(names | evidence), zero off the states that were observed; NaN if the evidence is impossible."""
        logs = self._log_joint(row, names)
        if logs.max() == -np.inf:
            return np.full(shape, np.nan)
        table = np.zeros(shape)
        index: tuple[Any, ...] = tuple(row.codes.get(row.nodes[name], slice(None)) for name in names)
        table[index] = normalize(logs)
        return table

    def best(self, targets: tuple[str, ...], count: int) -> tuple[np.ndarray, np.ndarray]:
        rows, which = self._distinct
        found = [self._best_of(row, targets, count) for row in rows]
        ranks = max([1, *(len(values) for _, values in found)])
        codes = np.zeros((len(rows), ranks, len(targets)), dtype=np.int64)
        log_joint = np.full((len(rows), ranks), -np.inf)
        for index, (row_codes, values) in enumerate(found):
            codes[index, : len(values)], log_joint[index, : len(values)] = row_codes, values
        return codes[which], log_joint[which]

    def _best_of(self, row: ReducedModel, targets: tuple[str, ...], count: int) -> tuple[np.ndarray, np.ndarray]:
        sizes = {node: row.scope[node].num_states for node in row.free(targets)}
        elimination = self.plan(row.scope, row.scopes, row.observed, row.maximized(sizes))
        solve = marginal_map_solver(elimination, row.factors)
        free_codes, values = best_states(first_of_ties(solve, sizes), sizes, count)
        columns = dict(zip(sizes, free_codes.T, strict=True))
        columns |= {node: np.full(len(values), code) for node, code in row.codes.items()}
        codes = [columns[row.nodes[name]] for name in targets]
        return np.stack(codes, axis=1) if codes else free_codes, values

    def expected(self, requests: Sequence[Request], weights: np.ndarray) -> list[list[np.ndarray]]:
        return expected_from_marginals(self, requests, weights)

    def sample(self, num_rows: int, rng: np.random.Generator) -> dict[str, np.ndarray]:
        (row, *_), _ = self._distinct
        elimination = self.plan(row.scope, row.scopes, row.observed, frozenset())
        _, buckets = elimination.run(row.factors, remembered={step.node for step in elimination.steps})
        codes = draw_back(buckets, num_rows, rng)
        codes |= {node: np.full(num_rows, code) for node, code in row.codes.items()}
        return {name: codes[row.nodes[name]] for name in self.model.variables.names}


def plan_elimination(
    scopes: Sequence[Sequence[int]],
    num_states: Sequence[int] | np.ndarray,
    *,
    keep: frozenset[int] = frozenset(),
    maximized: frozenset[int] = frozenset(),
    memory_limit: float | None = np.inf,
    order: Sequence[int] | None = None,
) -> Elimination:
    """How to eliminate all nodes but `keep`, those `maximized` last; TooLarge beyond the limit of bytes.

    The limit None is half of the free memory. Without an `order` a good one is searched; of a given one
    the nodes to keep are passed over.
    """
    order = good_order(scopes, num_states, keep | maximized) if order is None else order
    going = [node for node in order if node not in keep]
    going.sort(key=lambda node: node in maximized)
    steps, left = plan_steps(scopes, num_states, going)
    elimination = Elimination(tuple(steps), maximized, {node: int(num_states[node]) for node in sorted(left)})
    remedy = "observe more, name fewer targets, or raise memory_limit"
    check_memory(elimination.cells * BYTES_PER_CELL, "eliminating the variables", remedy, memory_limit)
    return elimination


def good_order(
    scopes: Sequence[Sequence[int]],
    num_states: Sequence[int] | np.ndarray,
    late: Collection[int] = (),
    effort: float = 1.0,
) -> list[int]:
    """All nodes in an order that makes small tables, the `late` ones last; `effort` as in `best_tree`."""
    if len(num_states) > MAX_CORE:
        raise TooLarge(f"the search for an elimination order takes up to {MAX_CORE:,} nodes, not {len(num_states):,}")
    starts = np.cumsum([0, *(len(scope) for scope in scopes)], dtype=np.int64)
    nodes = np.array([node for scope in scopes for node in scope], dtype=np.int64)
    is_late = np.zeros(len(num_states), dtype=np.bool_)
    is_late[list(late)] = True
    sweep = order_by_scopes(len(num_states), starts, nodes)
    graph = moral_graph(len(num_states), starts, nodes)
    order = best_order(graph, np.log(num_states), [sweep], is_late if late else None, effort)
    return [int(node) for node in order.nodes]


def plan_steps(
    scopes: Sequence[Sequence[int]], num_states: Sequence[int] | np.ndarray, order: Sequence[int]
) -> tuple[list[EliminationStep], set[int]]:
    """The steps of an order, and the nodes of what is left: the run without its numbers."""
    steps: list[EliminationStep] = []

    def eliminate(index: int, bucket: Sequence[tuple[Sequence[int]]]) -> list[tuple[Sequence[int]]]:
        node = order[index]
        around = tuple(sorted({other for (scope,) in bucket for other in scope} - {node}))
        steps.append(EliminationStep(node, around, tuple(int(num_states[other]) for other in (*around, node))))
        return [(around,)]

    left = eliminate_in_order(order, [(scope,) for scope in scopes], eliminate)
    return steps, {node for (scope,) in left for node in scope}


Waiting = TypeVar("Waiting", bound=tuple[Any, ...])  # nodes, and what belongs to them


def eliminate_in_order(
    order: Sequence[int], tables: Iterable[Waiting], eliminate: Callable[[int, Sequence[Waiting]], Iterable[Waiting]]
) -> list[Waiting]:
    """Eliminate node after node from some tables, whose nodes come first in each; those left have none of them.

    Each waits in the bucket of the first of its nodes in the order. `eliminate` is called with each step and the tables
    of its bucket, and returns those that take their place.
    """
    steps = {node: step for step, node in enumerate(order)}
    waiting: list[list[Waiting]] = [[] for _ in range(len(order) + 1)]

    def put(tables: Iterable[Waiting]) -> None:
        for table in tables:
            waiting[min((steps[node] for node in table[0] if node in steps), default=-1)].append(table)

    put(tables)
    for step in range(len(order)):
        bucket, waiting[step] = waiting[step], []
        put(eliminate(step, bucket))
    return waiting[-1]


def trace_back(buckets: Sequence[Bucket]) -> dict[int, int]:
    """The best state of every maximised node: each given those that were eliminated after it."""
    codes: dict[int, int] = {}
    for bucket in buckets:
        codes[bucket.node] = int(bucket.logs[tuple(codes[node] for node in bucket.nodes)].argmax())
    return codes


def marginal_map_solver(elimination: Elimination, factors: Sequence[LogFactor], log_scale: float = 0.0) -> Solver:
    """A solver that maximises over the `maximized` nodes of an elimination after summing out all others."""

    def solve(allowed: Allowed) -> tuple[dict[int, int], float] | None:
        masks = [LogFactor((node,), weights) for node, weights in allowed.items()]
        left, buckets = elimination.run([*factors, *masks])
        value = float(left.logs)
        return None if value == -np.inf else (trace_back(buckets), value + log_scale)

    return solve


def draw_back(buckets: Sequence[Bucket], num_rows: int, rng: np.random.Generator) -> dict[int, np.ndarray]:
    """States drawn for every summed node, (row,): each given those that were eliminated after it."""
    codes: dict[int, np.ndarray] = {}
    for bucket in buckets:
        logs = bucket.logs[tuple(codes[node] for node in bucket.nodes)]
        weights = np.exp(logs - logs.max(axis=-1, keepdims=True))  # (row, state), or (state,) for the first
        codes[bucket.node] = draw_codes(np.broadcast_to(weights, (num_rows, weights.shape[-1])), rng)
    return codes
