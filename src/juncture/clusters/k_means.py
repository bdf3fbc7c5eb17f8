"""K-means by scikit-learn, with the course of the distortion.

Rows are assigned to the nearest center, of equally near ones to the first; then centers move to the mean of their rows.
A center without rows moves to the row that is farthest from its own center (S0-059). Where there are fewer distinct
rows than clusters, some clusters stay empty.
"""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np

from juncture.base.checks import check_array, check_count
from juncture.base.options import as_generator
from juncture.base.values import number_of
from juncture.clusters.clusters import Clusters, squared_distances
from juncture.data.feature_names import Names, as_table, find_names, without
from juncture.data.rows import check_complete, weighted_rows
from juncture.errors import InvalidData, MissingExtra
from juncture.numerics.iteration import Trace


class Steps(NamedTuple):
    """The course of the two half-steps of K-means."""

    labels: np.ndarray
    centers: np.ndarray
    distortions: list[float]


def k_means(
    rows: Any, num_clusters: int, *, start: Any = "k-means++", weights: Any = None, restarts: int = 9, rng: Any = 0
) -> Clusters:
    """Clusters of complete rows around means: the best of several starts.

    Parameters
    ----------
    rows
        A table of numbers, (row, column), without holes; for holes, `fit` a `Mixture` of Gaussians.
    num_clusters
        The number of clusters.
    start
        "k-means++", "random" rows, or the first centers, (cluster, column), from which one run is made.
    weights
        The weight of each row.
    restarts
        The number of further starts; the clusters with the smallest distortion are kept.
    rng
        The source of random numbers for starts: a seed or a `numpy.random.Generator`.

    Returns
    -------
    Clusters

    Examples
    --------
    >>> import juncture as jt
    >>> found = jt.k_means([[0.0], [1.0], [10.0], [11.0]], 2)
    >>> found.sizes.tolist(), found.distortion
    ([2, 2], 1.0)
    """
    table, heavy, names = as_rows(rows, weights)
    number = check_count(num_clusters, "num_clusters", least=1)
    if number > len(table):
        raise InvalidData(f"there are {number_of(len(table), 'row')}, fewer than the {number} clusters")
    generator = as_generator(rng)
    if not isinstance(start, str):
        return best_of(table, heavy, [as_centers(start, number, table.shape[1])])._named(names)
    count = 1 + check_count(restarts, "restarts")
    starts = [draw_centers(table, heavy, number, start, generator) for _ in range(count)]
    return best_of(table, heavy, starts)._named(names)


def best_of(table: np.ndarray, weights: np.ndarray, starts: list[np.ndarray]) -> Clusters:
    """The clusters of the smallest distortion that scikit-learn reaches from these starts, and their course."""
    cluster = import_cluster()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # fewer distinct rows than clusters: some stay empty
        found = [
            cluster.KMeans(len(centers), init=centers, n_init=1, tol=0.0, max_iter=1000).fit(table, None, weights)
            for centers in starts
        ]
    best = min(range(len(found)), key=lambda at: found[at].inertia_)
    steps = replay(table, weights, starts[best])
    trace = Trace(tuple(steps.distortions), True, "the clusters no longer change")
    centers = found[best].cluster_centers_
    distances = squared_distances(table, centers)
    return Clusters(distances.argmin(axis=1), centers, weights @ distances.min(axis=1), trace)


def replay(table: np.ndarray, weights: np.ndarray, centers: np.ndarray) -> Steps:
    """The steps of K-means from given centers, with the distortion after each."""
    distortions: list[float] = []
    labels = np.full(len(table), -1)
    while True:
        distances = squared_distances(table, centers)
        moved = distances.argmin(axis=1)
        distortions.append(float(weights @ distances.min(axis=1)))
        if np.array_equal(moved, labels) or (len(distortions) > 2 and distortions[-1] >= distortions[-2]):
            return Steps(moved, centers, distortions)
        labels = moved
        centers = cluster_means(table, weights, labels, distances, centers)


def cluster_means(
    table: np.ndarray, weights: np.ndarray, labels: np.ndarray, distances: np.ndarray, centers: np.ndarray
) -> np.ndarray:
    """The mean of the rows of each cluster; one without rows takes the row farthest from its center, if any is away."""
    sums = np.zeros_like(centers)
    np.add.at(sums, labels, table * weights[:, None])
    totals = np.bincount(labels, weights, minlength=len(centers))
    means = np.where(totals[:, None] > 0, sums / np.where(totals > 0, totals, 1.0)[:, None], centers)
    away = weights * distances.min(axis=1)
    for cluster, row in zip(np.flatnonzero(totals == 0), np.argsort(-away, kind="stable"), strict=False):
        if away[row] > 0:
            means[cluster] = table[row]
    return np.asarray(means)


def draw_centers(
    table: np.ndarray, weights: np.ndarray, number: int, start: str, rng: np.random.Generator
) -> np.ndarray:
    """First centers: random rows, or by K-means++ such that far rows are likelier (Arthur and Vassilvitskii 2007)."""
    if start == "random":
        counted = np.flatnonzero(weights > 0)
        return table[rng.choice(counted, number, replace=len(counted) < number)]
    if start != "k-means++":
        raise InvalidData(f'start is "k-means++", "random" or an array of centers; got {start!r}')
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        seed = int(rng.integers(2**31))
        centers, _ = import_cluster().kmeans_plusplus(table, number, sample_weight=weights, random_state=seed)
    return np.asarray(centers)


def as_rows(rows: Any, weights: Any) -> tuple[np.ndarray, np.ndarray, Names | None]:
    """The rows, their weights, and the names of the columns."""
    given = as_table(rows)
    table, heavy = weighted_rows(given, weights)
    check_complete(table, "clusters", "fit a Mixture of Gaussians")
    if not heavy.sum() > 0 or not table.shape[1]:
        raise InvalidData("clusters need rows that weigh something, and columns")
    return table, heavy, without(find_names(given), weights)


def as_centers(start: Any, number: int, columns: int) -> np.ndarray:
    centers = check_array(start, "the first centers", ndim=2)
    if centers.shape != (number, columns) or not np.isfinite(centers).all():
        raise InvalidData(f"the first centers are finite numbers of the shape {(number, columns)}; got {centers.shape}")
    return np.array(centers, np.float64)


def import_cluster() -> Any:
    try:
        import sklearn.cluster
    except ImportError:
        raise MissingExtra.named("scikit-learn", "sklearn") from None
    return sklearn.cluster
