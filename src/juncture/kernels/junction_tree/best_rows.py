"""Max-product on a laid-out clique tree for one row of evidence after the other: the best state of every node."""

from __future__ import annotations

import numpy as np

from juncture.kernels.compiler import kernel
from juncture.kernels.junction_tree.layout import MARGINAL, STATES
from juncture.kernels.junction_tree.logs import propagate_logs
from juncture.kernels.junction_tree.propagation import part


@kernel
def list_evidence(node_table, observed, codes, soft, log_likelihoods, row, nodes, logs):
    """One row's evidence as nodes and log-likelihoods; `codes` are (observed, row), -1 for a hole. (nodes, entries)."""
    count = np.int64(0)
    at = np.int64(0)
    for position in range(len(observed)):
        if codes[position, row] >= 0:
            nodes[count] = observed[position]
            count += 1
            for state in range(node_table[observed[position], STATES]):
                logs[at] = 0.0 if state == codes[position, row] else -np.inf
                at += 1
    entry = 0
    for position in range(len(soft)):
        nodes[count] = soft[position]
        count += 1
        for _ in range(node_table[soft[position], STATES]):
            logs[at] = log_likelihoods[entry, row]
            at += 1
            entry += 1
    return count, at


@kernel
def choose_states(node_table, max_marginals, tie, chosen):
    """Each node's first state of the largest max-marginal; whether some node has several."""
    is_tied = False
    for node in range(len(node_table)):
        logs = part(max_marginals, node_table[node, MARGINAL], node_table[node, STATES])
        top = -np.inf
        for state in range(len(logs)):
            top = max(top, logs[state])
        least = top - tie * max(1.0, abs(top))
        first = np.int64(-1)
        for state in range(len(logs)):
            if logs[state] >= least:
                is_tied = is_tied or first >= 0
                first = state if first < 0 else first
        chosen[node] = first
    return is_tied


@kernel(work=("log_base", "log_tops", 5))
def choose_rows(
    table, indices, node_table, log_base, observed, codes, soft, log_likelihoods, tie,
    work, messages, max_marginals, chosen, log_tops, tied,
):  # fmt: skip
    """Fill in for every row the best states (row, node), the log of their product, and whether there are ties."""
    num_nodes = len(node_table)
    all_nodes = np.arange(num_nodes)
    nodes = np.empty(len(observed) + len(soft), np.int64)
    logs = np.empty(len(max_marginals) + len(log_likelihoods))
    for row in range(len(log_tops)):
        count, entries = list_evidence(node_table, observed, codes, soft, log_likelihoods, row, nodes, logs)
        log_tops[row] = propagate_logs(
            table, indices, node_table, log_base, part(nodes, 0, count), part(logs, 0, entries), all_nodes,
            work, messages, max_marginals, True,
        )  # fmt: skip
        tied[row] = False
        if log_tops[row] > -np.inf:
            tied[row] = choose_states(node_table, max_marginals, tie, chosen[row])
