"""Crude bounds of log p(evidence), and of the log of a product of factors, from the extreme entries of each table.

They cost one pass over the tables and hold for every model: no product of factors exceeds the product of their maxima.
The factors of a single node are kept as they are. The bounds are crude where factors of several nodes contradict each
other, and tell an estimate that is out of reach from one that may be right.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from juncture.inference.engines.factor_arrays import FactorArrays
from juncture.networks.bayesian_network import BayesianNetwork


def bound_log_evidence(model: Any, arrays: FactorArrays, likelihoods: np.ndarray) -> np.ndarray:
    """(row,): an upper bound of log p(evidence); `likelihoods` (row, state of all nodes) are logarithms."""
    starts = arrays.state_starts[:-1]
    sums = np.logaddexp.reduceat(likelihoods + arrays.single_logs, starts, axis=1).sum(axis=1)
    bound = sums + sum_of_maxima(arrays)
    if isinstance(model, BayesianNetwork):  # whose probabilities sum to 1
        bound = np.minimum(bound, np.maximum.reduceat(likelihoods, starts, axis=1).sum(axis=1))
    return np.asarray(bound)


def bound_log_joint(arrays: FactorArrays, likelihoods: np.ndarray) -> np.ndarray:
    """(row,): an upper bound of the log of the product of all factors and likelihoods at the best states."""
    best = np.maximum.reduceat(likelihoods + arrays.single_logs, arrays.state_starts[:-1], axis=1)
    return np.asarray(best.sum(axis=1) + sum_of_maxima(arrays))


def least_log_joint(arrays: FactorArrays, likelihoods: np.ndarray) -> np.ndarray:
    """(row,): no states that are possible have a smaller log of the product of all factors and likelihoods.

    So log p(evidence) is not smaller either, unless it is -inf.
    """
    positive = np.minimum.reduceat(without_zeros(likelihoods + arrays.single_logs), arrays.state_starts[:-1], axis=1)
    least = sum_of_tables(arrays, without_zeros(arrays.log_values), np.minimum)
    return np.asarray(positive.sum(axis=1) + least)


def without_zeros(logs: np.ndarray) -> np.ndarray:
    """Logarithms in which those of zeros are larger than any."""
    return np.where(np.isneginf(logs), np.inf, logs)


def sum_of_maxima(arrays: FactorArrays) -> float:
    """The sum of the largest logarithms of the tables of all factors, but for those of a single node."""
    return sum_of_tables(arrays, arrays.log_values, np.maximum)


def sum_of_tables(arrays: FactorArrays, log_values: np.ndarray, choose: np.ufunc) -> float:
    """The sum of the extreme logarithms of the tables of all factors, but for those of a single node."""
    starts = arrays.table_starts[np.diff(arrays.scope_starts) != 1]
    if not starts.size:
        return 0.0
    tables = np.unique(arrays.table_starts)
    return float(choose.reduceat(log_values, tables)[np.searchsorted(tables, starts)].sum())
