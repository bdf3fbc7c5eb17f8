"""Pairwise models as plain data.

    {"states": [-1, 1], "shape": [3, 4], "log_unary": [[…], …], "log_pairwise": [[…], …],
     "names": […], "edges": [[0, 1], …]}

`log_unary` has a row for each node, or one list for all nodes of a small model; `log_pairwise` one table, or one for
each edge; null is the logarithm of 0. `names` and `edges` are left out where they are those of a grid of that shape.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from juncture.base.documents.codec import CODES, LOG_TABLE, TEXT, Given, Pair, Record, encode_logs, left_out, list_of
from juncture.base.documents.kinds import register_kind
from juncture.base.documents.node import SPARE, Node
from juncture.data.document import states_of
from juncture.networks.pairwise.model import PairwiseNetwork
from juncture.networks.pairwise.nodes import GridNames, grid_edges

MAX_AXES = 32
KEYS = ("states", "shape", "log_unary", "log_pairwise", "names", "edges", "elimination_order")


class PairwiseRecord(Record):
    """Pairwise models, whose tables, names and edges are short where they are those of a homogeneous grid."""

    def parts(self, value: PairwiseNetwork, /) -> dict[str, Any]:
        unary, pairwise = value.log_unary, value.log_pairwise
        is_shared = 0 < len(unary) <= SPARE and bool((unary == unary[0]).all())  # a large model is spelt out
        return {
            "states": value.states,
            "shape": value.shape,
            "log_unary": unary[0] if is_shared else unary,
            "log_pairwise": pairwise[0] if len(pairwise) == 1 else pairwise,
            "names": None if isinstance(value.names, GridNames) else value.names,
            "edges": None if np.array_equal(value.edges, grid_edges(value.shape)) else value.edges,
            "elimination_order": value.elimination_order or None,
        }

    def make(self, *, edges: Any = None, elimination_order: Any = (), **values: Any) -> PairwiseNetwork:
        edges = grid_edges(values["shape"]) if edges is None else edges
        if values["log_pairwise"].size == 0 and not len(edges):
            num_states = len(values["states"])
            values["log_pairwise"] = np.empty((0, num_states, num_states))
        model = PairwiseNetwork(edges=edges, **values)
        return model.with_elimination_order(elimination_order) if elimination_order else model


def read_shape(node: Node) -> tuple[int, ...]:
    """The sizes of a grid, which a short document cannot make large."""
    shape = tuple(item.integer() for item in node.items())
    if not shape or min(shape) < 0:
        raise node.error("must be a list of sizes of at least 0")
    if len(shape) > MAX_AXES:
        raise node.error(f"must be a list of at most {MAX_AXES} sizes; got {len(shape):,}")
    for size in shape:
        node.check_size(size, "nodes along an axis")
    node.check_size(math.prod(shape), "nodes")
    return shape


def read_unary(node: Node, values: Mapping[str, Any]) -> np.ndarray:
    """A row for each node, also where the document has one for all of them."""
    unary, num_nodes = node.log_table(), math.prod(values["shape"])
    if unary.ndim != 1:
        return unary
    return np.broadcast_to(unary, (num_nodes, len(unary))) if num_nodes else np.empty((0, len(values["states"])))


register_kind(
    PairwiseRecord(
        PairwiseNetwork,
        *KEYS,
        states=states_of("state"),
        shape=Pair(list, read_shape),
        log_unary=Given(encode_logs, read_unary),
        log_pairwise=LOG_TABLE,
        names=left_out(list_of(TEXT)),
        edges=left_out(CODES),
        elimination_order=left_out(list_of(TEXT)),
    )
)
