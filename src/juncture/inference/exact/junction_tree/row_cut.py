"""Many rows on tables without the axes of what all of them observe."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from juncture.inference.exact.junction_tree.coded_findings import CodedFindings
from juncture.inference.exact.junction_tree.cut_plan import CutPlan
from juncture.kernels.junction_tree.cut_rows import propagate_cut_rows
from juncture.kernels.junction_tree.layout import MARGINAL
from juncture.kernels.junction_tree.propagation import TINY

if TYPE_CHECKING:
    from juncture.inference.exact.junction_tree.packed_tree import PackedTree

LEAST_SHARE = 8  # a cut that leaves out less than one cell in so many is not faster


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
    def of(cls, tree: PackedTree, rows: CodedFindings, node_table: np.ndarray, targets: np.ndarray) -> RowCut | None:
        """None where a cut does not pay, or where the bits might be others."""
        known = find_known(rows)
        observed = rows.observed[known]
        if not len(observed) or not tree.is_safe or not tree.is_level or np.isin(rows.soft, observed).any():
            return None
        plan = tree.cut_plans.find(tree.plan, observed, rows.num_rows, tree.plan.num_cells // LEAST_SHARE + 1)
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
            tree.base, tree.prior, tree.bounds, np.ascontiguousarray(self.cut_codes[:, block]),
            self.observed, np.ascontiguousarray(self.codes[:, block]),
            rows.soft, np.ascontiguousarray(rows.likelihoods[:, block]), targets,
            space.buffer, space.touched, marginals, log_evidence, status,
        )  # fmt: skip
        if not is_sure:
            tree.run_block(rows, block, node_table, targets, marginals, log_evidence)
            return
        log_evidence += tree.log_prior + rows.log_scale[block]
        is_tiny = (status == TINY) | rows.is_wide(block)
        tree.run_in_logs(rows, block, targets, is_tiny, marginals, log_evidence)


def find_known(rows: CodedFindings) -> np.ndarray:
    """(observed,): which of the nodes have a code in every row."""
    known = np.flatnonzero(rows.codes[:, :1].min(axis=1, initial=0) >= 0)
    is_known = np.zeros(len(rows.observed), bool)
    is_known[known] = rows.codes[known].min(axis=1, initial=0) >= 0
    return is_known
