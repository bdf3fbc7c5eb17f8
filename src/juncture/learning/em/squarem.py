"""SQUAREM: the extrapolation of two EM steps (Varadhan and Roland 2008)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

Tables = Sequence[np.ndarray]


def extrapolate_tables(start: Tables, once: Tables, twice: Tables) -> list[np.ndarray] | None:
    """The extrapolated tables with rows on the simplex; None where the extrapolation is no longer than two steps."""
    moved = extrapolate(start, once, twice)
    return moved and [project_to_simplex(values, stood) for values, stood in zip(moved, twice, strict=True)]


def extrapolate(start: Tables, once: Tables, twice: Tables) -> list[np.ndarray] | None:
    """θ - 2αr + α²v for all tables, with r = θ₁ - θ, v = θ₂ - 2θ₁ + θ, α = -‖r‖/‖v‖; None if -1 ≤ α."""
    steps = [(b - a, c - 2 * b + a) for a, b, c in zip(start, once, twice, strict=True)]
    length, bend = (np.sqrt(sum(float(np.sum(step[order] ** 2)) for step in steps)) for order in range(2))
    if bend == 0.0 or length <= bend:
        return None
    alpha = -length / bend
    return [a - 2 * alpha * r + alpha**2 * v for a, (r, v) in zip(start, steps, strict=True)]


def project_to_simplex(values: np.ndarray, otherwise: np.ndarray) -> np.ndarray:
    """Rows with sum 1: negative entries are replaced by a tenth of those of `otherwise`."""
    values = np.where(values > 0, values, 0.1 * otherwise)
    return values / values.sum(axis=-1, keepdims=True)
