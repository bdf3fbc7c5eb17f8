"""Slices through a density of two numbers: the inner quadrature, for many slices at once."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from juncture.numerics.quadrature.nodes import NODES, WEIGHTS
from juncture.numerics.quadrature.panels import DROP, NO_HINTS, climb

LogHeight = Callable[[np.ndarray, np.ndarray], np.ndarray]

CUTS = np.array([0.0, 1 / 64, 1 / 16, 1 / 8, 1 / 4, 1 / 2, 3 / 4, 1.0])  # of the way from the peak to an end
NEAR = np.concatenate([np.arange(-690, -30, 20.0), np.arange(-30, 30, 0.5), np.arange(30, 691, 20.0)])


def slice_scan(ends: tuple[float, float], hints: np.ndarray = NO_HINTS) -> np.ndarray:
    """Places all over a slice, denser around 0 and with the hints among them."""
    return np.unique(np.clip(np.concatenate([NEAR, hints]), *ends))


def fill_slices(log_height: LogHeight, w: np.ndarray, scan: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(slice, node): nodes z on each slice w, and the log of height times weight there; the scan covers a slice."""
    ends = scan[0], scan[-1]
    heights = log_height(scan, w[:, None])  # (slice, scan)
    best = heights.argmax(axis=1)
    low, high = scan[np.maximum(best - 1, 0)], scan[np.minimum(best + 1, len(scan) - 1)]
    peak = climb(lambda z: log_height(z, np.resize(w, len(z))), low, high)
    level = log_height(peak, w) - DROP
    seen = heights > level[:, None]
    first = np.where(seen.any(axis=1), scan[seen.argmax(axis=1)], peak)
    last = np.where(seen.any(axis=1), scan[len(scan) - 1 - seen[:, ::-1].argmax(axis=1)], peak)
    starts = np.concatenate([np.minimum(first, peak), np.maximum(last, peak)])
    low, high = np.split(_crossing(log_height, np.tile(w, 2), starts, np.repeat(ends, len(w)), np.tile(level, 2)), 2)
    edges = np.concatenate(
        [(peak + (low - peak) * CUTS[::-1, None]).T, (peak + (high - peak) * CUTS[1:, None]).T], axis=1
    )
    half = np.diff(edges, axis=1)[..., None] / 2  # (slice, panel, 1)
    z = (edges[:, :-1, None] + half * (NODES + 1)).reshape(len(w), -1)
    with np.errstate(divide="ignore"):
        return z, log_height(z, w[:, None]) + np.log(half * WEIGHTS).reshape(len(w), -1)


def _crossing(
    log_height: LogHeight, w: np.ndarray, inside: np.ndarray, end: np.ndarray, level: np.ndarray
) -> np.ndarray:
    """Where the height of each slice falls below its level on the way to its end; the end if it does not."""
    outside, step = inside, np.copysign(1e-6, end - inside)
    is_open = np.ones(len(w), bool)
    while is_open.any():
        inside = np.where(is_open, outside, inside)
        stepped = inside + step
        stepped = np.where(np.abs(stepped - inside) >= np.abs(end - inside), end, stepped)
        outside = np.where(is_open, stepped, outside)
        is_open &= (log_height(outside, w) >= level) & (outside != end)
        step = 8 * step
    for _ in range(10):
        middle = (inside + outside) / 2
        is_inside = log_height(middle, w) >= level
        inside, outside = np.where(is_inside, middle, inside), np.where(is_inside, outside, middle)
    return np.asarray(outside)
