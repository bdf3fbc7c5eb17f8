"""Linear discriminant functions w·x + b, whose sign is the class."""

from __future__ import annotations

from typing import Any

import numpy as np

from juncture.base.values import number_of
from juncture.data.feature_names import NamedFeatures, Names
from juncture.errors import InvalidData
from juncture.supervised.linear_classifiers.separability import check_points


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


def check_coordinates(points: Any, number: int, names: Names | None = None) -> np.ndarray:
    """(point, coordinate), with so many coordinates; with names, tables are taken by name."""
    places = check_points(points, names)
    if places.shape[1] != number:
        raise InvalidData(f"a point has {number_of(number, 'coordinate')} here; got points with {places.shape[1]}")
    return places
