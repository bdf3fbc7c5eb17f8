"""`fit` of an undirected graph: the Gaussian Markov network of maximum likelihood, or that of the graphical lasso.

Covariance selection gives the precision matrix of maximum likelihood on an undirected graph. The matrix is 0 where the
graph has no edge; where it has one, the covariance is that of the data (Dempster 1972). Iterative proportional fitting
gives one clique after the other its covariance (Speed and Kiiveri 1986); for a chordal graph one sweep over cliques in
the order of a junction tree is exact.

In the graphical lasso (Friedman, Hastie and Tibshirani 2008), by scikit-learn, a penalty sets entries of Λ to 0.

Rows with missing cells are learned from by EM. The E-step completes each row by the Gaussian of the missing cells given
the others: it adds up the expected moments. The M-step is covariance selection on these moments, so that the zeros of
the precision matrix stay.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import inf
from typing import Any, ClassVar, NamedTuple

import numpy as np

from juncture.base.checks import check_number, shown
from juncture.base.options import Options
from juncture.base.values import Value, read_only
from juncture.data.dataset import Dataset
from juncture.data.missingness import group_by_pattern
from juncture.errors import InvalidData, MissingExtra, Unsupported, warn_user
from juncture.factors.gaussian_factor import GaussianFactor
from juncture.graphs.undirected import UndirectedGraph
from juncture.learning.em.contract import Expected
from juncture.learning.em.expectation_maximization import ExpectationMaximization
from juncture.learning.fit import Fit
from juncture.learning.networks.templates import check_columns, code_columns, mark_rows
from juncture.learning.options import DeclaredVariables
from juncture.learning.undirected.fit import IterativeProportionalFitting
from juncture.networks.factor_product import MarkovNetwork
from juncture.numerics.iteration import ProgressCallback, Trace, check_progress, iterate
from juncture.numerics.stable import LOG_TWO_PI, Moments, merge_moments
from juncture.variables import Scope, Variable

SMALLEST_GAP = 1e-12  # between the correlations of model and data, at which covariance selection ends
LEAST_GAIN = 1e-10  # of a step of EM, beside the log-likelihood
SINGULAR = 1e-12  # an eigenvalue of a correlation matrix that is rounding
TOLERANCE = 1e-8  # of the duality gap


@dataclass(frozen=True)
class GraphOptions(DeclaredVariables):
    """How the precision matrix of a Gaussian Markov network on a graph is learned.

    Parameters
    ----------
    missing
        A marker of missing values, such as "?" or -999, or a list of markers.
    penalty
        With a complete graph the graphical lasso finds the edges: the penalty is that of the entries off the diagonal,
        of columns in units of their deviations.
    method
        "ipf", or a `jt.IterativeProportionalFitting` with its options.
    """

    missing: Any = None
    penalty: float | None = None
    method: Any = "auto"
    methods: ClassVar[Mapping[str, type[Options]]] = {"ipf": IterativeProportionalFitting}


def fit_undirected(
    structure: UndirectedGraph,
    data: Any,
    *,
    prior: Any = None,
    weights: Any = None,
    progress: ProgressCallback | None = None,
    options: GraphOptions,
) -> Fit[MarkovNetwork]:
    """A Gaussian Markov network on the graph; `fit.statistics` are the moments of the rows.

    Missing cells are completed by EM, and the moments are then the expected ones.
    """
    if prior is not None:
        raise Unsupported("the precision matrix of an undirected graph has no prior here: give none, or a penalty=")
    check_progress(progress)
    learner, penalty = options.method, options.penalty
    if learner.engine != "auto":
        raise Unsupported(f"covariance selection asks no engine; leave engine={shown(learner.engine)} out")
    tolerance = SMALLEST_GAP if learner.tolerance is None else learner.tolerance
    max_steps = learner.max_steps
    rows = read_numbers(structure, data, options.declared, weights, options.missing)
    if any(np.isnan(column).any() for column in rows.arrays):
        return fit_incomplete(structure, rows, penalty, tolerance, max_steps, progress)
    moments = GaussianMoments.of(rows)
    deviations = check_deviations(moments)
    correlations = moments.covariance / np.outer(deviations, deviations)
    if penalty is None:
        found, trace = most_likely_precision(correlations, structure, tolerance, max_steps, progress)
    else:
        found, trace = penalised_precision(correlations, penalty, structure, max_steps)
    if not trace.converged:
        warn_user(f"the precision matrix is not the best yet: {trace.reason}", UserWarning)
    precision = found / np.outer(deviations, deviations)
    return Fit(network_of(structure, moments, precision), log_likelihood(moments, precision), trace, moments)


def read_numbers(
    graph: UndirectedGraph, data: Any, variables: Iterable[Variable] | None, weights: Any, missing: Any
) -> Dataset:
    """The columns of the nodes in their order, checked to be real."""
    declared = Scope(() if variables is None else variables)
    rows = data if missing is None else mark_rows(data, declared or None, missing)
    dataset = code_columns(rows, set(graph.nodes), declared, weights)
    check_columns(tuple(graph.nodes), dataset, set(), data)
    for name in graph.nodes:
        if not dataset.variable(name).is_real or dataset.variable(name).dimension > 1:
            raise Unsupported(
                f"an undirected graph is fitted to columns of real numbers; {name!r} is none: for tables give a"
                " jt.MarkovNetwork, and declare whole numbers as real with variables=[jt.Variable(name)]"
            )
    return dataset.only(graph.nodes)


class GaussianMoments(Value):
    """The weight, the mean and the covariance (over the weight) of rows of real columns; `a + b` are those of both.

    `jt.fit` of an `UndirectedGraph` gives them as its statistics.
    """

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


@dataclass(frozen=True, eq=False)
class FittedMatrices:
    """The precision so far, its inverse, and the largest difference from the data that the last sweep found."""

    precision: np.ndarray
    covariance: np.ndarray
    gap: float


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


def penalised_precision(
    correlations: np.ndarray, penalty: float, graph: UndirectedGraph, max_steps: int
) -> tuple[np.ndarray, Trace]:
    """The Λ that maximises log |Λ| - tr(S Λ) - penalty · Σ |λij| off the diagonal, and how the search ended."""
    check_number(penalty, "the penalty", least=0, finite=True)
    size = len(correlations)
    if len(graph.edges) < size * (size - 1) // 2:
        raise InvalidData(
            "a penalty finds by itself which entries of the precision matrix are 0: give the complete graph over the"
            " columns, or leave out the penalty to keep the zeros of this one"
        )
    try:
        from sklearn.covariance import graphical_lasso
        from sklearn.exceptions import ConvergenceWarning
    except ImportError as error:
        raise MissingExtra.named("scikit-learn", "sklearn") from error
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ConvergenceWarning)
        _, precision = graphical_lasso(correlations, penalty, tol=TOLERANCE, enet_tol=TOLERANCE, max_iter=max_steps)
    value = float(
        np.linalg.slogdet(precision)[1] - (correlations * precision).sum() - penalty * off_diagonal(precision)
    )
    failed = any(issubclass(one.category, ConvergenceWarning) for one in caught)
    reason = f"graphical lasso: {'stopped without converging' if failed else 'the duality gap closed'}"
    return np.asarray(0.5 * (precision + precision.T)), Trace((value,), not failed, reason)


def off_diagonal(precision: np.ndarray) -> float:
    """Σ |λij|, i ≠ j."""
    return float(np.abs(precision).sum() - np.abs(np.diagonal(precision)).sum())


def fit_incomplete(
    graph: UndirectedGraph,
    rows: Dataset,
    penalty: float | None,
    tolerance: float,
    max_steps: int,
    progress: ProgressCallback | None,
) -> Fit[MarkovNetwork]:
    """The same for rows with missing cells; the log-likelihood is that of the known cells."""
    if penalty is not None:
        raise Unsupported("the graphical lasso takes complete rows: drop rows with missing cells, or the penalty")
    problem = IncompleteNumbers(rows, graph, tolerance, max_steps)
    found, trace = ExpectationMaximization(max(tolerance, LEAST_GAIN), max_steps).run(problem, progress)
    moments = found.statistics
    model = network_of(
        graph, GaussianMoments(moments.variables, moments.weight, *found.model[:2]), found.model.precision
    )
    return Fit(model, found.log_likelihood, trace, moments)


@dataclass(frozen=True, eq=False)
class IncompleteNumbers:
    """Rows of real columns with missing cells, and the graph; an `EMProblem`."""

    data: Dataset
    graph: UndirectedGraph
    tolerance: float
    max_steps: int
    models: ClassVar[str] = "Gaussian Markov networks"

    @cached_property
    def _blocks(self) -> list[Block]:
        values = np.stack(self.data.arrays, axis=1)
        weights = np.ones(len(values)) if self.data.weights is None else np.asarray(self.data.weights, float)
        if not weights.sum() > 0:
            raise InvalidData("there are no rows with a weight to learn from: give rows")
        values, weights = values[weights > 0], weights[weights > 0]
        return [Block(known, values[rows], weights[rows]) for known, rows in group_by_pattern(~np.isnan(values))]

    def blocks(self) -> list[Block]:
        return self._blocks

    def start(self) -> Normal:
        """Independent columns, each with the mean and the variance of its known cells."""
        values, weights = (
            np.concatenate([getattr(block, part) for block in self._blocks]) for part in Block._fields[1:]
        )
        known = ~np.isnan(values)
        total = weights @ known
        for variable, weight in zip(self.data.variables, total, strict=True):
            if not weight > 0:
                raise InvalidData(f"the column {variable.name!r} has no values: leave it out")
        mean = weights @ np.where(known, values, 0.0) / total
        variance = weights @ np.where(known, values - mean, 0.0) ** 2 / total
        check_deviations(GaussianMoments(self.data.variables, 1.0, mean, np.diag(variance)))
        return Normal(mean, np.diag(variance), np.diag(1.0 / variance))

    def another_start(self) -> Normal:
        """The same: the likelihood is climbed from one start."""
        return self.start()

    def expect(self, model: Normal, block: Block) -> Expected[GaussianMoments]:
        """The moments of the rows completed by their means, plus the covariance of what is missing."""
        known, hidden, deviations = block.known, ~block.known, np.sqrt(np.diagonal(model.covariance))
        correlations = model.covariance / np.outer(deviations, deviations)
        factor = np.linalg.cholesky(correlations[np.ix_(known, known)])
        white = np.linalg.solve(factor, ((block.values[:, known] - model.mean[known]) / deviations[known]).T)
        across = np.linalg.solve(factor, correlations[np.ix_(known, hidden)])
        full = block.values.copy()
        full[:, hidden] = model.mean[hidden] + deviations[hidden] * (white.T @ across)
        left = np.zeros(correlations.shape)
        left[np.ix_(hidden, hidden)] = correlations[np.ix_(hidden, hidden)] - across.T @ across
        scale = np.log(np.diagonal(factor)).sum() + np.log(deviations[known]).sum() + 0.5 * known.sum() * LOG_TWO_PI
        log_density = block.weights @ (-0.5 * (white**2).sum(axis=0) - scale)
        rows = GaussianMoments.weighted(self.data.variables, full, block.weights)
        covariance = rows.covariance + left * np.outer(deviations, deviations)
        moments = GaussianMoments(self.data.variables, rows.weight, rows.mean, covariance)
        return Expected(moments, float(log_density))

    def maximize(self, statistics: GaussianMoments, model: Normal) -> Normal:
        deviations = check_deviations(statistics)
        units = np.outer(deviations, deviations)
        precision, _ = most_likely_precision(
            statistics.covariance / units, self.graph, self.tolerance, self.max_steps, None
        )
        return Normal(statistics.mean, np.linalg.inv(precision) * units, precision / units)

    def expected_log_joint(self, statistics: GaussianMoments, model: Normal) -> float:
        shift = statistics.mean - model.mean
        about = statistics.covariance + np.outer(shift, shift)
        moments = GaussianMoments(self.data.variables, statistics.weight, model.mean, about)
        return log_likelihood(moments, model.precision)

    def log_prior(self, model: Normal) -> float:
        return 0.0


class Normal(NamedTuple):
    """The Gaussian so far, and its precision matrix, which has the zeros."""

    mean: np.ndarray
    covariance: np.ndarray
    precision: np.ndarray


class Block(NamedTuple):
    """Rows in which the same cells are known."""

    known: np.ndarray  # (variable,)
    values: np.ndarray  # (row, variable)
    weights: np.ndarray  # (row,)
