"""Cut points of a column: at equal distances, or so that each bin has about equal weight."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from juncture.base.intervals import Cuts, round_between, round_to_width

SLACK = 1 / 200  # of a bin: so much may change sides for a shorter cut


class ValueCounts(NamedTuple):
    """The distinct values of a column in order, and the weight of each value in each class of a target."""

    values: np.ndarray  # (value,)
    weights: np.ndarray  # (value, class); a single class without a target

    def cut(self, index: int) -> float:
        """A short number near the middle between the values before and from `index` on, which it tells apart."""
        return round_between(float(self.values[index - 1]), float(self.values[index]))

    def part(self, start: int, stop: int) -> ValueCounts:
        return ValueCounts(self.values[start:stop], self.weights[start:stop])


def count_values(values: np.ndarray, classes: np.ndarray | None, weights: np.ndarray | None) -> ValueCounts:
    """The rows that have a value, a class and a positive weight."""
    classes = np.zeros(len(values), np.int64) if classes is None else classes
    weights = np.ones(len(values)) if weights is None else weights
    rows = ~np.isnan(values) & (classes >= 0) & (weights > 0)
    distinct, value_of = np.unique(values[rows], return_inverse=True)
    table = np.zeros((len(distinct), int(classes.max(initial=0)) + 1))
    np.add.at(table, (value_of, classes[rows]), weights[rows])
    return ValueCounts(distinct, table)


def width_cuts(column: ValueCounts, bins: int) -> Cuts:
    """Cuts at equal distances between the least and the greatest value, rounded to a hundredth of the distance."""
    low, high = column.values[0], column.values[-1]
    shares = np.arange(1, bins) / bins
    width = float(high / bins - low / bins)
    cuts = np.array([round_to_width(cut, width) for cut in (low * (1 - shares) + high * shares).tolist()])
    return tuple(np.unique(cuts[(cuts > low) & (cuts <= high)]).tolist())


def frequency_cuts(column: ValueCounts, bins: int) -> Cuts:
    """Cuts between values, each as near as it gets to its share k/bins of the weight: no bin is empty.

    For a shorter cut, up to a two-hundredth of a bin may change sides.
    """
    if len(column.values) <= bins:
        return tuple(column.cut(index) for index in range(1, len(column.values)))
    below = np.cumsum(column.weights.sum(axis=1))
    shares = below[-1] * np.arange(1, bins) / bins
    after = np.searchsorted(below[:-1], shares).clip(max=len(below) - 2)
    before = (after - 1).clip(min=0)
    nearest = np.unique(np.where(shares - below[before] <= below[after] - shares, before, after))
    slack = below[-1] / bins * SLACK
    first = np.searchsorted(below, below[nearest] - slack)
    last = np.searchsorted(below, below[nearest] + slack, side="right").clip(max=len(below) - 1)
    values = column.values
    cuts = np.array(list(map(round_between, values[nearest], values[nearest + 1], values[first], values[last])))
    _, kept = np.unique(np.searchsorted(values, cuts), return_index=True)  # one cut between two values
    return tuple(cuts[kept].tolist())
