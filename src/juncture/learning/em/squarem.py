"""SQUAREM: the extrapolation of two EM steps (Varadhan and Roland 2008)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def extrapolate(start: np.ndarray, once: np.ndarray, twice: np.ndarray) -> np.ndarray | None:
    """θ - 2αr + α²v, with r = θ₁ - θ, v = θ₂ - 2θ₁ + θ and α = -‖r‖/‖v‖.

    None if -1 ≤ α: then the extrapolation is no longer than the two steps.
    """
    step, bend = once - start, twice - 2 * once + start
    length, curvature = np.linalg.norm(step), np.linalg.norm(bend)
    if curvature == 0.0 or length <= curvature:
        return None
    alpha = -length / curvature
    return start - 2 * alpha * step + alpha**2 * bend


def flatten_tables(tables: Sequence[np.ndarray]) -> np.ndarray:
    """All tables in one vector."""
    return np.concatenate([np.empty(0), *(table.reshape(-1) for table in tables)])


def unflatten_tables(vector: np.ndarray, tables: Sequence[np.ndarray]) -> list[np.ndarray]:
    """A vector cut into tables of the shapes of `tables`."""
    ends = np.cumsum([table.size for table in tables])[:-1]
    return [part.reshape(table.shape) for part, table in zip(np.split(vector, ends), tables, strict=True)]


def unflatten_simplex_tables(vector: np.ndarray, tables: Sequence[np.ndarray]) -> list[np.ndarray]:
    """A vector cut into tables whose rows sum to 1; where it is negative, a tenth of the entry of `tables` counts."""
    pairs = zip(unflatten_tables(vector, tables), tables, strict=True) if tables else ()
    return [project_to_simplex(values, table) for values, table in pairs]


def project_to_simplex(values: np.ndarray, otherwise: np.ndarray) -> np.ndarray:
    """Rows with sum 1: negative entries are replaced by a tenth of those of `otherwise`."""
    values = np.where(values > 0, values, 0.1 * otherwise)
    return values / values.sum(axis=-1, keepdims=True)
