"""Partly observed vectors under Gaussians with full covariances: missing entries are summed out.

Rows with the same pattern of holes are handled together: the observed block of the covariance is factorised once for
each pattern.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce

import numpy as np

from juncture.components.densities import whole_log_prob
from juncture.data.missingness import group_by_pattern
from juncture.families.statistics.statistics import Moments
from juncture.families.vectors.block_matrices import block
from juncture.families.vectors.multivariate_gaussian import MultivariateGaussian
from juncture.families.vectors.whitening import Whitening


def full_log_prob(rows: np.ndarray, distributions: MultivariateGaussian) -> np.ndarray:
    """log p of what is observed in each row, under each distribution: (row, state)."""
    means, covariances = distributions.mean, distributions.covariance
    if not np.isnan(rows).any():
        return whole_log_prob(rows, means, distributions._whitening)
    log_prob = np.zeros((len(rows), len(means)))
    for positions, seen in patterns(rows):
        if len(seen):
            whitening = Whitening.of(block(covariances, seen, seen), name="a covariance")
            log_prob[positions] = whole_log_prob(rows[np.ix_(positions, seen)], means[:, seen], whitening)
    return log_prob


def expected_moments(rows: np.ndarray, weights: np.ndarray, distributions: MultivariateGaussian) -> Moments:
    """The moments of the rows for each column of weights (row, state), expected where something is missing.

    E[x | seen] has the scatter of its own, and what is missing adds its conditional covariance, weight by weight.
    """
    if not np.isnan(rows).any():
        return MultivariateGaussian._summarise(rows, weights, {})
    parts = [MultivariateGaussian._summarise(rows[:0], weights[:0], {})]
    for positions, seen in patterns(rows):
        if len(seen):
            found = MultivariateGaussian._summarise(rows[np.ix_(positions, seen)], weights[positions], {})
            parts.append(complete_moments(found, seen, distributions))
    return reduce(Moments.__add__, parts)


def complete_moments(found: Moments, seen: np.ndarray, distributions: MultivariateGaussian) -> Moments:
    """The expected moments of whole rows, from those of what is seen of them: E[x | seen] is linear in it."""
    size = distributions.dimension
    missing = np.setdiff1d(np.arange(size), seen)
    mean, covariance = distributions.mean, distributions.covariance
    gain = np.linalg.solve(block(covariance, seen, seen), block(covariance, seen, missing))  # (state, seen, missing)
    left = block(covariance, missing, missing) - block(covariance, missing, seen) @ gain
    whole = np.zeros((len(mean), len(seen), size))  # (state, seen, d): the row that is expected, less its mean
    whole[:, np.arange(len(seen)), seen] = 1.0
    whole[:, :, missing] = gain
    center, residual = np.empty(mean.shape), np.zeros(mean.shape)
    shift = (found.center - mean[:, seen])[:, None] @ gain
    center[:, seen], center[:, missing] = found.center, mean[:, missing] + shift[:, 0]
    residual[:, seen] = found.residual
    scatter = np.swapaxes(whole, 1, 2) @ found.scatter @ whole
    scatter[:, missing[:, None], missing] += found.weight[:, None, None] * left
    return found._with(center=center, residual=residual, scatter=scatter)


def patterns(rows: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """(the indices of the rows with one pattern of missing coordinates, the coordinates observed), for each pattern."""
    for holes, indices in group_by_pattern(np.isnan(rows)[:, ::-1]):
        yield indices, np.flatnonzero(~holes[::-1])
