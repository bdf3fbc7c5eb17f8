"""`Ellipse`: the points of one density, by their axes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import gammaincinv

from juncture.base.checks import as_float, shown
from juncture.errors import InvalidData


class Ellipse(NamedTuple):
    """center ± half_length · direction are its vertices; the longest axis comes first."""

    center: np.ndarray  # (*batch, d)
    half_lengths: np.ndarray  # (*batch, axis)
    directions: np.ndarray  # (*batch, axis, d), of length 1


def ellipse_of(center: np.ndarray, covariance: np.ndarray, probability: float) -> Ellipse:
    """Where the squared Mahalanobis distance is the quantile of χ² with d degrees of freedom."""
    if not 0 < as_float(probability) < 1:
        raise InvalidData(f"an ellipse holds a probability between 0 and 1; got {shown(probability)}")
    squared_distance = 2 * gammaincinv(covariance.shape[-1] / 2, probability)
    variances, vectors = np.linalg.eigh(covariance)
    half_lengths = np.sqrt(squared_distance * variances)[..., ::-1]
    return Ellipse(center, half_lengths, np.swapaxes(vectors, -2, -1)[..., ::-1, :])
