"""How far averages stray from the mean, whatever the distribution: Chebyshev's inequality and the weak law."""

from __future__ import annotations

from fractions import Fraction
from math import ceil, inf
from typing import Any

import numpy as np

from juncture.errors import InvalidData
from juncture.families.family import Real, plain


def chebyshev_bound(variance: Any, distance: Any) -> Real:
    """P(|X - mean| ≥ distance) ≤ min(1, variance / distance²)."""
    variance, distance = np.asarray(variance, float), np.asarray(distance, float)
    if not ((variance >= 0).all() and (distance > 0).all()):
        raise InvalidData(f"a variance is at least 0 and a distance positive; got {variance}, {distance}")
    with np.errstate(over="ignore"):
        return plain(np.minimum(variance / distance / distance, 1.0))


def standard_error(variance: Any, num_samples: int) -> Real:
    """√(variance / n): the standard deviation of the average of n independent values."""
    if not num_samples >= 1:
        raise InvalidData(f"an average needs at least one value; got {num_samples}")
    return plain(np.sqrt(np.asarray(variance, float) / num_samples))


def samples_needed(variance: float, error: float, probability: float) -> int:
    """How many independent values make their average stray by `error` or more with at most this probability.

    The weak law's bound: variance / (n error²) ≤ probability.

    >>> samples_needed(variance=0.25, error=0.1, probability=0.05)
    500
    """
    told = f"got {variance!r}, {error!r} and {probability!r}"
    try:
        variance, error, probability = float(variance), float(error), float(probability)
    except (TypeError, ValueError, OverflowError) as reason:
        raise InvalidData(f"variance, error and probability are numbers; {told}") from reason
    if not (0 <= variance < inf and 0 < error < inf and 0 < probability <= 1):
        raise InvalidData(
            f"give a finite variance of at least 0, a positive finite error and a probability above 0; {told}"
        )
    exact = Fraction(variance) / (Fraction(error) ** 2 * Fraction(probability))  # squares of floats may underflow
    return max(ceil(exact * (1 - Fraction(1, 10**12))), 1)  # 500.00000000000006 is 500
