"""Discriminative clusters: regularised information maximisation (Krause, Perona and Gomes 2010).

The probability of cluster k of a row is a softmax, p(k | x) ∝ exp(w_k · x + b_k), and no density of rows is assumed.
What is maximised is the mutual information of the cluster and the row less a penalty on the weights,

    I - ½ strength Σ w²,    I = H(p̂) - mean of H(p(· | row)),    p̂ the mean of p(· | row):

each row should have one cluster, clusters should be equally large, and the boundaries simple. L-BFGS climbs from the
boundaries of K-means, as sharp as is best: without weights there is a stationary point, where all is 0.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from juncture.base.checks import check_array, check_count, check_kind
from juncture.base.options import as_generator, as_seed
from juncture.base.values import number_of, read_only
from juncture.clusters.means import as_centers, as_rows, best_of, draw_centers
from juncture.data.feature_names import NamedFeatures
from juncture.data.rows import Rows, check_complete
from juncture.errors import InvalidData, InvalidModel, NotConvergedWarning, warn_user
from juncture.learning.undirected.penalties import L2
from juncture.numerics.iteration import Trace, check_stopping_rule
from juncture.numerics.stable import log, softmax

INSTEAD = ("discriminative clusters", "fit a Mixture of Gaussians")


class DiscriminativeClusters(NamedFeatures):
    """The clusters of rows by a softmax of linear functions of them.

    Attributes
    ----------
    weights
        (cluster, column).
    bias
        (cluster,).
    labels
        (row,): the most probable cluster of each row that was clustered.
    mutual_information
        That of the cluster and the row, in nats; at most the logarithm of the number of clusters.
    trace
        The mutual information less the penalty, at the start and after each step.
    seed
        The seed of the starts: `rng=clusters.seed` repeats them. None where nothing was drawn at random.
    """

    weights: np.ndarray
    bias: np.ndarray
    labels: np.ndarray
    mutual_information: float
    trace: Trace
    seed: int | None

    def __init__(
        self,
        weights: Any,
        bias: Any,
        labels: Any,
        mutual_information: float,
        trace: Trace,
        seed: int | None = None,
    ) -> None:
        table = check_array(weights, "the weights", ndim=2, error=InvalidModel)
        shift = check_array(bias, "the bias", ndim=1, error=InvalidModel)
        if len(shift) != len(table):
            raise InvalidModel(f"the bias is one number a cluster, {len(table)} in all; got {len(shift)}")
        arrays = {"weights": read_only(table, np.float64), "bias": read_only(shift, np.float64)}
        self._set(
            **arrays,
            labels=read_only(labels, np.int64),
            mutual_information=float(mutual_information),
            trace=trace,
            seed=seed,
        )

    @property
    def num_columns(self) -> int:
        return int(self.weights.shape[1])

    @property
    def num_clusters(self) -> int:
        """The number of clusters, with those that have no rows."""
        return len(self.weights)

    @property
    def sizes(self) -> np.ndarray:
        """The number of rows of each cluster, (cluster,); a cluster may have none."""
        return np.bincount(self.labels, minlength=self.num_clusters)

    @property
    def objective(self) -> float:
        """The mutual information less the penalty."""
        return self.trace.values[-1]

    def predict_proba(self, rows: Any) -> np.ndarray:
        """p(cluster | row), (row, cluster)."""
        table = Rows.of(rows, self.feature_names).numbers(self.weights.shape[1:])
        check_complete(table, *INSTEAD)
        return softmax(table @ self.weights.T + self.bias)

    def predict(self, rows: Any) -> np.ndarray:
        """The most probable cluster of each row, (row,)."""
        return self.predict_proba(rows).argmax(axis=1)

    def __repr__(self) -> str:
        rows, clusters = number_of(len(self.labels), "row"), number_of(self.num_clusters, "cluster")
        return f"DiscriminativeClusters({rows} in {clusters}, {self.mutual_information:.6g} nats)"


def discriminative_clusters(  # noqa: PLR0913
    data: Any,
    num_clusters: int,
    *,
    penalty: L2 | None = None,
    start: Any = "k-means++",
    weights: Any = None,
    restarts: int = 4,
    tolerance: float = 1e-9,
    max_steps: int = 1000,
    rng: Any = None,
) -> DiscriminativeClusters:
    """Clusters of complete rows by regularised information maximisation: the best of several starts.

    Parameters
    ----------
    data
        A table of numbers, (row, column), without holes. The penalty is on weights in the units of the columns: columns
        in different units are divided by their deviations first.
    num_clusters
        The largest number of clusters; where the penalty is large, some end without rows.
    penalty
        `jt.L2(strength)`, by default of 0.01: ½ strength Σ w², which the information of one row is weighed against.
    start
        "k-means++", "random" rows, or centers, (cluster, column), from which K-means is run first.
    weights
        The weight of each row.
    restarts
        The number of further starts; the clusters with the largest objective are kept.
    tolerance
        The search ends when the objective rises by less than this, relative to its size or 1.
    max_steps
        The largest number of steps from each start.
    rng
        A seed or a `numpy.random.Generator`, for starts.

    Returns
    -------
    DiscriminativeClusters

    Examples
    --------
    >>> import juncture as jt
    >>> found = jt.clusters.discriminative_clusters([[-9.0], [-8.0], [8.0], [9.0]], 2, rng=0)
    >>> found.sizes.tolist(), round(found.mutual_information, 2)
    ([2, 2], 0.69)
    """
    table, heavy, names = as_rows(data, weights)
    number = check_count(num_clusters, "num_clusters", least=1)
    if number > len(table):
        raise InvalidData(f"there are {number_of(len(table), 'row')}, fewer than the {number} clusters")
    strength = check_kind(L2(0.01) if penalty is None else penalty, L2, "the penalty").squared
    check_stopping_rule(tolerance, max_steps)
    seed = as_seed(rng) if isinstance(start, str) else None
    if seed is None:
        starts = [as_centers(start, number, table.shape[1])]
    else:
        generator = as_generator(seed)
        count = 1 + check_count(restarts, "restarts")
        starts = [draw_centers(table, heavy, number, start, generator) for _ in range(count)]
    shares = heavy / heavy.sum()
    problem = Problem(table, shares, number, strength)
    ends = [problem.climb(problem.first(table, heavy, each), tolerance, max_steps) for each in starts]
    free, trace = max(ends, key=lambda end: end[1].values[-1])
    if not trace.converged:
        warn_user(
            f"the search for discriminative clusters {trace.reason}; these are the best so far", NotConvergedWarning
        )
    slopes, bias = unpack(free, number)
    chances = softmax(table @ slopes.T + bias)
    found = DiscriminativeClusters(slopes, bias, chances.argmax(axis=1), information(chances, shares)[0], trace, seed)
    return found._named(names)


def unpack(free: np.ndarray, number: int) -> tuple[np.ndarray, np.ndarray]:
    slopes, bias = np.split(free, [len(free) - number])
    return slopes.reshape(number, -1), bias


def information(chances: np.ndarray, shares: np.ndarray) -> tuple[float, np.ndarray]:
    """The mean of KL(p(· | row) ‖ p̂), and its derivative by the linear functions, (row, cluster)."""
    gaps = np.where(chances > 0, log(chances) - log(shares @ chances), 0.0)
    each = (chances * gaps).sum(axis=1)
    return max(float(shares @ each), 0.0), shares[:, None] * chances * (gaps - each[:, None])


class Problem(NamedTuple):
    """What is maximised, over the weights and the biases in one vector."""

    table: np.ndarray  # (row, column)
    shares: np.ndarray  # (row,): the weights of the rows, which sum to 1
    number: int
    strength: float

    def cost_and_slope(self, free: np.ndarray) -> tuple[float, np.ndarray]:
        """The penalty less the information."""
        slopes, bias = unpack(free, self.number)
        value, by_row = information(softmax(self.table @ slopes.T + bias), self.shares)
        slope = np.concatenate([(self.strength * slopes - by_row.T @ self.table).ravel(), -by_row.sum(axis=0)])
        return 0.5 * self.strength * float((slopes**2).sum()) - value, slope

    def first(self, table: np.ndarray, weights: np.ndarray, centers: np.ndarray) -> np.ndarray:
        """The softmax of equal round Gaussians around the centers of K-means, of the best of some variances."""
        found, middle = best_of(table, weights, [centers]), self.shares @ table
        away = found.centers - middle
        spread = float(self.shares @ ((table - middle) ** 2).sum(axis=1))
        whole = np.concatenate([away.ravel(), -0.5 * (away**2).sum(axis=1) - away @ middle])
        sharpness = np.geomspace(1e-3, 1e4, 36) / spread if spread > 0 else np.ones(1)
        costs = [self.cost_and_slope(each * whole)[0] for each in sharpness]
        return np.asarray(sharpness[int(np.argmin(costs))] * whole)

    def climb(self, start: np.ndarray, tolerance: float, max_steps: int) -> tuple[np.ndarray, Trace]:
        """The weights that L-BFGS reaches, and the objective at the start and after each step."""
        from scipy.optimize import minimize

        values = [-self.cost_and_slope(start)[0]]
        found = minimize(
            self.cost_and_slope, start, jac=True, method="L-BFGS-B",
            callback=lambda free: values.append(-self.cost_and_slope(free)[0]),
            options={"maxiter": max_steps, "ftol": tolerance, "gtol": 1e-10, "maxcor": 20},
        )  # fmt: skip
        reason = f"the gain fell below {tolerance:g}" if found.success else f"stopped: {found.message}"
        return found.x, Trace(tuple(values), bool(found.success), reason)
