"""The covariance of rows of vectors: centred moments, and a ridge for a covariance without full rank."""

from __future__ import annotations

from functools import reduce
from typing import Any

import numpy as np

from juncture.errors import InvalidData, RegularizedWarning, warn_user
from juncture.families.statistics.compiled import moments_of
from juncture.families.statistics.known import Known
from juncture.families.statistics.statistics import Moments
from juncture.families.statistics.weighted_sums import weighted_sum, with_batch
from juncture.numerics.stable import where
from juncture.runtime.parallel import block_rows, map_blocks

RIDGE = 1e-6  # of the average variance
RANK_TOLERANCE = 1e-14  # for each dimension, of the correlations


def sum_moments(family: Any, rows: np.ndarray, weights: np.ndarray | None, known: Known) -> Moments:
    """Weight, mean and scatter of all rows: by a compiled pass over long data, else block by block."""
    found = moments_of(rows, weights)
    if found is not None:
        weight, center, residual, scatter = found
        return Moments(family, weight=weight, center=center, residual=residual, scatter=scatter, known=known)

    def moments(block: slice) -> Moments:
        part, weight = rows[block], None if weights is None else weights[block]
        family._check_rows(part, known, block.start)
        return vector_moments(family, part, weight, known)

    size = block_rows((*rows.shape[1:], *(() if weights is None else weights.shape[1:])))
    parts = map_blocks(moments, len(rows), size) or [moments(slice(0, 0))]
    return reduce(Moments.__add__, parts)


def vector_moments(family: Any, rows: np.ndarray, weights: np.ndarray | None, known: Known) -> Moments:
    """Weight, mean and scatter of one block of rows."""
    values = np.asarray(rows, dtype=float)
    ones = np.ones(len(values)) if weights is None else weights
    weight = weighted_sum(np.ones(values.shape[:-1]), ones, axes=0)
    total = weighted_sum(values, ones, axes=1)
    center = np.divide(total, weight[..., None], out=np.zeros_like(total), where=weight[..., None] > 0)
    num_batch = weight.ndim
    deviations = with_batch(values, num_batch, 1) - center
    shares = with_batch(ones, num_batch)[..., None]
    rest = (shares * deviations).sum(axis=0)
    residual = np.divide(rest, weight[..., None], out=np.zeros_like(total), where=weight[..., None] > 0)
    rooted = np.sqrt(shares) * (deviations - residual)  # (row, *batch, d)
    scatter = np.moveaxis(rooted, 0, -1) @ np.moveaxis(rooted, 0, -2)
    return Moments(family, weight=weight, center=center, residual=residual, scatter=scatter, known=known)


def covariance_from(scatter: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """scatter / weight; where that has no full rank, RIDGE times the average variance is added to the diagonal."""
    covariance = scatter / weight[..., None, None]
    dimension = covariance.shape[-1]
    average = np.trace(covariance, axis1=-2, axis2=-1) / dimension
    if not (average > 0).all():
        raise InvalidData(
            "the covariance of a MultivariateGaussian would be 0: "
            f"give at least {dimension + 1} different rows, a known covariance= or a prior"
        )
    ranks = rank(covariance)
    ridge = np.where(ranks < dimension, RIDGE * average, 0.0)
    if (ridge > 0).any():
        _report(ranks, ridge, dimension)
    return covariance + ridge[..., None, None] * np.eye(dimension)


def rank(covariance: np.ndarray) -> np.ndarray:
    """The rank of the correlations: it does not depend on units."""
    scale = np.sqrt(np.diagonal(covariance, axis1=-2, axis2=-1))
    safe = np.where(scale > 0, scale, 1.0)
    correlations = covariance / (safe[..., :, None] * safe[..., None, :])
    return np.asarray((np.linalg.eigvalsh(correlations) > RANK_TOLERANCE * covariance.shape[-1]).sum(axis=-1))


def _report(ranks: np.ndarray, ridge: np.ndarray, dimension: int) -> None:
    wrong = ridge > 0
    warn_user(
        f"the estimated covariance{where(wrong)} has rank {int(ranks[wrong][0])} of {dimension}; "
        f"{float(ridge[wrong][0]):.3g}, {RIDGE:g} of the average variance, was added to its diagonal: "
        f"give at least {dimension + 1} rows with no column that the others determine, or a prior",
        RegularizedWarning,
    )
