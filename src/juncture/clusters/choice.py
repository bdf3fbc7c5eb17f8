"""`choose_num_clusters`: the number of clusters of K-means, by its distortion and a penalty for each cluster."""

from __future__ import annotations

from typing import Any

import numpy as np

from juncture.base.checks import check_count, check_number
from juncture.base.options import as_generator
from juncture.base.values import Value, number_of, read_only
from juncture.clusters.clusters import Clusters, squared_distances
from juncture.clusters.k_means import as_rows, best_of, draw_centers
from juncture.errors import InvalidData


class ClusterChoice(Value):
    """The clusters of each number, and the penalised distortion by which one is chosen.

    Attributes
    ----------
    clusters
        `Clusters` of 1, 2, … clusters.
    penalty
        What each cluster costs.
    """

    _fields = ("clusters", "penalty")
    clusters: tuple[Clusters, ...]
    penalty: float

    def __init__(self, clusters: Any, penalty: float) -> None:
        self._set(clusters=tuple(clusters), penalty=float(penalty))

    @property
    def distortions(self) -> np.ndarray:
        """Of 1, 2, … clusters: it never rises."""
        return read_only([each.distortion for each in self.clusters])

    @property
    def scores(self) -> np.ndarray:
        """distortion + penalty · number, for each number of clusters."""
        return self.distortions + self.penalty * np.arange(1, len(self.clusters) + 1)

    @property
    def best(self) -> Clusters:
        """The clusters with the smallest score; of equal ones the fewest."""
        return self.clusters[int(self.scores.argmin())]

    def __repr__(self) -> str:
        return f"ClusterChoice(best={self.best.num_clusters} of 1 to {len(self.clusters)}, penalty {self.penalty:.6g})"


def choose_num_clusters(
    rows: Any,
    most: int = 10,
    *,
    penalty: float | None = None,
    weights: Any = None,
    restarts: int = 9,
    rng: Any = 0,
) -> ClusterChoice:
    """The number of clusters of K-means, by the distortion and a penalty for each cluster.

    Parameters
    ----------
    rows
        A table of numbers, (row, column), without holes.
    most
        The largest number of clusters that is tried.
    penalty
        What a cluster costs, in units of the distortion. By default the number of clusters is chosen that is the best
        for the widest range of penalties, by the ratio of its ends: a heuristic for well separated clusters, which does
        not tell one cluster from several that touch. A `Mixture` has a likelihood to choose by.
    weights, restarts, rng
        As in `k_means`.

    Returns
    -------
    ClusterChoice

    Examples
    --------
    >>> import juncture as jt, numpy as np
    >>> rng = np.random.default_rng(0)
    >>> rows = np.concatenate([center + 0.1 * rng.normal(size=(30, 2)) for center in (0.0, 2.0, 5.0)])
    >>> jt.choose_num_clusters(rows, 6).best.num_clusters
    3
    """
    table, heavy, names = as_rows(rows, weights)
    largest = check_count(most, "most", least=1)
    if largest > len(table):
        raise InvalidData(f"there are {number_of(len(table), 'row')}, fewer than most={largest} clusters")
    generator, count = as_generator(rng), 1 + check_count(restarts, "restarts")
    found: list[Clusters] = []
    for number in range(1, largest + 1):
        starts = [draw_centers(table, heavy, number, "k-means++", generator) for _ in range(count)]
        if found:  # those of one fewer, and the row that is farthest from them: so the distortion never rises
            distances = squared_distances(table, found[-1].centers).min(axis=1) * heavy
            starts.append(np.vstack([found[-1].centers, table[distances.argmax()]]))
        found.append(best_of(table, heavy, starts))
    distortions = np.array([each.distortion for each in found])
    cost = widest_penalty(distortions) if penalty is None else check_number(penalty, "penalty", least=0)
    return ClusterChoice([each._named(names) for each in found], cost)


def widest_penalty(distortions: np.ndarray) -> float:
    """The middle, on a logarithmic scale, of the widest range of penalties for which one number of clusters is best.

    A number is best from the penalty at which a larger one becomes worth it up to that at which a smaller one does; for
    one cluster up to its distortion. The largest number that was tried has no lower end, and is left out.
    """
    numbers, first = np.arange(1, len(distortions) + 1), float(distortions[0])
    if len(numbers) == 1 or first <= 0:
        return 1.0
    falls = (distortions[:, None] - distortions) / np.where(numbers == numbers[:, None], 1, numbers - numbers[:, None])
    later = numbers > numbers[:, None]
    lower = np.maximum(np.where(later, falls, -np.inf).max(axis=1)[:-1], 1e-12 * first)
    upper = np.where(later.T, falls, np.inf).min(axis=1)[:-1]
    upper[0] = first
    best = int((np.log(np.maximum(upper, lower)) - np.log(lower)).argmax())
    return float(np.sqrt(lower[best] * max(upper[best], lower[best])))
