"""`Clusters`: the cluster of each row, and its center or medoid."""

from __future__ import annotations

from typing import Any

import numpy as np

from juncture.base.checks import shown
from juncture.base.values import number_of, read_only
from juncture.data.feature_names import NamedFeatures
from juncture.data.rows import Rows, check_complete
from juncture.errors import InvalidData, Unsupported
from juncture.numerics.iteration import Trace


class Clusters(NamedFeatures):
    """The result of clustering rows around centers.

    Attributes
    ----------
    labels
        (row,): the cluster of each row.
    centers
        (cluster, column) of K-means; (cluster,) of K-medoids, the row that each medoid is.
    distortion
        The sum over rows of the (squared) distance to the center of their cluster.
    trace
        The distortion at the start and after each step, which never rises.
    seed
        The seed of the starts: `rng=clusters.seed` repeats them. None where nothing was drawn at random.
    """

    labels: np.ndarray
    centers: np.ndarray
    distortion: float
    trace: Trace
    seed: int | None

    def __init__(self, labels: Any, centers: Any, distortion: float, trace: Trace, seed: int | None = None) -> None:
        arrays = {"labels": read_only(labels, np.int64), "centers": read_only(centers)}
        self._set(**arrays, distortion=float(distortion), trace=trace, seed=seed)

    @property
    def history(self) -> tuple[Clusters, ...]:
        """The clusters at the start and after each step, one for each value of the trace, with `history=True`.

        The rows are those nearest to the centers of the step, of which the next centers are the means.
        """
        if self.trace.models is None:
            raise Unsupported("these clusters kept no steps: take k_means with history=True")
        return tuple(step._named(self.feature_names) for step in self.trace.models)

    @property
    def num_columns(self) -> int | None:
        """The number of columns of a row; None of medoids, which are rows."""
        return int(self.centers.shape[1]) if self.centers.ndim == 2 else None

    @property
    def num_clusters(self) -> int:
        return len(self.centers)

    @property
    def sizes(self) -> np.ndarray:
        """The number of rows of each cluster, (cluster,)."""
        return np.bincount(self.labels, minlength=self.num_clusters)

    def predict(self, rows: Any) -> np.ndarray:
        """The cluster of the nearest center of each row; of equally near ones the first."""
        if self.centers.ndim != 2:
            raise InvalidData(
                "medoids are rows of a table of dissimilarities; take the nearest by that of the new rows"
            )
        table = Rows.of(rows, self.feature_names).numbers(self.centers.shape[1:])
        check_complete(table, "clusters", "fit a Mixture of Gaussians")
        return squared_distances(table, self.centers).argmin(axis=1)

    def purity(self, classes: Any) -> float:
        """The share of rows whose class is the most frequent one among the rows of the same cluster.

        Parameters
        ----------
        classes
            The true class of each row, of any kind.

        Returns
        -------
        float
            1 where each cluster has rows of one class only.

        Examples
        --------
        >>> import juncture as jt
        >>> found = jt.clusters.k_means([[0.0], [1.0], [8.0], [9.0]], 2, rng=0)
        >>> found.purity(["low", "low", "high", "high"]), found.purity(["low", "low", "low", "high"])
        (1.0, 0.75)
        """
        return purity_of(self.labels, classes)

    def __repr__(self) -> str:
        rows, clusters = number_of(len(self.labels), "row"), number_of(self.num_clusters, "cluster")
        return f"Clusters({rows} in {clusters}, distortion {self.distortion:.6g})"


def purity_of(assigned: np.ndarray, classes: Any) -> float:
    """Σ over the clusters of the number of rows of their most frequent class, over the number of rows."""
    try:
        truth = np.asarray(classes)
        own = np.unique(truth, return_inverse=True)[1]
    except (TypeError, ValueError):
        truth = np.empty(())
    if truth.shape != assigned.shape or not len(assigned):
        raise InvalidData(f"purity needs a class for each of the {len(assigned)} rows; got {shown(classes)}")
    table = np.zeros((int(assigned.max()) + 1, int(own.max()) + 1))
    np.add.at(table, (assigned, own.reshape(-1)), 1)
    return float(table.max(axis=1).sum() / len(assigned))


def squared_distances(rows: np.ndarray, centers: np.ndarray) -> np.ndarray:
    """(row, cluster), exactly 0 for equal points."""
    from scipy.spatial.distance import cdist

    return np.asarray(cdist(rows, centers, "sqeuclidean"))
