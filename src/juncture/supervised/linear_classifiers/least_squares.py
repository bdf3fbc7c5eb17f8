"""Least squares and ridge regression on the targets ±1, as classifiers."""

from __future__ import annotations

from typing import Any

import numpy as np

from juncture.base.checks import check_flag, check_number
from juncture.errors import InvalidData
from juncture.supervised.linear_classifiers.hyperplane import Hyperplane
from juncture.supervised.linear_classifiers.separability import check_labels, read_points
from juncture.supervised.regression.ridge import ridge_path


def fit_least_squares(
    points: Any, labels: Any, strength: float = 0.0, *, penalize_bias: bool = True, weights: Any = None
) -> Hyperplane:
    """The hyperplane of least Σ (t - w·x - b)² + λ‖(b, w)‖², with t = 1 for the second class and -1 for the first.

    Without a penalty its weights have the direction of Fisher's discriminant. Points far on the right side of the
    boundary pull it too: the loss grows again beyond a margin of 1. One singular value decomposition solves the primal
    equations, (XᵀX + λI) w = Xᵀt, or the dual ones, whichever are fewer; where features depend on each other, the
    weights are those of least norm.

    Parameters
    ----------
    points
        (point, coordinate), or (point,) on a line; apply a basis first for other features.
    labels
        True (or 1) for points of the second class, False (or 0) for those of the first; both must occur.
    strength
        λ, at least 0, of the sum over points and not of their mean.
    penalize_bias
        Whether b is in the penalty; scikit-learn's `RidgeClassifier` leaves it out.
    weights
        The weight of each point.

    Returns
    -------
    Hyperplane

    Examples
    --------
    >>> boundary = fit_least_squares([-2.0, -1.0, 1.0, 2.0], [0, 0, 1, 1])
    >>> boundary.weights.round(6).tolist(), round(boundary.bias, 6)
    ([0.6], 0.0)
    """
    places, names = read_points(points)
    is_second = check_labels(labels, len(places))
    price = check_number(strength, "strength", least=0, finite=True)
    with_bias = check_flag(penalize_bias, "penalize_bias")
    if is_second.all() or not is_second.any():
        raise InvalidData("a boundary lies between two classes: give points of both, labelled 0 and 1")
    signs = np.where(is_second, 1.0, -1.0)
    path = ridge_path(places, signs, [price], weights=weights, penalize_constant=with_bias)
    bias, *others = path.coefficients[0]
    return Hyperplane(others, float(bias))._named(names)
