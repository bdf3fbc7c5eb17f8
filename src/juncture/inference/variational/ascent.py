"""Coordinate ascent of mean field: rows of evidence together, each from its start to its end."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from juncture.errors import NotConvergedWarning, warn_user
from juncture.inference.engines.factor_arrays import FactorArrays
from juncture.inference.variational.layout import Layout
from juncture.kernels.coordinate_ascent import sweep_binary_rows, sweep_rows
from juncture.numerics.iteration import check_no_decrease, iterate
from juncture.runtime.parallel import block_rows, map_blocks


class Course(NamedTuple):
    """Where coordinate ascent is: the distributions, and for each row its lower bound and its last change."""

    beliefs: np.ndarray  # (row, state of all nodes)
    bounds: np.ndarray  # (row,)
    changes: np.ndarray  # (row,): the largest change of a probability in the last sweep; 0 of an impossible row
    steps: int = 0
    is_cut: bool = False  # whether time ran out


@dataclass(frozen=True, eq=False)
class CoordinateAscent:
    """Sweeps over all nodes: a `FixedPoint` whose lower bound must not fall.

    A row is at its end when no probability changes by more than the tolerance; it then stays as it is, so that its
    answer does not depend on the other rows.
    """

    layout: Layout
    fields: np.ndarray  # (row, state of all nodes): the logarithms of evidence and of factors of one node
    start: np.ndarray  # (row, state of all nodes)
    is_possible: np.ndarray  # (row,)
    tolerance: float
    deadline: float | None = None

    def init(self) -> Course:
        changes = np.where(self.is_possible, np.inf, 0.0)
        return Course(self.start.copy(), np.full(len(self.start), -np.inf), changes)

    def step(self, course: Course) -> Course:
        if self.deadline is not None and course.steps and time.perf_counter() > self.deadline:
            return course._replace(is_cut=True)
        is_active = course.changes > self.tolerance
        bounds, changes = course.bounds.copy(), course.changes.copy()
        sweep(self.layout, self.fields, course.beliefs, is_active, bounds, np.zeros(len(bounds)), changes)
        for row in np.flatnonzero(is_active & ~(bounds >= course.bounds)):
            check_no_decrease(course.bounds[row], bounds[row], course.steps + 1)
        return Course(course.beliefs, bounds, changes, course.steps + 1)

    def change(self, before: Course, after: Course) -> float:
        return 0.0 if after.is_cut else float(after.changes.max(initial=0.0))

    def run(self, max_steps: int) -> Course:
        """The course after the last sweep, with the constant of the model in its bounds."""
        course, _ = iterate(self, tolerance=self.tolerance, max_steps=max_steps)
        return course._replace(bounds=course.bounds + self.layout.constant)


def sweep(
    layout: Layout, fields: np.ndarray, beliefs: np.ndarray, is_active: np.ndarray,
    bounds: np.ndarray, excesses: np.ndarray, changes: np.ndarray,
) -> None:  # fmt: skip
    """One sweep of the active rows, in place: lower bounds, how often zeros are met, the largest changes."""

    def sweep_block(rows: slice) -> None:
        parts = beliefs[rows], fields[rows], is_active[rows], bounds[rows]
        if layout.is_binary:
            pairs = layout.pair_starts, layout.neighbors, layout.pair_tables, layout.pair_values
            sweep_binary_rows(*parts, changes[rows], *pairs)
        else:
            given = excesses[rows], changes[rows], layout.operations, layout.factors
            sweep_rows(*parts, *given, *layout.work_arrays())

    map_blocks(sweep_block, len(beliefs), block_rows(beliefs.shape[1:]))


def warn_of_early_end(is_cut: bool) -> None:
    """Warn of an answer that is not yet an optimum."""
    why = "its budget ended" if is_cut else "max_steps are spent"
    warn_user(
        f"mean field has not converged when {why}; its lower bound holds, and the answers are those of its last sweep:"
        " more steps may help",
        NotConvergedWarning,
    )


def normalize_nodes(arrays: FactorArrays, values: np.ndarray) -> np.ndarray:
    """(row, state of all nodes) with a sum of 1 over the states of each node."""
    if not arrays.num_nodes:
        return values
    sums = np.add.reduceat(values, arrays.state_starts[:-1], axis=1)
    return values / np.repeat(sums, arrays.num_states, axis=1)
