"""Coordinate ascent: every node in turn takes the best distribution given those of all others, or the best state.

Mean field: log q(x) = Σ over the factors f of the node E log f(x, others) + constant. The lower bound of log Z after a
sweep needs no second pass: a factor counts where the last of its nodes is visited, when all others have their new
distributions. Where tables have zeros, a state that meets a zero with some probability has the expectation -∞. Of the
states of a node only those keep some probability that meet zeros with the smallest probability, which is 0 from some
sweep on if the sweeps find a point that p allows.

Iterated conditional modes: each node in turn takes the best of its states, given the states of all others.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from juncture.kernels.compiler import kernel

FULL = 1e200  # up to which a product of numbers from 1 to 2 grows before its logarithm is taken
TIE = 1.0 + 1e-9  # probabilities of meeting a zero that differ by less are equal


class NodeFactors(NamedTuple):
    """The factors of each node: those with another node, sorted by that node, and those with several others.

    A table of two nodes is there in both directions, its own node's states next to each other. `values` and
    `pair_values` are the logarithms of all entries, 0 for entries 0; where `num_parts` is 2, as many numbers follow,
    which are 1 for entries 0.
    """

    state_starts: Any  # (node + 1,)
    pair_starts: Any  # (node + 1,)
    neighbors: Any  # the other node of each pair
    pair_tables: Any  # where the table (other, own) starts
    pair_values: Any
    large_starts: Any  # (node + 1,)
    large_factors: Any  # those first whose other nodes all come before the node
    large_axes: Any  # the axis of the node in each factor
    num_last: Any  # (node,): how many these are
    scope_starts: Any  # (factor + 1,)
    scopes: Any
    table_starts: Any  # (factor,)
    values: Any
    num_parts: int


@kernel(work=("is_active", "operations"))
def sweep_rows(beliefs, fields, is_active, bounds, excesses, changes, operations, factors, work, sums, early):
    """One sweep, which takes so many operations, of each row that is active."""
    for row in range(len(is_active)):
        if is_active[row]:
            bounds[row], excesses[row], changes[row] = sweep_row(beliefs[row], fields[row], factors, work, sums, early)


@kernel
def sweep_row(belief, field, factors, work, sums, early):
    """One sweep over all nodes of a row: its lower bound without zeros, how often it meets zeros, largest change."""
    bound, excess, change = 0.0, 0.0, 0.0
    state_starts, num_parts = factors.state_starts, factors.num_parts
    pair_half, half = len(factors.pair_values) // num_parts, len(factors.values) // num_parts
    for node in range(len(state_starts) - 1):
        start = state_starts[node]
        own = state_starts[node + 1] - start
        for state in range(own):
            sums[state] = early[state] = field[start + state]
            sums[own + state] = 0.0
        for pair in range(factors.pair_starts[node], factors.pair_starts[node + 1]):
            neighbor = factors.neighbors[pair]
            first = state_starts[neighbor]
            count = state_starts[neighbor + 1] - first
            for part in range(num_parts):
                for other in range(count):
                    share = belief[first + other]
                    at = part * pair_half + factors.pair_tables[pair] + other * own
                    for state in range(own):
                        sums[part * own + state] += share * factors.pair_values[at + state]
            if neighbor < node:  # these come first
                for state in range(own):
                    early[state] = sums[state]
        for large in range(factors.large_starts[node], factors.large_starts[node + 1]):
            factor = factors.large_factors[large]
            scope = factors.scopes[factors.scope_starts[factor] : factors.scope_starts[factor + 1]]
            for part in range(num_parts):
                at = part * half + factors.table_starts[factor]
                contract(factors.values, at, factors.large_axes[large], scope, state_starts, belief, work)
                for state in range(own):
                    sums[part * own + state] += work[state]
                    if part == 0 and large < factors.large_starts[node] + factors.num_last[node]:
                        early[state] += work[state]
        gained, met, moved = renew(sums, early, own, belief, start, num_parts > 1)
        bound += gained
        excess += met
        change = max(change, moved)
    return bound, excess, change


@kernel
def contract(values, start, axis, scope, state_starts, belief, work):
    """Leave at the front of `work` the expectation of a table given each state of the node of its axis `axis`."""
    size = 1
    for other in scope:
        size *= state_starts[other + 1] - state_starts[other]
    for cell in range(size):
        work[cell] = values[start + cell]
    for place in range(len(scope) - 1, axis, -1):  # the axes behind, from the last on: sums of neighbouring cells
        first = state_starts[scope[place]]
        count = state_starts[scope[place] + 1] - first
        size //= count
        for cell in range(size):
            total = 0.0
            for state in range(count):
                total += work[cell * count + state] * belief[first + state]
            work[cell] = total
    for place in range(axis):  # the axes before, from the first on: sums of blocks
        first = state_starts[scope[place]]
        count = state_starts[scope[place] + 1] - first
        size //= count
        for cell in range(size):
            total = 0.0
            for state in range(count):
                total += work[state * size + cell] * belief[first + state]
            work[cell] = total


@kernel
def renew(sums, early, own, belief, start, has_zeros):
    """The distribution of a node: its part of the lower bound, how often it meets zeros, and the largest change.

    `sums` has the score of each state, then how often each meets zeros; states that do so more often than others get
    nothing. `early` is the part of the scores from factors whose other nodes came before.
    """
    least = np.inf if has_zeros else 0.0
    for state in range(own if has_zeros else 0):
        if sums[state] > -np.inf:
            least = min(least, sums[own + state])
    top = -np.inf
    for state in range(own):
        if has_zeros and sums[own + state] > least * TIE:
            sums[state] = -np.inf
        top = max(top, sums[state])
    total, late = 0.0, 0.0
    for state in range(own):
        share = math.exp(sums[state] - top)
        total += share
        if share > 0.0:
            late += share * (sums[state] - early[state])
        sums[state] = share
    change = 0.0
    for state in range(own):
        share = sums[state] / total
        change = max(change, abs(share - belief[start + state]))
        belief[start + state] = share
    return top + math.log(total) - late / total, least, change


@kernel(work=("is_active", "neighbors"))
def sweep_binary_rows(beliefs, fields, is_active, bounds, changes, pair_starts, neighbors, pair_tables, pair_values):
    """One sweep of each row that is active."""
    for row in range(len(is_active)):
        if is_active[row]:
            bounds[row], changes[row] = sweep_binary(
                beliefs[row], fields[row], pair_starts, neighbors, pair_tables, pair_values
            )


@kernel
def sweep_binary(belief, field, pair_starts, neighbors, pair_tables, pair_values):
    """`sweep_row` where every node has two states, no factor more than two nodes, and no table of two a zero."""
    bound, product, change = 0.0, 1.0, 0.0
    for node in range(len(pair_starts) - 1):
        zero, one = field[2 * node], field[2 * node + 1]
        late_zero, late_one = 0.0, 0.0
        for pair in range(pair_starts[node], pair_starts[node + 1]):
            first, table = 2 * neighbors[pair], pair_tables[pair]
            to_zero = belief[first] * pair_values[table] + belief[first + 1] * pair_values[table + 2]
            to_one = belief[first] * pair_values[table + 1] + belief[first + 1] * pair_values[table + 3]
            zero += to_zero
            one += to_one
            if neighbors[pair] > node:
                late_zero += to_zero
                late_one += to_one
        odds = math.exp(-abs(zero - one))
        larger = 1.0 / (1.0 + odds)
        low, high = (larger, odds * larger) if zero > one else (odds * larger, larger)
        bound += max(zero, one) - low * late_zero - high * late_one
        product *= 1.0 + odds
        if product > FULL:
            bound += math.log(product)
            product = 1.0
        change = max(change, abs(low - belief[2 * node]))
        belief[2 * node] = low
        belief[2 * node + 1] = high
    return bound + math.log(product), change


@kernel(work=("order",))
def visit_nodes(order, state_starts, log_unary, log_values, entries, scopes, cells, codes, stale):
    """Let each stale node of an order take its best state, given all others; how many nodes changed.

    The best state has the fewest zeros among the factors of the node, then the largest log of their product; the
    present state wins a tie, then the earliest. `entries` has for each node the factors that hold it: where they start,
    the factors, and the stride of the node in their tables. `cells` has the entry of `log_values` where each factor is
    now. A node is stale if a neighbour changed since the last visit.
    """
    entry_starts, entry_factors, entry_strides = entries
    scope_starts, scope_nodes = scopes
    num_changes = 0
    for node in order:
        if not stale[node]:
            continue
        stale[node] = False
        present = codes[node]
        best, best_zeros, best_total = present, 0, 0.0
        first = state_starts[node]
        for turn in range(-1, state_starts[node + 1] - first):
            state = present if turn < 0 else turn
            zeros, total = 0, log_unary[first + state]
            if total == -np.inf:
                zeros, total = 1, 0.0
            for entry in range(entry_starts[node], entry_starts[node + 1]):
                value = log_values[cells[entry_factors[entry]] + (state - present) * entry_strides[entry]]
                if value == -np.inf:
                    zeros += 1
                else:
                    total += value
            if turn < 0 or zeros < best_zeros or (zeros == best_zeros and total > best_total):
                best, best_zeros, best_total = state, zeros, total
        if best != present:
            num_changes += 1
            codes[node] = best
            for entry in range(entry_starts[node], entry_starts[node + 1]):
                factor = entry_factors[entry]
                cells[factor] += (best - present) * entry_strides[entry]
                for place in range(scope_starts[factor], scope_starts[factor + 1]):
                    if scope_nodes[place] != node:
                        stale[scope_nodes[place]] = True
    return num_changes
