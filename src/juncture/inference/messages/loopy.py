"""`LoopyBP`: sum-product and max-product messages on any factor graph.

Messages are passed as in a tree, again and again, until none changes. In a forest, also one that the observed variables
leave over, the answers are exact. On a graph with cycles they are an approximation, often a good one, without a bound;
the messages may not converge, which `damping` may help. The log-evidence is that of Bethe: exact in a forest. Choose it
where exact inference is too large. Cost: every table once for each of its variables, in each step (Pearl 1988;
Kschischang, Frey and Loeliger 2001; Yedidia, Freeman and Weiss 2005).
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np

from juncture.base.checks import check_choice, check_number
from juncture.base.values import number_of
from juncture.data.findings import Findings
from juncture.errors import Unsupported
from juncture.inference.engines.contract import BELIEFS, Cost, Diagnostics, Engine, EnginePlan, Query, Question
from juncture.inference.engines.factor_answers import FactorAnswers
from juncture.inference.engines.factor_arrays import factor_arrays, log_likelihoods
from juncture.inference.engines.lowering import check_factors, is_gaussian
from juncture.inference.messages.diagnosis import diagnose
from juncture.inference.messages.gaussian_loopy import GaussianLoopyPlan, pair_system
from juncture.inference.messages.message_layout import LOG_LEAST, MessageGraph, MessageState, scale_likelihoods
from juncture.kernels.messages.layout import IMPOSSIBLE, LOGS, MAX, SUM, TINY
from juncture.kernels.messages.schedules import FLOODING, RESIDUAL, flood_nodes, run_rows
from juncture.numerics import stable
from juncture.numerics.iteration import check_stopping_rule
from juncture.runtime import parallel
from juncture.runtime.memory import advise_fewer, check_memory
from juncture.runtime.parallel import blocks_of

if TYPE_CHECKING:
    from juncture.networks.bayesian_network import Network

SCHEDULES = {"flooding": FLOODING, "residual": RESIDUAL}


@dataclass(frozen=True)
class LoopyBP(Engine):
    """Loopy belief propagation: messages between factors and variables, until they do not change.

    Parameters
    ----------
    damping
        Which share of an old message a new one keeps, in logarithms: 0 keeps nothing. A forest needs none and takes
        none.
    tolerance
        The messages have converged when no number of a message, scaled to sum to 1, changes by more in a step.
    max_steps
        The most steps; in each one, every node is updated about once.
    schedule
        "residual" updates the variable first whose neighbours have changed most; "flooding" updates all at once from
        the messages of the step before.
    memory_limit
        In bytes; a run that needs more raises `TooLarge`.
    """

    damping: float = 0.0
    tolerance: float = 1e-9
    max_steps: int = 200
    schedule: Literal["residual", "flooding"] = "residual"
    memory_limit: int | None = None
    name: ClassVar[str] = "loopy"
    answers: ClassVar[frozenset[Question]] = BELIEFS | {Question.EXPECTED, Question.MODE}

    def __post_init__(self) -> None:
        check_number(self.damping, "damping", least=0, below=1)
        check_stopping_rule(self.tolerance, self.max_steps)
        check_choice(self.schedule, tuple(SCHEDULES), "schedule")

    def compile(self, model: Network, observed: Sequence[str] = (), targets: Sequence[str] = ()) -> EnginePlan:
        check_factors(model, self.name)
        if is_gaussian(model):
            return GaussianLoopyPlan(self, pair_system(model))
        return LoopyPlan(self, find_cost(model))


@dataclass(frozen=True)
class MaxProductBP(LoopyBP):
    """`LoopyBP` that is only asked for the most probable assignment, by max-product."""

    name: ClassVar[str] = "max-product"
    answers: ClassVar[frozenset[Question]] = frozenset({Question.MODE})


def find_cost(model: Network) -> Cost:
    """The cost of one step for one row."""
    arrays = factor_arrays(model)
    sizes, widths = arrays.table_sizes.astype(float), np.diff(arrays.scope_starts)
    entries = float(arrays.num_states[arrays.scopes].sum())
    return Cost(
        int(widths.max(initial=1)) - 1,
        float(sizes.max(initial=0)),
        8.0 * (4 * entries + 3 * arrays.total_states + 2 * arrays.log_values.size),
        2 * float(sizes @ widths) + 6 * entries,
    )


@dataclass(frozen=True, eq=False)
class LoopyPlan(EnginePlan):
    """A run of loopy belief propagation; `cost` is that of one step for one row."""

    engine: LoopyBP
    cost: Cost

    def run(self, model: Network, query: Query) -> FactorAnswers:
        findings = query.findings
        deadline = math.inf if query.budget is None else time.monotonic() + query.budget
        graph, num_rows = MessageGraph.of(model), findings.num_rows
        what = f"the messages of {number_of(num_rows, 'row')}"
        check_memory(self.cost.bytes * max(num_rows, 1), what, advise_fewer(num_rows), self.engine.memory_limit)
        logs, log_scales = scale_likelihoods(graph, log_likelihoods(graph.arrays, findings))
        wants_sums = bool(query.questions & self.engine.answers - {Question.MODE})
        wants_best = Question.MODE in query.questions or not wants_sums
        schedule = MessageSchedule(
            SCHEDULES[self.engine.schedule], self.engine.damping, self.engine.tolerance, self.engine.max_steps
        )
        run = run_messages(graph, logs, schedule, deadline, wants_sums=wants_sums, wants_best=wants_best)
        diagnostics = diagnose(self.engine, run)
        return make_answers(graph, model, findings, log_scales, run, diagnostics, self.engine.name)


@dataclass(frozen=True, eq=False)
class LoopyAnswers(FactorAnswers):
    """Beliefs of nodes and factors, and the states that max-product takes, if they were asked for."""

    codes: np.ndarray = field(default_factory=lambda: np.empty((0, 0), np.int64))  # (row, node)
    log_joint: np.ndarray = field(default_factory=lambda: np.empty(0))  # (row,)
    is_unsettled: np.ndarray = field(default_factory=lambda: np.zeros(0, dtype=bool))  # (row,): had not converged

    def best(self, targets: tuple[str, ...], count: int) -> tuple[np.ndarray, np.ndarray]:
        if count > 1:
            raise Unsupported(f"the engine {self.engine_name!r} finds one assignment; ask for k=1")
        for variable in self.findings.variables:
            if variable.name not in targets and not self.findings.is_observed(variable.name).all():
                raise Unsupported(
                    f"the engine {self.engine_name!r} finds states of all variables together and sums none out;"
                    f" {variable.name!r} is neither observed nor among the targets: leave targets= out, or use"
                    " method='exact'"
                )
        if self.findings.is_single and self.log_joint[0] == -np.inf:
            raise Unsupported(
                f"the engine {self.engine_name!r} found no assignment of positive probability, which does not mean that"
                " there is none: try damping=0.5, or method='exact'"
            )
        nodes = [self.scope.axis(name) for name in targets]
        return self.codes[:, np.newaxis, nodes], self.log_joint[:, np.newaxis]


def make_answers(
    graph: MessageGraph,
    model: Network,
    findings: Findings,
    log_scales: np.ndarray,
    run: MessageRun,
    diagnostics: Diagnostics,
    engine_name: str,
) -> LoopyAnswers:
    """The answers of a run; `log_scales` (row,) are what the likelihoods were divided by."""
    best = next((group for group in run.groups if group.state.mode == MAX), None)
    beliefs, log_evidence = collect_sums(graph, run, log_scales)
    codes, log_joint = np.empty((0, 0), np.int64), np.empty(0)
    if best is not None:
        log_evidence[best.state.changes == IMPOSSIBLE] = -np.inf
        codes = decode(graph, best.state, run.schedule)
        log_joint = log_joint_of(graph, model, findings, codes)
        has_hidden = graph.arrays.num_nodes > len(model.variables)  # maximised, though they should be summed
        diagnostics = replace(diagnostics, exact=diagnostics.exact and not has_hidden)
    is_possible = log_evidence > -np.inf
    beliefs[~is_possible] = np.nan
    belief = partial(belief_of, graph, run.sums, beliefs, is_possible)
    return LoopyAnswers(
        graph.factors, model.variables, findings, beliefs, log_evidence, diagnostics, belief, engine_name, False,
        codes, log_joint, find_unsettled(run, len(log_scales)),
    )  # fmt: skip


def belief_of(
    graph: MessageGraph, groups: Sequence[RowGroup], beliefs: np.ndarray, is_possible: np.ndarray, factor: int
) -> np.ndarray:
    """The belief of a factor of the model, for all rows."""
    if graph.is_single[factor]:
        (node,) = graph.factors.scope(factor)
        return beliefs[:, graph.factors.state_starts[node] : graph.factors.state_starts[node + 1]]
    return factor_belief(graph, groups, int(graph.numbers[factor]), is_possible)


def collect_sums(graph: MessageGraph, run: MessageRun, log_scales: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Beliefs (row, state of all nodes), and log-evidence (row,), 0 where only max-product ran."""
    groups = run.sums
    beliefs = np.full((len(log_scales), graph.arrays.total_states if groups else 0), np.nan)
    log_evidence = np.where(log_scales + graph.log_scale > -np.inf, 0.0, -np.inf)
    for group in groups:
        beliefs[group.rows], log_values = finish(graph, group.state, run.schedule)
        log_evidence[group.rows] = log_values + log_scales[group.rows] + graph.log_scale
    return beliefs, log_evidence


def find_unsettled(run: MessageRun, num_rows: int) -> np.ndarray:
    """(row,): whether messages of sum-product still changed in the last step."""
    is_unsettled = np.zeros(num_rows, dtype=bool)
    for group in run.sums:
        is_unsettled[group.rows] = ~group.is_finished
    return is_unsettled


def factor_belief(graph: MessageGraph, groups: Sequence[RowGroup], factor: int, is_possible: np.ndarray) -> np.ndarray:
    """(row, state of the first node, …): the table of a factor with edges times all messages to it, scaled to 1."""
    table = graph.arrays.log_table(factor)
    beliefs = np.full((len(is_possible), *table.shape), np.nan)
    axes = tuple(range(1, table.ndim + 1))
    for group in groups:
        rows = group.rows[is_possible[group.rows]]
        if not len(rows):
            continue
        sent = group.state.sent[is_possible[group.rows]]
        logs = np.broadcast_to(table, (len(rows), *table.shape))
        for axis, edge in enumerate(range(*graph.arrays.scope_starts[factor : factor + 2])):
            part = sent[:, graph.message_starts[edge] : graph.message_starts[edge + 1]]
            part = stable.log(part) if group.state.mode == SUM else part
            logs = logs + part.reshape(len(rows), *(-1 if other == axis else 1 for other in range(table.ndim)))
        beliefs[rows] = np.exp(logs - stable.log_sum_exp(logs, axis=axes).reshape(-1, *[1] * table.ndim))
    return beliefs


def log_joint_of(graph: MessageGraph, model: Network, findings: Findings, codes: np.ndarray) -> np.ndarray:
    """(row,): log of the product of all factors and likelihoods at some states."""
    arrays = graph.factors
    places = arrays.state_starts[:-1] + codes
    total = np.take_along_axis(log_likelihoods(arrays, findings), places, axis=1).sum(axis=1)
    if arrays.num_nodes == len(model.variables):
        return np.asarray(total + [arrays.log_values[arrays.cells(row)].sum() for row in codes])
    columns = {name: codes[:, node] for node, name in enumerate(model.variables.names)}
    return np.asarray(total + model.log_joint_of(columns))


WORK_AT_ONCE, WORK_IN_TIME = 2**25, 2**22  # entries of tables, in a round; where a clock is looked at
NODES_AT_ONCE = 4096  # of a large graph, in a thread: fixed, so that the number of threads does not count
ENTRIES_AT_ONCE = 2**14  # of messages of several rows, in a thread


@dataclass(frozen=True)
class MessageSchedule:
    """In which order nodes are updated, and when to stop."""

    order: int
    damping: float
    tolerance: float
    max_steps: int


@dataclass(frozen=True, eq=False)
class RowGroup:
    """The rows that are computed in one way."""

    rows: np.ndarray
    state: MessageState

    @property
    def is_tiny(self) -> np.ndarray:
        """(row,): which have to start again in logarithms."""
        return self.state.changes == TINY

    @property
    def is_finished(self) -> np.ndarray:
        """(row,): which have converged, or are known to be impossible."""
        return self.state.is_done | (self.state.changes < 0.0)


@dataclass(frozen=True, eq=False)
class MessageRun:
    """A finished run: the groups of rows, and how it ended."""

    schedule: MessageSchedule
    groups: tuple[RowGroup, ...]
    last_step: int
    is_out_of_time: bool

    @cached_property
    def counted(self) -> tuple[RowGroup, ...]:
        """The groups without the rows that started again in logarithms."""
        return tuple(keep_rows(group, ~group.is_tiny) for group in self.groups)

    @property
    def sums(self) -> tuple[RowGroup, ...]:
        """The groups of sum-product."""
        return tuple(group for group in self.counted if group.state.mode != MAX)

    @property
    def is_converged(self) -> bool:
        return all(bool(group.is_finished.all()) for group in self.counted)

    @property
    def is_exact(self) -> bool:
        """Whether every row has reached the end in a forest, or is known to be impossible."""
        return self.is_converged and all(
            bool((group.state.is_forest | (group.state.changes < 0.0)).all()) for group in self.counted
        )

    @property
    def num_steps(self) -> int:
        return max((int(group.state.steps.max(initial=0)) for group in self.counted), default=0)

    @property
    def residual(self) -> float:
        """The largest change of a message in the last step of a row."""
        return max((float(group.state.changes.max(initial=0.0)) for group in self.counted), default=0.0)


def keep_rows(group: RowGroup, is_kept: np.ndarray) -> RowGroup:
    return group if is_kept.all() else RowGroup(group.rows[is_kept], group.state.rows(is_kept))


def run_messages(
    graph: MessageGraph,
    logs: np.ndarray,
    schedule: MessageSchedule,
    deadline: float,
    *,
    wants_sums: bool,
    wants_best: bool,
) -> MessageRun:
    """Sum-product, max-product or both, given scaled log-likelihoods (row, state of all nodes)."""
    everything = np.arange(len(logs))
    groups = [start_group(graph, logs, everything, MAX)] if wants_best else []
    if wants_sums:
        is_small = np.any((logs < LOG_LEAST) & (logs > -np.inf), axis=1) | (not graph.holds_numbers)
        groups += [start_group(graph, logs, everything[is_small], LOGS)] if is_small.any() else []
        groups += [start_group(graph, logs, everything[~is_small], SUM)] if not is_small.all() else []
    work = max(1, len(logs) * int(graph.arrays.table_sizes @ np.diff(graph.arrays.scope_starts)))
    step, stride = 0, max(1, (WORK_AT_ONCE if deadline == math.inf else WORK_IN_TIME) // work)
    while step < schedule.max_steps and not all(group.is_finished.all() for group in groups):
        if step and time.monotonic() > deadline:
            return MessageRun(schedule, tuple(groups), step, is_out_of_time=True)
        step = min(step + stride, schedule.max_steps)
        for group in list(groups):
            was_tiny = group.is_tiny
            advance(graph, group.state, schedule, step)
            if (group.is_tiny & ~was_tiny).any():
                groups.append(start_group(graph, logs, group.rows[group.is_tiny & ~was_tiny], LOGS))
                advance(graph, groups[-1].state, schedule, step)
    return MessageRun(schedule, tuple(groups), step, is_out_of_time=False)


def start_group(graph: MessageGraph, logs: np.ndarray, rows: np.ndarray, mode: int) -> RowGroup:
    return RowGroup(rows, MessageState.start(graph, logs[rows], mode))


def advance(graph: MessageGraph, state: MessageState, schedule: MessageSchedule, last_step: int) -> None:
    """Run all rows up to a step."""
    if schedule.order == FLOODING and graph.arrays.num_nodes > NODES_AT_ONCE:
        for row in range(len(state.steps)):
            flood_row(graph, state.rows(slice(row, row + 1)), schedule, last_step)
        return
    parallel.map(
        lambda rows: run_block(graph, state.rows(rows), schedule, last_step), row_blocks(graph, len(state.steps))
    )


def row_blocks(graph: MessageGraph, num_rows: int) -> list[slice]:
    return blocks_of(num_rows, max(1, ENTRIES_AT_ONCE // max(1, graph.message_size)))


NO_NUMBERS, NO_VALUES, NO_CODES = np.empty((0, 0)), np.empty(0), np.empty((0, 0), np.int64)


def run_block(
    graph: MessageGraph,
    state: MessageState,
    schedule: MessageSchedule,
    last_step: int,
    beliefs: np.ndarray = NO_NUMBERS,
    log_values: np.ndarray = NO_VALUES,
    codes: np.ndarray = NO_CODES,
) -> None:
    """Run some rows up to a step, and fill in beliefs and log Z, or codes of assignments, where there is place."""
    run_rows(
        graph.layout(state.mode), state.likelihoods, state.received, state.sent, state.priorities, state.steps,
        state.changes, state.is_done, state.is_forest, state.mode, schedule.order, schedule.damping,
        schedule.tolerance, last_step, graph.scratch_size, beliefs, log_values, codes,
    )  # fmt: skip


def flood_row(graph: MessageGraph, state: MessageState, schedule: MessageSchedule, last_step: int) -> None:
    """Flood a large graph, some nodes in each thread."""
    run_block(graph, state, schedule, 0)  # no step: finds out whether the graph is a forest
    tolerance = 0.0 if state.is_forest[0] else schedule.tolerance
    likelihood, received, before = state.likelihoods[0], state.received[0], state.sent[0]
    after, layout = np.empty_like(before), graph.layout(state.mode)
    blocks = blocks_of(graph.arrays.num_nodes, NODES_AT_ONCE)
    while state.steps[0] < last_step and not state.is_done[0] and state.changes[0] >= 0.0:

        def flood(block: slice, before: np.ndarray = before, after: np.ndarray = after) -> float:
            change: float = flood_nodes(
                layout, likelihood, received, before, after, block.start, block.stop, bool(state.is_forest[0]),
                state.mode, schedule.damping, np.empty(graph.scratch_size),
            )  # fmt: skip
            return change

        changes = parallel.map(flood, blocks)
        before, after = after, before
        state.steps[0] += 1
        state.changes[0] = next((change for change in changes if change < 0.0), max(changes))
        state.is_done[0] = 0.0 <= state.changes[0] <= tolerance
    state.sent[0] = before


def finish(graph: MessageGraph, state: MessageState, schedule: MessageSchedule) -> tuple[np.ndarray, np.ndarray]:
    """Beliefs (row, state of all nodes), and the Bethe approximation of log Z (row,)."""
    num_rows = len(state.steps)
    beliefs, log_values = np.full((num_rows, graph.arrays.total_states), np.nan), np.full(num_rows, -np.inf)
    parallel.map(
        lambda rows: run_block(graph, state.rows(rows), schedule, 0, beliefs[rows], log_values[rows]),
        row_blocks(graph, num_rows),
    )
    return beliefs, log_values


def decode(graph: MessageGraph, state: MessageState, schedule: MessageSchedule) -> np.ndarray:
    """(row, node): the states of an assignment, by max-product messages."""
    codes = np.zeros((len(state.steps), graph.arrays.num_nodes), np.int64)
    parallel.map(
        lambda rows: run_block(graph, state.rows(rows), schedule, 0, codes=codes[rows]),
        row_blocks(graph, len(codes)),
    )
    return codes
