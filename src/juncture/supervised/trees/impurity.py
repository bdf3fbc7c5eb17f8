"""Weights and impurities of nodes, from their statistics: all nodes at once."""

from __future__ import annotations

import numpy as np
from scipy.special import entr


def node_weights(statistics: np.ndarray, *, is_real: bool) -> np.ndarray:
    """(…,): the weight of the rows of each node."""
    return statistics[..., 0] if is_real else statistics.sum(axis=-1)


def node_impurities(statistics: np.ndarray, criterion: str) -> np.ndarray:
    """(…,): the entropy in bits, the Gini impurity or the variance of each node."""
    if criterion == "variance":
        return statistics[..., 2]
    whole = statistics.sum(axis=-1, keepdims=True)
    shares = np.divide(statistics, whole, out=np.zeros_like(statistics), where=whole > 0)
    return 1.0 - (shares**2).sum(axis=-1) if criterion == "gini" else entr(shares).sum(axis=-1) / np.log(2.0)
