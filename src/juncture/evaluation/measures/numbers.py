"""Errors of predicted numbers: the root mean squared error, and Pearson's correlation."""

from __future__ import annotations

from typing import Any

import numpy as np

from juncture.base.checks import check_array
from juncture.errors import InvalidData


def root_mean_squared_error(truth: Any, predicted: Any, *, weights: Any = None) -> float:
    """The root of the mean squared difference between numbers and their predictions.

    Parameters
    ----------
    truth, predicted
        Numbers, one an example.
    weights
        Of the examples.

    Returns
    -------
    float
        √(mean (predicted - true)²).

    Examples
    --------
    >>> root_mean_squared_error([1.0, 2.0, 3.0], [2.0, 3.0, 4.0])
    1.0
    """
    one, other = check_numbers(truth, predicted)
    own = None if weights is None else check_array(weights, "the weights", ndim=1)
    if own is not None and (own.shape != one.shape or not (np.isfinite(own) & (own >= 0)).all() or own.sum() <= 0):
        raise InvalidData("weights are numbers of at least 0, one for each example, and not all 0")
    return float(np.sqrt(np.average((one - other) ** 2, weights=own)))


def pearson_correlation(truth: Any, predicted: Any) -> float:
    """Pearson's correlation of numbers and their predictions, between -1 and 1.

    Parameters
    ----------
    truth, predicted
        Numbers, one an example; neither all the same.

    Returns
    -------
    float
        Their covariance, divided by both standard deviations.

    Examples
    --------
    >>> round(pearson_correlation([1.0, 2.0, 3.0], [5.0, 3.0, 1.0]), 9)
    -1.0
    """
    one, other = check_numbers(truth, predicted)
    if np.ptp(one) == 0 or np.ptp(other) == 0:
        raise InvalidData("numbers that are all the same have no correlation")
    return float(np.corrcoef(one, other)[0, 1])


def check_numbers(truth: Any, predicted: Any) -> tuple[np.ndarray, np.ndarray]:
    """Numbers and their predictions, without holes."""
    one, other = check_array(truth, "the truth", ndim=1), check_array(predicted, "the predictions", ndim=1)
    if one.shape != other.shape or not len(one) or not np.isfinite(one).all() or not np.isfinite(other).all():
        raise InvalidData("each example has a finite true number and a finite prediction")
    return one, other
