"""Iterated conditional modes: each node in turn takes the best of its states, given all others."""

from __future__ import annotations

import numpy as np

from juncture.kernels.compiler import kernel


@kernel(work=("order",))
def visit_nodes(order, state_starts, log_unary, log_values, entries, scopes, cells, codes, stale):
    """Let each stale node of an order take its best state, given all others; how many nodes changed.

    The best state has the fewest zeros among the factors of the node, then the largest log of their product; the
    present state wins a tie, then the earliest. `entries` has for each node the factors that hold it: where they start,
    the factors, and the stride of the node in their tables. `cells` has the entry of `log_values` where each factor is
    now. A node is stale if a neighbour changed since the last visit.
    """
    entry_starts, entry_factors, entry_strides = entries
    scope_starts, scope_nodes = scopes
    num_changes = 0
    for node in order:
        if not stale[node]:
            continue
        stale[node] = False
        present = codes[node]
        best, best_zeros, best_total = present, 0, 0.0
        first = state_starts[node]
        for turn in range(-1, state_starts[node + 1] - first):
            state = present if turn < 0 else turn
            zeros, total = 0, log_unary[first + state]
            if total == -np.inf:
                zeros, total = 1, 0.0
            for entry in range(entry_starts[node], entry_starts[node + 1]):
                value = log_values[cells[entry_factors[entry]] + (state - present) * entry_strides[entry]]
                if value == -np.inf:
                    zeros += 1
                else:
                    total += value
            if turn < 0 or zeros < best_zeros or (zeros == best_zeros and total > best_total):
                best, best_zeros, best_total = state, zeros, total
        if best != present:
            num_changes += 1
            codes[node] = best
            for entry in range(entry_starts[node], entry_starts[node + 1]):
                factor = entry_factors[entry]
                cells[factor] += (best - present) * entry_strides[entry]
                for place in range(scope_starts[factor], scope_starts[factor + 1]):
                    if scope_nodes[place] != node:
                        stale[scope_nodes[place]] = True
    return num_changes
