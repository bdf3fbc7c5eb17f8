"""K-medoids for any dissimilarity: each cluster has a row as its center, so that a table of pairs is enough.

The first medoids are chosen one by one, each the row that lowers the distortion most; then the best exchange of a
medoid for another row is made as long as one lowers it (PAM, Kaufman and Rousseeuw 1990; all exchanges at once as in
FastPAM, Schubert and Rousseeuw 2019). The end is a local minimum, at which no single exchange helps.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from juncture.base.checks import check_array, check_count
from juncture.base.options import as_generator, as_seed
from juncture.base.values import number_of
from juncture.clusters.clusters import Clusters
from juncture.errors import InvalidData
from juncture.numerics.iteration import Trace


def k_medoids(dissimilarities: Any, num_clusters: int, *, restarts: int = 4, rng: Any = None) -> Clusters:
    """Clusters of rows around rows, by a table of pairwise dissimilarities.

    Parameters
    ----------
    dissimilarities
        (row, row): the dissimilarity of each row (first axis) to each medoid (second axis). It need be neither
        symmetric nor a distance. Of two equally near medoids a row takes the first.
    num_clusters
        The number of clusters.
    restarts
        The number of further starts from random medoids.
    rng
        A seed or a `numpy.random.Generator`, for them.

    Returns
    -------
    Clusters
        Its `centers` are the rows that are medoids, (cluster,), in ascending order.

    Examples
    --------
    >>> import juncture as jt, numpy as np
    >>> words = ["cat", "car", "dog", "dig"]
    >>> table = [[sum(a != b for a, b in zip(one, other)) for other in words] for one in words]
    >>> jt.clusters.k_medoids(table, 2).labels.tolist()
    [0, 0, 1, 1]
    """
    table = check_array(dissimilarities, "the dissimilarities", ndim=2).astype(np.float64)
    if table.shape[0] != table.shape[1] or not np.isfinite(table).all():
        raise InvalidData(f"dissimilarities are a square table of finite numbers; got the shape {table.shape}")
    number, size = check_count(num_clusters, "num_clusters", least=1), len(table)
    if number > size:
        raise InvalidData(f"there are {number_of(size, 'row')}, fewer than the {number} clusters")
    again = check_count(restarts, "restarts")
    seed = as_seed(rng) if again else None
    generator = as_generator(seed)
    starts = [build(table, number), *(generator.choice(size, number, replace=False) for _ in range(again))]
    return min((exchange(table, np.asarray(start), seed) for start in starts), key=lambda found: found.distortion)


def build(table: np.ndarray, number: int) -> np.ndarray:
    """Medoids chosen one by one, each the one that lowers the distortion most."""
    medoids: list[int] = []
    nearest = np.full(len(table), np.inf)
    for _ in range(number):
        sums = np.minimum(table, nearest[:, None]).sum(axis=0)
        sums[medoids] = np.inf
        medoids.append(int(sums.argmin()))
        nearest = np.minimum(nearest, table[:, medoids[-1]])
    return np.array(medoids)


def exchange(table: np.ndarray, medoids: np.ndarray, seed: int | None = None) -> Clusters:
    """The best exchange of a medoid for a row, again and again, as long as it lowers the distortion."""
    values: list[float] = []
    while True:
        medoids = np.sort(medoids)
        own = table[:, medoids]
        values.append(float(own.min(axis=1).sum()))
        gains = exchange_gains(table, medoids)
        row, place = np.unravel_index(gains.argmin(), gains.shape)
        if gains[row, place] >= -1e-12 * max(1.0, abs(values[-1])):
            trace = Trace(tuple(values), True, "no exchange lowers the distortion")
            return Clusters(own.argmin(axis=1), medoids, values[-1], trace, seed)
        medoids = medoids.copy()
        medoids[place] = row


def exchange_gains(table: np.ndarray, medoids: np.ndarray) -> np.ndarray:
    """(row, cluster): by how much the distortion changes if the row becomes the medoid of the cluster."""
    own, number = table[:, medoids], len(medoids)
    labels, first = own.argmin(axis=1), own.min(axis=1)
    others = np.where(np.arange(number) == labels[:, None], np.inf, own)
    second = others.min(axis=1)
    joined = np.minimum(table - first[:, None], 0.0)  # (row, candidate): what a further medoid would lower
    lost = np.minimum(table, second[:, None]) - first[:, None] - joined  # and what the loss of its medoid costs it
    members = (labels[:, None] == np.arange(number)).astype(np.float64)
    gains = joined.sum(axis=0)[:, None] + lost.T @ members
    gains[medoids] = 0.0
    return np.asarray(gains)
