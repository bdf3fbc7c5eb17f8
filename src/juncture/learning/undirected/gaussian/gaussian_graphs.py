"""`fit` of an undirected graph: the Gaussian Markov network of maximum likelihood, or that of the graphical lasso."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from juncture.base.checks import check_count, check_number
from juncture.data.dataset import Dataset
from juncture.errors import Unsupported, warn_user
from juncture.graphs.undirected import UndirectedGraph
from juncture.learning.em.expectation_maximization import ExpectationMaximization
from juncture.learning.fit import Fit
from juncture.learning.networks.templates import check_columns, code_columns, mark_rows
from juncture.learning.undirected.gaussian.covariance_selection import (
    GaussianMoments,
    check_deviations,
    log_likelihood,
    most_likely_precision,
    network_of,
)
from juncture.learning.undirected.gaussian.graphical_lasso import penalised_precision
from juncture.learning.undirected.gaussian.incomplete_numbers import IncompleteNumbers
from juncture.networks.factor_product import MarkovNetwork
from juncture.numerics.iteration import ProgressCallback, check_progress
from juncture.variables import Scope, Variable

LEAST_GAIN = 1e-10  # of a step of EM, beside the log-likelihood


def fit_undirected(  # noqa: PLR0913 (one verb, many options)
    structure: UndirectedGraph,
    data: Any,
    prior: Any = None,
    *,
    variables: Iterable[Variable] | None = None,
    weights: Any = None,
    missing: Any = None,
    penalty: float | None = None,
    tolerance: float = 1e-12,
    max_steps: int = 1000,
    progress: ProgressCallback | None = None,
) -> Fit[MarkovNetwork]:
    """A Gaussian Markov network on the graph; `fit.statistics` are the moments of the rows.

    Missing cells are completed by EM, and the moments are then the expected ones. With a `penalty`, and a complete
    graph, the graphical lasso finds the edges: the penalty is that of the entries off the diagonal, of columns in units
    of their deviations.
    """
    if prior is not None:
        raise Unsupported("the precision matrix of an undirected graph has no prior here: give none, or a penalty=")
    check_progress(progress)
    check_number(tolerance, "the tolerance", least=0)
    check_count(max_steps, "max_steps", least=1)
    rows = read_numbers(structure, data, variables, weights, missing)
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
