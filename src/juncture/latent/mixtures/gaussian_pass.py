"""The E-step of Gaussian mixtures with full or tied covariances, in one compiled pass over the rows.

Rows with the same pattern of holes are kept together. What a row shows has a Gaussian marginal, so a pass over the rows
of a pattern gives the moments of what they show; the expected moments of whole rows are linear in those (Little and
Rubin 2002, 11.2).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from juncture.components.contract import EmissionStatistics
from juncture.components.gaussian import patterns
from juncture.families.statistics.long_data import as_buffer, merge_moments
from juncture.families.statistics.statistics import Moments
from juncture.families.vectors.multivariate_gaussian import MultivariateGaussian
from juncture.families.vectors.whitening import Whitening
from juncture.numerics.stable import LOG_TWO_PI
from juncture.runtime import parallel

TASK_ROWS = 2**14  # of one call of the kernel: what it returns is small beside them
BATCH = 2**21  # numbers: matrices of the patterns that are handled at once

Pass = tuple[EmissionStatistics, float]  # the statistics of the components, and the log-likelihood


@dataclass(frozen=True, eq=False)
class PatternRows:
    """The rows that show the same coordinates: only these are kept."""

    seen: np.ndarray  # (coordinate,)
    rows: np.ndarray  # (row, coordinate seen)
    weights: np.ndarray  # (row,)


def group_rows(rows: np.ndarray, weights: np.ndarray) -> list[PatternRows]:
    """The rows by their pattern of holes; rows that show nothing, or weigh nothing, are left out."""
    if not np.isnan(rows).any():
        return [PatternRows(np.arange(rows.shape[1]), as_buffer(rows), as_buffer(weights))]
    counted = [(positions[weights[positions] > 0], seen) for positions, seen in patterns(rows) if len(seen)]
    return [
        PatternRows(seen, as_buffer(rows[np.ix_(positions, seen)]), as_buffer(weights[positions]))
        for positions, seen in counted
        if len(positions)
    ]


def is_fast(num_values: int, num_components: int) -> bool:
    """Whether the compiled pass is faster than NumPy for so many values."""
    from juncture.kernels.densities.mixtures import gaussian_mixture_pass

    return bool(gaussian_mixture_pass.outruns_numpy(num_values * num_components))


def gaussian_pass(
    distributions: MultivariateGaussian, log_weights: np.ndarray, groups: list[PatternRows], columns: Moments
) -> Pass | None:
    """The expected statistics of the components and the log-likelihood; None where a log-density is not finite.

    The weights need not sum to 1. `columns` has the moments of what is seen of each column.
    """
    step = max(1, BATCH // (len(log_weights) * distributions.dimension**2))
    parts, log_likelihood = [], 0.0
    for start in range(0, len(groups), step):
        found = pass_of_patterns(distributions, log_weights, groups[start : start + step])
        if found is None:
            return None
        parts.append(found[0])
        log_likelihood += found[1]
    total = sum(parts[1:], start=parts[0])
    return EmissionStatistics(total.weight, [total, columns]), log_likelihood


def pass_of_patterns(
    distributions: MultivariateGaussian, log_weights: np.ndarray, groups: list[PatternRows]
) -> tuple[Moments, float] | None:
    """The expected moments of the rows of some patterns, and their log-likelihood."""
    from juncture.kernels.densities.mixtures import gaussian_mixture_pass

    size, mean = distributions.dimension, distributions.mean
    seen = np.array([np.isin(np.arange(size), group.seen) for group in groups])  # (pattern, d)
    both = (seen[:, :, None] & seen[:, None, :])[:, None]
    shown = np.where(both, distributions.covariance, np.eye(size))  # (pattern, component, d, d)
    whitening = Whitening.of(shown, name="a covariance")
    constants = log_weights - 0.5 * (whitening.log_determinant + seen.sum(axis=1)[:, None] * LOG_TWO_PI)
    factors = [
        as_buffer(factor[:, group.seen[:, None], group.seen])
        for factor, group in zip(whitening.inverse_factor, groups, strict=True)
    ]
    tasks = [(index, rows) for index, group in enumerate(groups) for rows in slices(group)]

    def run(task: tuple[int, slice]) -> tuple[np.ndarray, ...]:
        index, own = task
        group = groups[index]
        parameters = as_buffer(mean[:, group.seen]), factors[index], as_buffer(constants[index])
        found: tuple[np.ndarray, ...] = gaussian_mixture_pass(group.rows[own], group.weights[own], *parameters)
        return found

    found = parallel.map(run, tasks, is_worth_threads=len(tasks) >= parallel.MANY_BLOCKS)
    if any(part[4] for part in found):
        return None
    numbers = np.array([index for index, _ in tasks])
    weights, centers, scatters = pad(found, [groups[index].seen for index in numbers], mean.shape)
    if not seen.all():
        gains, left = conditional_matrices(distributions.covariance, whitening.inverse, seen)
        centers, scatters = complete(weights, centers, scatters, gains[numbers], left[numbers])
    weight, center, residual, scatter = merge_moments(weights, np.broadcast_to(mean, centers.shape), centers, scatters)
    moments = Moments(MultivariateGaussian, weight=weight, center=center, residual=residual, scatter=scatter)
    return moments, float(sum(part[3] for part in found))


def slices(group: PatternRows) -> list[slice]:
    return parallel.blocks_of(len(group.rows), TASK_ROWS)


def pad(
    found: list[tuple[np.ndarray, ...]], seen: list[np.ndarray], shape: tuple[int, ...]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Weights (part, component), means and scatters in all coordinates, 0 where nothing is seen."""
    num_components, size = shape
    centers = np.zeros((len(found), num_components, size))
    scatters = np.zeros((len(found), num_components, size, size))
    for index, (part, own) in enumerate(zip(found, seen, strict=True)):
        lower = part[2]
        centers[index][:, own] = part[1]
        scatters[index][:, own[:, None], own] = lower + np.swapaxes(np.tril(lower, -1), 1, 2)
    return np.array([part[0] for part in found]), centers, scatters


def conditional_matrices(
    covariance: np.ndarray, precision: np.ndarray, seen: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """For each pattern: E[x - mean | seen] as a matrix times what is seen, and the covariance that is left."""
    both = (seen[:, :, None] & seen[:, None, :])[:, None]
    regression = covariance @ np.where(both, precision, 0.0)
    gains = np.where(seen[:, None, :, None], np.eye(covariance.shape[-1]), regression)
    neither = ~(seen[:, :, None] | seen[:, None, :])[:, None]
    return gains, np.where(neither, covariance - regression @ covariance, 0.0)


def complete(
    weights: np.ndarray, centers: np.ndarray, scatters: np.ndarray, gains: np.ndarray, left: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The expected means and scatters of whole rows, from those of what is seen."""
    whole = gains @ scatters @ np.swapaxes(gains, -2, -1) + weights[..., None, None] * left
    return (gains @ centers[..., None])[..., 0], whole
