"""The answers of loopy belief propagation: beliefs from sum-product, and an assignment from max-product."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from juncture import numerics
from juncture.data.findings import Findings
from juncture.errors import Unsupported
from juncture.inference.engines.contract import Diagnostics
from juncture.inference.factor_answers import FactorAnswers
from juncture.inference.factor_arrays import log_likelihoods
from juncture.inference.messages.message_layout import MessageGraph
from juncture.inference.messages.message_run import MessageRun, RowGroup, decode, finish
from juncture.kernels.messages.layout import IMPOSSIBLE, MAX, SUM


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
    model: Any,
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
            part = numerics.log(part) if group.state.mode == SUM else part
            logs = logs + part.reshape(len(rows), *(-1 if other == axis else 1 for other in range(table.ndim)))
        beliefs[rows] = np.exp(logs - numerics.log_sum_exp(logs, axis=axes).reshape(-1, *[1] * table.ndim))
    return beliefs


def log_joint_of(graph: MessageGraph, model: Any, findings: Findings, codes: np.ndarray) -> np.ndarray:
    """(row,): log of the product of all factors and likelihoods at some states."""
    arrays = graph.factors
    places = arrays.state_starts[:-1] + codes
    total = np.take_along_axis(log_likelihoods(arrays, findings), places, axis=1).sum(axis=1)
    if arrays.num_nodes == len(model.variables):
        return np.asarray(total + [arrays.log_values[arrays.cells(row)].sum() for row in codes])
    columns = {name: codes[:, node] for node, name in enumerate(model.variables.names)}
    return np.asarray(total + model.log_joint_of(columns))
