"""The memory layout of messages, and the three ways to compute with them.

An edge joins a factor and a node of its scope; it has two messages, one each way, a number for each state of the node.
SUM: tables and messages hold numbers, which are summed. Messages are scaled to sum to 1, and every number is zero or at
least `LEAST`, so that no product of two leaves the range of doubles; where one would be smaller, the run ends with
`TINY`, to be repeated in logarithms. LOGS: all numbers are logarithms, and sums are taken by log-sum-exp. MAX: all
numbers are logarithms, and the largest is taken; messages are scaled to a largest number of 0.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from juncture.kernels.compiler import kernel, summing_kernel

SUM, LOGS, MAX = 0, 1, 2
LEAST = 1e-100  # of the numbers of a message
SMALL = 1e-50  # a largest entry below it is scaled up
FADED = -40.0  # logarithms below it, of messages scaled to 1, do not count as changed
IMPOSSIBLE, TINY = -1.0, -2.0  # instead of a change


class MessageLayout(NamedTuple):
    """A product of factors as flat arrays."""

    num_states: Any  # (node,)
    state_starts: Any  # (node + 1,)
    node_starts: Any  # (node + 1,): node_edges[node_starts[x]:node_starts[x + 1]] are the edges of node x
    node_edges: Any
    scope_starts: Any  # (factor + 1,): the edges of a factor are numbered from scope_starts[f] on
    edge_nodes: Any  # (edge,)
    edge_factors: Any  # (edge,)
    message_starts: Any  # (edge + 1,): where the messages of an edge start
    table_starts: Any  # (factor,)
    tables: Any  # entries, or their logarithms; the largest of a table is 1, or 0


@summing_kernel
def reduce_last(source, at, rest, size, message, start, mode, target):
    """target[a] = Σ source[a, i] message[i] for a table (rest, size); the target may be the source."""
    for row in range(rest):
        place = at + row * size
        if mode == SUM:
            total = 0.0
            for index in range(size):
                total += source[place + index] * message[start + index]
            target[row] = total
        else:
            largest = -math.inf
            for index in range(size):
                largest = max(largest, source[place + index] + message[start + index])
            if mode == LOGS and largest > -math.inf:
                total = 0.0
                for index in range(size):
                    total += math.exp(source[place + index] + message[start + index] - largest)
                largest += math.log(total)
            target[row] = largest


@kernel
def reduce_first(source, at, size, rest, message, start, mode, target):
    """target[b] = Σ message[i] source[i, b] for a table (size, rest); the target may be the source."""
    if mode == SUM:
        for column in range(rest):
            target[column] = message[start] * source[at + column]
        for index in range(1, size):
            weight, place = message[start + index], at + index * rest
            for column in range(rest):
                target[column] += weight * source[place + column]
        return
    for column in range(rest):
        largest = -math.inf
        for index in range(size):
            largest = max(largest, source[at + index * rest + column] + message[start + index])
        if mode == LOGS and largest > -math.inf:
            total = 0.0
            for index in range(size):
                total += math.exp(source[at + index * rest + column] + message[start + index] - largest)
            largest += math.log(total)
        target[column] = largest


@kernel
def scale_up(values, size, log_scale):
    """Divide numbers whose largest is small by it; (the sum of the logs of the divisors, 0 or a status)."""
    largest, least = 0.0, 1.0
    for index in range(size):
        largest = max(largest, values[index])
        if 0.0 < values[index] < least:
            least = values[index]
    if largest == 0.0:
        return log_scale, IMPOSSIBLE
    if largest < SMALL:
        for index in range(size):
            values[index] /= largest
        return log_scale + math.log(largest), TINY if least < LEAST * largest else 0.0
    return log_scale, TINY if least < LEAST else 0.0


@kernel
def normalize(values, start, size, mode):
    """Scale a message; 0, or that it is IMPOSSIBLE or TINY."""
    if mode == SUM:
        total, least = 0.0, 1.0
        for index in range(start, start + size):
            total += values[index]
        if total == 0.0:
            return IMPOSSIBLE
        scale = 1.0 / total
        for index in range(start, start + size):
            values[index] *= scale
            if 0.0 < values[index] < least:
                least = values[index]
        return TINY if least < LEAST else 0.0
    largest = -math.inf
    for index in range(start, start + size):
        largest = max(largest, values[index])
    if largest == -math.inf:
        return IMPOSSIBLE
    if mode == LOGS:
        total = 0.0
        for index in range(start, start + size):
            total += math.exp(values[index] - largest)
        largest += math.log(total)
    for index in range(start, start + size):
        values[index] -= largest
    return 0.0


@kernel
def contract(layout, sent, edge, mode, target):
    """A factor times the messages from its other nodes, summed to the node of an edge; (log scale, 0 or a status)."""
    factor = layout.edge_factors[edge]
    first, last = layout.scope_starts[factor], layout.scope_starts[factor + 1]
    size = layout.num_states[layout.edge_nodes[edge]]
    log_scale, status, at = 0.0, 0.0, layout.table_starts[factor]
    if last - first == 1:
        for index in range(size):
            target[index] = layout.tables[at + index]
        return log_scale, status
    rest = size
    for other in range(first, last):
        if other != edge:
            rest *= layout.num_states[layout.edge_nodes[other]]
    source = layout.tables
    for index in range(1, last - first):  # the axes after that of the edge, from the last on; then those before it
        other = last - index if last - index > edge else first + index - last + edge
        size = layout.num_states[layout.edge_nodes[other]]
        rest //= size
        if other > edge:
            reduce_last(source, at, rest, size, sent, layout.message_starts[other], mode, target)
        else:
            reduce_first(source, at, size, rest, sent, layout.message_starts[other], mode, target)
        source, at = target, np.int64(0)
        if mode == SUM and index < last - first - 1:
            log_scale, status = scale_up(target, rest, log_scale)
            if status < 0.0:
                return log_scale, status
    return log_scale, status
