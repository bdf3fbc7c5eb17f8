"""`FactorData`: what EM reads of the rows: the sums of complete ones, and those with holes, kept or read again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from juncture.data.rows import RowParts, SourceRows
from juncture.errors import InvalidData
from juncture.families.statistics.statistics import Moments
from juncture.families.vectors.multivariate_gaussian import MultivariateGaussian
from juncture.latent.factor_analysis.posterior import BLOCK, Patterns


class HoleBlock(NamedTuple):
    """Rows with holes, and the weight of each."""

    patterns: Patterns
    weights: np.ndarray  # (row,)


@dataclass(frozen=True, eq=False)
class FactorData:
    """The moments of complete rows, the rows with holes, and the moments of each column."""

    complete: Moments
    holes: Callable[[], Iterable[HoleBlock]]
    has_holes: bool
    weight: np.ndarray  # (column,): of the rows in which it is seen
    center: np.ndarray  # (column,)
    covariance: np.ndarray  # (column, column): of what is seen, holes filled with the center
    source: SourceRows | None = None  # where rows with holes are read again

    @classmethod
    def of(cls, parts: RowParts, num_columns: int, *, keep: bool) -> FactorData:
        """Sum up the complete rows of all parts; with `keep`, the rows with holes stay in memory."""
        weight, center = column_means(parts, num_columns)
        complete = moments_of(np.zeros((0, num_columns)), np.zeros(0))
        scatter, has_holes = np.zeros((num_columns, num_columns)), False
        for rows, weights in counted_rows(parts):
            is_whole = ~np.isnan(rows).any(axis=1)
            complete = complete + moments_of(rows[is_whole], weights[is_whole])
            partly = np.nan_to_num(rows[~is_whole] - center)
            scatter += (partly * weights[~is_whole, None]).T @ partly
            has_holes = has_holes or not is_whole.all()
        scatter += complete.scatter_about(center)
        blocks = list(hole_blocks(parts)) if keep else None
        holes = (lambda: hole_blocks(parts)) if blocks is None else (lambda: blocks)
        source = parts if isinstance(parts, SourceRows) else None
        return cls(complete, holes, has_holes, weight, center, scatter / np.sqrt(weight * weight[:, None]), source)

    @property
    def floor(self) -> np.ndarray:
        """The least variance of noise of each column, in its own units: rounding hides what is smaller."""
        variances = np.diagonal(self.covariance)
        is_constant = variances <= 1e-24 * self.center**2
        return 1e-8 * np.where(is_constant, variances.min(where=~is_constant, initial=variances.max()), variances)

    @property
    def shared_floor(self) -> float:
        """The least variance of noise that all columns share."""
        variances = np.diagonal(self.covariance)
        return 1e-8 * float(variances.min(where=variances > 1e-12 * variances.mean(), initial=variances.mean()))


def counted_rows(parts: RowParts) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Rows of which something is seen and that weigh something."""
    for rows, weights in parts():
        counted = (weights > 0) & ~np.isnan(rows).all(axis=1)
        yield (rows, weights) if counted.all() else (rows[counted], weights[counted])


def hole_blocks(parts: RowParts) -> Iterator[HoleBlock]:
    for rows, weights in parts():
        yield from holes_in(rows, weights)


def holes_in(rows: np.ndarray, weights: np.ndarray) -> Iterator[HoleBlock]:
    """The rows with some holes that weigh something, a few at a time."""
    seen = ~np.isnan(rows)
    places = np.flatnonzero((weights > 0) & seen.any(axis=1) & ~seen.all(axis=1))
    for start in range(0, len(places), BLOCK):
        some = places[start : start + BLOCK]
        yield HoleBlock(Patterns.of(rows[some]), weights[some])


def column_means(parts: RowParts, num_columns: int) -> tuple[np.ndarray, np.ndarray]:
    """The weight of the rows in which each column is seen, and its mean there."""
    weight, total, first = np.zeros(num_columns), np.zeros(num_columns), None
    for rows, weights in counted_rows(parts):
        if first is None and len(rows):
            first = np.nan_to_num(rows[0])  # near the data, so that sums keep their digits
        if first is not None:
            total += weights @ np.nan_to_num(rows - first)
            weight += weights @ ~np.isnan(rows)
    if first is None:
        raise InvalidData("there is nothing to learn from: no row that weighs something holds a number")
    if not (weight > 0).all():
        raise InvalidData(f"column {int(np.argmin(weight))} holds no number in any row that weighs something; drop it")
    return weight, first + total / weight


def moments_of(rows: np.ndarray, weights: np.ndarray) -> Moments:
    return MultivariateGaussian._summarise(rows, weights, {})
