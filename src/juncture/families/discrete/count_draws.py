"""Draws of counts. Counts beyond the largest integer are drawn as whole floating-point numbers.

The distribution of so large a count is normal to floating-point precision; the distribution of a rare count is Poisson.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from juncture.errors import TooLarge
from juncture.families.discrete.whole_numbers import FARTHEST, LARGEST, as_counts

LARGEST_SUM = 2.0**53  # up to here, sums of counts are exact as floating-point numbers
MANY = 2.0**40


def poisson_draws(rates: Any, rng: np.random.Generator, shape: tuple[int, ...] | None = None) -> np.ndarray:
    """A Poisson count for each rate; floating-point numbers as soon as one rate is beyond the integers.

    NumPy's draws of rates above 1e14 are too wide, by a third at 1e16: counts of MANY events are drawn as normal.
    """
    rates = np.minimum(np.asarray(rates, dtype=float), FARTHEST)
    if not (rates > MANY).any():
        return np.asarray(rng.poisson(rates, shape))
    wide = np.broadcast_to(rates, rates.shape if shape is None else shape)
    few = rng.poisson(np.minimum(wide, MANY))
    return as_counts(np.where(wide > MANY, _normal_draws(wide, np.sqrt(wide), rng), few))


def binomial_draws(trials: Any, probability: Any, rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """How many of the trials succeed; floating-point numbers as soon as there are more trials than integers.

    Of so many trials, successes or failures that are rare are Poisson, and others normal.
    """
    trials, p = np.asarray(trials, dtype=float), np.asarray(probability, dtype=float)
    if not (trials > LARGEST).any():
        return np.asarray(rng.binomial(trials.astype(np.int64), p, shape))
    trials, p = np.broadcast_to(trials, shape), np.broadcast_to(p, shape)
    is_many = trials > LARGEST
    few = rng.binomial(np.where(is_many, 0.0, trials).astype(np.int64), p)
    hits, misses = trials * p, trials * (1 - p)
    rare = rng.poisson(np.minimum(np.minimum(hits, misses), MANY))
    counts = np.where(hits <= misses, rare, trials - rare)
    usual = _normal_draws(hits, np.sqrt(hits * (1 - p)), rng)
    many = np.where(np.minimum(hits, misses) <= MANY, counts, np.clip(usual, 0.0, trials))
    return np.where(is_many, many, few)


def check_countable(trials: np.ndarray, name: str) -> None:
    """Counts that must add up to the trials are drawn as far as their sum is exact."""
    if (trials > LARGEST_SUM).any():
        raise TooLarge(
            f"counts of {name} are drawn for at most 2**53 trials, as far as their sums are exact; "
            f"got {float(trials.max()):g} trials"
        )


def _normal_draws(mean: np.ndarray, std: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    with np.errstate(over="ignore"):
        drawn = np.round(mean + std * rng.standard_normal(mean.shape))
    return np.clip(drawn, 0.0, FARTHEST)
