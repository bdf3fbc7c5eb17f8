"""Expected counts of every factor's scope by each kind of junction tree: the E-step of learning tables.

The posterior of every clique is summed over the rows with their weights; the counts of a factor are sums of its clique.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, singledispatch
from typing import Any

import numpy as np

from juncture.inference.exact.junction_tree.coded_findings import CodedFindings
from juncture.inference.exact.junction_tree.cuts import block_size
from juncture.inference.exact.junction_tree.factored_tree import AnyTree, FactoredPlan, FactoredTree, normalize
from juncture.inference.exact.junction_tree.packed_tree import PackedTree
from juncture.inference.exact.junction_tree.sparse_tree import SparseTree
from juncture.kernels.counting import add_cells
from juncture.kernels.junction_tree.layout import MARGINAL, OFFSET, SIZE
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


MOST_SUMS = 16  # tables of sums that are filled side by side
CELLS_OF_SUMS = 2**24  # ... and all their cells: fixed, so that sums do not depend on the number of cores


@singledispatch
def expected_cells(tree: Any, rows: CodedFindings, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(Σ over rows of weight · posterior of each clique (cell,), log evidence (row,)).

    A row of probability zero has the log evidence -inf and adds nothing.
    """
    log_evidence = np.empty(rows.num_rows)
    num_sums = max(1, min(MOST_SUMS, CELLS_OF_SUMS // max(tree.plan.num_cells, 1)))
    size = max(-(-rows.num_rows // num_sums), block_size(tree.plan.num_cells))

    def sums_of(part: slice) -> np.ndarray:
        return sum_cells(tree, rows, weights, part, log_evidence)

    parts = parallel.map(sums_of, blocks_of(rows.num_rows, size))
    return sum(parts, np.zeros(tree.plan.num_cells)), log_evidence


def sum_cells(
    tree: PackedTree, rows: CodedFindings, weights: np.ndarray, part: slice, log_evidence: np.ndarray
) -> np.ndarray:
    """The sums over one part of the rows, a block at a time."""
    cells = np.zeros(tree.plan.num_cells)
    size = block_size(tree.plan.num_cells)
    for start in range(part.start, part.stop, size):
        block = slice(start, min(start + size, part.stop))
        add_block(tree, rows, block, weights[block].copy(), log_evidence[block], cells)
    return cells


def add_block(
    tree: PackedTree,
    rows: CodedFindings,
    block: slice,
    weights: np.ndarray,
    log_evidence: np.ndarray,
    cells: np.ndarray,
) -> None:
    """Propagate a block of rows and add its cliques; rows whose products may vanish go one by one, in logarithms."""
    if tree.log_prior == -np.inf or not tree.plan.num_cliques:
        log_evidence[:] = tree.log_prior
        return
    if isinstance(tree, SparseTree):
        is_tiny = tree.add_rows(rows, block, weights, log_evidence, cells)
    else:
        is_tiny = add_dense_block(tree, rows, block, weights, log_evidence, cells)
    for index in np.flatnonzero(is_tiny):
        add_row(tree, rows, block.start + int(index), weights[index], log_evidence[index : index + 1], cells)


def add_dense_block(
    tree: PackedTree,
    rows: CodedFindings,
    block: slice,
    weights: np.ndarray,
    log_evidence: np.ndarray,
    cells: np.ndarray,
) -> np.ndarray:
    """Propagate a block of rows and add its cliques; gives which rows need logarithms (row,)."""
    plan, one = tree.plan, np.zeros(1, np.int64)
    node_table = plan.node_table.copy()
    node_table[0, MARGINAL] = 0
    marginals = np.empty((len(log_evidence), int(plan.num_states[0])))
    work, is_tiny = tree.propagate_block(rows, block, node_table, one, marginals, log_evidence)
    if tree.is_safe:
        counted = np.where(is_tiny | np.isneginf(log_evidence), 0.0, weights)
        work[:, counted == 0.0] = 0.0  # cells that vanished or overflowed must not be multiplied by 0
        add_cells(plan.table, OFFSET, SIZE, work, counted, cells)
    return is_tiny


def add_row(
    tree: PackedTree, rows: CodedFindings, index: int, weight: float, log_evidence: np.ndarray, cells: np.ndarray
) -> None:
    row = rows.row(index)
    log_evidence[0] = tree.run(row, np.empty(0, np.int64))[1]
    if weight > 0 and log_evidence[0] > -np.inf:
        work = tree.calibrate(row)[:, np.newaxis].copy()
        add_cells(tree.plan.table, OFFSET, SIZE, work, np.array([weight]), cells)


@expected_cells.register
def expected_of_factors(tree: FactoredTree, rows: CodedFindings, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(Σ over rows of weight · posterior of each factor's scope, one after the other; log evidence (row,))."""
    log_evidence = np.empty(rows.num_rows)
    num_sums = max(1, min(MOST_SUMS, CELLS_OF_SUMS // max(tree.plan.sums_size, 1)))

    def sums_of(part: slice) -> np.ndarray:
        sums = np.zeros(tree.plan.sums_size)
        for row in range(part.start, part.stop):
            log_evidence[row] = add_row_of_factors(tree, rows, row, float(weights[row]), sums)
        return sums

    parts = blocks_of(rows.num_rows, max(1, -(-rows.num_rows // num_sums)))
    found = parallel.map(sums_of, parts, is_worth_threads=tree.keeps_buffers)
    return sum(found, np.zeros(tree.plan.sums_size)), log_evidence


def add_row_of_factors(tree: FactoredTree, rows: CodedFindings, row: int, weight: float, sums: np.ndarray) -> float:
    """Add a row's posterior of every factor's scope, times its weight; its log evidence, -inf if it adds nothing."""
    plan = tree.plan
    space, log_evidence = tree.collect(rows.row(row), with_sums=True)
    if log_evidence > -np.inf and weight > 0.0 and plan.sums_size:
        space.distribute(plan.first_sums + np.flatnonzero(plan.factor_cliques >= 0))
        sums += weight * normalize(space.sums(), plan.factor_sizes, holds_logs=space.holds_logs)
    return log_evidence


@singledispatch
def factor_sum(plan: Any, cells: np.ndarray, factor: int) -> np.ndarray:
    """The sums of a clique's cells for the scope of one of its factors, in the order of the factor."""
    clique = plan.factor_cliques[factor]
    axes = plan.nodes[plan.starts[clique] : plan.starts[clique + 1]].tolist()
    offset, size = plan.table[clique, OFFSET], plan.table[clique, SIZE]
    scope = plan.scope_nodes[plan.scope_starts[factor] : plan.scope_starts[factor + 1]].tolist()
    table = cells[offset : offset + size].reshape(plan.num_states[axes])
    rest = tuple(axis for axis, node in enumerate(axes) if node not in scope)
    kept = [node for node in axes if node in scope]
    return table.sum(axis=rest).transpose([kept.index(node) for node in scope])


@factor_sum.register
def factor_sum_of_plan(plan: FactoredPlan, cells: np.ndarray, factor: int) -> np.ndarray:
    """The sums for one factor, in the order of its own axes."""
    axes = plan.factor_axes[factor]
    scope = plan.scope_nodes[plan.scope_starts[factor] : plan.scope_starts[factor + 1]]
    start = plan.layout.table_at[plan.first_sums + factor] - plan.store_size
    table = cells[start : start + plan.factor_sizes[factor]].reshape(plan.num_states[scope[list(axes)]])
    return table.transpose(np.argsort(axes))
