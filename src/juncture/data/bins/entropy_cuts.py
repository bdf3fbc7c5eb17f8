"""Cuts with the largest information gain about a class, accepted by description length (Fayyad and Irani, 1993)."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from juncture.base.intervals import Cuts
from juncture.data.bins.cuts import ValueCounts


class Split(NamedTuple):
    """A part of a column, from `start` to `stop`, cut at index `cut`, which saves `bits` on the classes of its rows."""

    bits: float
    start: int
    cut: int
    stop: int


def entropy_cuts(column: ValueCounts, bins: int) -> Cuts:
    """The cut with the largest gain, again and again within the parts, until no cut is worth its description."""
    indices: list[int] = []
    open_splits = find_splits(column, 0, len(column.values))
    while open_splits and len(indices) < bins - 1:
        best = max(open_splits)
        indices.append(best.cut)
        open_splits.remove(best)
        open_splits += find_splits(column, best.start, best.cut) + find_splits(column, best.cut, best.stop)
    return tuple(column.cut(index) for index in sorted(indices))


def find_splits(column: ValueCounts, start: int, stop: int) -> list[Split]:
    """The best split of a part, if it is worth its description; else none."""
    part = column.part(start, stop)
    indices = candidate_cuts(part)
    if not len(indices):
        return []
    gains = information_gains(part, indices)
    best = int(np.argmax(gains.round(12)))  # of equals the first, whatever the last bits say
    if not is_worth_its_description(part, int(indices[best]), float(gains[best])):
        return []
    return [Split(float(gains[best] * part.weights.sum()), start, start + int(indices[best]), stop)]


def candidate_cuts(part: ValueCounts) -> np.ndarray:
    """The indices between neighbouring values that are not both of the same class; the best cut is among them.

    >>> ages = ValueCounts(np.array([23, 27, 32, 34, 35, 38.0]), np.array([[1, 1, 0, 0, 1, 0], [0, 0, 1, 1, 0, 1.0]]).T)
    >>> [ages.cut(index) for index in candidate_cuts(ages)]
    [29.5, 34.5, 36.5]
    >>> information_gains(ages, candidate_cuts(ages)).round(6).tolist()
    [0.459148, 0.0, 0.190875]
    """
    classes = (part.weights[:-1] + part.weights[1:] > 0).sum(axis=1)
    return np.flatnonzero(classes > 1) + 1


def information_gains(part: ValueCounts, indices: np.ndarray) -> np.ndarray:
    """For each index, the information gain of the cut about the class, in bits: H(S) − Σ |side|/|S| · H(side)."""
    below = np.cumsum(part.weights, axis=0)
    total = below[-1]
    left = below[indices - 1]
    right = np.maximum(total - left, 0.0)
    share = left.sum(axis=1) / total.sum()
    return entropy(total) - share * entropy(left) - (1 - share) * entropy(right)


def entropy(weights: np.ndarray) -> np.ndarray:
    """In bits, of the classes along the last axis."""
    shares = weights / weights.sum(axis=-1, keepdims=True)
    return np.asarray(-(shares * np.log2(np.where(shares > 0, shares, 1.0))).sum(axis=-1))


def is_worth_its_description(part: ValueCounts, index: int, gain: float) -> bool:
    """The minimum description length criterion: gain > (log₂(N − 1) + log₂(3^k − 2) − k H(S) + Σ k_side H(side)) / N.

    N is the weight of all rows, and k the number of classes there are.
    """
    total = float(part.weights.sum())
    whole, left, right = (weights.sum(axis=0) for weights in (part.weights, part.weights[:index], part.weights[index:]))
    classes = int((whole > 0).sum())
    tree = classes * math.log2(3) + math.log2(1 - 2 * 3.0**-classes)  # log₂(3^k − 2) for any k
    change = tree - description_length(whole) + description_length(left) + description_length(right)
    return gain * total > math.log2(max(total - 1, 1)) + change  # weights may be less than one row


def description_length(weights: np.ndarray) -> float:
    return float((weights > 0).sum() * entropy(weights))
