"""Sum-product on a clique tree that keeps possible cells only, for one row of evidence after the other."""

from __future__ import annotations

import numpy as np

from juncture.kernels.compiler import kernel
from juncture.kernels.junction_tree.layout import STATES
from juncture.kernels.junction_tree.propagation import DONE, part
from juncture.kernels.sparse_tree.layout import Evidence
from juncture.kernels.sparse_tree.propagation import propagate


@kernel
def weigh_states(node_table, observed, codes, soft, likelihoods, row, nodes, weight_starts, weights):
    """One row's evidence as nodes and a weight for each of their states; `codes` are (observed, row), -1 for a hole.

    Gives how many nodes there are.
    """
    count = np.int64(0)
    at = np.int64(0)
    for position in range(len(observed)):
        if codes[position, row] >= 0:
            nodes[count] = observed[position]
            weight_starts[count] = at
            count += 1
            for state in range(node_table[observed[position], STATES]):
                weights[at] = 1.0 if state == codes[position, row] else 0.0
                at += 1
    entry = 0
    for position in range(len(soft)):
        nodes[count] = soft[position]
        weight_starts[count] = at
        count += 1
        for _ in range(node_table[soft[position], STATES]):
            weights[at] = likelihoods[entry, row]
            at += 1
            entry += 1
    return count


@kernel(work=("base", "status"))
def propagate_rows(
    layout, base, prior, smallest, observed, codes, soft, likelihoods, evidence, targets, space, marginals,
    log_evidence, status,
):  # fmt: skip
    """Fill `marginals`, `log_evidence` and `status`, one entry a row; `evidence` is room for that of a row."""
    nodes, weight_starts, weights = evidence.observed, evidence.weight_starts, evidence.weights
    nothing = np.empty(0)
    for row in range(len(status)):
        count = weigh_states(layout.node_table, observed, codes, soft, likelihoods, row, nodes, weight_starts, weights)
        found = Evidence(part(nodes, np.int64(0), count), part(weight_starts, np.int64(0), count), weights)
        status[row], log_evidence[row] = propagate(
            layout, base, prior, smallest, found, targets, space, marginals[row], nothing
        )


@kernel(work=("base", "status"))
def add_posteriors(
    layout, base, prior, smallest, observed, codes, soft, likelihoods, evidence, row_weights, space, work, cells,
    log_evidence, status,
):  # fmt: skip
    """Add to `cells` the posterior of every clique, row by row, times the row's weight; rows that fail add nothing."""
    nodes, weight_starts, weights = evidence.observed, evidence.weight_starts, evidence.weights
    nothing = np.empty(0)
    no_nodes = np.empty(0, np.int64)
    for row in range(len(status)):
        count = weigh_states(layout.node_table, observed, codes, soft, likelihoods, row, nodes, weight_starts, weights)
        found = Evidence(part(nodes, np.int64(0), count), part(weight_starts, np.int64(0), count), weights)
        status[row], log_evidence[row] = propagate(layout, base, prior, smallest, found, no_nodes, space, nothing, work)
        weight = row_weights[row]
        if status[row] == DONE and weight > 0.0:
            for cell in range(len(cells)):
                cells[cell] += work[cell] * weight
