"""A run of message passing for many rows of evidence, in rounds between which the clock is looked at.

Every row is run by itself, so that it gets the same messages alone and among others, on any number of cores. Rows whose
numbers would leave the range of doubles start again in logarithms.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from juncture import parallel
from juncture.inference.messages.message_layout import LOG_LEAST, MessageGraph, MessageState
from juncture.kernels.messages.layout import LOGS, MAX, SUM, TINY
from juncture.kernels.messages.schedules import FLOODING, flood_nodes, run_rows
from juncture.parallel import blocks_of

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
