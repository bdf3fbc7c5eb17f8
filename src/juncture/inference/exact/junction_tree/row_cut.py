"""Many rows on tables without the axes of what all of them observe."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from juncture.inference.exact.junction_tree.coded_findings import CodedFindings, as_codes
from juncture.inference.exact.junction_tree.cut_plan import CutPlan, kept_cells
from juncture.inference.exact.junction_tree.workspace import LEAST_BLOCK, block_size
from juncture.kernels.junction_tree.cut_rows import propagate_cut_rows
from juncture.kernels.junction_tree.layout import MARGINAL
from juncture.kernels.junction_tree.propagation import TINY

if TYPE_CHECKING:
    from juncture.inference.exact.junction_tree.packed_tree import PackedTree

LEAST_SHARE = 8  # a cut that leaves out less than one cell in so many is not faster
ALWAYS = 2**40  # so many runs that any plan pays


@dataclass(frozen=True, eq=False)
class RowCut:
    """The cut plan for the nodes that all rows observe, their codes, and those of the others."""

    tree: PackedTree
    plan: CutPlan
    cut_codes: np.ndarray  # (node that all rows observe, row)
    observed: np.ndarray  # the others
    codes: np.ndarray  # (other node, row)
    node_table: np.ndarray  # of the plan, with the columns of the targets' marginals
    seen: np.ndarray  # (target that all rows observe, column)

    @classmethod
    def of(
        cls, tree: PackedTree, rows: CodedFindings, node_table: np.ndarray, targets: np.ndarray, *, is_long: bool
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
        plan = tree.cut_plans.find(tree.plan, observed, times, tree.plan.num_cells // LEAST_SHARE + 1)
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
        """`PackedTree.run_block`, with the same bits."""
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
    tree: PackedTree,
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
