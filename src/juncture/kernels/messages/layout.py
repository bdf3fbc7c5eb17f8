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


# the columns of `edges`
MESSAGE = 0  # where the messages of the edge start
WIDTH = 1  # how many nodes the factor has
TABLE = 2  # where the table of the factor starts; with two nodes the axis of the other node is first
OTHER = 3  # with two nodes: where the messages of the other edge start
OTHER_SIZE = 4  # with two nodes: the states of the other node
FACTOR = 5
AXIS = 6  # of the node in the table
NUM_COLUMNS = 8  # a line of the cache


class MessageLayout(NamedTuple):
    """A product of factors as flat arrays, none of one node alone; edges are in the order of their nodes."""

    num_states: Any  # (node,)
    state_starts: Any  # (node + 1,)
    node_starts: Any  # (node + 1,): edges[node_starts[x]:node_starts[x + 1]] are those of node x
    edges: Any  # (edge, column)
    scope_starts: Any  # (factor + 1,): scopes[scope_starts[f]:scope_starts[f + 1]] are the nodes of factor f
    scopes: Any
    message_starts: Any  # in the order of `scopes`
    tables: Any  # entries, or their logarithms; the largest of a table is 1, or 0


@kernel
def reduce_logs(source, at, stride, size, message, start, mode):
    """The log-sum-exp, or the largest, of source[at + i · stride] + message[start + i]."""
    largest = -math.inf
    for index in range(size):
        largest = max(largest, source[at + index * stride] + message[start + index])
    if mode == LOGS and largest > -math.inf:
        total = 0.0
        for index in range(size):
            total += math.exp(source[at + index * stride] + message[start + index] - largest)
        largest += math.log(total)
    return largest


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
            target[row] = reduce_logs(source, place, np.int64(1), size, message, start, mode)


@kernel
def sum_first(source, at, size, rest, message, start, target):
    """target[b] = Σ message[i] source[i, b] for a table (size, rest); the target may be the source."""
    column = 0
    while column + 4 <= rest:  # four sums at once, which the compiler keeps in one register
        one, two, three, four = 0.0, 0.0, 0.0, 0.0
        place = at + column
        for index in range(start, start + size):
            weight = message[index]
            one += weight * source[place]
            two += weight * source[place + 1]
            three += weight * source[place + 2]
            four += weight * source[place + 3]
            place += rest
        target[column], target[column + 1], target[column + 2], target[column + 3] = one, two, three, four
        column += 4
    while column < rest:
        total, place = 0.0, at + column
        for index in range(start, start + size):
            total += message[index] * source[place]
            place += rest
        target[column] = total
        column += 1


@kernel
def reduce_first(source, at, size, rest, message, start, mode, target):
    """As `sum_first`, in any mode."""
    if mode == SUM:
        sum_first(source, at, size, rest, message, start, target)
        return
    for column in range(rest):
        target[column] = reduce_logs(source, at + column, rest, size, message, start, mode)


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
        total, num_tiny = 0.0, 0
        for index in range(start, start + size):
            total += values[index]
        if total == 0.0:
            return IMPOSSIBLE
        scale = 1.0 / total
        for index in range(start, start + size):
            values[index] *= scale
            num_tiny += (values[index] < LEAST) & (values[index] > 0.0)
        return TINY if num_tiny else 0.0
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
def contract(layout, sent, edge, size, mode, target):
    """A factor times the messages from its other nodes, summed to the node of an edge; (log scale, 0 or a status)."""
    at = layout.edges[edge, TABLE]
    if layout.edges[edge, WIDTH] == 2:
        reduce_first(
            layout.tables, at, layout.edges[edge, OTHER_SIZE], size, sent, layout.edges[edge, OTHER], mode, target
        )
        return 0.0, 0.0
    first, last = layout.scope_starts[layout.edges[edge, FACTOR]], layout.scope_starts[layout.edges[edge, FACTOR] + 1]
    axis, log_scale, status, rest = first + layout.edges[edge, AXIS], 0.0, 0.0, np.int64(1)
    for other in range(first, last):
        rest *= layout.num_states[layout.scopes[other]]
    source = layout.tables
    for index in range(1, last - first):  # the axes after that of the edge, from the last on; then those before
        other = last - index if last - index > axis else first + index - last + axis
        size = layout.num_states[layout.scopes[other]]
        rest //= size
        if other > axis:
            reduce_last(source, at, rest, size, sent, layout.message_starts[other], mode, target)
        else:
            reduce_first(source, at, size, rest, sent, layout.message_starts[other], mode, target)
        source, at = target, np.int64(0)
        if mode == SUM and index < last - first - 1:
            log_scale, status = scale_up(target, rest, log_scale)
            if status < 0.0:
                break
    return log_scale, status
