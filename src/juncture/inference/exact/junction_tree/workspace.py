"""The buffers of runs, and how many rows run together."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from juncture.inference.exact.junction_tree.cut_plan import CutPlan
from juncture.inference.exact.junction_tree.plan import CliquePlan

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
