"""Classes of hypotheses: which labelings of points they realise, and their VC dimension.

A class shatters points if it realises all labelings of them; its VC dimension is the size of the largest set that it
shatters. Those of the classes here are known in closed form, and a search over subsets of given points finds them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations, product
from typing import Any, Protocol

import numpy as np

from juncture.base.checks import check_array, check_count, shown
from juncture.errors import InvalidData
from juncture.supervised.linear_classifiers.decision_function import check_labels, check_points
from juncture.supervised.linear_classifiers.hyperplane import find_separation


class HypothesisClass(Protocol):
    """Functions from points to {0, 1}."""

    @property
    def vc_dimension(self) -> float:
        """The size of the largest set of points that the class shatters."""

    def realizes(self, points: np.ndarray, labels: np.ndarray) -> bool:
        """Whether some hypothesis gives the points, (point, coordinate), these labels."""


@dataclass(frozen=True)
class Thresholds:
    """1 from a threshold on: h(x) = 1(x ≥ a), for points on a line."""

    vc_dimension = 1.0

    def realizes(self, points: np.ndarray, labels: np.ndarray) -> bool:
        return bool(points[~labels].max(initial=-np.inf) < points[labels].min(initial=np.inf))


@dataclass(frozen=True)
class Intervals:
    """1 inside an interval, for points on a line; the interval may be empty."""

    vc_dimension = 2.0

    def realizes(self, points: np.ndarray, labels: np.ndarray) -> bool:
        return Rectangles(1).realizes(points, labels)


@dataclass(frozen=True)
class SignedIntervals:
    """1 inside an interval and 0 outside, or the reverse, for points on a line."""

    vc_dimension = 3.0

    def realizes(self, points: np.ndarray, labels: np.ndarray) -> bool:
        return Intervals().realizes(points, labels) or Intervals().realizes(points, ~labels)


@dataclass(frozen=True)
class Rectangles:
    """1 inside a rectangle with sides along the axes; `dimension` is the number of axes."""

    dimension: int = 2

    @property
    def vc_dimension(self) -> float:
        return 2.0 * self.dimension

    def realizes(self, points: np.ndarray, labels: np.ndarray) -> bool:
        low = points[labels].min(axis=0, initial=np.inf)
        high = points[labels].max(axis=0, initial=-np.inf)
        inside = ((points >= low) & (points <= high)).all(axis=1)
        return bool((inside == labels).all())


@dataclass(frozen=True)
class Discs:
    """1 within some distance from the origin."""

    vc_dimension = 1.0

    def realizes(self, points: np.ndarray, labels: np.ndarray) -> bool:
        return Thresholds().realizes(np.linalg.norm(points, axis=1), ~labels)


@dataclass(frozen=True)
class Hyperplanes:
    """1 on one side of a hyperplane, in a space of `dimension` axes."""

    dimension: int = 2

    @property
    def vc_dimension(self) -> float:
        return self.dimension + 1.0

    def realizes(self, points: np.ndarray, labels: np.ndarray) -> bool:
        return find_separation(points, labels) is not None


@dataclass(frozen=True)
class Singletons:
    """1 at one point at most: h(x) = 1(x = z) for some z, or 0 everywhere."""

    vc_dimension = 1.0

    def realizes(self, points: np.ndarray, labels: np.ndarray) -> bool:
        return Intervals().realizes(points, labels) and len(np.unique(points[labels], axis=0)) <= 1


@dataclass(frozen=True)
class Sines:
    """1 where a sine is positive: h(x) = 1(sin(wx) > 0). One parameter, and yet it shatters sets of every size.

    It realises every labeling of the points 10⁻¹, 10⁻², …; of other points it is not known here.
    """

    vc_dimension = math.inf

    def realizes(self, points: np.ndarray, labels: np.ndarray) -> bool:
        return bool(((np.sin(sine_frequency(labels) * points[:, 0]) > 0) == labels).all())


def sine_frequency(labels: Any) -> float:
    """The frequency w for which 1(sin(wx) > 0) gives the points 10⁻¹, …, 10⁻ⁿ these labels.

    Parameters
    ----------
    labels
        0 or 1 for each point, at most 8 of them: beyond, floating-point numbers do not hold w.

    Returns
    -------
    float
        π (1 + Σ_i (1 - y_i) 10^i).

    Examples
    --------
    >>> frequency = sine_frequency([1, 0, 1])
    >>> [bool(np.sin(frequency * x) > 0) for x in (0.1, 0.01, 0.001)]
    [True, False, True]
    """
    wanted = check_array(labels, "the labels", ndim=1)
    if len(wanted) > 8:
        raise InvalidData(f"floating-point numbers hold the frequency of at most 8 labels; got {len(wanted)}")
    zeros = ~check_labels(wanted, len(wanted))
    return float(np.pi * (1 + (zeros * 10.0 ** np.arange(1, len(wanted) + 1)).sum()))


def shatters(hypotheses: HypothesisClass, points: Any) -> bool:
    """Whether a class realises all 2ⁿ labelings of n points.

    Parameters
    ----------
    hypotheses
        Such as `Thresholds()`, `Rectangles(2)` or `Hyperplanes(2)`; or an object with a method `realizes`.
    points
        (point, coordinate), or (point,) on a line; at most 16.

    Returns
    -------
    bool
        Whether the class shatters the points.

    Examples
    --------
    >>> shatters(Intervals(), [1.0, 2.0]), shatters(Intervals(), [1.0, 2.0, 3.0])
    (True, False)
    """
    check_class(hypotheses)
    places = check_points(points)
    if len(places) > 16:
        raise InvalidData(f"shattering is tried on 2ⁿ labelings, for at most 16 points; got {len(places)}")
    return all(hypotheses.realizes(places, np.array(labels, dtype=bool)) for labels in labelings(len(places)))


def labelings(num_points: int) -> product[tuple[bool, ...]]:
    """All labelings of some points."""
    return product([False, True], repeat=num_points)


def vc_dimension(hypotheses: HypothesisClass, points: Any = None, *, most: int = 6) -> float:
    """The VC dimension of a class: in closed form, or of the class on given points, by a search over their subsets.

    Parameters
    ----------
    hypotheses
        Such as `Thresholds()`, `Rectangles(2)` or `Hyperplanes(2)`; or an object with a method `realizes`.
    points
        Candidate points, (point, coordinate) or (point,). The answer is then the size of the largest subset that the
        class shatters: a lower bound of the VC dimension of the class.
    most
        The largest size of subsets that are tried.

    Returns
    -------
    float
        The VC dimension; infinite for `Sines`.

    Examples
    --------
    >>> vc_dimension(Rectangles(2)), vc_dimension(SignedIntervals(), [1.0, 2.0, 3.0, 4.0])
    (4.0, 3.0)
    """
    check_class(hypotheses)
    if points is None:
        return float(hypotheses.vc_dimension)
    places = check_points(points)
    largest = 0
    for size in range(1, min(check_count(most, "most", least=1), len(places), 16) + 1):
        if not any(shatters(hypotheses, places[list(chosen)]) for chosen in combinations(range(len(places)), size)):
            break
        largest = size
    return float(largest)


def check_class(hypotheses: Any) -> None:
    if isinstance(hypotheses, type) or not callable(getattr(hypotheses, "realizes", None)):
        raise InvalidData(
            f"a class of hypotheses has a method `realizes`, as Thresholds() has; got {shown(hypotheses)}"
        )
