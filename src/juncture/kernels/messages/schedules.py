"""Schedules: in which order nodes are updated, until no message changes any more; and what the messages give.

Flooding updates all nodes at once, from the messages of the step before. In a forest one step from the leaves to the
roots and one back make every message final. The residual schedule updates a node next whose factors got the most change
since it was updated last (after Elidan, McGraw and Koller 2006; the bound on changes is that of Sutton and McCallum
2007, so that no message is computed that is not sent). When no node has more than the tolerance left, a step over all
nodes has to confirm it.

The queue takes the largest change first, to within a factor of two. Nodes wait in buckets, one for each power of two,
and in a bucket first come, first served. So a node is put in and taken out in a few steps, however many there are, and
nodes that are near each other are updated one after the other.

Messages give the beliefs of nodes, the states of an assignment, and the Bethe approximation
log Z = Σ log Z(node) + Σ log Z(factor) - Σ log Z(edge), with Z(node) the sum of the product of all messages to a node,
Z(factor) that of a table and all messages to the factor, and Z(edge) that of the two messages of an edge; exact in a
forest (Yedidia, Freeman and Weiss 2005).
"""

from __future__ import annotations

import math

import numpy as np

from juncture.kernels.compiler import kernel
from juncture.kernels.messages.layout import (
    AXIS,
    FACTOR,
    FADED,
    IMPOSSIBLE,
    MESSAGE,
    SUM,
    TABLE,
    TINY,
    contract,
    normalize,
)
from juncture.kernels.messages.nodes import collect_belief, find_change, log_number, multiply_in, update_node

FLOODING, RESIDUAL = 0, 1
NUM_BUCKETS = 64
FIRST, LAST = 0, 1  # the rows of `ends`
NEXT, PREVIOUS, BUCKET = 0, 1, 2  # the rows of `links`
TIE = 1e-10  # of logarithms: so near states are equally good, and the earlier is taken


@kernel(work=("received", "last_step", 16))
def run_rows(
    layout, likelihoods, received, sent, priorities, steps, changes, is_done, is_forest, mode, schedule, damping,
    tolerance, last_step, scratch_size, beliefs, log_values, codes,
):  # fmt: skip
    """Run each row that is not done up to its `last_step`.

    Where there is place for beliefs (row, state of all nodes), they and log Z (row,) are filled in, or for MAX the
    states of an assignment (row, node).
    """
    order = np.empty(len(layout.num_states), np.int64)
    scratch, spare = np.empty(scratch_size), np.empty(received.shape[1])
    for row in range(len(steps)):
        likelihood, is_final = likelihoods[row], is_done[row] or changes[row] < 0.0
        if not is_final or len(codes):
            is_forest[row] = find_order(layout, likelihood, mode, order)
        if not is_final and steps[row] < last_step:
            steps[row], changes[row], is_done[row] = run_row(
                layout, likelihood, received[row], sent[row], priorities[row], order, is_forest[row], mode, schedule,
                damping, tolerance, steps[row], last_step, scratch, spare,
            )  # fmt: skip
        if len(beliefs) and changes[row] >= 0.0:
            log_values[row] = find_beliefs(layout, likelihood, received[row], sent[row], mode, scratch, beliefs[row])
        if len(codes) and changes[row] >= 0.0:
            for index in range(len(spare)):
                spare[index] = sent[row, index]
            decode(layout, likelihood, spare, order, mode, scratch, codes[row])


@kernel
def find_order(layout, likelihood, mode, order):
    """Breadth-first order of the nodes, observed ones last; whether the graph without these is a forest."""
    zero = 0.0 if mode == SUM else -math.inf
    num_nodes, num_factors = len(layout.num_states), len(layout.scope_starts) - 1
    is_met, is_seen = np.zeros(num_nodes, np.bool_), np.zeros(num_factors, np.bool_)
    end, surplus = num_nodes, np.int64(0)  # edges less nodes, less factors, plus trees: 0 in a forest
    for node in range(num_nodes - 1, -1, -1):
        count = 0
        for state in range(layout.state_starts[node], layout.state_starts[node + 1]):
            count += likelihood[state] > zero
        if count <= 1:
            is_met[node] = True
            end -= 1
            order[end] = node
    start = stop = 0
    for root in range(num_nodes):
        if is_met[root]:
            continue
        is_met[root] = True
        order[stop] = root
        stop += 1
        surplus += 1
        while start < stop:
            node = order[start]
            start += 1
            surplus -= 1
            for edge in range(layout.node_starts[node], layout.node_starts[node + 1]):
                factor = layout.edges[edge, FACTOR]
                surplus += 1
                if is_seen[factor]:
                    continue
                is_seen[factor] = True
                surplus -= 1
                for axis in range(layout.scope_starts[factor], layout.scope_starts[factor + 1]):
                    other = layout.scopes[axis]
                    if not is_met[other]:
                        is_met[other] = True
                        order[stop] = other
                        stop += 1
    return surplus == 0


@kernel
def run_row(
    layout, likelihood, received, sent, priorities, order, is_forest, mode, schedule, damping, tolerance, step,
    last_step, scratch, spare,
):  # fmt: skip
    """Steps until the messages do not change any more; (steps, last change or a status, is done)."""
    num_nodes, is_done, change, first_step = len(layout.num_states), False, math.inf, step
    ends, links, before, after = np.empty((2, NUM_BUCKETS), np.int64), np.empty((3, num_nodes), np.int64), sent, spare
    while step < last_step and not is_done and change >= 0.0:
        step += 1
        if schedule == FLOODING:
            change = flood_nodes(
                layout, likelihood, received, before, after, np.int64(0), np.int64(num_nodes), is_forest, mode,
                damping, scratch,
            )  # fmt: skip
            before, after = after, before
            is_done = 0.0 <= change <= (0.0 if is_forest else tolerance)
        elif is_forest:
            change = sweep(layout, likelihood, received, sent, order, step == 1, mode, scratch)
            is_done = step == 2 and change >= 0.0
            change = 0.0 if is_done else change
        else:
            change, is_done = take_residual_step(
                layout, likelihood, received, sent, priorities, ends, links, mode, damping, tolerance, scratch, spare
            )
    if schedule == FLOODING and (step - first_step) % 2 == 1:
        for index in range(len(sent)):
            sent[index] = spare[index]
    return step, change, is_done


@kernel
def sweep(layout, likelihood, received, sent, order, is_backward, mode, scratch):
    """Update all nodes one after the other, in an order or from its end; the largest change, or a status."""
    change, num_nodes = 0.0, len(order)
    for index in range(num_nodes):
        node = order[num_nodes - 1 - index if is_backward else index]
        moved = update_node(layout, likelihood, received, sent, sent, node, mode, 0.0, FADED, scratch)
        if moved < 0.0:
            return moved
        change = max(change, moved)
    return change


@kernel
def take_residual_step(
    layout, likelihood, received, sent, priorities, ends, links, mode, damping, tolerance, scratch, old
):
    """As many updates as there are nodes, each of a node with the most change to take in; (change, is confirmed).

    Where no node has more than the tolerance, every node is updated once; that no message changes by more confirms it.
    """
    fill_queue(ends, links, priorities, tolerance)
    change, is_last = 0.0, first_node(ends) < 0
    for index in range(len(priorities)):
        node = np.int64(index) if is_last else first_node(ends)
        if node < 0:
            break
        moved = update_in_queue(
            layout, likelihood, received, sent, node, mode, damping, tolerance, scratch, old, ends, links, priorities
        )
        if moved < 0.0:
            return moved, False
        change = max(change, moved)
    return change, is_last and change <= tolerance


@kernel
def fill_queue(ends, links, priorities, tolerance):
    """Put every node into the bucket of its priority, in their order."""
    ends[:] = -1
    links[:] = -1
    for node in range(len(priorities)):
        move_node(ends, links, np.int64(node), np.int64(find_bucket(priorities[node], tolerance)))


@kernel
def move_node(ends, links, node, bucket):
    """Take a node out of the bucket where it waits, and put it at the end of another."""
    old = links[BUCKET, node]
    if old == bucket:
        return
    if old >= 0:
        before, after = links[PREVIOUS, node], links[NEXT, node]
        if before >= 0:
            links[NEXT, before] = after
        else:
            ends[FIRST, old] = after
        if after >= 0:
            links[PREVIOUS, after] = before
        else:
            ends[LAST, old] = before
    links[BUCKET, node] = bucket
    if bucket >= 0:
        before = ends[LAST, bucket]
        links[PREVIOUS, node], links[NEXT, node], ends[LAST, bucket] = before, -1, node
        if before >= 0:
            links[NEXT, before] = node
        else:
            ends[FIRST, bucket] = node


@kernel
def find_bucket(priority, tolerance):
    """The bucket of a priority; -1 for one within the tolerance, which need not wait."""
    if priority <= tolerance:
        return -1
    return 0 if priority >= 1.0 else min(-math.frexp(priority)[1], NUM_BUCKETS - 1)


@kernel
def first_node(ends):
    """The node that waits first in the first bucket; -1 if none waits."""
    for bucket in range(NUM_BUCKETS):
        if ends[FIRST, bucket] >= 0:
            return ends[FIRST, bucket]
    return np.int64(-1)


@kernel
def update_in_queue(
    layout, likelihood, received, sent, node, mode, damping, tolerance, scratch, old, ends, links, priorities
):
    """Update a node; other nodes of its factors gain the change of what the node sends. The change, or a status."""
    first, last = layout.node_starts[node], layout.node_starts[node + 1]
    size = layout.num_states[node]
    for edge in range(first, last):
        start = layout.edges[edge, MESSAGE]
        for state in range(size):
            old[(edge - first) * size + state] = sent[start + state]
    change = update_node(layout, likelihood, received, sent, sent, node, mode, damping, FADED, scratch)
    if change < 0.0:
        return change
    priorities[node] = damping * change  # what damping held back of the change
    move_node(ends, links, node, np.int64(find_bucket(priorities[node], tolerance)))
    for edge in range(first, last):
        moved = find_change(old, (edge - first) * size, sent, layout.edges[edge, MESSAGE], size, mode, FADED)
        factor = layout.edges[edge, FACTOR]
        for axis in range(layout.scope_starts[factor], layout.scope_starts[factor + 1]):
            other = layout.scopes[axis]
            if other != node and moved > 0.0:
                priorities[other] += moved
                move_node(ends, links, other, np.int64(find_bucket(priorities[other], tolerance)))
    return change


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


@kernel
def flood_nodes(layout, likelihood, received, before, after, first, last, is_forest, mode, damping, scratch):
    """Update a range of nodes from the messages before; the largest change, or a status.

    In a forest, which is done when nothing changes, the smallest number counts: it may decide elsewhere.
    """
    change, faded = 0.0, -math.inf if is_forest else FADED
    damping = 0.0 if is_forest else damping
    for node in range(first, last):
        moved = update_node(layout, likelihood, received, before, after, node, mode, damping, faded, scratch)
        if moved < 0.0:
            return moved
        change = max(change, moved)
    return change
