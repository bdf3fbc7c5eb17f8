"""Hierarchies of clusters by SciPy: the two closest clusters are merged, again and again, until one is left."""

from __future__ import annotations

from typing import Any

import numpy as np

from juncture.base.checks import check_array, check_choice, check_count, check_kind, check_number
from juncture.base.values import Value, number_of, read_only
from juncture.data.rows import Rows, check_complete
from juncture.errors import InvalidData

LINKAGES = ("single", "complete", "average", "weighted", "centroid", "median", "ward")


class Dendrogram(Value):
    """A tree of clusters, which grow toward the root.

    Attributes
    ----------
    merges
        (merge, 4), as SciPy has them: the two clusters that a merge joins, the height at which, and the number of rows
        of the new cluster. Clusters 0, 1, … are the rows; merge i makes the cluster rows + i.
    """

    merges: np.ndarray

    def __init__(self, merges: Any) -> None:
        table = check_array(merges, "the merges", ndim=2)
        if table.shape[1] != 4 or not len(table) or not are_merges(table):
            raise InvalidData("merges are (merge, 4) as scipy.cluster.hierarchy.linkage gives them; these are not")
        self._set(merges=read_only(table, np.float64))

    @property
    def num_rows(self) -> int:
        return len(self.merges) + 1

    @property
    def heights(self) -> np.ndarray:
        """The height of each merge, (merge,)."""
        return self.merges[:, 2]

    def cut(self, num_clusters: int | None = None, *, height: float | None = None) -> np.ndarray:
        """The cluster of each row, (row,): of so many clusters, or of those that are joined up to a height.

        Clusters are numbered in the order of their first rows.
        """
        if (num_clusters is None) == (height is None):
            raise InvalidData("a tree is cut into num_clusters, or at a height: give one of them")
        if num_clusters is not None:
            number = check_count(num_clusters, "num_clusters", least=1)
            if number > self.num_rows:
                raise InvalidData(f"there are {number_of(self.num_rows, 'row')}, fewer than {number} clusters")
            return self._labels(self.num_rows - number)
        limit = check_number(height, "height")
        return self._labels(int((np.maximum.accumulate(self.heights) <= limit).sum()))

    def _labels(self, num_merges: int) -> np.ndarray:
        """The clusters after the first merges."""
        groups = {row: [row] for row in range(self.num_rows)}
        for at, (one, other) in enumerate(self.merges[:num_merges, :2].astype(np.int64).tolist()):
            groups[self.num_rows + at] = groups.pop(one) + groups.pop(other)
        labels = np.empty(self.num_rows, np.int64)
        for number, rows in enumerate(sorted(groups.values(), key=min)):
            labels[rows] = number
        return labels

    def __repr__(self) -> str:
        top = self.heights.max(initial=0.0)
        return f"Dendrogram({number_of(self.num_rows, 'row')}, heights up to {top:.6g})"


def are_merges(table: np.ndarray) -> bool:
    """Whether each merge joins two clusters that are there and not yet joined."""
    joined = table[:, :2]
    is_earlier = (joined >= 0) & (joined <= len(table) + np.arange(len(table))[:, None]) & (joined == np.floor(joined))
    return bool(is_earlier.all() and np.isfinite(table).all() and len(np.unique(joined)) == joined.size)


def hierarchical_clusters(data: Any, *, linkage: str = "ward", metric: str = "euclidean") -> Dendrogram:
    """The hierarchy of clusters of complete rows.

    Parameters
    ----------
    data
        A table of numbers, (row, column), without holes; with `metric="precomputed"` a symmetric table of distances.
    linkage
        The distance of two clusters: "ward" (the rise of the distortion), "average", "complete", "single", "weighted",
        "centroid" or "median".
    metric
        The distance of two rows, one of those of `scipy.spatial.distance.pdist`, or "precomputed".

    Returns
    -------
    Dendrogram

    Examples
    --------
    >>> import juncture as jt
    >>> jt.clusters.hierarchical_clusters([[0.0], [10.0], [1.0], [12.0]]).cut(2).tolist()
    [0, 1, 0, 1]
    """
    from scipy.cluster.hierarchy import linkage as link
    from scipy.spatial.distance import pdist, squareform

    check_choice(linkage, LINKAGES, "linkage")
    check_kind(metric, str, "metric")
    table, _ = Rows.of(data).many()
    check_complete(table, "clusters", "fit a Mixture of Gaussians")
    if len(table) < 2 or not table.shape[1]:
        raise InvalidData(f"a hierarchy has at least 2 rows of numbers; got an array of the shape {table.shape}")
    if linkage in {"ward", "centroid", "median"} and metric != "euclidean":
        raise InvalidData(f"linkage={linkage!r} goes with the Euclidean metric; take linkage='average'")
    try:
        distances = squareform(table) if metric == "precomputed" else pdist(table, metric)
    except (ValueError, TypeError) as error:
        raise InvalidData(f"there are no distances {metric!r} of these rows: {error}") from error
    return Dendrogram(link(distances, linkage))
