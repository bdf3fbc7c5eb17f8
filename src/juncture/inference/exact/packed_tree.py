"""A clique plan with a model's numbers packed into it, ready to run."""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from juncture import numerics
from juncture.data.findings import Findings
from juncture.inference.exact.clique_plan import CliquePlan
from juncture.kernels.layout import MARGINAL, SIZE
from juncture.kernels.logs import propagate_logs
from juncture.kernels.packing import pack
from juncture.kernels.propagation import TINY, collect_prior, propagate
from juncture.kernels.rows import propagate_rows

CELLS_AT_ONCE = 2**17  # of a block of rows: what a core's cache holds
MAX_BLOCK = 128
LARGE_CLIQUE = 2**12  # entries from which it pays to arrange factors


@dataclass(frozen=True, eq=False, repr=False)
class PackedTree:
    """The plan, and every clique's table after collecting without evidence; the log of what was divided out."""

    plan: CliquePlan
    base: np.ndarray  # (cell,): collected without evidence
    prior: np.ndarray  # the messages without evidence
    bounds: np.ndarray  # (clique,): the smallest positive entry of each
    log_scale: float  # of the factors
    log_prior: float  # of the total without evidence; -inf when the model is zero everywhere
    is_safe: bool  # False: some products lie outside the range of doubles, so run in logarithms
    factors: tuple[np.ndarray, ...]
    workspaces: threading.local = field(default_factory=threading.local)

    def run(self, evidence: CodedRow, targets: np.ndarray) -> tuple[np.ndarray, float]:
        """(marginals, log evidence) of a single row; -inf when it is impossible."""
        plan = self.plan
        marginals = np.empty(plan.num_marginals)
        if self.log_prior == -np.inf:
            return np.full(plan.num_marginals, np.nan), -np.inf
        if self.is_safe:
            status, log_total = self._propagate(evidence, targets, marginals)
            if status != TINY:
                return marginals, log_total + self.log_prior + evidence.log_scale
        log_marginals, log_total = self.run_logs(*evidence.as_logs(plan.num_states), targets, maximize=False)
        return self.normalized(log_marginals, targets), log_total + evidence.log_scale

    def _propagate(self, evidence: CodedRow, targets: np.ndarray, marginals: np.ndarray) -> tuple[int, float]:
        plan, space = self.plan, self.workspace()
        answer: tuple[int, float] = propagate(
            plan.table, plan.indices, plan.homes, self.base, self.prior, self.bounds,
            evidence.observed, evidence.codes, evidence.soft, evidence.likelihoods, targets,
            space.work, space.messages, space.ratios, space.bounds, space.touched, marginals,
        )  # fmt: skip
        return answer

    def calibrated(self, evidence: CodedRow) -> np.ndarray:
        """Every clique's posterior, up to a constant for each: a copy of the tables after a run."""
        everything = np.arange(len(self.plan.num_states))
        if self.is_safe:
            space, (status, _) = (
                self.workspace(),
                self._propagate(evidence, everything, np.empty(self.plan.num_marginals)),
            )
            if status != TINY:
                return space.work.copy()
        work = np.empty(self.plan.num_cells)
        self.run_logs(*evidence.as_logs(self.plan.num_states), everything, maximize=False, work=work)
        for offset, size in self.plan.table[:, :2]:
            work[offset : offset + size] -= work[offset : offset + size].max(initial=-np.inf)
        return np.exp(work)

    def run_logs(
        self,
        nodes: np.ndarray,
        log_likelihoods: np.ndarray,
        targets: np.ndarray,
        *,
        maximize: bool,
        work: np.ndarray | None = None,
    ) -> tuple[np.ndarray, float]:
        """(log-marginals or max-marginals, log of the total or of the largest product)."""
        plan = self.plan
        marginals = np.full(plan.num_marginals, -np.inf)
        work = np.empty(plan.num_cells) if work is None else work
        log_total = propagate_logs(
            plan.table, plan.indices, plan.homes, self.log_base, nodes, log_likelihoods, targets,
            work, np.empty(plan.num_entries), marginals, maximize,
        )  # fmt: skip
        return marginals, log_total + self.log_scale

    def run_rows(self, rows: CodedRows, targets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(marginals (row, states of the targets), log evidence (row,)): fixed blocks of rows, on all cores."""
        homes, num_states = self.plan.homes.copy(), self.plan.num_states[targets]
        homes[targets, MARGINAL] = np.cumsum(num_states) - num_states
        marginals = np.empty((rows.num_rows, int(num_states.sum())))
        log_evidence = np.empty(rows.num_rows)
        size = max(1, min(MAX_BLOCK, CELLS_AT_ONCE // max(self.plan.num_cells, 1)))
        blocks = [slice(start, min(start + size, rows.num_rows)) for start in range(0, rows.num_rows, size)]
        run = self.run_block if size > 1 else self.run_one_by_one
        with ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
            list(pool.map(lambda b: run(rows, b, homes, targets, marginals[b], log_evidence[b]), blocks))
        return marginals, log_evidence

    def run_block(
        self,
        rows: CodedRows,
        block: slice,
        homes: np.ndarray,
        targets: np.ndarray,
        marginals: np.ndarray,
        log_evidence: np.ndarray,
    ) -> None:
        """Fill the block's marginals, laid out as `homes` says, and log evidence."""
        plan, size = self.plan, len(log_evidence)
        status = np.full(size, TINY, np.int64)
        if self.log_prior == -np.inf:
            log_evidence[:], marginals[:] = -np.inf, np.nan
            return
        if self.is_safe:
            space = self.workspace(size)
            propagate_rows(
                plan.table, plan.indices, homes, self.base, self.prior, self.bounds,
                rows.observed, np.ascontiguousarray(rows.codes[:, block]),
                rows.soft, np.ascontiguousarray(rows.likelihoods[:, block]), targets,
                space.work, space.messages, space.ratios, space.bounds, space.touched, marginals, log_evidence, status,
            )  # fmt: skip
            log_evidence += self.log_prior + rows.log_scale[block]
        for place in np.flatnonzero(status == TINY):
            marginals[place], log_evidence[place] = self.run_row(rows.row(block.start + int(place)), targets)
        marginals[np.isneginf(log_evidence)] = np.nan

    def run_one_by_one(
        self,
        rows: CodedRows,
        block: slice,
        homes: np.ndarray,
        targets: np.ndarray,
        marginals: np.ndarray,
        log_evidence: np.ndarray,
    ) -> None:
        marginals[0], log_evidence[0] = self.run_row(rows.row(block.start), targets)
        marginals[np.isneginf(log_evidence)] = np.nan

    def run_row(self, row: CodedRow, targets: np.ndarray) -> tuple[np.ndarray, float]:
        """The marginals of the targets, one after the other, and the log evidence."""
        marginals, log_evidence = self.run(row, targets)
        ends = np.cumsum(self.plan.num_states)
        parts = [marginals[ends[node] - self.plan.num_states[node] : ends[node]] for node in targets]
        return np.concatenate([np.empty(0), *parts]), log_evidence

    def __getstate__(self) -> dict[str, Any]:
        """Everything but the buffers, which belong to threads."""
        return {name: value for name, value in self.__dict__.items() if name != "workspaces"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, workspaces=threading.local())

    def workspace(self, *rows: int) -> Workspace:
        """Buffers of the running thread's own, kept for its next run."""
        space: Workspace | None = getattr(self.workspaces, "space", None)
        if space is None or space.work.shape[1:] != rows:
            space = Workspace.of(self.plan, rows)
            self.workspaces.space = space
        return space

    @cached_property
    def log_base(self) -> np.ndarray:
        """The logarithms of all factors, added up in their cliques; nothing collected."""
        return pack_logs(self.plan, self.factors)

    def normalized(self, log_marginals: np.ndarray, targets: np.ndarray) -> np.ndarray:
        marginals = np.empty_like(log_marginals)
        starts = np.concatenate([[0], np.cumsum(self.plan.num_states)])
        for node in targets:
            states = slice(starts[node], starts[node + 1])
            logs = log_marginals[states]
            with np.errstate(invalid="ignore"):
                marginals[states] = np.exp(logs - numerics.log_sum_exp(logs))
        return marginals


@dataclass(frozen=True, eq=False)
class Workspace:
    """The buffers of a run."""

    work: np.ndarray
    messages: np.ndarray
    ratios: np.ndarray
    bounds: np.ndarray
    touched: np.ndarray

    @classmethod
    def of(cls, plan: CliquePlan, rows: tuple[int, ...]) -> Workspace:
        sizes = (plan.num_cells, plan.num_entries, plan.num_entries, plan.num_cliques)
        work, messages, ratios, bounds = (np.empty((size, *rows)) for size in sizes)
        return cls(work, messages, ratios, bounds, np.empty(plan.num_cliques, np.bool_))


@dataclass(frozen=True, eq=False)
class CodedRow:
    """One row of evidence by node: codes of those observed, and a likelihood per state for those that are soft.

    Likelihoods are divided by their largest entry, so that their product cannot leave the range of doubles.
    """

    observed: np.ndarray
    codes: np.ndarray
    soft: np.ndarray
    likelihoods: np.ndarray
    log_scale: float = 0.0  # of what the likelihoods were divided by

    def as_logs(self, num_states: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """All evidence as log-likelihoods, one after the other."""
        hard = [
            numerics.log(np.eye(num_states[node])[code]) for node, code in zip(self.observed, self.codes, strict=True)
        ]
        soft = numerics.log(self.likelihoods)
        return np.concatenate([self.observed, self.soft]), np.concatenate([*hard, soft])


@dataclass(frozen=True, eq=False)
class CodedRows:
    """Many rows of evidence: codes (observed, row) with -1 for a hole, likelihoods (all soft states, row)."""

    observed: np.ndarray
    codes: np.ndarray
    soft: np.ndarray
    likelihoods: np.ndarray
    log_scale: np.ndarray  # (row,): of what the likelihoods were divided by

    @classmethod
    def of(cls, findings: Findings, nodes: Mapping[str, int]) -> CodedRows:
        empty = np.empty((0, findings.num_rows))
        codes = [column.astype(np.int64) for column in findings.codes.values()]
        tops = [np.where(table.max(axis=1) > 0, table.max(axis=1), 1.0) for table in findings.likelihoods.values()]
        soft = zip(findings.likelihoods.values(), tops, strict=True)
        likelihoods = [np.ascontiguousarray((table / top[:, np.newaxis]).T) for table, top in soft]
        return cls(
            np.array([nodes[name] for name in findings.codes], dtype=np.int64),
            np.stack(codes) if codes else empty.astype(np.int64),
            np.array([nodes[name] for name in findings.likelihoods], dtype=np.int64),
            np.concatenate([empty, *likelihoods]),
            np.sum([np.zeros(findings.num_rows), *(np.log(top) for top in tops)], axis=0),
        )

    @property
    def num_rows(self) -> int:
        return int(self.codes.shape[1])

    def row(self, place: int) -> CodedRow:
        known = self.codes[:, place] >= 0
        return CodedRow(
            self.observed[known],
            np.ascontiguousarray(self.codes[known, place]),
            self.soft,
            np.ascontiguousarray(self.likelihoods[:, place]),
            float(self.log_scale[place]),
        )


def pack_factors(plan: CliquePlan, factors: Sequence[np.ndarray]) -> PackedTree:
    """Every factor multiplied into its clique, if far from 1 divided by its largest entry; then collected."""
    flat = [np.ascontiguousarray(values, dtype=np.float64).reshape(-1) for values in factors]
    largest = [scale_of(values) for values in flat]
    scaled = [values if top == 1.0 else values / top for values, top in zip(flat, largest, strict=True)]
    starts = np.cumsum([0, *(len(values) for values in scaled)], dtype=np.int64)
    scope_nodes, arranged = arrange(plan, scaled)
    base, prior, bounds = np.empty(plan.num_cells), np.empty(plan.num_entries), np.empty(plan.num_cliques)
    is_safe = pack(
        plan.table, plan.starts, plan.nodes, plan.num_states, plan.factor_homes, plan.scope_starts, scope_nodes,
        starts, np.concatenate([np.empty(0), *arranged]), base, bounds,
    )  # fmt: skip
    status, log_total = collect_prior(plan.table, plan.indices, base, prior, bounds) if is_safe else (TINY, 0.0)
    constants = [v[0] for v, home in zip(scaled, plan.factor_homes, strict=True) if home < 0]
    log_scale = float(numerics.log([*largest, *constants]).sum())
    return PackedTree(plan, base, prior, bounds, log_scale, log_scale + log_total, status != TINY, tuple(scaled))


def arrange(plan: CliquePlan, factors: Sequence[np.ndarray]) -> tuple[np.ndarray, list[np.ndarray]]:
    """The factors of large cliques with their axes in the clique's order, which are multiplied in fastest."""
    scope_nodes, arranged = plan.scope_nodes.copy(), list(factors)
    sizes = np.append(plan.table[:, SIZE], 0)  # the last is the home of factors without variables
    for factor in np.flatnonzero(sizes[plan.factor_homes] > LARGE_CLIQUE):
        clique = plan.factor_homes[factor]
        scope = slice(plan.scope_starts[factor], plan.scope_starts[factor + 1])
        nodes = plan.scope_nodes[scope]
        axes = plan.nodes[plan.starts[clique] : plan.starts[clique + 1]].tolist()
        order = np.argsort([axes.index(node) for node in nodes])
        table = arranged[factor].reshape(plan.num_states[nodes])
        arranged[factor] = np.ascontiguousarray(table.transpose(order)).reshape(-1)
        scope_nodes[scope] = nodes[order]
    return scope_nodes, arranged


def scale_of(values: np.ndarray) -> float:
    """The largest entry if it is far from 1, else 1: dividing by what need not be divided by costs digits."""
    largest = float(values.max())
    return largest if largest > 1e3 or 0.0 < largest < 1e-3 else 1.0


def pack_logs(plan: CliquePlan, factors: Sequence[np.ndarray]) -> np.ndarray:
    """The slow way, for factors whose products no double can hold: logarithms added up, clique by clique."""
    log_base = np.zeros(plan.num_cells)
    offsets = np.concatenate([[0], np.cumsum(plan.table[:, 1])])
    for factor, values in enumerate(factors):
        clique = plan.factor_homes[factor]
        if clique < 0:
            continue
        axes = plan.nodes[plan.starts[clique] : plan.starts[clique + 1]].tolist()
        scope = plan.scope_nodes[plan.scope_starts[factor] : plan.scope_starts[factor + 1]].tolist()
        logs = numerics.log(values).reshape([plan.num_states[node] for node in scope])
        order = [scope.index(node) for node in axes if node in scope]
        shape = [plan.num_states[node] if node in scope else 1 for node in axes]
        cells = log_base[offsets[clique] : offsets[clique + 1]].reshape([plan.num_states[node] for node in axes])
        cells += logs.transpose(order).reshape(shape)
    return log_base
