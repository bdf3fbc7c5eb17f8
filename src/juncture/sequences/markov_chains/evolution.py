"""The distribution of a chain's state over time: powers of the transition matrix, distances to stationarity."""

from __future__ import annotations

import numpy as np

from juncture.sequences.markov_chains.histories import first_order_matrix
from juncture.sequences.markov_chains.structure import first_power


def product(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """The product of two stochastic matrices, each row brought to the sum 1: rounding would double at each squaring."""
    both = first @ second
    return both / both.sum(axis=1, keepdims=True)


def power(transition: np.ndarray, steps: int) -> np.ndarray:
    """The transitions of `steps` steps at once, by repeated squaring."""
    result, square = np.eye(len(transition)), transition
    while steps:
        result = product(result, square) if steps % 2 else result
        steps //= 2
        square = product(square, square) if steps else square
    return result


def distribution_after(table: np.ndarray, distribution: np.ndarray, steps: int) -> np.ndarray:
    """The distribution of the last states, (*history), after so many more steps; `table` is (*history, next)."""
    size = distribution.size
    if steps * table.size <= 2 * max(steps, 1).bit_length() * size**3:
        for _ in range(steps):
            distribution = next_distribution(table, distribution)
        return distribution
    return np.asarray(distribution.ravel() @ power(first_order_matrix(table), steps)).reshape(distribution.shape)


def next_distribution(table: np.ndarray, distribution: np.ndarray) -> np.ndarray:
    """The distribution of the last states one step later: the oldest is summed out."""
    moved = np.einsum("a...,a...n->...n", distribution, table)
    return np.asarray(moved / moved.sum())


def distances(transition: np.ndarray, distribution: np.ndarray, stationary: np.ndarray, steps: int) -> np.ndarray:
    """½ Σ |distribution at t - stationary| for t = 0, …, steps."""
    trace = np.empty(steps + 1)
    for step in range(steps + 1):
        trace[step] = total_variation(distribution, stationary)
        distribution = next_distribution(transition, distribution)
    return trace


def worst_distances(transition: np.ndarray, stationary: np.ndarray, steps: int) -> np.ndarray:
    """The largest distance from any starting state, for t = 0, …, steps."""
    trace, distributions = np.empty(steps + 1), np.eye(len(transition))
    for step in range(steps + 1):
        trace[step] = total_variation(distributions, stationary).max()
        distributions = product(distributions, transition)
    return trace


def mixing_time(transition: np.ndarray, stationary: np.ndarray, threshold: float) -> int | None:
    """The first step at which no start is farther than `threshold` from the distribution that all of them tend to."""

    def is_near(distributions: np.ndarray) -> bool:
        return bool(total_variation(distributions, stationary).max() <= threshold)

    return 0 if is_near(np.eye(len(transition))) else first_power(transition, product, is_near)


def total_variation(distributions: np.ndarray, stationary: np.ndarray) -> np.ndarray:
    return np.asarray(0.5 * np.abs(distributions - stationary).sum(axis=-1))
