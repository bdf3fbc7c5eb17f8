"""The graphical lasso (Friedman, Hastie and Tibshirani 2008), by scikit-learn: a penalty sets entries of Λ to 0."""

from __future__ import annotations

import warnings

import numpy as np

from juncture.base.checks import check_number
from juncture.errors import InvalidData, MissingExtra
from juncture.graphs.undirected import UndirectedGraph
from juncture.numerics.iteration import Trace

TOLERANCE = 1e-8  # of the duality gap


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
