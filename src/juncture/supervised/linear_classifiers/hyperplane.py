"""`Hyperplane`: a linear discriminant function w·x + b, whose sign is the class; its geometry, margins and existence.

Two classes are linearly separable if and only if a linear program is feasible: `find_separation`.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from juncture.base.checks import check_array, check_number
from juncture.base.values import read_only
from juncture.drawing.pictures import plot
from juncture.errors import InvalidData
from juncture.supervised.linear_classifiers.decision_function import (
    TRUTH,
    DecisionFunction,
    check_binary,
    check_coordinates,
    check_labels,
    check_points,
    read_binary,
)
from juncture.supervised.regression.inputs_and_targets import decode_classes
from juncture.variables import State


class Hyperplane(DecisionFunction):
    """The points x with w·x + b = 0, the boundary between two classes; w points into the second class.

    `jt.fit(jt.supervised.Hyperplane, X, y)` learns one, by the method "least-squares", which has an answer for any rows
    and does not depend on units; or by "risk", "perceptron" or "zero-one": `jt.supervised.LeastSquares`,
    `EmpiricalRisk`, `Perceptron` and `ZeroOne`.

    Parameters
    ----------
    weights
        (coordinate,): w, perpendicular to the hyperplane. Learning may end with weights that are all 0: then every
        point is of the class that the sign of b says, and there is no boundary to measure distances from.
    bias
        b.
    classes
        The labels of the first and the second class; by default False and True.

    Examples
    --------
    >>> boundary = Hyperplane([3.0, 4.0], -5.0)
    >>> boundary.signed_distance([[3.0, 4.0], [0.0, 0.0]]).tolist()
    [4.0, -1.0]
    >>> boundary.project([[3.0, 4.0]]).round(12).tolist()
    [[0.6, 0.8]]
    >>> import juncture as jt
    >>> found = jt.fit(Hyperplane, [-2.0, -1.0, 1.0, 2.0], ["low", "low", "high", "high"])
    >>> found.model.weights.round(6).tolist(), found.model.predict([-3.0, 3.0]).tolist()
    ([-0.6], ['low', 'high'])
    """

    kind: ClassVar[str] = "hyperplane"
    weights: np.ndarray
    bias: float
    classes: tuple[State, State]

    def __init__(self, weights: Any, bias: float, classes: Any = TRUTH) -> None:
        found = check_array(weights, "weights", ndim=1)
        if not np.isfinite(found).all() or not len(found):
            raise InvalidData("the weights of a hyperplane are finite numbers, one for each coordinate")
        self._set(
            weights=read_only(found, np.float64),
            bias=check_number(bias, "bias", finite=True),
            classes=check_binary(classes),
        )

    @property
    def num_columns(self) -> int:
        """The number of coordinates."""
        return len(self.weights)

    @property
    def num_parameters(self) -> int:
        """The number of free parameters: the weights, and the bias."""
        return len(self.weights) + 1

    def activation(self, X: Any) -> np.ndarray:
        """(point,): w·x + b."""
        places = check_coordinates(X, len(self.weights), self.feature_names)
        return np.asarray(places @ self.weights + self.bias)

    def predict(self, X: Any) -> np.ndarray:
        """(point,): the second class where w·x + b > 0, else the first."""
        return decode_classes(self.classes, (self.activation(X) > 0).astype(np.int64))

    @property
    def norm(self) -> float:
        """‖w‖."""
        if not self.weights.any():
            raise InvalidData(
                "the weights are all 0, so that there is no boundary, and no distance from it; only predict and"
                " activation answer"
            )
        return float(np.linalg.norm(self.weights))

    @property
    def offset(self) -> float:
        """-b / ‖w‖: the signed distance of the hyperplane from the origin, along w."""
        return -self.bias / self.norm

    def signed_distance(self, X: Any) -> np.ndarray:
        """(point,): (w·x + b) / ‖w‖, negative on the side of the first class."""
        return self.activation(X) / self.norm

    def project(self, X: Any) -> np.ndarray:
        """(point, coordinate): the nearest point of the hyperplane, x - (w·x + b) w / ‖w‖²."""
        places = check_coordinates(X, len(self.weights), self.feature_names)
        return np.asarray(places - np.outer(self.activation(places) / self.norm**2, self.weights))

    def functional_margins(self, X: Any, y: Any) -> np.ndarray:
        """(point,): t (w·x + b) with t = 1 for the second class and -1 for the first; positive where correct."""
        activation = self.activation(X)
        return np.where(check_labels(y, len(activation), self.classes), activation, -activation)

    def geometric_margins(self, X: Any, y: Any) -> np.ndarray:
        """(point,): t (w·x + b) / ‖w‖, which does not depend on the scale of w and b."""
        return self.functional_margins(X, y) / self.norm

    def margin(self, X: Any, y: Any) -> float:
        """The least geometric margin: the distance of the nearest point if all are on their sides."""
        return float(least(self.geometric_margins(X, y)))

    def canonical(self, X: Any, y: Any) -> Hyperplane:
        """The same hyperplane, scaled so that the least functional margin is 1 and the margin is 1 / ‖w‖."""
        smallest = least(self.functional_margins(X, y))
        if smallest <= 0:
            raise InvalidData(
                f"a canonical hyperplane has every point on the side of its class; the least margin is {smallest:.3g}"
            )
        scaled = Hyperplane(self.weights / smallest, self.bias / smallest, self.classes)
        return scaled._with_names(self.feature_names, self._target_name)

    def margin_error(self, X: Any, y: Any, margin: float) -> float:
        """The share of points whose geometric margin is less than this; at 0, the share on the wrong side."""
        least_margin = check_number(margin, "the margin", least=0, finite=True)
        found = self.geometric_margins(X, y)
        least(found)
        return float(np.mean(found < least_margin))

    def plot(self, **options: Any) -> Any:
        """The line between two classes in a plane with its margin; `jt.plot`."""
        return plot(self, **options)

    def __repr__(self) -> str:
        return f"Hyperplane({self.weights.tolist()}, {self.bias!r})"


def find_separation(X: Any, y: Any) -> tuple[np.ndarray, float] | None:
    """Weights and bias of a hyperplane that separates two classes, if there is one.

    The linear program is feasible if and only if the classes are separable: t_n (w·x_n + b) ≥ 1 for all points, where
    t_n is 1 for the second class and -1 for the first.

    Parameters
    ----------
    X
        (point, coordinate), or (point,) on a line.
    y
        The class of each point: two labels, of which the second in order is the second class.

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

    places = check_points(X)
    signs = np.where(read_binary(y, len(places))[1], 1.0, -1.0)
    lifted = np.column_stack([places, np.ones(len(places))])
    found = linprog(np.zeros(lifted.shape[1]), -signs[:, None] * lifted, -np.ones(len(places)), bounds=(None, None))
    return (found.x[:-1], float(found.x[-1])) if found.status == 0 else None


def least(margins: np.ndarray) -> float:
    """The least margin of some points."""
    if not len(margins):
        raise InvalidData("there is no point whose margin could be asked for: give at least one")
    return float(margins.min())
