"""Small undirected models, their data, and the oracles of undirected learning: whole joint tables."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

import juncture as jt
from juncture.factors.factor import product_of

LOOP = [("a", "b"), ("b", "c"), ("c", "d"), ("d", "a")]
SIZES = {"a": 2, "b": 3, "c": 2, "d": 2, "e": 2}


def model_over(scopes: Sequence[Sequence[str]], seed: int | None = None, kind: type = jt.MarkovNetwork):
    """Tables of ones, or drawn at random, over these scopes."""
    variables = {name: jt.Variable(name, size) for name, size in SIZES.items()}
    rng = np.random.default_rng(seed)
    factors = []
    for names in scopes:
        shape = [SIZES[name] for name in names]
        values = np.ones(shape) if seed is None else np.exp(rng.normal(size=shape))
        factors.append(jt.Factor([variables[name] for name in names], values))
    return kind(factors)


def rows_of(model, num_rows: int = 400, seed: int = 0) -> jt.Dataset:
    return jt.sample(model, num_rows, rng=seed)


def joint_of(model) -> jt.Factor:
    """The joint table, in the order of the model's variables."""
    return product_of(model.factors).reorder(*model.variables).normalize()


def gap(model, rows, weights=None) -> float:
    """The largest difference between a cell of the model and of the rows, over all factors; by enumeration."""
    joint, statistics = joint_of(model), jt.statistics(model, rows, weights=weights)
    return max(
        float(np.abs(joint.marginal(*part.scope).values - part.values / statistics.weight).max())
        for part in statistics.counts
    )


def log_likelihood(model, rows) -> float:
    return float(np.sum(jt.log_prob(model, rows, method="enumeration")))
