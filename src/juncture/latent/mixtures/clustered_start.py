"""Where EM of a mixture can start: rows shared out to the components by k-means (scikit-learn)."""

from __future__ import annotations

import warnings

import numpy as np

from juncture.components.gaussian_estimate import is_constant
from juncture.errors import InvalidData, MissingExtra
from juncture.latent.mixtures.weak_prior import mean_and_variance

TINY = np.finfo(float).tiny
TRIES = 3  # starts of k-means, of which the tightest clusters are kept


def cluster_rows(rows: np.ndarray, weights: np.ndarray, num_clusters: int, rng: np.random.Generator) -> np.ndarray:
    """The cluster of each row, by k-means of the standardised columns; a hole counts as the mean of its column."""
    try:
        from sklearn.cluster import KMeans
        from sklearn.exceptions import ConvergenceWarning
        from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]
    except ImportError:
        raise MissingExtra.named("scikit-learn", "sklearn") from None
    table = standardized(rows.reshape(len(rows), -1).astype(np.float64))
    if len(table) < num_clusters:
        raise InvalidData(f"k-means needs a row for each of the {num_clusters} components; there are {len(table)}")
    seed = int(rng.integers(2**31))
    with warnings.catch_warnings(), threadpool_limits(1):  # or the order in which threads add would show in the sums
        warnings.simplefilter("ignore", ConvergenceWarning)  # fewer distinct rows than clusters: some stay empty
        found = KMeans(num_clusters, n_init=TRIES, random_state=seed).fit(table, sample_weight=weights)
    return np.asarray(found.labels_, np.int64)


def standardized(table: np.ndarray) -> np.ndarray:
    """Columns with mean 0 and deviation 1, and 0 for what is missing; a constant column is 0."""
    mean, variance = mean_and_variance(table, np.ones(len(table)))
    deviations = np.where(np.isnan(table), 0.0, table - mean)
    return np.asarray(np.where(is_constant(mean, variance), 0.0, deviations / np.sqrt(np.maximum(variance, TINY))))
