"""The edges of grids, and checks of the arrays that a pairwise model is made of."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from juncture.base.checks import check_array, check_count, check_iterable
from juncture.base.values import read_only
from juncture.errors import InvalidModel
from juncture.graphs.edges import as_nodes
from juncture.networks.pairwise.nodes import GridNames
from juncture.numerics.stable import as_logs


def check_shape(shape: Any, least: int = 1) -> tuple[int, ...]:
    """The sizes of a grid along its axes."""
    sizes = check_iterable(shape, "the shape of a grid", error=InvalidModel)
    return tuple(check_count(size, "the size of a grid", least=least, error=InvalidModel) for size in sizes)


def check_edges(edges: Any, num_nodes: int) -> np.ndarray:
    """(edge, 2): pairs of different nodes, each pair once."""
    try:
        pairs = np.asarray(edges if isinstance(edges, np.ndarray) else check_iterable(edges, "edges"))
    except ValueError:  # a ragged list
        pairs = np.empty(0)
    pairs = pairs.reshape(0, 2) if pairs.size == 0 else pairs
    if pairs.ndim != 2 or pairs.shape[1] != 2 or (pairs.dtype.kind not in "iu" and pairs.size):
        raise InvalidModel(f"edges are pairs of positions of nodes, (edge, 2); got the shape {pairs.shape}")
    if pairs.size and not 0 <= pairs.min() <= pairs.max() < num_nodes:
        raise InvalidModel(f"edges join nodes 0 … {num_nodes - 1}; got {pairs.min()} and {pairs.max()}")
    if (pairs[:, 0] == pairs[:, 1]).any():
        raise InvalidModel(f"an edge joins two nodes; one joins {pairs[pairs[:, 0] == pairs[:, 1]][0, 0]} to itself")
    sorted_pairs = np.sort(pairs.astype(np.int64), axis=1)
    if len(np.unique(sorted_pairs[:, 0] * num_nodes + sorted_pairs[:, 1])) < len(pairs):
        raise InvalidModel("two edges join the same nodes; add their log-potentials")
    return read_only(pairs, np.int64)


def check_pairwise(log_pairwise: Any, num_edges: int, num_states: int) -> np.ndarray:
    """(1 or edge, state, state)."""
    given = check_array(log_pairwise, "log_pairwise", error=InvalidModel)
    size = (num_states, num_states)
    if given.shape == size:
        given = given[np.newaxis]
    if given.shape not in {(1, *size), (num_edges, *size)}:
        raise InvalidModel(
            f"log_pairwise must have the shape {size}, for all edges, or {(num_edges, *size)}; got {given.shape}"
        )
    return as_logs(given, given.shape, name="log_pairwise")


def check_names(names: Iterable[str] | None, shape: tuple[int, ...]) -> tuple[str, ...]:
    """Names for all nodes; those of a grid are made when they are asked for."""
    if names is None:
        return GridNames(shape)
    listed = as_nodes(names)
    if len(listed) != int(np.prod(shape)):
        raise InvalidModel(f"there are {int(np.prod(shape))} nodes and {len(listed)} names; give each node a name")
    return listed


def grid_edges(shape: tuple[int, ...]) -> np.ndarray:
    """(edge, 2): each node of a grid and the next one along each axis, the last axis first.

    >>> grid_edges((2, 2)).tolist()
    [[0, 1], [2, 3], [0, 2], [1, 3]]
    """
    nodes = np.arange(int(np.prod(shape)), dtype=np.int64).reshape(shape)
    parts = [np.empty((0, 2), dtype=np.int64)]
    for axis in reversed(range(len(shape))):
        moved = np.moveaxis(nodes, axis, 0)
        before, after = np.moveaxis(moved[:-1], 0, axis), np.moveaxis(moved[1:], 0, axis)
        parts.append(np.stack([before.ravel(), after.ravel()], axis=1))
    return np.concatenate(parts)
