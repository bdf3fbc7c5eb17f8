"""A log-density without a value (NaN) counts as density 0 only where the density is negligible; else it is an error."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from juncture.errors import InvalidModel

NEGLIGIBLE = 30.0  # heights below exp(-30) of the highest, next to where there is no value
BISECTIONS = 60
CELLS = 48  # of a grid over the mass, along each axis

LogHeight = Callable[..., np.ndarray]  # of one array of coordinates, or of two
Points = Callable[..., tuple[np.ndarray, ...]]


def check_line(log_height: LogHeight, points: Points, z: np.ndarray) -> None:
    """Refuse a density that loses its value between neighbours of the sorted coordinates z before it has fallen off."""
    heights = log_height(z)
    index = np.flatnonzero(np.diff(np.isnan(heights)))
    first, second = z[None, index], z[None, index + 1]
    _check_pairs(log_height, points, np.where(np.isnan(heights[index]), [second, first], [first, second]), heights)


def check_plane(log_height: LogHeight, points: Points, box: np.ndarray) -> None:
    """The same on a grid over the box (axis, end) of two coordinates, and a little beyond it."""
    axes = [np.linspace(low, high, CELLS + 1) for low, high in box]
    grid = np.stack(np.meshgrid(*axes, indexing="ij"))  # (axis, cell, cell)
    heights = log_height(*grid)
    is_missing = np.isnan(heights)
    pairs = []
    for axis in range(2):
        near, far = ((slice(None),) * axis + (part,) for part in (slice(None, -1), slice(1, None)))
        for inside, outside in ((near, far), (far, near)):
            edge = ~is_missing[inside] & is_missing[outside]
            pairs.append(np.stack([grid[(slice(None), *inside)][:, edge], grid[(slice(None), *outside)][:, edge]]))
    _check_pairs(log_height, points, np.concatenate(pairs, axis=2), heights)


def _check_pairs(log_height: LogHeight, points: Points, pairs: np.ndarray, heights: np.ndarray) -> None:
    """Bisect between points with a value and points without (2, axis, pair); the last value must be negligible."""
    if not pairs.size:
        return
    inside, outside = pairs
    for _ in range(BISECTIONS):
        middle = (inside + outside) / 2
        is_missing = np.isnan(log_height(*middle))
        inside, outside = np.where(is_missing, inside, middle), np.where(is_missing, middle, outside)
    last = log_height(*inside)
    if (last > np.nanmax(heights) - NEGLIGIBLE).any():
        worst = outside[:, np.argmax(last)]
        at = ", ".join(f"{float(value):.6g}" for value in points(*worst))
        raise InvalidModel(
            f"the density has no value at {at}, beside values where it is not negligible: take an interval on which "
            "it has values"
        )
