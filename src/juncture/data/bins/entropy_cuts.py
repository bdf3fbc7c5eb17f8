"""Cuts that tell most about a class, kept as long as they pay for their description (Fayyad and Irani, 1993)."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from juncture.data.bins.cuts import Cuts, ValueCounts


class Split(NamedTuple):
    """A part of a column, from `start` to `stop`, cut at `place`, which saves `bits` on the classes of its rows."""

    bits: float
    start: int
    place: int
    stop: int


def entropy_cuts(column: ValueCounts, bins: int) -> Cuts:
    """The best cut of the whole, then of its parts, the most telling first, until none pays or there are enough."""
    places: list[int] = []
    open_splits = find_splits(column, 0, len(column.values))
    while open_splits and len(places) < bins - 1:
        best = max(open_splits)
        places.append(best.place)
        open_splits.remove(best)
        open_splits += find_splits(column, best.start, best.place) + find_splits(column, best.place, best.stop)
    return tuple(column.cut(place) for place in sorted(places))


def find_splits(column: ValueCounts, start: int, stop: int) -> list[Split]:
    """The best split of a part, if it has one that pays."""
    part = column.part(start, stop)
    places = candidate_cuts(part)
    if not len(places):
        return []
    gains = information_gains(part, places)
    best = int(np.argmax(gains.round(12)))  # of equals the first, whatever the last bits say
    if not is_worth_its_description(part, int(places[best]), float(gains[best])):
        return []
    return [Split(float(gains[best] * part.weights.sum()), start, start + int(places[best]), stop)]


def candidate_cuts(part: ValueCounts) -> np.ndarray:
    """Between neighbours that are not both of one and the same class; the best cut of all is among these.

    >>> ages = ValueCounts(np.array([23, 27, 32, 34, 35, 38.0]), np.array([[1, 1, 0, 0, 1, 0], [0, 0, 1, 1, 0, 1.0]]).T)
    >>> [ages.cut(place) for place in candidate_cuts(ages)]
    [29.5, 34.5, 36.5]
    >>> information_gains(ages, candidate_cuts(ages)).round(6).tolist()
    [0.459148, 0.0, 0.190875]
    """
    classes = (part.weights[:-1] + part.weights[1:] > 0).sum(axis=1)
    return np.flatnonzero(classes > 1) + 1


def information_gains(part: ValueCounts, places: np.ndarray) -> np.ndarray:
    """For each place, how many bits about the class the side of the cut tells: H(S) − Σ |side|/|S| · H(side)."""
    below = np.cumsum(part.weights, axis=0)
    total = below[-1]
    left = below[places - 1]
    right = np.maximum(total - left, 0.0)
    share = left.sum(axis=1) / total.sum()
    return np.asarray(entropy(total) - share * entropy(left) - (1 - share) * entropy(right))


def entropy(weights: np.ndarray) -> np.ndarray:
    """In bits, of the classes along the last axis."""
    shares = weights / weights.sum(axis=-1, keepdims=True)
    return np.asarray(-(shares * np.log2(np.where(shares > 0, shares, 1.0))).sum(axis=-1))


def is_worth_its_description(part: ValueCounts, place: int, gain: float) -> bool:
    """The criterion of least description: gain > (log₂(N − 1) + log₂(3^k − 2) − k H(S) + Σ k_side H(side)) / N.

    N is the weight of all rows, and k the number of classes there are.
    """
    total = float(part.weights.sum())
    whole, left, right = (weights.sum(axis=0) for weights in (part.weights, part.weights[:place], part.weights[place:]))
    classes = int((whole > 0).sum())
    tree = classes * math.log2(3) + math.log2(1 - 2 * 3.0**-classes)  # log₂(3^k − 2) for any k
    change = tree - description_length(whole) + description_length(left) + description_length(right)
    return gain * total > math.log2(max(total - 1, 1)) + change  # weights may be less than one row


def description_length(weights: np.ndarray) -> float:
    return float((weights > 0).sum() * entropy(weights))
