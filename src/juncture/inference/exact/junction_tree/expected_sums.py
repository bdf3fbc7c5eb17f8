"""Expected counts of every factor's scope, by each kind of tree."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from juncture.inference.exact.junction_tree.coded_findings import CodedFindings
from juncture.inference.exact.junction_tree.expected_cells import CELLS_OF_SUMS, MOST_SUMS, expected_cells, factor_sum
from juncture.inference.exact.junction_tree.factored.plan import FactoredPlan
from juncture.inference.exact.junction_tree.factored.tree import AnyTree, FactoredTree, normalize
from juncture.inference.exact.junction_tree.sparse.tree import SparseTree
from juncture.runtime import parallel
from juncture.runtime.parallel import blocks_of


def expected_sums(
    tree: AnyTree, rows: CodedFindings, weights: np.ndarray
) -> tuple[Callable[[int], np.ndarray], np.ndarray]:
    """(the expected counts for the scope of a factor, by its number; log evidence (row,))."""
    cells, log_evidence = expected_cells(tree, rows, weights)
    if isinstance(tree, SparseTree):
        return tree.sum_cells(cells).__getitem__, log_evidence
    return partial(factor_sum, tree.plan, cells), log_evidence


@expected_cells.register
def _(tree: FactoredTree, rows: CodedFindings, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(Σ over rows of weight · posterior of each factor's scope, one after the other; log evidence (row,))."""
    log_evidence = np.empty(rows.num_rows)
    num_sums = max(1, min(MOST_SUMS, CELLS_OF_SUMS // max(tree.plan.sums_size, 1)))

    def sums_of(part: slice) -> np.ndarray:
        sums = np.zeros(tree.plan.sums_size)
        for row in range(part.start, part.stop):
            log_evidence[row] = add_row(tree, rows, row, float(weights[row]), sums)
        return sums

    parts = blocks_of(rows.num_rows, max(1, -(-rows.num_rows // num_sums)))
    found = parallel.map(sums_of, parts, is_worth_threads=tree.keeps_buffers)
    return sum(found, np.zeros(tree.plan.sums_size)), log_evidence


def add_row(tree: FactoredTree, rows: CodedFindings, row: int, weight: float, sums: np.ndarray) -> float:
    """Add a row's posterior of every factor's scope, times its weight; its log evidence, -inf if it adds nothing."""
    plan = tree.plan
    space, log_evidence = tree.collect(rows.row(row), with_sums=True)
    if log_evidence > -np.inf and weight > 0.0 and plan.sums_size:
        space.distribute(plan.first_sums + np.flatnonzero(plan.factor_cliques >= 0))
        sums += weight * normalize(space.sums(), plan.factor_sizes, holds_logs=space.holds_logs)
    return log_evidence


@factor_sum.register
def _(plan: FactoredPlan, cells: np.ndarray, factor: int) -> np.ndarray:
    """The sums for one factor, in the order of its own axes."""
    axes = plan.factor_axes[factor]
    scope = plan.scope_nodes[plan.scope_starts[factor] : plan.scope_starts[factor + 1]]
    start = plan.layout.table_at[plan.first_sums + factor] - plan.store_size
    table = cells[start : start + plan.factor_sizes[factor]].reshape(plan.num_states[scope[list(axes)]])
    return table.transpose(np.argsort(axes))
