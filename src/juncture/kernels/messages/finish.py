"""What messages give: the beliefs of nodes, the Bethe approximation of log Z, and the states of an assignment.

log Z = Σ log Z(node) + Σ log Z(factor) - Σ log Z(edge), with Z(node) the sum of the product of all messages to a node,
Z(factor) that of a table and all messages to the factor, and Z(edge) that of the two messages of an edge; exact in a
forest (Yedidia, Freeman and Weiss 2005).
"""

from __future__ import annotations

import math

import numpy as np

from juncture.kernels.compiler import kernel
from juncture.kernels.messages.layout import AXIS, FACTOR, IMPOSSIBLE, MESSAGE, SUM, TABLE, TINY, contract, normalize
from juncture.kernels.messages.nodes import collect_belief, log_number, multiply_in

TIE = 1e-10  # of logarithms: so near states are equally good, and the earlier is taken


@kernel
def log_total(values, size, mode):
    """The log of the sum of some numbers, or of numbers given by their logarithms."""
    if mode == SUM:
        total = 0.0
        for index in range(size):
            total += values[index]
        return math.log(total) if total > 0.0 else -math.inf
    largest = -math.inf
    for index in range(size):
        largest = max(largest, values[index])
    if largest == -math.inf:
        return largest
    total = 0.0
    for index in range(size):
        total += math.exp(values[index] - largest)
    return largest + math.log(total)


@kernel
def log_edge(received, sent, start, size, mode):
    """Log of the sum of the product of the two messages of an edge."""
    if mode == SUM:
        total = 0.0
        for index in range(start, start + size):
            total += received[index] * sent[index]
        return math.log(total) if total > 0.0 else -math.inf
    largest = -math.inf
    for index in range(start, start + size):
        largest = max(largest, received[index] + sent[index])
    if largest == -math.inf:
        return largest
    total = 0.0
    for index in range(start, start + size):
        total += math.exp(received[index] + sent[index] - largest)
    return largest + math.log(total)


@kernel
def log_factor(layout, sent, edge):
    """Log Z of the factor of an edge, cell by cell, for numbers whose products leave their range."""
    factor, at = layout.edges[edge, FACTOR], layout.edges[edge, TABLE]
    first, last = layout.scope_starts[factor], layout.scope_starts[factor + 1]
    num_cells = np.int64(1)
    for axis in range(first, last):
        num_cells *= layout.num_states[layout.scopes[axis]]
    largest, total = -math.inf, 0.0  # the sum of all exponentials so far is exp(largest) · total
    for cell in range(num_cells):
        value, rest = log_number(layout.tables[at + cell]), np.int64(cell)
        for axis in range(last - 1, first - 1, -1):
            size = layout.num_states[layout.scopes[axis]]
            value += log_number(sent[layout.message_starts[axis] + rest % size])
            rest //= size
        if value > largest:
            total = 1.0 + total * math.exp(largest - value)
            largest = value
        elif value > -math.inf:
            total += math.exp(value - largest)
    return largest + log_number(total)


@kernel
def sum_edges(layout, received, sent, node, mode, scratch):
    """- Σ log Z(edge) of a node, + Σ log Z(factor) of those that have the node first; -inf where a sum is zero."""
    total, size = 0.0, layout.num_states[node]
    for edge in range(layout.node_starts[node], layout.node_starts[node + 1]):
        log_sum = log_edge(received, sent, layout.edges[edge, MESSAGE], size, mode)
        if log_sum == -math.inf:
            return log_sum
        total -= log_sum
        if layout.edges[edge, AXIS] == 0:
            log_scale, status = contract(layout, sent, edge, size, mode, scratch)
            if status == TINY:  # which only factors of three or more nodes find
                total += log_factor(layout, sent, edge)
                continue
            more, status = multiply_in(scratch, sent, layout.edges[edge, MESSAGE], size, mode, 0.0)
            if status == IMPOSSIBLE:
                return -math.inf
            total += log_scale + more + log_total(scratch, size, mode)
    return total


@kernel
def find_beliefs(layout, likelihood, received, sent, mode, scratch, beliefs):
    """Fill in the beliefs (state of all nodes); gives the Bethe approximation of log Z, or -inf for impossible."""
    total = 0.0
    for node in range(len(layout.num_states)):
        start, size = layout.state_starts[node], layout.num_states[node]
        around = sum_edges(layout, received, sent, node, mode, scratch)
        log_scale, _ = collect_belief(layout, likelihood, received, node, mode, scratch)
        total += around + (log_scale + log_total(scratch, size, mode))  # large terms of a node cancel each other first
        if normalize(scratch, np.int64(0), size, mode) == IMPOSSIBLE:
            total = -math.inf
        for state in range(size):
            beliefs[start + state] = scratch[state] if mode == SUM else math.exp(scratch[state])
    return total


@kernel
def decode(layout, likelihood, sent, order, mode, scratch, codes):
    """The states of an assignment, by messages that are overwritten.

    Breadth first, each node takes the best of its states given those taken before; of equally good ones the earliest.
    """
    product = np.empty(len(scratch))
    for node in order:
        start, size = layout.state_starts[node], layout.num_states[node]
        for state in range(size):
            product[state] = likelihood[start + state]
        for edge in range(layout.node_starts[node], layout.node_starts[node + 1]):
            contract(layout, sent, edge, size, mode, scratch)
            for state in range(size):
                product[state] += scratch[state]
        best = product[:size].max()
        code = np.int64(0)
        while product[code] < best - TIE:
            code += 1
        codes[node] = code
        for edge in range(layout.node_starts[node], layout.node_starts[node + 1]):
            at = layout.edges[edge, MESSAGE]
            for state in range(size):
                sent[at + state] = 0.0 if state == code else -math.inf
