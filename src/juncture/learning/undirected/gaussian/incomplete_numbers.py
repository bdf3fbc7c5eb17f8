"""EM for a Gaussian Markov network and rows with missing cells.

The E-step completes each row by the Gaussian of the missing cells given the others: it adds up the expected moments.
The M-step is covariance selection on these moments, so that the zeros of the precision matrix stay.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, NamedTuple

import numpy as np

from juncture.data.dataset import Dataset
from juncture.data.missingness import group_by_pattern
from juncture.errors import InvalidData
from juncture.graphs.undirected import UndirectedGraph
from juncture.learning.em.contract import Expected
from juncture.learning.undirected.gaussian.covariance_selection import (
    GaussianMoments,
    check_deviations,
    log_likelihood,
    most_likely_precision,
)
from juncture.numerics.stable import LOG_TWO_PI


class Normal(NamedTuple):
    """The Gaussian so far, and its precision matrix, which has the zeros."""

    mean: np.ndarray
    covariance: np.ndarray
    precision: np.ndarray


class Block(NamedTuple):
    """Rows in which the same cells are known."""

    known: np.ndarray  # (variable,)
    values: np.ndarray  # (row, variable)
    weights: np.ndarray  # (row,)


@dataclass(frozen=True, eq=False)
class IncompleteNumbers:
    """Rows of real columns with missing cells, and the graph; an `EMProblem`."""

    data: Dataset
    graph: UndirectedGraph
    tolerance: float
    max_steps: int
    models: ClassVar[str] = "Gaussian Markov networks"

    @cached_property
    def _blocks(self) -> list[Block]:
        values = np.stack(self.data.arrays, axis=1)
        weights = np.ones(len(values)) if self.data.weights is None else np.asarray(self.data.weights, float)
        if not weights.sum() > 0:
            raise InvalidData("there are no rows with a weight to learn from: give rows")
        values, weights = values[weights > 0], weights[weights > 0]
        return [Block(known, values[rows], weights[rows]) for known, rows in group_by_pattern(~np.isnan(values))]

    def blocks(self) -> list[Block]:
        return self._blocks

    def start(self) -> Normal:
        """Independent columns, each with the mean and the variance of its known cells."""
        values, weights = (
            np.concatenate([getattr(block, part) for block in self._blocks]) for part in Block._fields[1:]
        )
        known = ~np.isnan(values)
        total = weights @ known
        for variable, weight in zip(self.data.variables, total, strict=True):
            if not weight > 0:
                raise InvalidData(f"the column {variable.name!r} has no values: leave it out")
        mean = weights @ np.where(known, values, 0.0) / total
        variance = weights @ np.where(known, values - mean, 0.0) ** 2 / total
        check_deviations(GaussianMoments(self.data.variables, 1.0, mean, np.diag(variance)))
        return Normal(mean, np.diag(variance), np.diag(1.0 / variance))

    def another_start(self) -> Normal:
        """The same: the likelihood is climbed from one start."""
        return self.start()

    def expect(self, model: Normal, block: Block) -> Expected[GaussianMoments]:
        """The moments of the rows completed by their means, plus the covariance of what is missing."""
        known, hidden, deviations = block.known, ~block.known, np.sqrt(np.diagonal(model.covariance))
        correlations = model.covariance / np.outer(deviations, deviations)
        factor = np.linalg.cholesky(correlations[np.ix_(known, known)])
        white = np.linalg.solve(factor, ((block.values[:, known] - model.mean[known]) / deviations[known]).T)
        across = np.linalg.solve(factor, correlations[np.ix_(known, hidden)])
        full = block.values.copy()
        full[:, hidden] = model.mean[hidden] + deviations[hidden] * (white.T @ across)
        left = np.zeros(correlations.shape)
        left[np.ix_(hidden, hidden)] = correlations[np.ix_(hidden, hidden)] - across.T @ across
        scale = np.log(np.diagonal(factor)).sum() + np.log(deviations[known]).sum() + 0.5 * known.sum() * LOG_TWO_PI
        log_density = block.weights @ (-0.5 * (white**2).sum(axis=0) - scale)
        rows = GaussianMoments.weighted(self.data.variables, full, block.weights)
        covariance = rows.covariance + left * np.outer(deviations, deviations)
        moments = GaussianMoments(self.data.variables, rows.weight, rows.mean, covariance)
        return Expected(moments, float(log_density))

    def maximize(self, statistics: GaussianMoments, model: Normal) -> Normal:
        deviations = check_deviations(statistics)
        units = np.outer(deviations, deviations)
        precision, _ = most_likely_precision(
            statistics.covariance / units, self.graph, self.tolerance, self.max_steps, None
        )
        return Normal(statistics.mean, np.linalg.inv(precision) * units, precision / units)

    def expected_log_joint(self, statistics: GaussianMoments, model: Normal) -> float:
        shift = statistics.mean - model.mean
        about = statistics.covariance + np.outer(shift, shift)
        moments = GaussianMoments(self.data.variables, statistics.weight, model.mean, about)
        return log_likelihood(moments, model.precision)

    def log_prior(self, model: Normal) -> float:
        return 0.0
