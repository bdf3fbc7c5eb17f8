"""Whether a junction tree keeps all cells or only those that can be non-zero: decided by the zeros of the factors."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from juncture.inference.exact.clique_search import OPERATIONS_PER_CELL, CliqueTree
from juncture.inference.exact.junction_tree.sparse_plan import SparsePlan, plan_possible_cells
from juncture.inference.exact.junction_tree.supports import find_supports, has_zeros
from juncture.inference.exact.lowering import Lowered

LEAST_OPERATIONS = 150_000  # of a run on all cells: from here on it is looked for zeros
LEAST_ZEROS = 0.02  # ... and the part of the factors' entries that are zero
MOST_KEPT = 0.7  # of all cells: up to here a run on those that can be non-zero is faster
MOST_KEPT_ONCE = 0.06  # ... also if they are searched for one run
MOST_CELLS = 2**28
FindTree = Callable[[list[list[int]], tuple[int, ...]], CliqueTree]  # from scopes and numbers of states


def find_sparse_plan(
    lowered: Lowered, scopes: list[list[int]], find_tree: FindTree, most_kept: float
) -> SparsePlan | None:
    """The plan for possible cells if these are at most this part of all cells, else None.

    Of small models and those with few zeros only the sizes, then the zeros, are looked at.
    """
    operations = find_tree(scopes, lowered.scope.shape).cost.operations
    if operations < LEAST_OPERATIONS or not has_zeros(lowered.factors, LEAST_ZEROS):
        return None
    supports = find_supports(lowered.factors, scopes, lowered.scope.shape)
    tree = find_tree(supports.scopes, tuple(np.maximum(supports.counts, 1).tolist()))
    most_cells = min(MOST_CELLS, most_kept * operations / OPERATIONS_PER_CELL)
    return plan_possible_cells(supports, scopes, tree, most_cells)
