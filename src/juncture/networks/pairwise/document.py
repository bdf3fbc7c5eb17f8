"""Pairwise models as plain data.

    {"states": [-1, 1], "shape": [3, 4], "log_unary": [[…], …], "log_pairwise": [[…], …],
     "names": […], "edges": [[0, 1], …]}

`log_unary` has a row for each node, or one list for all nodes of a small model; `log_pairwise` one table, or one for
each edge; null is the logarithm of 0. `names` and `edges` are left out where they are those of a grid of that shape.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from juncture.base.documents.kinds import HEAD, register_kind
from juncture.base.documents.node import SPARE, Node
from juncture.data.document import encode_states, read_states
from juncture.networks.pairwise.model import PairwiseNetwork
from juncture.networks.pairwise.nodes import GridNames, grid_edges

ORDER = "elimination_order"
MAX_AXES = 32


def encode_pairwise(model: PairwiseNetwork) -> dict[str, Any]:
    unary, pairwise = model.log_unary, model.log_pairwise
    is_shared = 0 < len(unary) <= SPARE and bool((unary == unary[0]).all())  # a large model is spelt out
    document: dict[str, Any] = {
        "states": encode_states(model.states, "state"),
        "shape": list(model.shape),
        "log_unary": encode_logs(unary[0] if is_shared else unary),
        "log_pairwise": encode_logs(pairwise[0] if len(pairwise) == 1 else pairwise),
    }
    if not isinstance(model.names, GridNames):
        document["names"] = list(model.names)
    if not np.array_equal(model.edges, grid_edges(model.shape)):
        document["edges"] = model.edges.tolist()
    if model.elimination_order:
        document[ORDER] = list(model.elimination_order)
    return document


def encode_logs(logs: np.ndarray) -> Any:
    """Nested lists of logarithms, with None for that of 0."""
    if not np.isneginf(logs).any():
        return logs.tolist()
    listed = logs.astype(object)
    listed[np.isneginf(logs)] = None
    return listed.tolist()


def read_pairwise(document: Node) -> PairwiseNetwork:
    fields = document.fields([*HEAD, "states", "shape", "log_unary", "log_pairwise"], ["names", "edges", ORDER])
    shape = tuple(node.integer() for node in fields["shape"].items())
    num_nodes = read_num_nodes(fields["shape"], shape)
    states = read_states(fields["states"]) or []
    unary = fields["log_unary"].log_table()
    if unary.ndim == 1:
        unary = np.broadcast_to(unary, (num_nodes, len(unary))) if num_nodes else np.empty((0, len(states)))
    names = [node.string() for node in fields["names"].items()] if "names" in fields else None
    edges = fields["edges"].codes() if "edges" in fields else grid_edges(shape)
    pairwise = fields["log_pairwise"].log_table()
    if pairwise.size == 0 and not len(edges):
        pairwise = pairwise.reshape(len(edges), len(states), len(states))
    with document.locate_errors():
        model = PairwiseNetwork(unary, edges, pairwise, states=states, names=names, shape=shape)
        order = [node.string() for node in fields[ORDER].items()] if ORDER in fields else []
        return model.with_elimination_order(order) if order else model


def read_num_nodes(node: Node, shape: tuple[int, ...]) -> int:
    """The number of nodes of a grid, which a short document cannot make large."""
    if not shape or min(shape) < 0:
        raise node.error("must be a list of sizes of at least 0")
    if len(shape) > MAX_AXES:
        raise node.error(f"must be a list of at most {MAX_AXES} sizes; got {len(shape):,}")
    for size in shape:
        node.check_size(size, "nodes along an axis")
    return node.check_size(math.prod(shape), "nodes")


register_kind(PairwiseNetwork, encode_pairwise, read_pairwise)
