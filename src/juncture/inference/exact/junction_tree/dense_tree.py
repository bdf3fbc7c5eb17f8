"""A clique plan with a model's numbers packed into it, ready to run."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from juncture.factors.factor import Factor
from juncture.inference.exact.junction_tree import choice
from juncture.inference.exact.junction_tree.coded_findings import CodedFinding, CodedFindings
from juncture.inference.exact.junction_tree.cuts import (
    CELLS_AT_ONCE,
    LEAST_BLOCK,
    MAX_BLOCK,
    CutPlan,
    CutPlans,
    RowCut,
    Workspace,
    block_size,
    run_singly,
)
from juncture.inference.exact.junction_tree.plan import CliquePlan
from juncture.kernels.counting import add_cells
from juncture.kernels.junction_tree.cut import FAINT_RUN, propagate_cut
from juncture.kernels.junction_tree.layout import MARGINAL, OFFSET, SIZE
from juncture.kernels.junction_tree.log_propagation import choose_rows, propagate_logs, value_alternatives
from juncture.kernels.junction_tree.packing import pack
from juncture.kernels.junction_tree.propagation import TINY, collect_prior, draw_rows, propagate
from juncture.kernels.junction_tree.propagation_of_rows import propagate_rows
from juncture.numerics import stable
from juncture.runtime import parallel
from juncture.runtime.parallel import blocks_of

MOST_SUMS = 16  # tables of sums that are filled side by side
CELLS_OF_SUMS = 2**24  # ... and all their cells: fixed, so that sums do not depend on the number of cores
LARGEST = 1e20  # entry of tables that are cut: beyond it, a run on them might give up earlier than one on all cells


@dataclass(frozen=True, eq=False, repr=False)
class DenseTree:
    """The plan, and every clique's table after collecting without evidence; the log of what was divided out."""

    plan: CliquePlan
    base: np.ndarray  # (cell,): collected without evidence
    prior: np.ndarray  # the messages without evidence
    bounds: np.ndarray  # (clique,): the smallest positive entry of each
    log_scale: float  # of the factors
    log_prior: float  # of the total without evidence; -inf when the model is zero everywhere
    is_safe: bool  # False: some products lie outside the range of doubles, so run in logarithms
    factors: tuple[Factor, ...]
    log_tops: tuple[float, ...]  # (factor,): what was divided out of each
    workspaces: threading.local = field(default_factory=threading.local)
    cut_plans: CutPlans = field(default_factory=CutPlans)

    def run(self, evidence: CodedFinding, targets: np.ndarray) -> tuple[np.ndarray, float]:
        """(marginals, log evidence) of a single row; -inf when it is impossible."""
        if self.log_prior == -math.inf:
            return np.full(self.plan.num_marginals, np.nan), -math.inf
        if self.is_safe and evidence.is_safe:
            marginals = np.empty(self.plan.num_marginals)
            status, log_total = self._propagate(evidence, targets, marginals)
            if status != TINY:
                return marginals, log_total + self.log_prior + evidence.log_scale
        log_marginals, log_total = self.run_logs(*evidence.as_logs(self.plan.num_states), targets, maximize=False)
        return self.normalize(log_marginals, targets), log_total + evidence.log_scale

    def _propagate(self, evidence: CodedFinding, targets: np.ndarray, marginals: np.ndarray) -> tuple[int, float]:
        """(status, log of the total) of a run on what the evidence leaves of the tables, if that pays, or on all."""
        if choice.may_cut(self.plan.num_cells):
            cut = self.find_cut(evidence.observed, evidence.soft)
            answer = None if cut is None else self.run_cut(cut, evidence, targets, marginals)
            if answer is not None and answer[0] != FAINT_RUN:
                return answer
        return self.run_whole(evidence, targets, marginals)

    def run_whole(self, evidence: CodedFinding, targets: np.ndarray, marginals: np.ndarray) -> tuple[int, float]:
        plan, space = self.plan, self.workspace(self.plan)
        answer: tuple[int, float] = propagate(
            plan.table, plan.nodes, plan.indices, plan.node_table, self.base, self.prior, self.bounds,
            evidence.observed, evidence.codes, evidence.soft, evidence.likelihoods, targets,
            space.buffer, space.touched, marginals,
        )  # fmt: skip
        return answer

    def find_cut(self, observed: np.ndarray, soft: np.ndarray) -> CutPlan | None:
        """A plan without the axes of the nodes that a row observes, if that pays."""
        cut = self.cut_plans.find(self.plan, observed, 1, choice.least_saving(self.plan.num_cells, is_row=True))
        if cut is None or not self.is_level or (len(soft) and np.isin(soft, observed).any()):
            return None
        return cut

    @cached_property
    def is_level(self) -> bool:
        return bool(self.base.max(initial=0.0) < LARGEST)

    def run_cut(
        self, cut: CutPlan, evidence: CodedFinding, targets: np.ndarray, marginals: np.ndarray
    ) -> tuple[int, float]:
        """`run_whole` with the same bits; FAINT_RUN if that is not sure."""
        space = self.workspace(cut)
        answer: tuple[int, float] = propagate_cut(
            cut.table, self.plan.nodes, cut.indices, cut.node_table, cut.cuts, cut.picks, cut.axes, cut.seen,
            self.base, self.prior, self.bounds, evidence.codes, evidence.soft, evidence.likelihoods, targets,
            space.buffer, space.touched, marginals,
        )  # fmt: skip
        return answer

    def calibrate(self, evidence: CodedFinding) -> np.ndarray:
        """Every clique's posterior, up to a constant for each: a copy of the tables after a run."""
        all_nodes = np.arange(len(self.plan.num_states))
        if self.is_safe and evidence.is_safe:
            space, (status, _) = (
                self.workspace(self.plan),
                self.run_whole(evidence, all_nodes, np.empty(self.plan.num_marginals)),
            )
            if status != TINY:
                return space.buffer[: self.plan.num_cells].copy()
        return self.calibrate_in_logs(evidence)

    def calibrate_in_logs(self, evidence: CodedFinding) -> np.ndarray:
        all_nodes = np.arange(len(self.plan.num_states))
        work = np.empty(self.plan.num_cells)
        self.run_logs(*evidence.as_logs(self.plan.num_states), all_nodes, maximize=False, work=work)
        for offset, size in self.plan.table[:, :2]:
            work[offset : offset + size] -= work[offset : offset + size].max(initial=-np.inf)
        return np.exp(work)

    def with_tables(self, memory_limit: int | None) -> DenseTree:
        """The tree whose cliques' tables are stored: this one."""
        return self

    def run_logs(
        self,
        nodes: np.ndarray,
        log_likelihoods: np.ndarray,
        targets: np.ndarray,
        *,
        maximize: bool,
        work: np.ndarray | None = None,
        messages: np.ndarray | None = None,
    ) -> tuple[np.ndarray, float]:
        """(log-marginals or max-marginals, log of the total or of the largest product)."""
        plan = self.plan
        marginals = np.full(plan.num_marginals, -np.inf)
        work = np.empty(plan.num_cells) if work is None else work
        messages = np.empty(plan.num_entries) if messages is None else messages
        log_total = propagate_logs(
            plan.table, plan.indices, plan.node_table, self.log_base, nodes, log_likelihoods, targets,
            work, messages, marginals, maximize,
        )  # fmt: skip
        return marginals, log_total + self.log_scale

    def choose_rows(self, rows: CodedFindings, tie: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """By max-product (best codes (row, node), logs of their products (row,), whether others are as good (row,))."""
        plan = self.plan
        codes = np.zeros((rows.num_rows, len(plan.num_states)), np.int64)
        log_tops, is_tied = np.empty(rows.num_rows), np.zeros(rows.num_rows, np.bool_)
        log_likelihoods, log_base = rows.all_log_likelihoods(), self.log_base

        def fill(block: slice) -> None:
            buffers = (np.empty(size) for size in (plan.num_cells, plan.num_entries, plan.num_marginals))
            choose_rows(
                plan.table, plan.indices, plan.node_table, log_base, rows.observed,
                rows.codes_of(block), rows.soft, np.ascontiguousarray(log_likelihoods[:, block]),
                tie, *buffers, codes[block], log_tops[block], is_tied[block],
            )  # fmt: skip

        size = MAX_BLOCK if plan.num_cells < CELLS_AT_ONCE else rows.num_rows  # large tables one after the other
        parallel.map(fill, blocks_of(rows.num_rows, max(1, size)))
        return codes, log_tops + self.log_scale + rows.log_scale, is_tied

    def value_alternatives(
        self, nodes: np.ndarray, codes: np.ndarray, work: np.ndarray, messages: np.ndarray, values: np.ndarray
    ) -> None:
        """Fill in what it costs to leave the best codes at each node in turn; `run_logs` has filled the buffers."""
        plan = self.plan
        value_alternatives(plan.table, plan.indices, plan.node_table, nodes, codes, work, messages, values)

    def draw(self, evidence: CodedFinding, num_rows: int, rng: np.random.Generator) -> np.ndarray:
        """Codes (row, node) drawn from the posterior."""
        plan = self.plan
        codes = np.zeros((num_rows, len(plan.num_states)), dtype=np.int64)
        uniforms = rng.random((num_rows, plan.num_cliques))
        work = self.calibrate(evidence)
        draw_rows(plan.table, plan.starts, plan.nodes, plan.shared, plan.num_states, work, uniforms, codes)
        return codes

    def repack(self, factors: Sequence[Factor]) -> DenseTree | None:
        """The numbers of another model in the same plan; None if they do not go into it."""
        return pack_cliques(self.plan, factors)

    def run_rows(self, rows: CodedFindings, targets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(marginals (row, states of the targets), log evidence (row,)): fixed blocks of rows, on all cores."""
        node_table, num_states = self.plan.node_table.copy(), self.plan.num_states[targets]
        node_table[targets, MARGINAL] = np.cumsum(num_states) - num_states
        marginals = np.empty((rows.num_rows, int(num_states.sum())))
        log_evidence = np.empty(rows.num_rows)
        size = block_size(self.plan.num_cells)
        cut = RowCut.of(self, rows, node_table, targets, is_long=size < LEAST_BLOCK)
        run = self.run_block
        if cut is not None:
            size, run = block_size(cut.plan.num_cells), cut.run_block
        elif size < LEAST_BLOCK:
            size, run = 1, self.run_one_by_one

        def fill(block: slice) -> None:
            run(rows, block, node_table, targets, marginals[block], log_evidence[block])

        parallel.map(fill, blocks_of(rows.num_rows, size))
        return marginals, log_evidence

    def run_block(
        self,
        rows: CodedFindings,
        block: slice,
        node_table: np.ndarray,
        targets: np.ndarray,
        marginals: np.ndarray,
        log_evidence: np.ndarray,
    ) -> None:
        """Fill the block's marginals, laid out as `node_table` says, and log evidence."""
        if self.log_prior == -np.inf:
            log_evidence[:], marginals[:] = -np.inf, np.nan
            return
        _, is_tiny = self.propagate_block(rows, block, node_table, targets, marginals, log_evidence)
        run_singly(self, rows, block, targets, is_tiny, marginals, log_evidence)

    def propagate_block(
        self,
        rows: CodedFindings,
        block: slice,
        node_table: np.ndarray,
        targets: np.ndarray,
        marginals: np.ndarray,
        log_evidence: np.ndarray,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Fill marginals and log evidence; gives the cliques (cell, row), and which rows need logarithms (row,)."""
        plan, size = self.plan, len(log_evidence)
        if not self.is_safe:
            return np.empty((0, size)), np.ones(size, bool)
        status, space = np.full(size, TINY, np.int64), self.workspace(plan, size)
        propagate_rows(
            plan.table, plan.nodes, plan.indices, node_table, self.base, self.prior, self.bounds,
            rows.observed, rows.codes_of(block),
            rows.soft, np.ascontiguousarray(rows.likelihoods[:, block]), targets,
            space.buffer, space.touched, marginals, log_evidence, status,
        )  # fmt: skip
        log_evidence += self.log_prior + rows.log_scale[block]
        return space.buffer[: plan.num_cells], (status == TINY) | rows.is_wide(block)

    def expected_sums(self, rows: CodedFindings, weights: np.ndarray) -> tuple[Callable[[int], np.ndarray], np.ndarray]:
        """(the expected counts for the scope of a factor, by its number; log evidence (row,)).

        The posterior of every clique is summed over the rows with their weights; the counts of a factor are sums of its
        clique.
        """
        log_evidence, num_cells = np.empty(rows.num_rows), self.plan.num_cells
        num_sums = max(1, min(MOST_SUMS, CELLS_OF_SUMS // max(num_cells, 1)))
        size = block_size(num_cells)

        def sums_of(part: slice) -> np.ndarray:
            cells = np.zeros(num_cells)
            for start in range(part.start, part.stop, size):
                block = slice(start, min(start + size, part.stop))
                self.add_block(rows, block, weights[block].copy(), log_evidence[block], cells)
            return cells

        parts = parallel.map(sums_of, blocks_of(rows.num_rows, max(-(-rows.num_rows // num_sums), size)))
        return self.factor_sums(sum(parts, np.zeros(num_cells))), log_evidence

    def add_block(
        self, rows: CodedFindings, block: slice, weights: np.ndarray, log_evidence: np.ndarray, cells: np.ndarray
    ) -> None:
        """Propagate a block of rows and add its cliques; rows whose products may vanish one by one, in logarithms."""
        if self.log_prior == -np.inf or not self.plan.num_cliques:
            log_evidence[:] = self.log_prior
            return
        for index in np.flatnonzero(self.add_rows(rows, block, weights, log_evidence, cells)):
            row = rows.row(block.start + int(index))
            log_evidence[index] = self.run(row, np.empty(0, np.int64))[1]
            if weights[index] > 0 and log_evidence[index] > -np.inf:
                work = self.calibrate(row)[:, np.newaxis].copy()
                add_cells(self.plan.table, OFFSET, SIZE, work, weights[index : index + 1], cells)

    def add_rows(
        self, rows: CodedFindings, block: slice, weights: np.ndarray, log_evidence: np.ndarray, cells: np.ndarray
    ) -> np.ndarray:
        """Add the posteriors of a block's rows to `cells`, with weights; gives which rows need logarithms (row,)."""
        plan, one = self.plan, np.zeros(1, np.int64)
        node_table = plan.node_table.copy()
        node_table[0, MARGINAL] = 0
        marginals = np.empty((len(log_evidence), int(plan.num_states[0])))
        work, is_tiny = self.propagate_block(rows, block, node_table, one, marginals, log_evidence)
        if self.is_safe:
            counted = np.where(is_tiny | np.isneginf(log_evidence), 0.0, weights)
            work[:, counted == 0.0] = 0.0  # cells that vanished or overflowed must not be multiplied by 0
            add_cells(plan.table, OFFSET, SIZE, work, counted, cells)
        return is_tiny

    def factor_sums(self, cells: np.ndarray) -> Callable[[int], np.ndarray]:
        """The sums of the cells for the scope of a factor, in its order, by its number."""
        plan = self.plan

        def sums_of(factor: int) -> np.ndarray:
            clique = plan.factor_cliques[factor]
            axes = plan.nodes[plan.starts[clique] : plan.starts[clique + 1]].tolist()
            offset, size = plan.table[clique, OFFSET], plan.table[clique, SIZE]
            scope = plan.scope_nodes[plan.scope_starts[factor] : plan.scope_starts[factor + 1]].tolist()
            table = cells[offset : offset + size].reshape(plan.num_states[axes])
            rest = tuple(axis for axis, node in enumerate(axes) if node not in scope)
            kept = [node for node in axes if node in scope]
            return table.sum(axis=rest).transpose([kept.index(node) for node in scope])

        return sums_of

    def run_one_by_one(
        self,
        rows: CodedFindings,
        block: slice,
        node_table: np.ndarray,
        targets: np.ndarray,
        marginals: np.ndarray,
        log_evidence: np.ndarray,
    ) -> None:
        run_singly(self, rows, block, targets, np.ones(1, bool), marginals, log_evidence)

    def run_row(self, row: CodedFinding, targets: np.ndarray) -> tuple[np.ndarray, float]:
        """The marginals of the targets, one after the other, and the log evidence."""
        marginals, log_evidence = self.run(row, targets)
        ends = np.cumsum(self.plan.num_states)
        parts = [marginals[ends[node] - self.plan.num_states[node] : ends[node]] for node in targets]
        return np.concatenate([np.empty(0), *parts]), log_evidence

    def __getstate__(self) -> dict[str, Any]:
        """Everything but the buffers, which belong to threads, and what later runs find out."""
        return {name: value for name, value in self.__dict__.items() if name not in {"workspaces", "cut_plans"}}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, workspaces=threading.local(), cut_plans=CutPlans())

    def workspace(self, plan: CliquePlan | CutPlan, *rows: int) -> Workspace:
        """Buffers of the running thread's own, large enough for a plan, kept for its next run."""
        space: Workspace | None = getattr(self.workspaces, "space", None)
        if space is None or space.rows != rows or len(space.buffer) < plan.buffer_size:
            space = Workspace.of(plan, rows)
            self.workspaces.space = space
        return space

    @property
    def log_factors(self) -> list[np.ndarray]:
        """The logarithms of every factor's entries, less what was divided out, one axis a variable."""
        return log_tables(self.factors, self.log_tops)

    @cached_property
    def log_base(self) -> np.ndarray:
        """The logarithms of all factors, added up in their cliques; nothing collected."""
        base = np.empty(self.plan.num_cells)
        scaled = [scale_table(factor)[0] for factor in self.factors] if self.is_safe else []
        if self.is_safe and pack_tables(self.plan, scaled, base, np.empty(self.plan.num_cliques)):
            return stable.log(base)
        return pack_logs(self.plan, self.log_factors)

    def normalize(self, log_marginals: np.ndarray, targets: np.ndarray) -> np.ndarray:
        marginals = np.empty_like(log_marginals)
        starts = np.concatenate([[0], np.cumsum(self.plan.num_states)])
        for node in targets:
            states = slice(starts[node], starts[node + 1])
            logs = log_marginals[states]
            with np.errstate(invalid="ignore"):
                marginals[states] = np.exp(logs - stable.log_sum_exp(logs))
        return marginals


def pack_cliques(plan: CliquePlan, factors: Sequence[Factor]) -> DenseTree:
    """Every factor multiplied into its clique, if far from 1 divided by its largest entry; then collected.

    Where an entry vanishes in that division, or a product might, the tree is not safe: it runs in logarithms.
    """
    scaled, log_tops, is_kept = zip(*map(scale_table, factors), strict=True) if factors else ((), (), ())
    base, prior, bounds = np.empty(plan.num_cells), np.empty(plan.num_entries), np.empty(plan.num_cliques)
    is_safe = all(is_kept) and pack_tables(plan, scaled, base, bounds)
    status, log_total = (
        collect_prior(plan.table, plan.nodes, plan.indices, plan.node_table, base, prior, bounds)
        if is_safe
        else (TINY, 0.0)
    )
    constants = [v[0] for v, clique in zip(scaled, plan.factor_cliques, strict=True) if clique < 0]
    log_scale = float(np.sum([*log_tops, *stable.log(constants)]))
    return DenseTree(
        plan, base, prior, bounds, log_scale, log_scale + log_total, status != TINY, tuple(factors), log_tops
    )


def pack_tables(plan: CliquePlan, tables: Sequence[np.ndarray], base: np.ndarray, bounds: np.ndarray) -> bool:
    """Fill `base` and `bounds`; False when a product of positive entries might have vanished."""
    starts = np.cumsum([0, *(len(values) for values in tables)], dtype=np.int64)
    factors = np.argsort(plan.factor_cliques, kind="stable")  # those without variables first
    clique_starts = np.searchsorted(plan.factor_cliques[factors], np.arange(plan.num_cliques + 1))
    is_safe: bool = pack(
        plan.table, plan.starts, plan.nodes, plan.num_states, factors, clique_starts, plan.scope_starts,
        plan.scope_nodes, starts, np.concatenate([np.empty(0), *tables]), base, bounds,
    )  # fmt: skip
    return is_safe


def scale_table(factor: Factor) -> tuple[np.ndarray, float, bool]:
    """(the entries, over the largest if that is far from 1; its logarithm; whether no positive entry vanished)."""
    if factor.holds_logs:
        logs = factor.log_values.reshape(-1) - factor.log_values.max()
        return np.exp(logs), float(factor.log_values.max()), stable.doubles_hold(logs)
    values = np.ascontiguousarray(factor.values, dtype=np.float64).reshape(-1)
    largest = scale_of(values)
    if largest == 1.0:
        return values, 0.0, True
    scaled = values / largest
    return scaled, float(np.log(largest)), stable.keeps_entries(scaled, values > 0)


def scale_of(values: np.ndarray) -> float:
    """The largest entry if it is far from 1, else 1: dividing by what need not be divided by costs digits."""
    largest = float(values.max())
    return largest if largest > 1e3 or 0.0 < largest < 1e-3 else 1.0


def log_tables(factors: Sequence[Factor], log_tops: Sequence[float]) -> list[np.ndarray]:
    """The logarithms of every factor's entries, less what was divided out of it, one axis a variable."""
    pairs = zip(factors, log_tops, strict=True)
    return [(part.log_values if part.holds_logs else stable.log(part.values)) - top for part, top in pairs]


def pack_logs(plan: CliquePlan, log_factors: Sequence[np.ndarray]) -> np.ndarray:
    """The slow way, for factors whose products no double can hold: logarithms added up, clique by clique."""
    log_base = np.zeros(plan.num_cells)
    offsets = np.concatenate([[0], np.cumsum(plan.table[:, 1])])
    for factor, logs in enumerate(log_factors):
        clique = plan.factor_cliques[factor]
        if clique < 0:
            continue
        axes = plan.nodes[plan.starts[clique] : plan.starts[clique + 1]].tolist()
        scope = plan.scope_nodes[plan.scope_starts[factor] : plan.scope_starts[factor + 1]].tolist()
        order = [scope.index(node) for node in axes if node in scope]
        shape = [plan.num_states[node] if node in scope else 1 for node in axes]
        cells = log_base[offsets[clique] : offsets[clique + 1]].reshape([plan.num_states[node] for node in axes])
        cells += logs.transpose(order).reshape(shape)
    return log_base
