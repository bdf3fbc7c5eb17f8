"""`CutPlan`: a clique plan without the axes of observed variables, for sets of them that come again.

One plan serves a row, or all rows that observe the same variables (`RowCut`); a `Workspace` holds the arrays of a run.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from juncture.inference.exact.junction_tree import choice
from juncture.inference.exact.junction_tree.coded_findings import CodedFindings, as_codes
from juncture.inference.exact.junction_tree.plan import CliquePlan
from juncture.kernels.junction_tree.cut import count_kept, fill_picks, plan_cuts, propagate_cut_rows
from juncture.kernels.junction_tree.layout import MARGINAL, PARENT, build_clique_table, fill_indices, place_nodes
from juncture.kernels.junction_tree.propagation import TINY

if TYPE_CHECKING:
    from juncture.inference.exact.junction_tree.dense_tree import DenseTree


MAX_SETS = 64
MAX_BYTES = 2**23


@dataclass(frozen=True, eq=False, repr=False)
class CutPlan:
    """The arrays of a plan for one set of observed nodes, and which cells of the whole tables they keep."""

    table: np.ndarray  # (clique, column), as of a `CliquePlan`
    indices: np.ndarray
    node_table: np.ndarray  # (node, column)
    cuts: np.ndarray  # (clique, column): `kernels.junction_tree.cut` names the columns
    picks: np.ndarray  # the positions of kept cells and entries
    axes: np.ndarray  # (observed axis, column)
    seen: np.ndarray  # (observed node, column)
    num_cells: int
    num_entries: int

    @classmethod
    def of(cls, plan: CliquePlan, observed: np.ndarray) -> CutPlan:
        starts, nodes, shared, states = plan.starts, plan.nodes, plan.shared, plan.num_states
        kept = keep_one_state(plan, observed)
        slots = np.full(len(states), -1)
        slots[observed] = np.arange(len(observed))
        parents = np.ascontiguousarray(plan.table[:, PARENT])
        table, num_cells, num_entries, num_indices = build_clique_table(parents, starts, nodes, shared, states, kept)
        indices = np.empty(num_indices, plan.indices.dtype)
        fill_indices(table, starts, nodes, shared, kept, indices)
        node_table = plan.node_table.copy()
        place_nodes(table, starts, nodes, kept, node_table)
        cuts, axes, num_picks = plan_cuts(plan.table, table, starts, nodes, shared, states, slots, node_table, observed)
        picks = np.empty(num_picks, np.int32 if plan.num_cells < 2**31 else np.int64)
        fill_picks(table, starts, nodes, shared, states, kept, cuts, picks)
        seen = np.stack([plan.node_table[observed, MARGINAL], states[observed], np.arange(len(observed))], axis=1)
        return cls(table, indices, node_table, cuts, picks, axes, seen, int(num_cells), int(num_entries))

    @cached_property
    def buffer_size(self) -> int:
        """The entries of a run's buffer: as of a `CliquePlan`, and the messages without evidence."""
        return self.num_cells + 3 * self.num_entries + len(self.table)

    @cached_property
    def nbytes(self) -> int:
        """The memory that the arrays take."""
        return sum(array.nbytes for array in vars(self).values() if isinstance(array, np.ndarray))


def keep_one_state(plan: CliquePlan, observed: np.ndarray) -> np.ndarray:
    """(node,): the numbers of states, 1 for the observed nodes."""
    kept = plan.num_states.copy()
    kept[observed] = 1
    return kept


def kept_cells(plan: CliquePlan, observed: np.ndarray) -> int:
    """How many cells agree with codes of these nodes."""
    return int(count_kept(plan.starts, plan.nodes, keep_one_state(plan, observed)))


@dataclass(eq=False)
class ObservedSet:
    """What is known of a set of observed nodes: the cells that a cut saves a run, and would have saved so far."""

    saving: int
    cost: int  # of laying a cut plan out, in cells
    last_use: int
    missed: int = 0
    plan: CutPlan | None = None

    def is_due(self, times: int) -> bool:
        """Whether, with so many more runs, laying out a plan would have paid."""
        self.missed += times * self.saving
        return self.missed >= self.cost


class CutPlans:
    """Cut plans by observed set, made when the runs without one have cost as much as laying it out.

    Answers are the same with and without one, so it does not matter when that is, nor that threads miss each other's
    counts. Entries go into a copy that replaces the dictionary: threads never read one that changes, and no lock is
    held across a fork. Beyond `MAX_SETS` sets or `MAX_BYTES` of plans, the half that was not used for longest is
    dropped.
    """

    def __init__(self) -> None:
        self.known: dict[bytes, ObservedSet] = {}
        self.clock = 0
        self.num_bytes = 0

    def find(self, plan: CliquePlan, observed: np.ndarray, times: int, least: int) -> CutPlan | None:
        """The plan for these nodes, in the order given, if it saves at least so many cells a run, and has paid."""
        entry = self.known.get(observed.tobytes())
        if entry is None:
            entry = self.add(plan, observed)
        if entry.saving < least:
            return None
        cut = entry.plan
        if cut is None:
            if not entry.is_due(times):
                return None
            cut = entry.plan = CutPlan.of(plan, observed)
            self.num_bytes += cut.nbytes
            if self.num_bytes > MAX_BYTES:
                self.shrink()
        entry.last_use = self.clock
        return cut

    def add(self, plan: CliquePlan, observed: np.ndarray) -> ObservedSet:
        self.clock += 1
        kept = kept_cells(plan, observed)
        entry = ObservedSet(plan.num_cells - kept, choice.cut_cost(kept), self.clock)
        if len(self.known) >= MAX_SETS:
            self.shrink()
        self.known = {**self.known, observed.tobytes(): entry}
        return entry

    def shrink(self) -> None:
        """Keep the sets used last: half of `MAX_SETS`, and half of `MAX_BYTES` of their plans."""
        recent = sorted(self.known.items(), key=lambda item: -item[1].last_use)[: MAX_SETS // 2]
        total = 0
        for _, entry in recent:
            size = entry.plan.nbytes if entry.plan else 0
            if total + size > MAX_BYTES // 2:
                entry.plan, entry.missed, size = None, 0, 0
            total += size
        self.known, self.num_bytes = dict(recent), total


ALWAYS = 2**40  # so many runs that any plan pays


@dataclass(frozen=True, eq=False)
class RowCut:
    """The cut plan for the nodes that all rows observe, their codes, and those of the others."""

    tree: DenseTree
    plan: CutPlan
    cut_codes: np.ndarray  # (node that all rows observe, row)
    observed: np.ndarray  # the others
    codes: np.ndarray  # (other node, row)
    node_table: np.ndarray  # of the plan, with the columns of the targets' marginals
    seen: np.ndarray  # (target that all rows observe, column)

    @classmethod
    def of(
        cls, tree: DenseTree, rows: CodedFindings, node_table: np.ndarray, targets: np.ndarray, *, is_long: bool
    ) -> RowCut | None:
        """None where a cut does not pay, or where the bits might be others.

        Rows that would else run one by one, with other bits, are cut whenever that lets them run together.
        """
        known = find_known(rows)
        observed = rows.observed[known]
        if not len(observed) or not tree.is_safe or not tree.is_level or np.isin(rows.soft, observed).any():
            return None
        if is_long and block_size(kept_cells(tree.plan, observed)) < LEAST_BLOCK:
            return None
        times = ALWAYS if is_long else rows.num_rows
        least = choice.least_saving(tree.plan.num_cells, is_row=False)
        plan = tree.cut_plans.find(tree.plan, observed, times, least)
        if plan is None:
            return None
        places = plan.node_table.copy()
        places[:, MARGINAL] = node_table[:, MARGINAL]
        is_target = np.isin(observed, targets)
        seen = plan.seen.copy()
        seen[:, 0] = places[observed, MARGINAL]
        return cls(tree, plan, rows.codes[known], rows.observed[~known], rows.codes[~known], places, seen[is_target])

    def run_block(
        self,
        rows: CodedFindings,
        block: slice,
        node_table: np.ndarray,
        targets: np.ndarray,
        marginals: np.ndarray,
        log_evidence: np.ndarray,
    ) -> None:
        """`DenseTree.run_block`, with the same bits."""
        tree, cut, size = self.tree, self.plan, len(log_evidence)
        status, space = np.full(size, TINY, np.int64), tree.workspace(cut, size)
        is_sure = propagate_cut_rows(
            cut.table, tree.plan.nodes, cut.indices, self.node_table, cut.cuts, cut.picks, cut.axes, self.seen,
            tree.base, tree.prior, tree.bounds, as_codes(self.cut_codes, block),
            self.observed, as_codes(self.codes, block),
            rows.soft, np.ascontiguousarray(rows.likelihoods[:, block]), targets,
            space.buffer, space.touched, marginals, log_evidence, status,
        )  # fmt: skip
        if not is_sure:
            for row in range(size):
                one, at = slice(block.start + row, block.start + row + 1), slice(row, row + 1)
                tree.run_block(rows, one, node_table, targets, marginals[at], log_evidence[at])
            return
        log_evidence += tree.log_prior + rows.log_scale[block]
        is_tiny = (status == TINY) | rows.is_wide(block)
        run_singly(tree, rows, block, targets, is_tiny, marginals, log_evidence)


def find_known(rows: CodedFindings) -> np.ndarray:
    """(observed,): which of the nodes have a code in every row."""
    known = np.flatnonzero(rows.codes[:, :1].min(axis=1, initial=0) >= 0)
    is_known = np.zeros(len(rows.observed), bool)
    is_known[known] = rows.codes[known].min(axis=1, initial=0) >= 0
    return is_known


def run_singly(
    tree: DenseTree,
    rows: CodedFindings,
    block: slice,
    targets: np.ndarray,
    is_asked: np.ndarray,
    marginals: np.ndarray,
    log_evidence: np.ndarray,
) -> None:
    """Fill in some rows of a block by runs of their own, and NaN for all that are impossible."""
    for index in np.flatnonzero(is_asked):
        marginals[index], log_evidence[index] = tree.run_row(rows.row(block.start + int(index)), targets)
    marginals[np.isneginf(log_evidence)] = np.nan


CELLS_AT_ONCE = 2**17  # of a block of rows: what a core's cache holds
MAX_BLOCK = 128
LEAST_BLOCK = 5  # fewer rows run one by one


@dataclass(frozen=True, eq=False)
class Workspace:
    """The buffers of a run."""

    rows: tuple[int, ...]  # () for one row, (number of rows,) for many
    buffer: np.ndarray  # tables, messages and bounds, as `kernels.junction_tree.propagation.share_buffer` parts them
    touched: np.ndarray

    @classmethod
    def of(cls, plan: CliquePlan | CutPlan, rows: tuple[int, ...]) -> Workspace:
        return cls(rows, np.empty((plan.buffer_size, *rows)), np.empty(len(plan.table), np.bool_))


def block_size(num_cells: int) -> int:
    """How many rows run together on tables of so many cells."""
    return max(1, min(MAX_BLOCK, CELLS_AT_ONCE // max(num_cells, 1)))
