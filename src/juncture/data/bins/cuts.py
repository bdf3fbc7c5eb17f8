"""Cut points of a column: at equal distances, or so that each bin has about equal weight."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np


class ValueCounts(NamedTuple):
    """The distinct values of a column in order, and the weight of each value in each class of a target."""

    values: np.ndarray  # (value,)
    weights: np.ndarray  # (value, class); a single class without a target

    def cut(self, index: int) -> float:
        """The middle between the values before and from `index` on; a value less than the cut lies before it."""
        low, high = self.values[index - 1], self.values[index]
        middle = low / 2 + high / 2
        return float(middle if low < middle else high)  # neighbouring floats have no middle

    def part(self, start: int, stop: int) -> ValueCounts:
        return ValueCounts(self.values[start:stop], self.weights[start:stop])


Cuts: TypeAlias = tuple[float, ...]


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
    """Cuts at equal distances between the least and the greatest value."""
    low, high = column.values[0], column.values[-1]
    shares = np.arange(1, bins) / bins
    cuts = low * (1 - shares) + high * shares
    return tuple(np.unique(cuts[cuts > low]).tolist())


def frequency_cuts(column: ValueCounts, bins: int) -> Cuts:
    """Cuts between values, each as near as it gets to its share k/bins of the weight: no bin is empty."""
    if len(column.values) <= bins:
        return tuple(column.cut(index) for index in range(1, len(column.values)))
    below = np.cumsum(column.weights.sum(axis=1))
    shares = below[-1] * np.arange(1, bins) / bins
    after = np.searchsorted(below[:-1], shares).clip(max=len(below) - 2)
    before = (after - 1).clip(min=0)
    nearest = np.where(shares - below[before] <= below[after] - shares, before, after)
    return tuple(column.cut(index + 1) for index in np.unique(nearest).tolist())
