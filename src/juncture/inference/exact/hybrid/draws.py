"""Rows from the posterior: the states first, then real-valued variables against the order of their elimination."""

from __future__ import annotations

import numpy as np

from juncture.inference.exact.hybrid.run import Run
from juncture.inference.exact.hybrid.tree_of_row import tree_of_row


def draw_rows(run: Run, num_rows: int, rng: np.random.Generator, memory_limit: int | None) -> dict[str, np.ndarray]:
    """Columns of all variables given a single row of findings; those that no finding depends on are drawn forward."""
    columns: dict[str, np.ndarray] = {
        name: np.repeat(array, num_rows) for name, array in (*run.rows.codes.items(), *run.rows.reals.items())
    }
    if run.part.tree.states:
        columns |= tree_of_row(run, run.tables(slice(0, 1)), 0, memory_limit).sample(num_rows, rng)
    for solved, case in run.solved:
        states = [columns[name] for name in solved.group.states]
        solved.fill(columns, np.repeat(case, num_rows), states, rng)
    for name in run.model.graph.topological_order():
        if name not in columns:
            columns[name] = run.model[name].sample(columns, num_rows, rng)
    return {name: columns[name] for name in run.model.variables.names}
