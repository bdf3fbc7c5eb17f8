"""`Clusters`: the cluster of each row, and its center or medoid."""

from __future__ import annotations

from typing import Any

import numpy as np

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

    def __repr__(self) -> str:
        rows, clusters = number_of(len(self.labels), "row"), number_of(self.num_clusters, "cluster")
        return f"Clusters({rows} in {clusters}, distortion {self.distortion:.6g})"


def squared_distances(rows: np.ndarray, centers: np.ndarray) -> np.ndarray:
    """(row, cluster), exactly 0 for equal points."""
    from scipy.spatial.distance import cdist

    return np.asarray(cdist(rows, centers, "sqeuclidean"))
