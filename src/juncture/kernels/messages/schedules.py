"""Schedules: in which order nodes are updated, until no message changes any more.

Flooding updates all nodes at once, from the messages of the step before. In a forest one step from the leaves to the
roots and one back make every message final. The residual schedule updates a node next whose factors got the most change
since it was updated last (after Elidan, McGraw and Koller 2006; the bound on changes is that of Sutton and McCallum
2007, so that no message is computed that is not sent). When no node has more than the tolerance left, a step over all
nodes has to confirm it.
"""

from __future__ import annotations

import math

import numpy as np

from juncture.kernels.compiler import kernel
from juncture.kernels.messages.finish import decode, find_beliefs
from juncture.kernels.messages.layout import FACTOR, FADED, SUM
from juncture.kernels.messages.nodes import update_node
from juncture.kernels.messages.queue import NUM_BUCKETS, fill_queue, first_node, update_in_queue

FLOODING, RESIDUAL = 0, 1


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
