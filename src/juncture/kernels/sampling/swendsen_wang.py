"""Swendsen-Wang and Wolff: clusters of nodes that are joined by random bonds change their states together."""

from __future__ import annotations

import math

import numpy as np

from juncture.kernels.compiler import kernel
from juncture.kernels.draws import S11, UNIT, draw_index, mix, stream_start, stream_step


@kernel(work=("edges", "num_sweeps", 4))
def sweep_clusters(edges, bonds, log_unary, keys, first_sweep, num_sweeps, codes):
    """Join nodes by bonds and shift the states of each cluster, `num_sweeps` times.

    An edge joins nodes in equal states with probability `bonds[edge]`; of a negative entry, nodes in different states
    with minus that probability. All nodes of a cluster add the same shift to their codes, modulo the number of states,
    with probability in proportion to exp(Σ log_unary).
    """
    num_nodes, num_states = log_unary.shape
    parents, sums = np.empty(num_nodes, np.int64), np.empty((num_nodes, num_states))
    shifts = np.empty(num_nodes, np.int64)
    for sweep in range(first_sweep, first_sweep + num_sweeps):
        start, step = stream_start(keys, sweep), stream_step(keys, sweep)
        for node in range(num_nodes):
            parents[node] = node
        for edge in range(len(edges)):
            one, other, bond = edges[edge, 0], edges[edge, 1], bonds[edge % len(bonds)]
            if (codes[one] == codes[other]) == (bond > 0.0):
                uniform = ((mix(start + np.uint64(edge) * step) >> S11) + 0.5) * UNIT
                if uniform < abs(bond):
                    while parents[one] != one:
                        parents[one] = parents[parents[one]]
                        one = parents[one]
                    while parents[other] != other:
                        parents[other] = parents[parents[other]]
                        other = parents[other]
                    parents[max(one, other)] = min(one, other)  # the first node of a cluster is its root
        sums[:] = 0.0
        for node in range(num_nodes):
            parents[node] = parents[parents[node]]  # roots come first
            root = parents[node]
            for shift in range(num_states):
                sums[root, shift] += log_unary[node, (codes[node] + shift) % num_states]
        for node in range(num_nodes):
            if parents[node] == node:
                top = -np.inf
                for shift in range(num_states):
                    top = max(top, sums[node, shift])
                for shift in range(num_states):
                    sums[node, shift] = math.exp(sums[node, shift] - top)
                uniform = ((mix(start + np.uint64(len(edges) + node) * step) >> S11) + 0.5) * UNIT
                shifts[node] = draw_index(sums[node], uniform)
            codes[node] = (codes[node] + shifts[parents[node]]) % num_states


@kernel(work=("codes", "num_steps"))
def flip_clusters(neighbours, bonds, log_unary, keys, first_step, num_steps, codes):
    """Grow a cluster from a random node and shift its states, `num_steps` times (Wolff).

    `neighbours` has for each node where its edges start, the nodes at their other ends, and the edges. The shift is
    one of those that change the states, all alike; it is taken with probability min(1, exp(change of Σ log_unary)).
    """
    starts, others, numbers = neighbours
    num_nodes, num_states = log_unary.shape
    members, is_member = np.empty(num_nodes, np.int64), np.zeros(num_nodes, np.bool_)
    for index in range(first_step, first_step + num_steps):
        word, step = stream_start(keys, index), stream_step(keys, index)
        uniform = ((mix(word) >> S11) + 0.5) * UNIT
        members[0] = int(uniform * num_nodes)
        is_member[members[0]] = True
        size, looked = 1, 0
        while looked < size:
            node = members[looked]
            looked += 1
            for place in range(starts[node], starts[node + 1]):
                other, bond = others[place], bonds[numbers[place] % len(bonds)]
                if not is_member[other] and (codes[node] == codes[other]) == (bond > 0.0):
                    word += step
                    if ((mix(word) >> S11) + 0.5) * UNIT < abs(bond):
                        is_member[other] = True
                        members[size] = other
                        size += 1
        word += step
        shift = 1 + int(((mix(word) >> S11) + 0.5) * UNIT * (num_states - 1))
        gain = 0.0
        for place in range(size):
            code = codes[members[place]]
            gain += log_unary[members[place], (code + shift) % num_states] - log_unary[members[place], code]
        word += step
        is_taken = gain >= 0.0 or ((mix(word) >> S11) + 0.5) * UNIT < math.exp(gain)
        for place in range(size):
            is_member[members[place]] = False
            if is_taken:
                codes[members[place]] = (codes[members[place]] + shift) % num_states
