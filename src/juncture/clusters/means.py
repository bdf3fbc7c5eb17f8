"""K-means by scikit-learn, with the course of the distortion, and the number of clusters by a penalty for each.

Rows are assigned to the nearest center, of equally near ones to the first; then centers move to the mean of their rows.
A center without rows moves to the row that is farthest from its own center (S0-059). Where there are fewer distinct
rows than clusters, some clusters stay empty. `choose_num_clusters` weighs the distortion of 1, 2, … clusters against a
penalty for each cluster.
"""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np

from juncture.base.checks import check_array, check_count, check_flag, check_number
from juncture.base.options import as_generator, as_seed
from juncture.base.values import Value, number_of, read_only
from juncture.clusters.clusters import Clusters, squared_distances
from juncture.data.feature_names import Names
from juncture.data.rows import Rows, check_complete
from juncture.errors import InvalidData, MissingExtra
from juncture.numerics.iteration import Trace


def k_means(
    data: Any,
    num_clusters: int,
    *,
    start: Any = "k-means++",
    weights: Any = None,
    restarts: int = 9,
    rng: Any = None,
    history: bool = False,
) -> Clusters:
    """Clusters of complete rows around means: the best of several starts.

    Parameters
    ----------
    data
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
        A seed or a `numpy.random.Generator`, for starts.
    history
        Whether `clusters.history` keeps the clusters at the start and after each step, of the start that was best.

    Returns
    -------
    Clusters

    Examples
    --------
    >>> import juncture as jt
    >>> found = jt.clusters.k_means([[0.0], [1.0], [10.0], [11.0]], 2, rng=0)
    >>> found.sizes.tolist(), found.distortion
    ([2, 2], 1.0)
    """
    table, heavy, names = as_rows(data, weights)
    number = check_count(num_clusters, "num_clusters", least=1)
    if number > len(table):
        raise InvalidData(f"there are {number_of(len(table), 'row')}, fewer than the {number} clusters")
    keeps = check_flag(history, "history")
    if not isinstance(start, str):
        return best_of(table, heavy, [as_centers(start, number, table.shape[1])], history=keeps)._named(names)
    count = 1 + check_count(restarts, "restarts")
    seed = as_seed(rng)
    generator = as_generator(seed)
    starts = [draw_centers(table, heavy, number, start, generator) for _ in range(count)]
    return best_of(table, heavy, starts, seed, history=keeps)._named(names)


def as_rows(rows: Any, weights: Any) -> tuple[np.ndarray, np.ndarray, Names | None]:
    """The rows, their weights, and the names of the columns."""
    read = Rows.of(rows, weights=weights)
    table, heavy = read.many()
    check_complete(table, "clusters", "fit a Mixture of Gaussians")
    if not heavy.sum() > 0 or not table.shape[1]:
        raise InvalidData("clusters need rows that weigh something, and columns")
    return table, heavy, read.names


def as_centers(start: Any, number: int, columns: int) -> np.ndarray:
    centers = check_array(start, "the first centers", ndim=2)
    if centers.shape != (number, columns) or not np.isfinite(centers).all():
        raise InvalidData(f"the first centers are finite numbers of the shape {(number, columns)}; got {centers.shape}")
    return np.array(centers, np.float64)


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


def best_of(
    table: np.ndarray, weights: np.ndarray, starts: list[np.ndarray], seed: int | None = None, *, history: bool = False
) -> Clusters:
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
    kept = tuple(clusters_of(steps, number) for number in range(len(steps.distortions))) if history else None
    trace = Trace(tuple(steps.distortions), True, "the clusters no longer change", kept)
    centers = found[best].cluster_centers_
    distances = squared_distances(table, centers)
    return Clusters(distances.argmin(axis=1), centers, weights @ distances.min(axis=1), trace, seed)


TRIES = 3


def tightest_clusters(
    table: np.ndarray, number: int, rng: np.random.Generator, weights: np.ndarray | None = None
) -> Any:
    """The K-means of scikit-learn with the smallest distortion of three starts, with the same bits on any machine.

    Where there are fewer distinct rows than clusters, some clusters stay empty.
    """
    cluster = import_cluster()
    from sklearn.exceptions import ConvergenceWarning
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    seed = int(rng.integers(2**31))
    with warnings.catch_warnings(), threadpool_limits(1):  # or the order in which threads add would show in the sums
        warnings.simplefilter("ignore", ConvergenceWarning)
        return cluster.KMeans(number, n_init=TRIES, random_state=seed).fit(table, sample_weight=weights)


def import_cluster() -> Any:
    try:
        import sklearn.cluster
    except ImportError:
        raise MissingExtra.named("scikit-learn", "sklearn") from None
    return sklearn.cluster


def replay(table: np.ndarray, weights: np.ndarray, centers: np.ndarray) -> Steps:
    """The steps of K-means from given centers, with the distortion after each."""
    distortions: list[float] = []
    path: list[tuple[np.ndarray, np.ndarray]] = []
    labels = np.full(len(table), -1)
    while True:
        distances = squared_distances(table, centers)
        moved = distances.argmin(axis=1)
        distortions.append(float(weights @ distances.min(axis=1)))
        path.append((moved, centers))
        if np.array_equal(moved, labels) or (len(distortions) > 2 and distortions[-1] >= distortions[-2]):
            return Steps(moved, centers, distortions, path)
        labels = moved
        centers = cluster_means(table, weights, labels, distances, centers)


class Steps(NamedTuple):
    """The course of the two half-steps of K-means."""

    labels: np.ndarray
    centers: np.ndarray
    distortions: list[float]
    path: list[tuple[np.ndarray, np.ndarray]]  # the labels and the centers of each step


def clusters_of(steps: Steps, number: int) -> Clusters:
    """The clusters after so many steps."""
    labels, centers = steps.path[number]
    values = tuple(steps.distortions[: number + 1])
    is_last = number + 1 == len(steps.distortions)
    reason = "the clusters no longer change" if is_last else f"after {number_of(number, 'step')}"
    return Clusters(labels, centers, values[-1], Trace(values, is_last, reason))


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


def choose_num_clusters(
    data: Any,
    most: int = 10,
    *,
    penalty: float | None = None,
    weights: Any = None,
    restarts: int = 9,
    rng: Any = None,
) -> ClusterChoice:
    """The number of clusters of K-means, by the distortion and a penalty for each cluster.

    Parameters
    ----------
    data
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
    >>> jt.clusters.choose_num_clusters(rows, 6, rng=0).best.num_clusters
    3
    """
    table, heavy, names = as_rows(data, weights)
    largest = check_count(most, "most", least=1)
    if largest > len(table):
        raise InvalidData(f"there are {number_of(len(table), 'row')}, fewer than most={largest} clusters")
    seed, count = as_seed(rng), 1 + check_count(restarts, "restarts")
    generator = as_generator(seed)
    found: list[Clusters] = []
    for number in range(1, largest + 1):
        starts = [draw_centers(table, heavy, number, "k-means++", generator) for _ in range(count)]
        if found:  # those of one fewer, and the row that is farthest from them: so the distortion never rises
            distances = squared_distances(table, found[-1].centers).min(axis=1) * heavy
            starts.append(np.vstack([found[-1].centers, table[distances.argmax()]]))
        found.append(best_of(table, heavy, starts, seed))
    distortions = np.array([each.distortion for each in found])
    cost = widest_penalty(distortions) if penalty is None else check_number(penalty, "penalty", least=0)
    return ClusterChoice([each._named(names) for each in found], cost, seed)


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


class ClusterChoice(Value):
    """The clusters of each number, and the penalised distortion by which one is chosen.

    Attributes
    ----------
    clusters
        `Clusters` of 1, 2, … clusters.
    penalty
        What each cluster costs.
    seed
        The seed of the starts: `rng=choice.seed` repeats the choice.
    """

    clusters: tuple[Clusters, ...]
    penalty: float
    seed: int | None

    def __init__(self, clusters: Any, penalty: float, seed: int | None = None) -> None:
        self._set(clusters=tuple(clusters), penalty=float(penalty), seed=seed)

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
