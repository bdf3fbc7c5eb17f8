"""Rows for tests of structure learning, and the laws of graphs within constraints."""

from __future__ import annotations

from typing import Any

import numpy as np

from juncture.data.dataset import Dataset
from juncture.graphs.directed import DirectedGraph
from juncture.variables import Variable


def random_rows(rng: np.random.Generator, num_rows: int, sizes: list[int], weights: Any = None) -> Dataset:
    """Columns that depend on the one before, so that scores differ."""
    columns = {}
    before = np.zeros(num_rows, dtype=int)
    for place, size in enumerate(sizes):
        before = (before + (rng.random(num_rows) < 0.4) * rng.integers(size, size=num_rows)) % size
        columns[f"n{place}"] = before
    variables = [Variable(f"n{place}", size) for place, size in enumerate(sizes)]
    return Dataset.from_codes(variables, columns, weights)


def random_reals(rng: np.random.Generator, num_rows: int, num_columns: int) -> Dataset:
    values = rng.normal(size=(num_rows, num_columns)) @ rng.normal(size=(num_columns, num_columns))
    return Dataset({f"n{place}": values[:, place] for place in range(num_columns)})


def keeps(graph: DirectedGraph, required=(), forbidden=(), tiers=(), max_parents=None) -> bool:
    """Whether a graph keeps the constraints, by their definitions."""
    rank = {name: number for number, tier in enumerate(tiers) for name in tier}
    edges = set(graph.edges)
    return (
        set(required) <= edges
        and not set(forbidden) & edges
        and all(rank.get(tail, -1) <= rank.get(head, len(rank)) for tail, head in edges)
        and all(max_parents is None or len(graph.parents(name)) <= max_parents for name in graph.nodes)
    )
