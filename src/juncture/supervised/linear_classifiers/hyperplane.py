"""`Hyperplane`: a linear discriminant function w·x + b, the geometry of its boundary, and margins."""

from __future__ import annotations

from typing import Any

import numpy as np

from juncture.base.checks import check_array, check_number
from juncture.base.values import read_only
from juncture.drawing.pictures import plot
from juncture.errors import InvalidData
from juncture.supervised.linear_classifiers.discriminant import LinearDiscriminant, check_coordinates
from juncture.supervised.linear_classifiers.separability import check_labels


class Hyperplane(LinearDiscriminant):
    """The points x with w·x + b = 0, the boundary between two classes; w points into the second class.

    Parameters
    ----------
    weights
        (coordinate,): w, not all 0, perpendicular to the hyperplane.
    bias
        b.

    Examples
    --------
    >>> boundary = Hyperplane([3.0, 4.0], -5.0)
    >>> boundary.signed_distance([[3.0, 4.0], [0.0, 0.0]]).tolist()
    [4.0, -1.0]
    >>> boundary.project([[3.0, 4.0]]).round(12).tolist()
    [[0.6, 0.8]]
    """

    _fields = ("weights", "bias")

    def __init__(self, weights: Any, bias: float) -> None:
        found = check_array(weights, "weights", ndim=1)
        if not np.isfinite(found).all() or not found.any():
            raise InvalidData("the weights of a hyperplane are finite numbers, not all 0")
        self._set(weights=read_only(found), bias=check_number(bias, "bias", finite=True))

    @property
    def norm(self) -> float:
        """‖w‖."""
        return float(np.linalg.norm(self.weights))

    @property
    def offset(self) -> float:
        """-b / ‖w‖: the signed distance of the hyperplane from the origin, along w."""
        return -self.bias / self.norm

    def signed_distance(self, points: Any) -> np.ndarray:
        """(point,): (w·x + b) / ‖w‖, negative on the side of the first class."""
        return self.activation(points) / self.norm

    def project(self, points: Any) -> np.ndarray:
        """(point, coordinate): the nearest point of the hyperplane, x - (w·x + b) w / ‖w‖²."""
        places = check_coordinates(points, len(self.weights), self.feature_names)
        return np.asarray(places - np.outer(self.activation(places) / self.norm**2, self.weights))

    def functional_margins(self, points: Any, labels: Any) -> np.ndarray:
        """(point,): t (w·x + b) with t = 1 for the second class and -1 for the first; positive where correct."""
        activation = self.activation(points)
        return np.where(check_labels(labels, len(activation)), activation, -activation)

    def geometric_margins(self, points: Any, labels: Any) -> np.ndarray:
        """(point,): t (w·x + b) / ‖w‖, which does not depend on the scale of w and b."""
        return self.functional_margins(points, labels) / self.norm

    def margin(self, points: Any, labels: Any) -> float:
        """The least geometric margin: the distance of the nearest point if all are on their sides."""
        return float(least(self.geometric_margins(points, labels)))

    def canonical(self, points: Any, labels: Any) -> Hyperplane:
        """The same hyperplane, scaled so that the least functional margin is 1 and the margin is 1 / ‖w‖."""
        smallest = least(self.functional_margins(points, labels))
        if smallest <= 0:
            raise InvalidData(
                f"a canonical hyperplane has every point on the side of its class; the least margin is {smallest:.3g}"
            )
        return Hyperplane(self.weights / smallest, self.bias / smallest)._named(self.feature_names)

    def margin_error(self, points: Any, labels: Any, margin: float) -> float:
        """The share of points whose geometric margin is less than this; at 0, the share on the wrong side."""
        least_margin = check_number(margin, "the margin", least=0, finite=True)
        found = self.geometric_margins(points, labels)
        least(found)
        return float(np.mean(found < least_margin))

    def plot(self, **options: Any) -> Any:
        """The line between two classes in a plane with its margin; `jt.plot`."""
        return plot(self, **options)

    def __repr__(self) -> str:
        return f"Hyperplane({self.weights.tolist()}, {self.bias!r})"


def least(margins: np.ndarray) -> float:
    """The least margin of some points."""
    if not len(margins):
        raise InvalidData("there is no point whose margin could be asked for: give at least one")
    return float(margins.min())
