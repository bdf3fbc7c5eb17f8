"""Where to cut a line of numbers into bins: evenly, so that each holds as much, or where the class changes."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np


class ValueCounts(NamedTuple):
    """The different values of a column in order, and how much weight each has in each class of a target."""

    values: np.ndarray  # (value,)
    weights: np.ndarray  # (value, class); a single class without a target

    def cut(self, place: int) -> float:
        """The middle between the values before and from `place` on; a value less than the cut lies before it."""
        low, high = self.values[place - 1], self.values[place]
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
    distinct, place = np.unique(values[rows], return_inverse=True)
    table = np.zeros((len(distinct), int(classes.max(initial=0)) + 1))
    np.add.at(table, (place, classes[rows]), weights[rows])
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
        return tuple(column.cut(place) for place in range(1, len(column.values)))
    below = np.cumsum(column.weights.sum(axis=1))
    shares = below[-1] * np.arange(1, bins) / bins
    after = np.searchsorted(below[:-1], shares).clip(max=len(below) - 2)
    before = (after - 1).clip(min=0)
    nearest = np.where(shares - below[before] <= below[after] - shares, before, after)
    return tuple(column.cut(place + 1) for place in np.unique(nearest).tolist())
