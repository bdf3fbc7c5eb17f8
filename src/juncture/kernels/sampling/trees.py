"""Gibbs sampling of whole trees of a pairwise model: messages to the root, then draws from the root outwards."""

from __future__ import annotations

import math

import numpy as np

from juncture.kernels.compiler import kernel
from juncture.kernels.draws import draw_index


@kernel(work=("uniforms", 40))
def sweep_trees(forests, contexts, parents, log_values, local_logs, uniforms, codes, kept_nodes, kept):
    """Draw all nodes of each forest at once given those outside, forest after forest, one uniform for each node.

    `forests` has where each forest starts among the places, and for each place its node, the place of its parent (-1
    for a root; parents come first) and its number of states. `contexts` and `parents` are the edges of each place to
    nodes outside the forest and to its parent: where they start, the place of their table in `log_values` and the
    strides of the node and of the other; a context also has the other node. `local_logs` is (place, state). The codes
    of some nodes are kept after every sweep whose number is a multiple of (number of sweeps) / (length of `kept`).
    """
    forest_starts, nodes, above, num_states = forests
    context_starts, others, context_tables, context_strides = contexts
    parent_starts, parent_tables, parent_strides = parents
    most = local_logs.shape[1]
    beliefs, weights = np.empty(local_logs.shape), np.empty(most)
    thin = len(uniforms) // len(kept) if len(kept) > 0 else len(uniforms) + 1
    for sweep in range(len(uniforms)):
        for forest in range(len(forest_starts) - 1):
            first, end = forest_starts[forest], forest_starts[forest + 1]
            for place in range(first, end):
                for state in range(num_states[place]):
                    total = local_logs[place, state]
                    for edge in range(context_starts[place], context_starts[place + 1]):
                        step = state * context_strides[edge, 0] + codes[others[edge]] * context_strides[edge, 1]
                        total += log_values[context_tables[edge] + step]
                    beliefs[place, state] = total
            for back in range(end - first):
                place = end - 1 - back
                parent = above[place]
                if parent < 0:
                    continue
                for outer in range(num_states[parent]):
                    top = -np.inf
                    for state in range(num_states[place]):
                        total = beliefs[place, state]
                        for edge in range(parent_starts[place], parent_starts[place + 1]):
                            step = state * parent_strides[edge, 0] + outer * parent_strides[edge, 1]
                            total += log_values[parent_tables[edge] + step]
                        weights[state] = total
                        top = max(top, total)
                    if top == -np.inf:
                        beliefs[parent, outer] = -np.inf
                        continue
                    total = 0.0
                    for state in range(num_states[place]):
                        total += math.exp(weights[state] - top)
                    beliefs[parent, outer] += top + math.log(total)
            for place in range(first, end):
                top = -np.inf
                for state in range(num_states[place]):
                    total = beliefs[place, state]
                    for edge in range(parent_starts[place], parent_starts[place + 1]):
                        step = state * parent_strides[edge, 0] + codes[nodes[above[place]]] * parent_strides[edge, 1]
                        total += log_values[parent_tables[edge] + step]
                    weights[state] = total
                    top = max(top, total)
                for state in range(num_states[place]):
                    weights[state] = math.exp(weights[state] - top)
                codes[nodes[place]] = draw_index(weights[: num_states[place]], uniforms[sweep, place])
        if (sweep + 1) % thin == 0:
            for index in range(len(kept_nodes)):
                kept[(sweep + 1) // thin - 1, index] = codes[kept_nodes[index]]
