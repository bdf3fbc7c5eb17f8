"""Gibbs sampling of a pairwise model whose nodes have the same states, by colours."""

from __future__ import annotations

import math

import numpy as np

from juncture.kernels.compiler import kernel
from juncture.kernels.draws import draw_index
from juncture.kernels.sampling.streams import ONE, S11, UNIT, mix, stream_start, stream_step

LIMIT, SCALE = 20.0, 32.0  # the entries of `sigmoids` are at -LIMIT, -LIMIT + 1 / SCALE, …; the ends are 0 and 1
MOST = 700.0  # whose exponential is a finite number


@kernel(work=("codes", "powers", 4))
def sweep_pairs(nodes, edges, tables, log_unary, sigmoids, powers, keys, first_sweep, codes):
    """Draw the nodes of a range given their neighbours, once for each of `powers`: the target to that power.

    `edges` has for each node where its neighbours start, the neighbours, and where the table of their edge starts in
    `tables`: (state of the neighbour, state of the node), or of two states the gain of state 1 over state 0 for each
    state of the neighbour; `log_unary` is (node, state), or the gain of each node. `sigmoids` has 1 / (1 + exp(-x))
    at equal distances over (-LIMIT, LIMIT): most draws need no exponential. Node i takes number i of the random stream
    of a sweep, so that any range can be swept on any thread.
    """
    starts, neighbours, places = edges
    first_node, end_node = nodes
    num_states = log_unary.shape[1]
    weights = np.empty(num_states)
    for sweep in range(len(powers)):
        power = powers[sweep]
        start, step = stream_start(keys, first_sweep + sweep), stream_step(keys, first_sweep + sweep)
        for node in range(first_node, end_node):
            uniform = ((mix(start + np.uint64(node) * step) >> S11) + 0.5) * UNIT
            if num_states == 1:
                gain = log_unary[node, 0]
                for edge in range(starts[node], starts[node + 1]):
                    gain += tables[places[edge] + codes[neighbours[edge]]]
                gain *= power
                cell = np.uint64((min(LIMIT, max(-LIMIT, gain)) + LIMIT) * SCALE)
                is_below = np.uint8(uniform < sigmoids[cell])
                if is_below != np.uint8(uniform < sigmoids[cell + ONE]):  # between two entries: seldom
                    is_below = np.uint8(uniform * (1.0 + math.exp(min(-gain, MOST))) < 1.0)
                codes[node] = is_below
                continue
            top = -np.inf
            for state in range(num_states):
                total = log_unary[node, state]
                for edge in range(starts[node], starts[node + 1]):
                    total += tables[places[edge] + num_states * codes[neighbours[edge]] + state]
                weights[state] = total
                top = max(top, total)
            for state in range(num_states):
                weights[state] = math.exp(power * (weights[state] - top))
            codes[node] = draw_index(weights, uniform)


@kernel(work=("uniforms", "log_unary", 4))
def temper_pairs(
    nodes, edges, tables, log_unary, sigmoids, powers, keys, first_sweep, codes, factors, uniforms, kept_nodes, kept
):
    """Parallel tempering of codes (replica, node): a sweep of each replica at its power, then exchanges of neighbours.

    The first arguments are those of `sweep_pairs`, of which every replica has random streams of its own, and `factors`
    are those of `pair_log`. `uniforms` is (sweep, replica): one decides about an exchange with the next replica, from
    the first one on in sweeps of even number, else from the second one on. The codes of the first replica are kept.
    """
    num_sweeps, num_replicas = uniforms.shape
    thin, num_kept = num_sweeps // len(kept) if len(kept) > 0 else num_sweeps + 1, np.int64(0)
    logs = np.empty(num_replicas)
    for sweep in range(num_sweeps):
        number = first_sweep + sweep
        for replica in range(num_replicas):
            own, power = codes[replica], powers[replica : replica + 1]
            stream = number * num_replicas + replica
            sweep_pairs(nodes, edges, tables, log_unary, sigmoids, power, keys, stream, own)
            logs[replica] = pair_log(factors, own)
        for lower in range(number % 2, num_replicas - 1, 2):
            gain = (powers[lower] - powers[lower + 1]) * (logs[lower + 1] - logs[lower])
            if gain >= 0.0 or uniforms[sweep, lower] < math.exp(gain):
                for node in range(codes.shape[1]):
                    held = codes[lower, node]
                    codes[lower, node] = codes[lower + 1, node]
                    codes[lower + 1, node] = held
        if (sweep + 1) % thin == 0:
            for index in range(len(kept_nodes)):
                kept[num_kept, index] = codes[0, kept_nodes[index]]
            num_kept += 1


@kernel
def pair_log(factors, codes):
    """The log of the product of all factors: logs (node, state), and tables (edge, state, state) or one for all."""
    edges, tables, log_unary = factors
    total, last = 0.0, len(tables) - 1
    for node in range(len(codes)):
        total += log_unary[node, codes[node]]
    for edge in range(len(edges)):
        total += tables[min(edge, last), codes[edges[edge, 0]], codes[edges[edge, 1]]]
    return total
