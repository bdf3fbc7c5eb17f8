"""Where EM of a mixture can start: rows shared out to the components by k-means (scikit-learn)."""

from __future__ import annotations

import warnings

import numpy as np

from juncture.components.gaussian_estimate import is_constant
from juncture.errors import MissingExtra
from juncture.latent.mixtures.weak_prior import mean_and_variance

TINY = np.finfo(float).tiny
TRIES = 3  # starts of k-means, of which the tightest clusters are kept


def distinct_rows(rows: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Each distinct row once, with the sum of its weights, in an order that is theirs: holes are equal to each other.

    A start from these is the same for a row that weighs 2 and for two rows, whatever their order.
    """
    flat = np.ascontiguousarray(rows.reshape(len(rows), -1), np.float64) + 0.0  # -0.0 is 0.0
    flat[np.isnan(flat)] = np.nan
    keys = flat.view(np.dtype((np.void, flat.itemsize * flat.shape[1]))).ravel()
    _, first, number = np.unique(keys, return_index=True, return_inverse=True)
    return rows[first], np.bincount(number.ravel(), weights)


def cluster_rows(rows: np.ndarray, weights: np.ndarray, num_clusters: int, rng: np.random.Generator) -> np.ndarray:
    """The cluster of each row, by k-means of the standardised columns; a hole counts as the mean of its column.

    There are as many clusters as rows where these are fewer than `num_clusters`.
    """
    try:
        from sklearn.cluster import KMeans
        from sklearn.exceptions import ConvergenceWarning
        from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]
    except ImportError:
        raise MissingExtra.named("scikit-learn", "sklearn") from None
    table = standardized(rows.reshape(len(rows), -1).astype(np.float64), weights)
    seed = int(rng.integers(2**31))
    with warnings.catch_warnings(), threadpool_limits(1):  # or the order in which threads add would show in the sums
        warnings.simplefilter("ignore", ConvergenceWarning)  # rows that differ in holes only: some clusters stay empty
        found = KMeans(min(num_clusters, len(table)), n_init=TRIES, random_state=seed).fit(table, sample_weight=weights)
    return np.asarray(found.labels_, np.int64)


def group_by_nearest(rows: np.ndarray, weights: np.ndarray, num_groups: int, rng: np.random.Generator) -> np.ndarray:
    """The group of each row: that of the nearest of a few rows, which are drawn by their weights."""
    table = standardized(rows.reshape(len(rows), -1).astype(np.float64), weights)
    drawn = table[rng.choice(len(table), min(num_groups, len(table)), replace=False, p=weights / weights.sum())]
    squares = (table**2).sum(axis=1)[:, None] - 2 * table @ drawn.T + (drawn**2).sum(axis=1)
    return np.asarray(squares.argmin(axis=1))


def standardized(table: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Columns with mean 0 and deviation 1, and 0 for what is missing; a constant column is 0."""
    mean, variance = mean_and_variance(table, weights)
    deviations = np.where(np.isnan(table), 0.0, table - mean)
    return np.asarray(np.where(is_constant(mean, variance), 0.0, deviations / np.sqrt(np.maximum(variance, TINY))))
