"""Clique tables as logarithms, for what no double can hold."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from juncture.inference.exact.junction_tree.plan import CliquePlan


def pack_logs(plan: CliquePlan, log_factors: Sequence[np.ndarray]) -> np.ndarray:
    """The slow way, for factors whose products no double can hold: logarithms added up, clique by clique."""
    log_base = np.zeros(plan.num_cells)
    offsets = np.concatenate([[0], np.cumsum(plan.table[:, 1])])
    for factor, logs in enumerate(log_factors):
        clique = plan.factor_homes[factor]
        if clique < 0:
            continue
        axes = plan.nodes[plan.starts[clique] : plan.starts[clique + 1]].tolist()
        scope = plan.scope_nodes[plan.scope_starts[factor] : plan.scope_starts[factor + 1]].tolist()
        order = [scope.index(node) for node in axes if node in scope]
        shape = [plan.num_states[node] if node in scope else 1 for node in axes]
        cells = log_base[offsets[clique] : offsets[clique + 1]].reshape([plan.num_states[node] for node in axes])
        cells += logs.transpose(order).reshape(shape)
    return log_base
