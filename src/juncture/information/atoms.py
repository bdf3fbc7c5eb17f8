"""`Atoms`: finitely many values with a probability each; the empirical distribution of data."""

from __future__ import annotations

from typing import Any

import numpy as np

from juncture.base.checks import check_array
from juncture.base.values import Value, read_only
from juncture.errors import InvalidData
from juncture.families.family import Real, plain
from juncture.information.grids import GridPoints, grid_points
from juncture.numerics import stable


class Atoms(Value):
    """Finitely many values with a probability each: a table's states, or data (`empirical`).

    >>> Atoms([0, 1], [0.25, 0.75]).log_prob(0)
    -1.3862943611198906
    """

    points: np.ndarray  # (point,) or (point, coordinate)
    probabilities: np.ndarray  # (point,)

    def __init__(self, points: Any, probabilities: Any) -> None:
        points = np.asarray(points, dtype=float)
        if not points.ndim or not np.isfinite(points).all():
            raise InvalidData(f"atoms are a list of finite values; got {points!r}")
        if len(np.unique(points, axis=0)) < len(points):
            raise InvalidData("the same atom is given twice; add their probabilities up, or use `empirical`")
        shares = stable.as_probabilities(probabilities, points.shape[:1], name="the probabilities of the atoms")
        self._set(points=read_only(points), probabilities=shares)

    def log_prob(self, x: Any) -> Real:
        """log of the probability of the atom x; -inf where there is none."""
        if self.points.ndim != 1:
            raise InvalidData("atoms that are vectors are not looked up; use `points` and `probabilities`")
        values, order = np.asarray(x, dtype=float), np.argsort(self.points)
        indices = order[np.minimum(np.searchsorted(self.points[order], values), len(order) - 1)]
        found = np.where(self.points[indices] == values, self.probabilities[indices], 0.0)
        return plain(stable.log(found))

    def prob(self, x: Any) -> Real:
        return plain(np.exp(self.log_prob(x)))

    def __repr__(self) -> str:
        return f"Atoms({len(self.points)} values)"


def empirical(data: Any, weights: Any = None) -> Atoms:
    """The empirical distribution: each distinct value (or row) with its share of the data.

    Parameters
    ----------
    data
        Numbers, or rows of numbers.
    weights
        The weight of each value or row; by default 1.

    Returns
    -------
    Atoms
        The distinct values (or rows) and their probabilities.

    Examples
    --------
    >>> empirical([1, 1, 2, 4]).probabilities
    array([0.5 , 0.25, 0.25])
    """
    try:
        rows = np.asarray(data, dtype=float)
    except (TypeError, ValueError) as error:
        raise InvalidData(f"an empirical distribution is of numbers: {error}") from error
    if not rows.ndim or not len(rows):
        raise InvalidData("an empirical distribution needs at least one value")
    ones = np.ones(len(rows)) if weights is None else check_array(weights, "the weights")
    if ones.shape != (len(rows),) or not (ones >= 0).all() or not ones.sum() > 0:
        raise InvalidData(f"weights are at least 0, one per value, and not all 0; got {ones.shape} for {len(rows)}")
    points, index = np.unique(rows, axis=0, return_inverse=True)
    counts = np.bincount(index.reshape(-1), weights=ones, minlength=len(points))
    return Atoms(points, counts / counts.sum())


@grid_points.register
def _(distribution: Atoms) -> GridPoints:
    if distribution.points.ndim != 1:
        raise InvalidData("atoms that are vectors are not summed over numbers")
    return GridPoints(distribution.points, True)
