"""Covariance selection: the precision matrix of maximum likelihood on an undirected graph.

The precision matrix is 0 where the graph has no edge; where it has one, the covariance is that of the data (Dempster
1972). Iterative proportional fitting gives one clique after the other its covariance (Speed and Kiiveri 1986); for a
chordal graph one sweep over cliques in the order of a junction tree is exact.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any

import numpy as np

from juncture.base.values import Value, read_only
from juncture.data.dataset import Dataset
from juncture.errors import InvalidData
from juncture.factors.gaussian_factor import GaussianFactor
from juncture.graphs.undirected import UndirectedGraph
from juncture.networks.factor_product import MarkovNetwork
from juncture.numerics.iteration import ProgressCallback, Trace, iterate
from juncture.numerics.stable import LOG_TWO_PI, Moments, merge_moments
from juncture.variables import Scope, Variable

SINGULAR = 1e-12  # an eigenvalue of a correlation matrix that is rounding


class GaussianMoments(Value):
    """The weight, the mean and the covariance (over the weight) of rows of real columns; `a + b` are those of both.

    `jt.fit` of an `UndirectedGraph` gives them as its statistics.
    """

    _fields = ("variables", "weight", "mean", "covariance")
    variables: Scope
    weight: float
    mean: np.ndarray
    covariance: np.ndarray

    def __init__(self, variables: Iterable[Variable], weight: float, mean: Any, covariance: Any) -> None:
        self._set(variables=Scope(variables), weight=float(weight))
        self._set(mean=read_only(mean, float), covariance=read_only(covariance, float))

    @classmethod
    def of(cls, data: Dataset) -> GaussianMoments:
        weights = np.ones(len(data)) if data.weights is None else np.asarray(data.weights, float)
        if not weights.sum() > 0:
            raise InvalidData("there are no rows with a weight to learn from: give rows")
        return cls.weighted(data.variables, np.stack(data.arrays, axis=1), weights)

    @classmethod
    def weighted(cls, variables: Iterable[Variable], values: np.ndarray, weights: np.ndarray) -> GaussianMoments:
        """The moments of rows (row, variable), whose weights have a positive sum."""
        total = float(weights.sum())
        mean = weights @ values / total
        apart = values - mean
        return cls(variables, total, mean, (apart.T * weights) @ apart / total)

    @property
    def moments(self) -> Moments:
        return Moments(np.asarray(self.weight), self.mean, self.weight * self.covariance)

    def __add__(self, other: object) -> GaussianMoments:
        if not isinstance(other, GaussianMoments):
            return NotImplemented
        if self.variables != other.variables:
            names = f"{', '.join(self.variables.names)} and {', '.join(other.variables.names)}"
            raise InvalidData(f"moments add when they are of the same variables in the same order; here {names} meet")
        weight, mean, scatter = merge_moments(self.moments, other.moments)
        return GaussianMoments(self.variables, float(weight), mean, scatter / weight)

    def __radd__(self, other: object) -> GaussianMoments:
        return self if isinstance(other, int) and other == 0 else NotImplemented  # sum([...]) starts from 0

    def __repr__(self) -> str:
        return f"GaussianMoments({len(self.variables)} variables, weight {self.weight:g})"


def most_likely_precision(
    correlations: np.ndarray,
    graph: UndirectedGraph,
    tolerance: float,
    max_steps: int,
    progress: ProgressCallback | None,
) -> tuple[np.ndarray, Trace]:
    cliques = sorted_cliques(graph)
    check_cliques(correlations, cliques, graph.nodes)
    fitting = CliqueFitting(correlations, cliques)
    found, trace = iterate(fitting, tolerance=tolerance, max_steps=max_steps, progress=progress)
    return found.precision, trace


def check_deviations(moments: GaussianMoments) -> np.ndarray:
    deviations = np.sqrt(np.diagonal(moments.covariance))
    for name, deviation, mean in zip(moments.variables.names, deviations, moments.mean, strict=True):
        if not deviation > 1e-14 * abs(mean):
            raise InvalidData(f"the column {name!r} has the same number in every row: leave it out")
    return np.asarray(deviations)


def sorted_cliques(graph: UndirectedGraph) -> list[list[int]]:
    """The positions of the nodes of each maximal clique; those of a chordal graph as a junction tree visits them."""
    index = {name: position for position, name in enumerate(graph.nodes)}
    cliques = [frozenset(index[name] for name in clique) for clique in graph.maximal_cliques()]
    shared, order = dict.fromkeys(range(len(cliques)), 0), []
    while shared:  # Prim's maximum spanning tree
        best = max(shared, key=shared.__getitem__)
        del shared[best]
        order.append(sorted(cliques[best]))
        shared = {one: max(most, len(cliques[one] & cliques[best])) for one, most in shared.items()}
    return order


def check_cliques(correlations: np.ndarray, cliques: Sequence[Sequence[int]], names: Sequence[str]) -> None:
    for clique in cliques:
        if np.linalg.eigvalsh(correlations[np.ix_(clique, clique)])[0] < SINGULAR * len(clique):
            raise InvalidData(
                f"the columns {', '.join(repr(names[one]) for one in clique)}, all neighbours, depend on each other"
                " linearly in these rows, so that the likelihood has no maximum: give more rows, or remove an edge"
            )


@dataclass(frozen=True, eq=False)
class FittedMatrices:
    """The precision so far, its inverse, and the largest difference from the data that the last sweep found."""

    precision: np.ndarray
    covariance: np.ndarray
    gap: float


@dataclass(frozen=True, eq=False)
class CliqueFitting:
    """Iterative proportional fitting of a correlation matrix; a `FixedPoint`."""

    wanted: np.ndarray  # (variable, variable), the correlations of the data
    cliques: Sequence[Sequence[int]]

    def init(self) -> FittedMatrices:
        size = len(self.wanted)
        return FittedMatrices(np.eye(size), np.eye(size), inf)

    def step(self, state: FittedMatrices) -> FittedMatrices:
        """One sweep: Λ_C gains S_C⁻¹ - Σ_C⁻¹, after which Σ_C = S_C."""
        precision, covariance, gap = state.precision.copy(), state.covariance.copy(), 0.0
        for clique in self.cliques:
            block = np.ix_(clique, clique)
            wanted, own = self.wanted[block], covariance[block]
            gap = max(gap, float(np.abs(wanted - own).max()))
            inverse = np.linalg.inv(own)
            precision[block] += np.linalg.inv(wanted) - inverse
            slopes = covariance[:, clique] @ inverse
            covariance += slopes @ (wanted - own) @ slopes.T
        return FittedMatrices(precision, covariance, gap)

    def change(self, before: FittedMatrices, after: FittedMatrices) -> float:
        return after.gap


def network_of(graph: UndirectedGraph, moments: GaussianMoments, precision: np.ndarray) -> MarkovNetwork:
    """A factor for each node and for each edge; their product is the density, with Z = 1."""
    loading = precision @ moments.mean
    log_density = log_determinant(precision) - len(moments.mean) * LOG_TWO_PI - loading @ moments.mean
    index = {name: position for position, name in enumerate(graph.nodes)}
    scales = np.zeros(len(index))
    scales[:1] = 0.5 * log_density
    factors = [
        GaussianFactor([variable], loading[[at]], precision[at : at + 1, at : at + 1], scales[at])
        for at, variable in enumerate(moments.variables)
    ]
    for edge in graph.edges:
        one, other = (index[name] for name in edge)
        link = precision[one, other]
        if link == 0.0:  # which a penalty has found
            continue
        factors.append(
            GaussianFactor([moments.variables[one], moments.variables[other]], [0, 0], [[0, link], [link, 0]])
        )
    return MarkovNetwork(factors)


def log_likelihood(moments: GaussianMoments, precision: np.ndarray) -> float:
    """½ n (log |Λ| - tr(S Λ) - d log 2π)."""
    size = len(moments.mean)
    trace = float((moments.covariance * precision).sum())
    return 0.5 * moments.weight * (log_determinant(precision) - trace - size * LOG_TWO_PI)


def log_determinant(precision: np.ndarray) -> float:
    scale = np.sqrt(np.diagonal(precision))
    return float(np.linalg.slogdet(precision / np.outer(scale, scale))[1] + 2.0 * np.log(scale).sum())
