"""Factors as the kernels of messages read them, and the state of a run: all messages of each row of evidence."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from juncture.inference.engines.factor_arrays import FactorArrays, factor_arrays, offsets
from juncture.kernels.messages.layout import (
    AXIS,
    FACTOR,
    LEAST,
    LOGS,
    MAX,
    MESSAGE,
    NUM_COLUMNS,
    OTHER,
    OTHER_SIZE,
    SUM,
    TABLE,
    WIDTH,
    MessageLayout,
)

if TYPE_CHECKING:
    from juncture.networks.bayesian_network import Network

LOG_LEAST = np.log(LEAST)


@dataclass(frozen=True, eq=False)
class MessageGraph:
    """A product of factors, its edges, and its tables scaled to a largest entry of 1, as numbers and as logarithms.

    Factors of one node send a message that never changes: they are part of the likelihoods, and have no edge.
    """

    factors: FactorArrays  # all of them

    @classmethod
    def of(cls, model: Network) -> MessageGraph:
        """The graph of a model, which is kept with the model."""
        factors = factor_arrays(model)
        kept = model.derived.get("message graph")
        if kept is None or kept.factors is not factors:
            kept = model.derived["message graph"] = cls(factors)
        graph: MessageGraph = kept
        return graph

    @cached_property
    def is_single(self) -> np.ndarray:
        """(factor,): which have one node."""
        return np.diff(self.factors.scope_starts) == 1

    @cached_property
    def arrays(self) -> FactorArrays:
        """The factors that have edges, and constants."""
        widths = np.diff(self.factors.scope_starts)
        return FactorArrays(
            self.factors.num_states,
            offsets(widths[~self.is_single]),
            self.factors.scopes[np.repeat(~self.is_single, widths)],
            self.factors.table_starts[~self.is_single],
            self.factors.log_values,
        )

    @cached_property
    def numbers(self) -> np.ndarray:
        """(factor,): the number that each factor has among those with edges."""
        return np.cumsum(~self.is_single) - 1

    @cached_property
    def log_singles(self) -> np.ndarray:
        """(state of all nodes,): log of the product of the factors of one node."""
        total = np.zeros(self.factors.total_states)
        singles = np.flatnonzero(self.is_single)
        nodes = self.factors.scopes[self.factors.scope_starts[singles]]
        sizes = self.factors.num_states[nodes]
        within = np.arange(sizes.sum()) - np.repeat(offsets(sizes)[:-1], sizes)
        cells = within + np.repeat(self.factors.table_starts[singles], sizes)
        np.add.at(total, within + np.repeat(self.factors.state_starts[nodes], sizes), self.factors.log_values[cells])
        return total

    @cached_property
    def message_starts(self) -> np.ndarray:
        """(edge + 1,): where the messages of each edge start."""
        return offsets(self.arrays.num_states[self.arrays.scopes])

    @property
    def message_size(self) -> int:
        return int(self.message_starts[-1])

    @cached_property
    def message_states(self) -> np.ndarray:
        """For each entry of the messages the state that it belongs to, among the states of all nodes."""
        shifts = self.arrays.state_starts[self.arrays.scopes] - self.message_starts[:-1]
        return np.arange(self.message_size) + np.repeat(shifts, self._message_sizes)

    @cached_property
    def state_nodes(self) -> np.ndarray:
        """The node of each state."""
        return np.repeat(np.arange(self.arrays.num_nodes), self.arrays.num_states)

    @property
    def _message_sizes(self) -> np.ndarray:
        """(edge,): the states of the node of each edge."""
        return np.diff(self.message_starts)

    @cached_property
    def _scaled(self) -> tuple[np.ndarray, np.ndarray]:
        """(log tables with a largest entry of 0, log of the largest entry (factor,))."""
        starts, which = np.unique(self.factors.table_starts, return_inverse=True)
        if not len(starts):
            return self.factors.log_values, np.zeros(0)
        largest = np.maximum.reduceat(self.factors.log_values, starts)
        shift = np.where(largest > -np.inf, largest, 0.0)
        sizes = np.diff([*starts, self.factors.log_values.size])
        return self.factors.log_values - np.repeat(shift, sizes), largest[which][~self.is_single]

    @property
    def log_scale(self) -> float:
        """The sum of the logs of the largest entries of the factors with edges."""
        return float(self._scaled[1].sum())

    @cached_property
    def holds_numbers(self) -> bool:
        """Whether no positive entry of a table is too small beside the largest for products of numbers."""
        logs = self._scaled[0]
        for start, size in {*zip(self.arrays.table_starts.tolist(), self.arrays.table_sizes.tolist(), strict=True)}:
            table = logs[start : start + size]
            if ((table < LOG_LEAST) & (table > -np.inf)).any():
                return False
        return True

    @cached_property
    def scratch_size(self) -> int:
        """The largest table with an axis less, or the most states of a node."""
        return int(max([1, *self.arrays.num_states.tolist(), *np.unique(self.arrays.table_sizes).tolist()]))

    def layout(self, mode: int) -> MessageLayout:
        return self._logs if mode in (LOGS, MAX) else self._numbers

    @cached_property
    def _logs(self) -> MessageLayout:
        return self._lay_out(self._scaled[0])

    @cached_property
    def _numbers(self) -> MessageLayout:
        return self._lay_out(np.exp(self._scaled[0]))

    def _lay_out(self, tables: np.ndarray) -> MessageLayout:
        arrays = self.arrays
        return MessageLayout(
            arrays.num_states, arrays.state_starts, arrays.node_starts, self.edges, arrays.scope_starts, arrays.scopes,
            self.message_starts, np.concatenate([tables, self._transpose(tables)]),
        )  # fmt: skip

    @cached_property
    def edges(self) -> np.ndarray:
        """(edge, column): the edges in the order of their nodes, as the kernels read them."""
        arrays, order = self.arrays, self.arrays.node_edges
        factors = arrays.edge_factors[order]
        first, widths = arrays.scope_starts[factors], np.diff(arrays.scope_starts)[factors]
        axes = order - first
        is_pair = widths == 2
        others = np.where(is_pair, 2 * first + 1 - order, order)
        turned = is_pair & (axes == 0)  # the second node is the other one, and its axis comes first when transposed
        edges = np.zeros((len(order), NUM_COLUMNS), np.int64)
        edges[:, MESSAGE], edges[:, WIDTH] = self.message_starts[order], widths
        edges[:, TABLE] = arrays.table_starts[factors] + np.where(turned, arrays.log_values.size, 0)
        edges[:, OTHER], edges[:, OTHER_SIZE] = self.message_starts[others], arrays.num_states[arrays.scopes[others]]
        edges[:, FACTOR], edges[:, AXIS] = factors, axes
        return edges

    def _transpose(self, tables: np.ndarray) -> np.ndarray:
        """The tables over two nodes with the second node first; others are left as they are."""
        turned, arrays = tables.copy(), self.arrays
        _, factors = np.unique(arrays.table_starts, return_index=True)  # tables that are shared have one shape
        for factor in factors[np.diff(arrays.scope_starts)[factors] == 2].tolist():
            start, (rows, columns) = arrays.table_starts[factor], arrays.num_states[arrays.scope(factor)]
            part = slice(start, start + rows * columns)
            turned[part] = tables[part].reshape(rows, columns).T.ravel()
        return turned


@dataclass(frozen=True, eq=False)
class MessageState:
    """The messages of some rows, and how far their runs have come; arrays are changed in place."""

    mode: int
    likelihoods: np.ndarray  # (row, state of all nodes): numbers or logarithms, the largest of a node 1 or 0
    received: np.ndarray  # (row, entry): messages from factors to nodes
    sent: np.ndarray  # (row, entry): from nodes to factors
    priorities: np.ndarray  # (row, node)
    steps: np.ndarray  # (row,)
    changes: np.ndarray  # (row,): of the last step, or a status of the kernels
    is_done: np.ndarray  # (row,)
    is_forest: np.ndarray  # (row,)

    @classmethod
    def start(cls, graph: MessageGraph, log_likelihoods: np.ndarray, mode: int) -> MessageState:
        """All messages constant but for likelihoods, which are scaled to a largest number of 0 for each node."""
        num_rows, arrays = len(log_likelihoods), graph.arrays
        likelihoods = np.exp(log_likelihoods) if mode == SUM else log_likelihoods
        sent = np.take(scale_nodes(graph, likelihoods, mode), graph.message_states, axis=1)
        sizes = arrays.num_states[arrays.scopes]
        equal = np.repeat({SUM: 1.0 / sizes, LOGS: -np.log(sizes), MAX: np.zeros(len(sizes))}[mode], sizes)
        return cls(
            mode,
            likelihoods,
            np.tile(equal, (num_rows, 1)),
            sent,
            np.full((num_rows, arrays.num_nodes), np.inf),
            np.zeros(num_rows, np.int64),
            np.full(num_rows, np.inf),
            np.zeros(num_rows, np.bool_),
            np.zeros(num_rows, np.bool_),
        )

    def rows(self, rows: slice | np.ndarray) -> MessageState:
        """Some of the rows; of a slice they share their memory."""
        return MessageState(self.mode, *(getattr(self, name)[rows] for name in list(self.__dataclass_fields__)[1:]))


def scale_nodes(graph: MessageGraph, likelihoods: np.ndarray, mode: int) -> np.ndarray:
    """Likelihoods (row, state of all nodes) scaled as messages are."""
    if mode == MAX or not likelihoods.shape[1]:
        return likelihoods
    numbers = likelihoods if mode == SUM else np.exp(likelihoods)
    totals = np.take(np.add.reduceat(numbers, graph.arrays.state_starts[:-1], axis=1), graph.state_nodes, axis=1)
    totals = np.where(totals > 0.0, totals, 1.0)
    return numbers / totals if mode == SUM else likelihoods - np.log(totals)


def scale_likelihoods(graph: MessageGraph, logs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Log-likelihoods with the factors of one node, and a largest number of 0 for each node; what was subtracted.

    The sum of what was subtracted is (row,).
    """
    if not logs.shape[1]:
        return logs, np.zeros(len(logs))
    logs = logs + graph.log_singles
    largest = np.maximum.reduceat(logs, graph.arrays.state_starts[:-1], axis=1)
    shift = np.where(largest > -np.inf, largest, 0.0)
    return logs - np.take(shift, graph.state_nodes, axis=1), largest.sum(axis=1)
