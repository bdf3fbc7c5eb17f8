"""Smooth curves that run from layer to layer and bend only in the gaps between them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

LEAN = 0.55  # tangent at a node relative to the straight line: 0 leaves vertically, 1 goes straight


class Point(NamedTuple):
    x: float
    y: float

    def move(self, right: float, down: float) -> Point:
        return Point(self.x + right, self.y + down)


class Gate(NamedTuple):
    """A layer to pass at this x, with so much room to either side."""

    x: float
    top: float
    bottom: float
    room: float


class Knot(NamedTuple):
    """A point of a curve x(y) with its slope dx/dy."""

    x: float
    y: float
    slope: float


Curve = tuple[Point, ...]  # a start, then three points a cubic segment


def smooth(start: Point, gates: Sequence[Gate], end: Point) -> Curve:
    """A curve from start down to end through the gates, monotone between them."""
    points = [start, *(Point(gate.x, (gate.top + gate.bottom) / 2) for gate in gates), end]
    knots = [Knot(start.x, start.y, LEAN * _slope(points[0], points[1]))]
    for gate, before, here, after in zip(gates, points, points[1:], points[2:], strict=False):
        half = here.y - gate.top
        slope = _limit(_passing_slope(before, here, after), gate.room / half)
        knots += [Knot(gate.x - slope * half, gate.top, slope), Knot(gate.x + slope * half, gate.bottom, slope)]
    knots.append(Knot(end.x, end.y, LEAN * _slope(points[-2], points[-1])))
    curve: list[Point] = [start]
    for upper, lower in pairwise(knots):
        curve += _segment(upper, lower)
    return tuple(curve)


def _slope(upper: Point | Knot, lower: Point | Knot) -> float:
    return (lower.x - upper.x) / (lower.y - upper.y)


def _passing_slope(before: Point, here: Point, after: Point) -> float:
    """The harmonic mean of the slopes on both sides, and vertical where the curve turns back."""
    one, other = _slope(before, here), _slope(here, after)
    return 0.0 if one * other <= 0 else 2 * one * other / (one + other)


def _segment(upper: Knot, lower: Knot) -> list[Point]:
    """The cubic Bézier form of the Hermite segment between two knots."""
    third = (lower.y - upper.y) / 3
    chord = _slope(upper, lower)
    first, last = (_limit(slope, 3 * abs(chord)) if slope * chord > 0 else 0.0 for slope in (upper.slope, lower.slope))
    return [  # within three times the slope of the chord the cubic does not overshoot
        Point(upper.x + first * third, upper.y + third),
        Point(lower.x - last * third, lower.y - third),
        Point(lower.x, lower.y),
    ]


def _limit(slope: float, most: float) -> float:
    return min(max(slope, -most), most)
