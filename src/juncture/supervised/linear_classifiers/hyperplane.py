"""`Hyperplane`: a linear discriminant function w·x + b, whose sign is the class; its geometry, margins and existence.

Two classes are linearly separable if and only if a linear program is feasible: `find_separation`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from juncture.base.checks import check_array, check_number
from juncture.base.values import number_of, read_only
from juncture.data.feature_names import NamedFeatures, Names
from juncture.data.rows import Rows
from juncture.drawing.pictures import plot
from juncture.errors import InvalidData


class LinearDiscriminant(NamedFeatures):
    """w·x + b: the second class where it is positive, the first elsewhere."""

    weights: np.ndarray
    bias: float

    @property
    def num_columns(self) -> int:
        """The number of coordinates."""
        return len(self.weights)

    @property
    def num_parameters(self) -> int:
        """The number of free parameters: the weights, and the bias."""
        return len(self.weights) + 1

    def activation(self, points: Any) -> np.ndarray:
        """(point,): w·x + b."""
        places = check_coordinates(points, len(self.weights), self.feature_names)
        return np.asarray(places @ self.weights + self.bias)

    def predict(self, points: Any) -> np.ndarray:
        """(point,): whether a point is of the second class, w·x + b > 0."""
        return np.asarray(self.activation(points) > 0)


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


def find_separation(points: Any, labels: Any) -> tuple[np.ndarray, float] | None:
    """Weights and bias of a hyperplane that separates two classes, if there is one.

    The linear program is feasible if and only if the classes are separable: t_n (w·x_n + b) ≥ 1 for all points, where
    t_n is 1 for the second class and -1 for the first.

    Parameters
    ----------
    points
        (point, coordinate), or (point,) on a line.
    labels
        True (or 1) for points of the second class, False (or 0) for those of the first.

    Returns
    -------
    tuple or None
        The weights, (coordinate,), and the bias; None where the classes are not separable.

    Examples
    --------
    >>> corners = [[0, 0], [0, 1], [1, 0], [1, 1]]
    >>> find_separation(corners, [False, True, True, False]) is None  # exclusive or
    True
    >>> weights, bias = find_separation(corners, [False, False, False, True])
    >>> [bool(weights @ corner + bias > 0) for corner in np.array(corners)]
    [False, False, False, True]
    """
    from scipy.optimize import linprog

    places = check_points(points)
    signs = np.where(check_labels(labels, len(places)), 1.0, -1.0)
    lifted = np.column_stack([places, np.ones(len(places))])
    found = linprog(np.zeros(lifted.shape[1]), -signs[:, None] * lifted, -np.ones(len(places)), bounds=(None, None))
    return (found.x[:-1], float(found.x[-1])) if found.status == 0 else None


def least(margins: np.ndarray) -> float:
    """The least margin of some points."""
    if not len(margins):
        raise InvalidData("there is no point whose margin could be asked for: give at least one")
    return float(margins.min())


def check_coordinates(points: Any, number: int, names: Names | None = None) -> np.ndarray:
    """(point, coordinate), with so many coordinates; with names, tables are taken by name."""
    places = check_points(points, names)
    if places.shape[1] != number:
        raise InvalidData(f"a point has {number_of(number, 'coordinate')} here; got points with {places.shape[1]}")
    return places


def check_points(points: Any, names: Names | None = None) -> np.ndarray:
    """Points as (point, coordinate); numbers are points on a line. With names, tables are taken by name."""
    places = Rows.of(points, names).matrix("points")
    if not np.isfinite(places).all():
        row, column = (int(index) for index in np.argwhere(~np.isfinite(places))[0])
        raise InvalidData(
            f"points are finite numbers, and row {row}, column {column} is {places[row, column]}: leave the row out,"
            " or fill the hole"
        )
    return places


def read_points(points: Any) -> tuple[np.ndarray, Names | None]:
    """Points to learn from as (point, coordinate), and the names of the coordinates."""
    rows = Rows.of(points)
    return check_points(rows), rows.names


def check_labels(labels: Any, num_points: int) -> np.ndarray:
    """One truth value a point."""
    array = check_array(labels, "the labels", ndim=1)
    if len(array) != num_points or not np.isin(array, (0, 1)).all():
        raise InvalidData(f"labels are 0 or 1, one for each of the {num_points} points; got {array.tolist()}")
    return array == 1
