"""`decision_regions`: where a rule decides what, along a line or in a plane, and the boundaries between."""

from __future__ import annotations

from typing import Any

import numpy as np

from juncture.base.checks import as_float, check_count, is_iterable, shown
from juncture.base.values import Value, few, read_only
from juncture.drawing.pictures import plot
from juncture.errors import InvalidData, Unsupported
from juncture.evaluation.decisions.error_rates import distinct_decisions
from juncture.information.grids import changes
from juncture.supervised.generative.classifier import GenerativeClassifier
from juncture.variables import State, Variable

HALVINGS = 50  # of the gap between two points with different decisions


class DecisionRegions(Value):
    """The decisions of a rule on a grid, and points of the boundaries between them.

    Attributes
    ----------
    axes
        The coordinates of the grid, one array for a line, two for a plane.
    codes
        The positions of the decisions among the labels: (x,), or (x, y).
    labels
        The decisions that occur.
    boundary
        Points between two regions: (point,), increasing, or (point, 2).
    """

    axes: tuple[np.ndarray, ...]
    codes: np.ndarray
    labels: tuple[State, ...]
    boundary: np.ndarray

    def __init__(self, axes: Any, codes: Any, labels: Any, boundary: Any) -> None:
        self._set(axes=tuple(read_only(axis, np.float64) for axis in axes), codes=read_only(codes, np.int64))
        self._set(labels=tuple(labels), boundary=read_only(boundary, np.float64))

    @property
    def intervals(self) -> tuple[tuple[float, float, State], ...]:
        """(from, to, decision) along a line."""
        if len(self.axes) != 1:
            raise Unsupported("intervals are the regions of a line; those of a plane are in codes")
        ends = [float(self.axes[0][0]), *self.boundary.tolist(), float(self.axes[0][-1])]
        first = np.r_[0, np.flatnonzero(np.diff(self.codes)) + 1]
        decided = [self.labels[code] for code in self.codes[first].tolist()]
        return tuple(zip(ends[:-1], ends[1:], decided, strict=True))

    def plot(self, **options: Any) -> Any:
        """Plot the regions; as `jt.plot`."""
        return plot(self, **options)

    def __repr__(self) -> str:
        size = " × ".join(str(len(axis)) for axis in self.axes)
        return f"DecisionRegions({size} points; {few(map(repr, self.labels))})"


def decision_regions(rule: Any, low: Any, high: Any, *, points: int = 201) -> DecisionRegions:
    """Where a rule decides what, between two ends of a line or two corners of a plane.

    Parameters
    ----------
    rule
        A classifier with `predict`, or a function from rows to decisions.
    low, high
        The ends of a line, two numbers; or two corners of a rectangle, two pairs of numbers.
    points
        The number of points in each direction; a region between two of them is not seen.

    Returns
    -------
    DecisionRegions
        The decisions on a grid, and points on the boundaries, to full precision across them.

    Examples
    --------
    >>> import juncture as jt
    >>> classes = jt.supervised.GenerativeClassifier([0.8, 0.2], [jt.Gaussian(0, 1), jt.Gaussian(2, 1)], ["a", "b"])
    >>> regions = decision_regions(classes, -3, 5)
    >>> regions.boundary.round(6).tolist(), [label for _, _, label in regions.intervals]
    ([1.693147], ['a', 'b'])
    """
    is_classifier = hasattr(rule, "predict")
    predict = rule.predict if is_classifier else rule
    if not callable(predict):
        raise Unsupported(f"a rule is a function or has predict; got {shown(rule)}")
    count = check_count(points, "points", least=2)
    starts, ends = (np.atleast_1d(as_corner(corner)) for corner in (low, high))
    if len(starts) != len(ends) or len(starts) > 2 or not (starts < ends).all():
        raise InvalidData("low and high are two numbers, or two pairs of numbers, of which low has the smaller ones")
    axes = [np.linspace(start, end, count) for start, end in zip(starts, ends, strict=True)]
    is_flat = isinstance(rule, GenerativeClassifier) or not is_classifier
    known: list[Any] = []

    def decide(rows: np.ndarray) -> np.ndarray:
        return codes_of(predict(rows if rows.ndim > 1 or is_flat else rows[:, None]), known, len(rows))

    if len(axes) == 1:
        codes = decide(axes[0])
        return DecisionRegions(axes, codes, known, changes(decide, axes[0]))
    plane = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1)  # (x, y, coordinate)
    codes = decide(plane.reshape(-1, 2)).reshape(count, count)
    return DecisionRegions(axes, codes, known, boundary_points(decide, plane, codes))


def as_corner(corner: Any) -> np.ndarray:
    numbers = [as_float(number) for number in (corner if is_iterable(corner) else [corner])]
    if not np.isfinite(numbers).all():
        raise InvalidData(f"the ends of regions are finite numbers; got {shown(corner)}")
    return np.array(numbers)


def codes_of(decisions: Any, known: list[Any], count: int) -> np.ndarray:
    """The positions of decisions in a list of those that occurred, which grows."""
    kinds, places = distinct_decisions(decisions, count)
    for label in Variable("decision", kinds.tolist()).labels:
        if label not in known:
            known.append(label)
    return np.array([known.index(label) for label in kinds.tolist()], dtype=np.int64)[places]


def boundary_points(decide: Any, plane: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """Between neighbours with different decisions, the point where the decision changes, all halved together."""
    pairs = []
    for axis in (0, 1):
        here = tuple(slice(None, -1) if each == axis else slice(None) for each in (0, 1))
        there = tuple(slice(1, None) if each == axis else slice(None) for each in (0, 1))
        differ = codes[here] != codes[there]
        pairs.append((plane[here][differ], plane[there][differ], codes[here][differ]))
    low, high, before = (np.concatenate(parts) for parts in zip(*pairs, strict=True))
    for _ in range(HALVINGS if len(low) else 0):
        middle = (low + high) / 2
        same = (decide(middle) == before)[:, np.newaxis]
        low, high = np.where(same, middle, low), np.where(same, high, middle)
    return np.asarray(high)
