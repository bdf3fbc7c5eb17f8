"""`magnetization`: the exact distribution of the sum of all nodes of an Ising model.

The nodes are eliminated one after the other. Between two eliminations there is one number for each state of the nodes
whose neighbours are not all eliminated, and for each sum so far: cost O(n² 2^width) for n nodes, which is small for
narrow grids. All numbers are logarithms.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from juncture.errors import Unsupported
from juncture.factors.factor import Factor
from juncture.networks.pairwise.model import PairwiseNetwork
from juncture.numerics.stable import log_sum_exp
from juncture.runtime.memory import check_memory
from juncture.variables import Variable

if TYPE_CHECKING:
    from juncture.networks.bayesian_network import Network


def magnetization(model: Network) -> Factor:
    """The distribution of Σ_i x_i, the sum of the states of all nodes.

    Parameters
    ----------
    model
        A `PairwiseNetwork` of two states that are numbers, such as -1 and 1. It may be clamped.

    Returns
    -------
    Factor
        A table over the variable "magnetization", whose states are the sums that can occur.

    Examples
    --------
    >>> import juncture as jt
    >>> table = jt.messages.magnetization(jt.ising((3, 3), coupling=0.5))
    >>> numbers = table.scope[0].numbers
    >>> round(float(table.values[np.abs(numbers) >= 7].sum()), 4)  # at most one node is unlike the others
    0.5306
    """
    if not isinstance(model, PairwiseNetwork) or model.num_states != 2 or any(isinstance(s, str) for s in model.states):
        raise Unsupported(f"magnetization takes a PairwiseNetwork of two numbers, such as ising(...); got {model!r}")
    logs = count_logs(model)
    low, high = (float(state) for state in model.states)
    sums = [low * (model.num_nodes - count) + high * count for count in range(model.num_nodes + 1)]
    states = [int(value) if value.is_integer() else value for value in sums]
    values = np.exp(logs - log_sum_exp(logs))
    order = np.argsort(sums)
    return Factor([Variable("magnetization", [states[at] for at in order])], values[order])


def count_logs(model: PairwiseNetwork) -> np.ndarray:
    """(count,): the log of the sum of all products in which so many nodes are in the second state."""
    neighbors: list[dict[int, np.ndarray]] = [{} for _ in range(model.num_nodes)]
    tables = np.broadcast_to(model.log_pairwise, (model.num_edges, 2, 2))
    for (first, second), table in zip(model.edges.tolist(), tables, strict=True):
        neighbors[first][second], neighbors[second][first] = table, table.T
    frontier: list[int] = []  # axis by axis; the last axis is the count
    logs = np.zeros(1)
    for node in range(model.num_nodes):
        frontier, logs = add_node(model, node, neighbors[node], frontier, logs)
        for old in [each for each in frontier if all(other <= node for other in neighbors[each])]:
            logs = log_sum_exp(logs, axis=frontier.index(old))
            frontier.remove(old)
    return logs


def add_node(
    model: PairwiseNetwork, node: int, neighbors: dict[int, np.ndarray], frontier: list[int], logs: np.ndarray
) -> tuple[list[int], np.ndarray]:
    """The logs with an axis for a further node in front, and a count that includes it."""
    size = 2.0 ** (len(frontier) + 1) * (model.num_nodes + 1)
    check_memory(8 * 4 * size, "the distribution of the magnetization", "take a narrower model")
    longer = np.full((2, *logs.shape[:-1], logs.shape[-1] + 1), -np.inf)
    longer[0, ..., :-1] = logs + model.log_unary[node, 0]
    longer[1, ..., 1:] = logs + model.log_unary[node, 1]
    for axis, other in enumerate(frontier, start=1):
        if other in neighbors:
            shape = [2 if at in (0, axis) else 1 for at in range(longer.ndim)]
            longer = longer + neighbors[other].reshape(shape)
    return [node, *frontier], longer
