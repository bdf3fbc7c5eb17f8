"""Whether a junction tree keeps all cells or only those that can be non-zero: decided by the zeros of the factors."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from juncture.inference.engines.contract import Cost
from juncture.inference.engines.lowering import Lowered
from juncture.inference.exact.clique_search import OPERATIONS_PER_CELL, CliqueTree

if TYPE_CHECKING:
    from juncture.inference.exact.junction_tree.sparse.plan import SparsePlan

LEAST_CELLS = 25_000  # of all cliques: from here on it is looked for zeros
LEAST_ZEROS = 0.02  # ... and the part of the factors' entries that are zero
MOST_KEPT = 0.55  # of all cells: up to here a run on those that can be non-zero is faster
MANY_CELLS, MOST_KEPT_OF_MANY = 5e7, 0.25  # of so many, less: it takes seconds to search for the others
MOST_KEPT_ONCE = 0.06  # ... also if they are searched for one run
LARGE = 2**32  # bytes of all cells: from here on the others are left out at any rate
MOST_CELLS = 2**24  # that are listed, which takes seconds
FindTree = Callable[[list[list[int]], tuple[int, ...]], CliqueTree]  # from scopes and numbers of states


def find_sparse_plan(
    lowered: Lowered, scopes: list[list[int]], find_tree: FindTree, most_kept: float, deadline: float | None = None
) -> SparsePlan | None:
    """The plan for possible cells if these are at most this part of all cells, else None.

    Of small models and those with few zeros only the sizes, then the zeros, are looked at.
    """
    all_cells = cells_of(find_tree(scopes, lowered.scope.shape))
    if all_cells < LEAST_CELLS:
        return None
    from juncture.inference.exact.junction_tree.sparse.supports import has_zeros

    if not has_zeros(lowered.factors, LEAST_ZEROS):
        return None
    return plan_sparsely(lowered, scopes, find_tree, min(MOST_CELLS, most_kept * all_cells), deadline)


def plan_sparsely(
    lowered: Lowered,
    scopes: list[list[int]],
    find_tree: FindTree,
    most_cells: float = MOST_CELLS,
    deadline: float | None = None,
) -> SparsePlan | None:
    """The plan for possible cells if there are at most so many, else None."""
    from juncture.inference.exact.junction_tree.sparse.plan import plan_possible_cells
    from juncture.inference.exact.junction_tree.sparse.supports import find_supports

    supports = find_supports(lowered.factors, scopes, lowered.scope.shape)
    tree = find_tree(supports.scopes, tuple(np.maximum(supports.counts, 1).tolist()))
    if cells_of(tree) > most_cells and not supports.restrictive.any():  # then all of these are possible
        return None
    all_cells = cells_of(find_tree(scopes, lowered.scope.shape))
    return plan_possible_cells(supports, scopes, tree, all_cells, most_cells, deadline)


def share_kept(all_cells: Cost, *, once: bool = False) -> float:
    """The part of all cells up to which those that can be non-zero are kept alone; of a plan that runs once, less."""
    if all_cells.bytes > LARGE:
        return 1.0
    if once:
        return MOST_KEPT_ONCE
    return MOST_KEPT if all_cells.operations < MANY_CELLS * OPERATIONS_PER_CELL else MOST_KEPT_OF_MANY


def cells_of(tree: CliqueTree) -> float:
    return tree.cost.operations / OPERATIONS_PER_CELL
