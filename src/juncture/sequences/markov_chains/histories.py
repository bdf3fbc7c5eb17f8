"""Chains of order m as chains of order 1 whose states are the last m states."""

from __future__ import annotations

import numpy as np


def first_order_matrix(table: np.ndarray) -> np.ndarray:
    """The transitions between histories, (history, history), from a table (*history, next).

    The history (a, b, …, c) goes to (b, …, c, next), so that each row has as many entries as there are states.
    """
    num_states = table.shape[-1]
    rows = table.reshape(-1, num_states)
    moves = np.zeros((len(rows), len(rows)))
    before = np.arange(len(rows))[:, None]
    moves[before, (before * num_states + np.arange(num_states)) % len(rows)] = rows
    return moves
