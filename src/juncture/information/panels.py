"""Panels that resolve a density: halved until halving changes nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from juncture.errors import InvalidModel
from juncture.information.grids import NODE_WEIGHTS, ladder, panel_grid, panel_points, separated

TOLERANCE = 1e-13  # the share of the mass by which halving a panel may change it
MOST_HALVINGS = 60
MOST_PANELS = 1000  # open at one time
NARROWEST = 1e-13  # the width of a panel, relative to its ends
NOISE = 1e-6
FEWEST_PANELS = 32

LogDensity = Callable[[np.ndarray], Any]


def first_ends(low: float, high: float, cuts: np.ndarray) -> np.ndarray:
    """Panels to begin with: around the cuts, or else all over a finite interval or around its finite end or 0."""
    if len(cuts):
        inner, scale = cuts, max(float(np.ptp(cuts)), 1.0)
    elif np.isfinite(high - low):
        inner, scale = np.linspace(low, high, FEWEST_PANELS + 1)[1:-1], high - low
    else:
        inner, scale = np.array([low + 1 if np.isfinite(low) else high - 1 if np.isfinite(high) else 0.0]), 1.0
    outward = [ladder(edge, end, edge + scale / 2**10) for edge, end in ((inner.min(), low), (inner.max(), high))]
    return separated(np.concatenate([*outward, inner]))


def refined(log_density: LogDensity, ends: np.ndarray) -> np.ndarray:
    """The panel ends, with panels halved until halving changes no panel's mass by more than a share of the total."""
    done, low, high = [ends], ends[:-1], ends[1:]
    top = log_density(panel_grid(ends).points).max()
    for _ in range(MOST_HALVINGS):
        middle = low + (high - low) / 2
        pieces = ((low, high), (low, middle), (middle, high))
        logs = [panel_logs(log_density, *piece) for piece in pieces]
        top = max(top, logs[1].max(), logs[2].max())
        whole, left, right = (panel_masses(part - top, *piece) for part, piece in zip(logs, pieces, strict=True))
        errors, total = np.abs(whole - left - right), max(left.sum() + right.sum(), np.finfo(float).tiny)
        wide = high - low > NARROWEST * np.maximum(np.abs(low), np.abs(high))
        split = wide & (errors > TOLERANCE * total)
        if not split.any():
            break
        if split.sum() > MOST_PANELS:
            refuse_rough(float(errors.sum() / total))
            break
        done.append(middle[split])
        low, high = np.r_[low[split], middle[split]], np.r_[middle[split], high[split]]
    return separated(np.concatenate(done))


def refuse_rough(error: float) -> None:
    """So many panels are open that halving meets rounding noise, which is harmless, or a density without smoothness."""
    if error > NOISE:
        raise InvalidModel(f"the density is too rough to be integrated: halving its panels still changes {error:.2g}")


def panel_logs(log_density: LogDensity, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """The log-density at the nodes of each panel: (panel, node)."""
    return np.asarray(log_density(panel_points(low, high).ravel())).reshape(len(low), -1)


def panel_masses(log_values: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    return np.asarray((np.exp(log_values) * NODE_WEIGHTS).sum(axis=1) * (high - low) / 2)
