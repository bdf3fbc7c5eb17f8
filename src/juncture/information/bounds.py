"""How far averages stray from the mean, whatever the distribution: Chebyshev's inequality and the weak law."""

from __future__ import annotations

from math import ceil
from typing import Any

import numpy as np

from juncture.errors import InvalidData
from juncture.families.family import Real, plain


def chebyshev_bound(variance: Any, distance: Any) -> Real:
    """P(|X - mean| ≥ distance) ≤ min(1, variance / distance²)."""
    variance, distance = np.asarray(variance, float), np.asarray(distance, float)
    if not ((variance >= 0).all() and (distance > 0).all()):
        raise InvalidData(f"a variance is at least 0 and a distance positive; got {variance}, {distance}")
    return plain(np.minimum(variance / distance**2, 1.0))


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
    if not (variance >= 0 and error > 0 and 0 < probability <= 1):
        raise InvalidData(
            f"give a variance of at least 0, a positive error and a probability above 0; "
            f"got {variance}, {error}, {probability}"
        )
    return max(ceil(variance / (error**2 * probability) * (1 - 1e-12)), 1)  # 500.00000000000006 is 500
