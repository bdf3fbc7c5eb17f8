"""`SparseTree`: a plan that keeps possible cells only, with a model's numbers packed into it, ready to run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from juncture.factors.factor import Factor
from juncture.inference.exact.junction_tree.coded_findings import CodedFinding, CodedFindings
from juncture.inference.exact.junction_tree.cuts import MAX_BLOCK
from juncture.inference.exact.junction_tree.dense_tree import DenseTree, scale_table
from juncture.inference.exact.junction_tree.sparse_plan import SparsePlan
from juncture.kernels.junction_tree.layout import MARGINAL
from juncture.kernels.junction_tree.propagation import TINY
from juncture.kernels.sparse_tree.layout import Evidence, Space
from juncture.kernels.sparse_tree.log_propagation import choose_rows, propagate_logs, value_alternatives
from juncture.kernels.sparse_tree.packing import LOGS, PRODUCTS, SUMS, is_packing_safe
from juncture.kernels.sparse_tree.propagation import add_posteriors, collect_prior, draw_rows, propagate, propagate_rows
from juncture.kernels.sparse_tree.tiles import TILE
from juncture.numerics import stable
from juncture.runtime import parallel
from juncture.runtime.parallel import blocks_of

NOTHING = np.empty(0)


@dataclass(frozen=True, eq=False, repr=False)
class SparseTree(DenseTree):
    """The plan, and every clique's possible cells after collecting without evidence; a run writes messages only."""

    plan: SparsePlan

    def repack(self, factors: Sequence[Factor]) -> DenseTree | None:
        """The numbers of another model in the same plan; None if the plan has dropped what is positive there."""
        return pack_possible(self.plan, factors) if self.plan.supports.cover(factors) else None

    def _propagate(self, evidence: CodedFinding, targets: np.ndarray, marginals: np.ndarray) -> tuple[int, float]:
        return self._run_into(evidence, targets, marginals, NOTHING)

    def _run_into(
        self, evidence: CodedFinding, targets: np.ndarray, marginals: np.ndarray, work: np.ndarray
    ) -> tuple[int, float]:
        known = weigh_evidence(evidence, self.plan.num_states)
        space = self.space(len(known.observed), len(targets))
        answer: tuple[int, float] = propagate(
            self.plan.layout, self.base, self.prior, self.bounds, known, targets, space, marginals, work
        )
        return answer

    def calibrate(self, evidence: CodedFinding) -> np.ndarray:
        """Every clique's posterior, up to a constant for each."""
        if self.is_safe and evidence.is_safe:
            work = np.empty(self.plan.num_cells)
            status, _ = self._run_into(evidence, np.empty(0, np.int64), NOTHING, work)
            if status != TINY:
                return work
        return self.calibrate_in_logs(evidence)

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
        if self.log_prior == -np.inf:
            return marginals, -np.inf
        work = np.empty(plan.num_cells) if work is None else work
        messages = np.empty(plan.num_entries) if messages is None else messages
        log_total = propagate_logs(
            plan.layout, self.log_base, nodes, log_likelihoods, targets, work, messages, marginals, maximize
        )
        return marginals, log_total + self.log_scale

    def choose_rows(self, rows: CodedFindings, tie: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """By max-product (best codes (row, node), logs of their products (row,), whether others are as good (row,))."""
        plan = self.plan
        codes = np.zeros((rows.num_rows, len(plan.num_states)), np.int64)
        log_tops, is_tied = np.full(rows.num_rows, -np.inf), np.zeros(rows.num_rows, np.bool_)
        if self.log_prior == -np.inf:
            return codes, log_tops, is_tied
        log_likelihoods, log_base = rows.all_log_likelihoods(), self.log_base

        def fill(block: slice) -> None:
            buffers = (np.empty(size) for size in (plan.num_cells, plan.num_entries, plan.num_marginals))
            choose_rows(
                plan.layout, log_base, rows.observed, rows.codes_of(block), rows.soft,
                np.ascontiguousarray(log_likelihoods[:, block]), tie, *buffers, codes[block], log_tops[block],
                is_tied[block],
            )  # fmt: skip

        parallel.map(fill, blocks_of(rows.num_rows, self.rows_at_once(rows.num_rows)))
        return codes, log_tops + self.log_scale + rows.log_scale, is_tied

    def value_alternatives(
        self, nodes: np.ndarray, codes: np.ndarray, work: np.ndarray, messages: np.ndarray, values: np.ndarray
    ) -> None:
        value_alternatives(self.plan.layout, nodes, codes, work, messages, values)

    def draw(self, evidence: CodedFinding, num_rows: int, rng: np.random.Generator) -> np.ndarray:
        codes = np.zeros((num_rows, len(self.plan.num_states)), dtype=np.int64)
        uniforms = rng.random((num_rows, self.plan.num_cliques))
        draw_rows(self.plan.layout, self.calibrate(evidence), uniforms, codes)
        return codes

    def run_rows(self, rows: CodedFindings, targets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(marginals (row, states of the targets), log evidence (row,)): fixed blocks of rows, on all cores."""
        num_states = self.plan.num_states[targets]
        marginals, log_evidence = np.empty((rows.num_rows, int(num_states.sum()))), np.empty(rows.num_rows)
        node_table = self.plan.node_table.copy()
        node_table[targets, MARGINAL] = np.cumsum(num_states) - num_states

        def fill(block: slice) -> None:
            self.run_block(rows, block, node_table, targets, marginals[block], log_evidence[block])

        parallel.map(fill, blocks_of(rows.num_rows, self.rows_at_once(rows.num_rows)))
        return marginals, log_evidence

    def rows_at_once(self, num_rows: int) -> int:
        """The rows of a block: a fixed number, so that answers do not depend on the number of cores."""
        return max(1, min(MAX_BLOCK, num_rows // 16))

    def propagate_block(
        self,
        rows: CodedFindings,
        block: slice,
        node_table: np.ndarray,
        targets: np.ndarray,
        marginals: np.ndarray,
        log_evidence: np.ndarray,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Fill marginals and log evidence; gives no cliques, and which rows need logarithms (row,)."""
        size = len(log_evidence)
        if not self.is_safe:
            return np.empty((0, size)), np.ones(size, bool)
        status, plan = np.empty(size, np.int64), self.plan
        evidence = room_for_evidence(rows, plan.num_states)
        propagate_rows(
            plan.layout._replace(node_table=node_table), self.base, self.prior, self.bounds,
            rows.observed, rows.codes_of(block),
            rows.soft, np.ascontiguousarray(rows.likelihoods[:, block]), evidence, targets,
            self.space(len(evidence.observed), len(targets)), marginals, log_evidence, status,
        )  # fmt: skip
        log_evidence += self.log_prior + rows.log_scale[block]
        return np.empty((0, size)), (status == TINY) | rows.is_wide(block)

    def add_rows(
        self, rows: CodedFindings, block: slice, weights: np.ndarray, log_evidence: np.ndarray, cells: np.ndarray
    ) -> np.ndarray:
        """Add the posteriors of a block's rows to `cells`, with weights; gives which rows need logarithms (row,)."""
        size, plan = len(log_evidence), self.plan
        if not self.is_safe:
            return np.ones(size, bool)
        is_wide, status = rows.is_wide(block), np.empty(size, np.int64)
        evidence = room_for_evidence(rows, plan.num_states)
        add_posteriors(
            plan.layout, self.base, self.prior, self.bounds, rows.observed, rows.codes_of(block),
            rows.soft, np.ascontiguousarray(rows.likelihoods[:, block]), evidence, np.where(is_wide, 0.0, weights),
            self.space(len(evidence.observed), 0), np.empty(plan.num_cells), cells, log_evidence, status,
        )  # fmt: skip
        log_evidence += self.log_prior + rows.log_scale[block]
        return (status == TINY) | is_wide

    def factor_sums(self, cells: np.ndarray) -> Callable[[int], np.ndarray]:
        supports = self.plan.supports
        sums = np.zeros(len(supports.supported))
        self.plan.fill(sums, cells, SUMS)
        tables = []
        for number, (factor, index) in enumerate(zip(self.factors, supports.slices, strict=True)):
            table = np.zeros(factor.scope.shape)
            table[index] = sums[supports.value_starts[number] : supports.value_starts[number + 1]].reshape(
                table[index].shape
            )
            tables.append(table)
        return tables.__getitem__

    def space(self, num_known: int, num_targets: int) -> Space:
        """The buffers of a run: the running thread's own, kept for its next run, and lists as long as is needed."""
        kept: Space | None = getattr(self.workspaces, "space", None)
        if kept is None:
            kept = new_space(self.plan)
            self.workspaces.space = kept
        return kept._replace(links=np.empty(num_known, np.int64), next_target=np.empty(num_targets, np.int64))

    @cached_property
    def log_base(self) -> np.ndarray:
        """The logarithms of all factors, added up at the possible cells; nothing collected."""
        base = np.empty(self.plan.num_cells)
        self.plan.fill(self.plan.supports.take(self.log_factors), base, LOGS)
        return base


def pack_possible(plan: SparsePlan, factors: Sequence[Factor]) -> SparseTree:
    """Every factor multiplied into its clique's possible cells, as `pack_cliques` does; then collected."""
    scaled, log_tops, is_kept = zip(*map(scale_table, factors), strict=True) if factors else ((), (), ())
    tables = [values.reshape(factor.scope.shape) for values, factor in zip(scaled, factors, strict=True)]
    values = plan.supports.take(tables)
    base, prior, bounds = np.empty(plan.num_cells), np.empty(plan.num_entries), np.empty(plan.num_cliques)
    constants = [entries[0] for entries, clique in zip(scaled, plan.factor_cliques, strict=True) if clique < 0]
    log_scale = float(np.sum([*log_tops, *stable.log(constants)]))
    is_safe = all(is_kept) and is_packing_safe(*plan.held, plan.supports.value_starts, values)
    status, log_total = TINY, -np.inf
    if plan.num_cells and is_safe:
        plan.fill(values, base, PRODUCTS)
        status, log_total = collect_prior(plan.layout, base, prior, bounds)
    log_prior = log_scale + (log_total if status != TINY or not plan.num_cells else 0.0)
    return SparseTree(plan, base, prior, bounds, log_scale, log_prior, status != TINY, tuple(factors), log_tops)


def new_space(plan: SparsePlan) -> Space:
    messages, ratios, back = (np.empty(plan.num_entries) for _ in range(3))
    heads, tops, places, none = (np.empty(plan.num_cliques, np.int64) for _ in range(4))
    touched, needed = (np.empty(plan.num_cliques, np.bool_) for _ in range(2))
    least, buffer = np.empty(plan.num_cliques), np.empty(TILE)
    return Space(messages, ratios, back, least, touched, needed, heads, none, tops, none, places, buffer)


def weigh_evidence(evidence: CodedFinding, num_states: np.ndarray) -> Evidence:
    nodes = np.concatenate([evidence.observed, evidence.soft])
    sizes = num_states[nodes]
    starts = np.cumsum(sizes) - sizes
    hard = np.zeros(int(sizes[: len(evidence.observed)].sum()))
    hard[starts[: len(evidence.observed)] + evidence.codes] = 1.0
    return Evidence(nodes, starts, np.concatenate([hard, evidence.likelihoods]))


def room_for_evidence(rows: CodedFindings, num_states: np.ndarray) -> Evidence:
    nodes = np.concatenate([rows.observed, rows.soft])
    return Evidence(np.empty_like(nodes), np.empty_like(nodes), np.empty(int(num_states[nodes].sum())))
