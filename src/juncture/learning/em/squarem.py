"""The leap of SQUAREM: where two steps of a slow iteration were heading (Varadhan and Roland 2008)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

Tables = Sequence[np.ndarray]


def leap(start: Tables, once: Tables, twice: Tables) -> list[np.ndarray] | None:
    """Where tables were heading, as tables again; None when that leads nowhere."""
    moved = extrapolated(start, once, twice)
    return moved and [onto_simplex(values, stood) for values, stood in zip(moved, twice, strict=True)]


def extrapolated(start: Tables, once: Tables, twice: Tables) -> list[np.ndarray] | None:
    """θ - 2αr + α²v for all tables, with r = θ₁ - θ, v = θ₂ - 2θ₁ + θ, α = -‖r‖/‖v‖; None when that leads nowhere."""
    steps = [(b - a, c - 2 * b + a) for a, b, c in zip(start, once, twice, strict=True)]
    length, bend = (np.sqrt(sum(float(np.sum(step[place] ** 2)) for step in steps)) for place in range(2))
    if bend == 0.0 or length <= bend:
        return None
    alpha = -length / bend
    return [a - 2 * alpha * r + alpha**2 * v for a, (r, v) in zip(start, steps, strict=True)]


def onto_simplex(values: np.ndarray, otherwise: np.ndarray) -> np.ndarray:
    """Rows that sum to 1 again: what fell below zero is drawn back towards where the iteration stood."""
    values = np.where(values > 0, values, 0.1 * otherwise)
    return np.asarray(values / values.sum(axis=-1, keepdims=True))
