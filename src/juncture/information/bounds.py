"""Bounds for any distribution: Chebyshev's inequality, and the weak law of large numbers."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from juncture.base.checks import check_array, check_number
from juncture.errors import InvalidData
from juncture.families.family import Real, plain


def chebyshev_bound(variance: Any, distance: Any) -> Real:
    """Chebyshev's inequality: P(|X - mean| ≥ distance) ≤ min(1, variance / distance²).

    Parameters
    ----------
    variance
        The variance of X.
    distance
        A positive distance from the mean.

    Returns
    -------
    float or numpy.ndarray
        The bound on the probability.

    Examples
    --------
    >>> chebyshev_bound(variance=1.0, distance=2.0)
    0.25
    """
    variance, distance = check_array(variance, "the variance"), check_array(distance, "the distance")
    if not ((variance >= 0).all() and (distance > 0).all()):
        raise InvalidData(f"a variance is at least 0 and a distance positive; got {variance}, {distance}")
    with np.errstate(over="ignore"):
        return plain(np.minimum(variance / distance / distance, 1.0))


def standard_error(variance: Any, draws: int) -> Real:
    """√(variance / n): the standard deviation of the average of n independent values.

    Parameters
    ----------
    variance
        The variance of one value.
    draws
        The number n of values.

    Returns
    -------
    float or numpy.ndarray
        The standard error of the mean.

    Examples
    --------
    >>> import juncture as jt
    >>> jt.information.standard_error(4.0, 100)
    0.2
    """
    check_number(draws, "draws", least=1)
    return plain(np.sqrt(check_array(variance, "the variance") / draws))


def samples_needed(variance: float, error: float, probability: float) -> int:
    """How many independent values suffice for an accurate average, by the weak law of large numbers.

    This is the smallest n with variance / (n error²) ≤ probability.

    Parameters
    ----------
    variance
        The variance of one value.
    error
        The deviation of the average from the mean that should not be reached.
    probability
        The largest allowed probability of such a deviation.

    Returns
    -------
    int
        The number of values n.

    Examples
    --------
    >>> samples_needed(variance=0.25, error=0.1, probability=0.05)
    500
    """
    exact_variance = Fraction(check_number(variance, "the variance", least=0, finite=True))
    distance = Fraction(check_number(error, "the error", above=0, finite=True))
    share = Fraction(check_number(probability, "the probability", above=0, most=1))
    needed = exact_variance / (distance**2 * share)  # exact, as the square of a small error is no double
    return max(math.ceil(needed * Fraction(1 - 1e-12)), 1)  # 500.00000000000006 is 500
