"""The update of a node: it receives a message from each of its factors, and sends one to each of them.

A factor sends the node its table times the messages from its other nodes, summed to the node. The node sends each
factor its likelihood times the messages from its other factors; the products of all but one are taken from both ends,
for a zero cannot be divided out.
"""

from __future__ import annotations

import math

import numpy as np

from juncture.kernels.compiler import kernel
from juncture.kernels.messages.layout import FADED, IMPOSSIBLE, SUM, contract, normalize, scale_up


@kernel
def find_change(old, start, new, at, size, mode):
    """The largest difference of two scaled messages; of logarithms, those far below the largest do not count."""
    change = 0.0
    for index in range(size):
        before, after = old[start + index], new[at + index]
        if mode == SUM:
            change = max(change, abs(after - before))
        elif max(before, after) > FADED:
            change = max(change, min(1.0, abs(after - before)))
    return change


@kernel
def damp(old, start, new, size, mode, damping):
    """new ← old^damping · new^(1 - damping), scaled again."""
    for index in range(size):
        if mode == SUM:
            new[index] = old[start + index] ** damping * new[index] ** (1.0 - damping)
        else:
            new[index] = damping * old[start + index] + (1.0 - damping) * new[index]
    return normalize(new, np.int64(0), size, mode)


@kernel
def receive(layout, received, sent, node, mode, damping, scratch):
    """New messages from the factors of a node; the largest change, or a status."""
    size, change = layout.num_states[node], 0.0
    for index in range(layout.node_starts[node], layout.node_starts[node + 1]):
        edge = layout.node_edges[index]
        start = layout.message_starts[edge]
        _, status = contract(layout, sent, edge, mode, scratch)
        if status == 0.0:
            status = normalize(scratch, np.int64(0), size, mode)
        if status == 0.0 and damping > 0.0:
            status = damp(received, start, scratch, size, mode, damping)
        if status < 0.0:
            return status
        change = max(change, find_change(received, start, scratch, np.int64(0), size, mode))
        for state in range(size):
            received[start + state] = scratch[state]
    return change


@kernel
def multiply_in(product, values, start, size, mode, log_scale):
    """Multiply a message into a product; (the sum of the logs of its scales, 0 or a status)."""
    if mode == SUM:
        for state in range(size):
            product[state] *= values[start + state]
        return scale_up(product, size, log_scale)
    largest = -math.inf
    for state in range(size):
        product[state] += values[start + state]
        largest = max(largest, product[state])
    return log_scale, IMPOSSIBLE if largest == -math.inf else 0.0


@kernel
def collect_belief(layout, likelihood, received, node, mode, product):
    """The likelihood of a node times all messages that it has received, not scaled to 1; (log scale, 0 or a status)."""
    size, log_scale, status = layout.num_states[node], 0.0, 0.0
    for state in range(size):
        product[state] = likelihood[layout.state_starts[node] + state]
    for index in range(layout.node_starts[node], layout.node_starts[node + 1]):
        start = layout.message_starts[layout.node_edges[index]]
        log_scale, status = multiply_in(product, received, start, size, mode, log_scale)
        if status < 0.0:
            break
    return log_scale, status


@kernel
def send(layout, likelihood, received, sent, node, mode, product):
    """New messages from a node to each of its factors; 0 or a status."""
    size, status = layout.num_states[node], 0.0
    for state in range(size):
        product[state] = likelihood[layout.state_starts[node] + state]
    first, last = layout.node_starts[node], layout.node_starts[node + 1]
    for index in range(first, last):
        start = layout.message_starts[layout.node_edges[index]]
        for state in range(size):
            sent[start + state] = product[state]
        _, status = multiply_in(product, received, start, size, mode, 0.0)
        if status < 0.0:
            return status
    for state in range(size):
        product[state] = 1.0 if mode == SUM else 0.0
    for index in range(last - 1, first - 1, -1):
        start = layout.message_starts[layout.node_edges[index]]
        for state in range(size):
            if mode == SUM:
                sent[start + state] *= product[state]
            else:
                sent[start + state] += product[state]
        status = normalize(sent, start, size, mode)
        if status == 0.0 and index > first:
            _, status = multiply_in(product, received, start, size, mode, 0.0)
        if status < 0.0:
            return status
    return status


@kernel
def update_node(layout, likelihood, received, before, after, node, mode, damping, scratch):
    """Receive messages computed from those sent `before`, and send new ones; the largest change received, or a status.

    Messages sent may be written where those before are.
    """
    change = receive(layout, received, before, node, mode, damping, scratch)
    if change < 0.0:
        return change
    status = send(layout, likelihood, received, after, node, mode, scratch)
    return status if status < 0.0 else change
