"""The numbers behind a picture of a distribution of pairs, or of three shares: densities over a piece of the plane."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from juncture.errors import Unsupported
from juncture.families.display.density_points import NUM_DRAWS, check_range
from juncture.families.supports import Simplex, Vectors

if TYPE_CHECKING:
    from juncture.families.family import Family

SHARES = (0.5, 0.8, 0.95)
MARGIN = 0.15  # of the range of the draws, on each side
HALVINGS = 40
CORNERS = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, np.sqrt(0.75)]])  # of the triangle of three shares


def density_loops(family: Family, shares: Sequence[float] = SHARES, num: int = 72) -> list[np.ndarray]:
    """Loops (point, 2) of equal density around the mode, the widest first, that hold about these shares of the mass.

    Along each ray from the mode the density falls; the ray is halved until the loop is met.
    """
    _check_support(family, Vectors(2))
    draws = family.sample(NUM_DRAWS, rng=0)
    check_range(family, *draws.T)
    levels = np.quantile(family.log_prob(draws), 1 - np.sort(shares)[::-1])
    angles = np.linspace(0, 2 * np.pi, num, endpoint=False)
    _, lengths, axes = np.linalg.svd(draws - draws.mean(axis=0), full_matrices=False)
    rays = np.stack([np.cos(angles), np.sin(angles)], axis=-1) * lengths @ axes
    return [_loop(family, rays, level) for level in levels]


def _loop(family: Family, rays: np.ndarray, level: float) -> np.ndarray:
    """The rays are as long as no draw is far: the number of draws times the variance is the sum of their squares."""
    mode, inner, outer = np.asarray(family.mode), np.zeros(len(rays)), np.full(len(rays), 2.0)
    for _ in range(HALVINGS):
        middle = (inner + outer) / 2
        is_inside = np.asarray(family.log_prob(mode + middle[:, None] * rays)) > level
        inner, outer = np.where(is_inside, middle, inner), np.where(is_inside, outer, middle)
    return mode + inner[:, None] * rays


def density_grid(family: Family, num: int = 100) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """x, y and the density (y, x) on a grid that holds most of the mass of a distribution of pairs."""
    _check_support(family, Vectors(2))
    low, high = np.quantile(family.sample(NUM_DRAWS, rng=0), [0.005, 0.995], axis=0)
    room = MARGIN * (high - low)
    x, y = np.linspace(low - room, high + room, num).T
    points = np.stack(np.meshgrid(x, y), axis=-1)
    return x, y, np.asarray(family.prob(points))


def density_triangle(family: Family, num: int = 80) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """x, y and the density at points inside the triangle of three shares, whose corners are CORNERS."""
    _check_support(family, Simplex(3))
    first, second = np.indices((num, num)).reshape(2, -1)
    kept = first + second < num
    counts = np.stack([first, second, num - 1 - first - second], axis=-1)[kept]
    shares = (counts + 1 / 3) / num  # off the edges, where the density may be infinite
    x, y = (shares @ CORNERS).T
    return x, y, np.asarray(family.prob(shares))


def _check_support(family: Family, support: Vectors | Simplex) -> None:
    if family.batch_shape or family.support != support:
        raise Unsupported(f"this picture is of one distribution of {support}, which {family!r} is not")
