"""The update of a node: it receives a message from each of its factors, and sends one to each of them.

A factor sends the node its table times the messages from its other nodes, summed to the node. The node sends each
factor its likelihood times the messages from its other factors; the products of all but one are taken from both ends,
for a zero cannot be divided out.
"""

from __future__ import annotations

import math

import numpy as np

from juncture.kernels.compiler import kernel
from juncture.kernels.messages.layout import (
    IMPOSSIBLE,
    LEAST,
    MESSAGE,
    OTHER,
    OTHER_SIZE,
    SUM,
    TABLE,
    TINY,
    WIDTH,
    contract,
    normalize,
    scale_up,
    sum_first,
)


@kernel
def find_change(old, start, new, at, size, mode, faded):
    """The largest difference of two scaled messages; logarithms that are at most `faded` do not count."""
    change = 0.0
    for index in range(size):
        before, after = old[start + index], new[at + index]
        if mode == SUM:
            change = max(change, abs(after - before))
        elif max(before, after) > faded:
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
def take_sum(received, start, values, size):
    """Store a message scaled to sum to 1; how much it changed, or a status."""
    total, change, num_tiny = 0.0, 0.0, 0
    for state in range(size):
        total += values[state]
    if total == 0.0:
        return IMPOSSIBLE
    scale = 1.0 / total
    for state in range(size):
        value = values[state] * scale
        change = max(change, abs(value - received[start + state]))
        num_tiny += (value < LEAST) & (value > 0.0)
        received[start + state] = value
    return TINY if num_tiny else change


@kernel
def take_message(received, start, values, size, mode, damping, faded):
    """As `take_sum`, in any mode and with damping."""
    status = normalize(values, np.int64(0), size, mode)
    if status == 0.0 and damping > 0.0:
        status = damp(received, start, values, size, mode, damping)
    if status < 0.0:
        return status
    change = find_change(received, start, values, np.int64(0), size, mode, faded)
    for state in range(size):
        received[start + state] = values[state]
    return change


@kernel
def receive(layout, received, sent, node, mode, damping, faded, scratch):
    """New messages from the factors of a node; the largest change, or a status."""
    size, change = layout.num_states[node], 0.0
    for edge in range(layout.node_starts[node], layout.node_starts[node + 1]):
        start, status = layout.edges[edge, MESSAGE], 0.0
        if mode == SUM and layout.edges[edge, WIDTH] == 2:  # the inner loop of most models
            at, other = layout.edges[edge, TABLE], layout.edges[edge, OTHER]
            sum_first(layout.tables, at, layout.edges[edge, OTHER_SIZE], size, sent, other, scratch)
        else:
            _, status = contract(layout, sent, edge, size, mode, scratch)
        if status == 0.0 and mode == SUM and damping == 0.0:
            status = take_sum(received, start, scratch, size)
        elif status == 0.0:
            status = take_message(received, start, scratch, size, mode, damping, faded)
        if status < 0.0:
            return status
        change = max(change, status)
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
    """The likelihood of a node times all messages that it has received, not scaled to 1; (log scale, 0 or a status).

    Messages keep to their range where a product of many leaves it and comes back: then logarithms are summed.
    """
    size, log_scale, status = layout.num_states[node], 0.0, 0.0
    for state in range(size):
        product[state] = likelihood[layout.state_starts[node] + state]
    for edge in range(layout.node_starts[node], layout.node_starts[node + 1]):
        start = layout.edges[edge, MESSAGE]
        log_scale, status = multiply_in(product, received, start, size, mode, log_scale)
        if status < 0.0:
            break
    return collect_logs(layout, likelihood, received, node, product) if status == TINY else (log_scale, status)


@kernel
def log_number(number):
    """The logarithm of a number that may be 0."""
    return math.log(number) if number > 0.0 else -math.inf


@kernel
def collect_logs(layout, likelihood, received, node, product):
    """As `collect_belief` of numbers, by sums of their logarithms."""
    size, largest = layout.num_states[node], -math.inf
    for state in range(size):
        total = log_number(likelihood[layout.state_starts[node] + state])
        for edge in range(layout.node_starts[node], layout.node_starts[node + 1]):
            total += log_number(received[layout.edges[edge, MESSAGE] + state])
        product[state] = total
        largest = max(largest, total)
    if largest == -math.inf:
        product[:size] = 0.0
        return 0.0, IMPOSSIBLE
    for state in range(size):
        product[state] = math.exp(product[state] - largest)
    return largest, 0.0


@kernel
def send_positive(layout, likelihood, received, sent, node, product):
    """As `send`, of numbers without zeros; False where there is one, or where one may have become too small."""
    size = layout.num_states[node]
    first, last = layout.node_starts[node], layout.node_starts[node + 1]
    for state in range(size):
        product[state] = likelihood[layout.state_starts[node] + state]
    for edge in range(first, last):
        start = layout.edges[edge, MESSAGE]
        for state in range(size):
            sent[start + state] = product[state]
            product[state] *= received[start + state]
    for state in range(size):
        product[state] = 1.0
    num_small = 0
    for edge in range(last - 1, first - 1, -1):
        start, total = layout.edges[edge, MESSAGE], 0.0
        for state in range(size):
            sent[start + state] *= product[state]
            product[state] *= received[start + state]
            total += sent[start + state]
        scale = 1.0 / max(total, LEAST)
        for state in range(size):
            sent[start + state] *= scale
            num_small += sent[start + state] < LEAST
    return num_small == 0


@kernel
def send(layout, likelihood, received, sent, node, mode, product):
    """New messages from a node to each of its factors; 0 or a status."""
    if mode == SUM and send_positive(layout, likelihood, received, sent, node, product):
        return 0.0
    size, status = layout.num_states[node], 0.0
    for state in range(size):
        product[state] = likelihood[layout.state_starts[node] + state]
    first, last = layout.node_starts[node], layout.node_starts[node + 1]
    for edge in range(first, last):
        start = layout.edges[edge, MESSAGE]
        for state in range(size):
            sent[start + state] = product[state]
        _, status = multiply_in(product, received, start, size, mode, 0.0)
        if status < 0.0:
            return status
    for state in range(size):
        product[state] = 1.0 if mode == SUM else 0.0
    for edge in range(last - 1, first - 1, -1):
        start = layout.edges[edge, MESSAGE]
        for state in range(size):
            if mode == SUM:
                sent[start + state] *= product[state]
            else:
                sent[start + state] += product[state]
        status = normalize(sent, start, size, mode)
        if status == 0.0 and edge > first:
            _, status = multiply_in(product, received, start, size, mode, 0.0)
        if status < 0.0:
            return status
    return status


@kernel
def update_node(layout, likelihood, received, before, after, node, mode, damping, faded, scratch):
    """Receive messages computed from those sent `before`, and send new ones; the largest change received, or a status.

    Messages sent may be written where those before are.
    """
    change = receive(layout, received, before, node, mode, damping, faded, scratch)
    if change < 0.0:
        return change
    status = send(layout, likelihood, received, after, node, mode, scratch)
    return status if status < 0.0 else change
