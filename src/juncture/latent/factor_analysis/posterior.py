"""The factors of rows with holes: p(z | seen) is Gaussian, and its covariance depends only on which entries are seen.

With G = I + Σ_seen w wᵀ / variance over the seen entries' rows w of the loadings, the covariance is G⁻¹ and the mean
G⁻¹ Σ_seen w (x - mean) / variance. The matrices have the size of the factors, not of the columns (Woodbury). Loadings
and rows are first divided by the deviation of the noise, since the inverse of its variance may be beyond doubles.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from juncture.errors import InvalidData
from juncture.latent.factor_analysis.model import LinearFactors
from juncture.numerics.stable import LOG_TWO_PI

BLOCK = 2**14  # rows that are handled at once


class Patterns(NamedTuple):
    """Rows, in which 0 stands for a hole; the distinct patterns of what is seen; and the pattern of each row."""

    rows: np.ndarray  # (row, column)
    seen: np.ndarray  # (pattern, column): 1.0 where an entry is seen
    codes: np.ndarray  # (row,)

    @classmethod
    def of(cls, rows: np.ndarray) -> Patterns:
        holes = np.isnan(rows)
        if not holes.any():
            return cls(rows, np.ones((1, rows.shape[1])), np.zeros(len(rows), np.int64))
        keys = np.packbits(holes, axis=1)
        _, first, codes = np.unique(keys, axis=0, return_index=True, return_inverse=True)
        return cls(np.where(holes, 0.0, rows), (~holes[first]).astype(np.float64), codes.reshape(-1))


class Posterior(NamedTuple):
    """The Gaussian of the factors of each row, and the log-density of what is seen in it."""

    mean: np.ndarray  # (row, factor)
    covariances: np.ndarray  # (pattern, factor, factor)
    codes: np.ndarray  # (row,): the pattern of each row
    log_evidence: np.ndarray  # (row,)


def posterior_of(model: LinearFactors, data: Patterns) -> Posterior:
    """The factors given what is seen of each row."""
    deviations, factors = np.sqrt(model.variances), model.num_factors
    loadings = model.loadings / deviations[:, None]
    products = (loadings[:, :, None] * loadings[:, None, :]).reshape(len(loadings), -1)
    precisions = (data.seen @ products).reshape(-1, factors, factors) + np.eye(factors)
    covariances = np.linalg.inv(precisions)
    covariances = 0.5 * (covariances + np.swapaxes(covariances, 1, 2))
    log_sizes = np.linalg.slogdet(precisions)[1] + data.seen @ (np.log(model.variances) + LOG_TWO_PI)
    with np.errstate(over="ignore", invalid="ignore"):
        centered = (data.rows - model.mean) / deviations * data.seen[data.codes]
        means = (covariances[data.codes] @ (centered @ loadings)[:, :, None])[:, :, 0]
        residuals = (centered - means @ loadings.T) * data.seen[data.codes]
        squares = (residuals**2).sum(axis=1) + (means**2).sum(axis=1)  # = xᵀ C⁻¹ x, a sum that cancels nothing
    if not np.isfinite(means).all():
        row = int(np.argmin(np.isfinite(means).all(axis=1)))
        far = float(np.abs(centered[row]).max())
        raise InvalidData(
            f"a row lies {far:g} deviations of the noise from the mean, so far that its factors are beyond doubles: the"
            " noise is too small for such rows, or the row is wrong"
        )
    return Posterior(means, covariances, data.codes, -0.5 * (log_sizes[data.codes] + squares))
