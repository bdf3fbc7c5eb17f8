"""`Ellipse`: the points of one density, by their axes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import gammaincinv

from juncture.checks import check_number


class Ellipse(NamedTuple):
    """center ± half_length · direction are its vertices; the longest axis comes first."""

    center: np.ndarray  # (*batch, d)
    half_lengths: np.ndarray  # (*batch, axis)
    directions: np.ndarray  # (*batch, axis, d), of length 1


def ellipse_of(center: np.ndarray, covariance: np.ndarray, probability: float) -> Ellipse:
    """Where the squared Mahalanobis distance is the quantile of χ² with d degrees of freedom."""
    check_number(probability, "the probability that an ellipse holds", above=0, below=1)
    squared_distance = 2 * gammaincinv(covariance.shape[-1] / 2, probability)
    variances, vectors = np.linalg.eigh(covariance)
    half_lengths = np.sqrt(squared_distance * variances)[..., ::-1]
    return Ellipse(center, half_lengths, np.swapaxes(vectors, -2, -1)[..., ::-1, :])
