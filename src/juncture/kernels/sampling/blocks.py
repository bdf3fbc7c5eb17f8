"""Gibbs sampling and Metropolis steps on any product of factors: blocks of nodes are drawn given all others."""

from __future__ import annotations

import math

import numpy as np

from juncture.kernels.compiler import kernel
from juncture.kernels.draws import draw_index

GIBBS, METROPOLIS = 0, 1
FEW = 8  # states that are all looked at


@kernel(work=("uniforms", 10))
def sweep_blocks(blocks, entries, log_values, cumulative, orders, powers, uniforms, codes, kept_nodes, kept, rule):
    """Visit the blocks of `orders` (sweep, visit), one uniform each, and keep the codes of some nodes after sweeps.

    A block has a list of joint states of its nodes, with the sum of the logs of what depends on these nodes alone, and
    an entry for each factor that also depends on others: the place of the factor's table for the codes of these others
    (`context_nodes` with their strides), and a step from there for each state of the block. A block of which
    `is_table` says so has one entry: the running sums of its conditional probabilities for all codes of the others.
    `rule` is `GIBBS`, or `METROPOLIS`: another state is proposed, all alike, and taken with probability min(1, ratio).
    In a sweep the target is to its power of `powers`, in turn. The codes are kept after every sweep whose number is a
    multiple of (number of sweeps) / (length of `kept`).
    """
    node_starts, nodes, state_starts, digit_starts, digits, local_logs, entry_starts, is_table = blocks
    entry_tables, context_starts, context_nodes, context_strides, step_starts, steps = entries
    weights = np.empty(longest_part(state_starts))
    bases = np.empty(max(1, longest_part(entry_starts)), np.int64)
    num_sweeps, num_kept = len(uniforms), np.int64(0)
    thin = num_sweeps // len(kept) if len(kept) > 0 else num_sweeps + 1
    for sweep in range(num_sweeps):
        order, power = orders[sweep % len(orders)], powers[sweep % len(powers)]
        for visit in range(len(order)):
            block = order[visit]
            uniform = uniforms[sweep, visit]
            first_entry, end_entry = entry_starts[block], entry_starts[block + 1]
            for entry in range(first_entry, end_entry):
                place = entry_tables[entry]
                for context in range(context_starts[entry], context_starts[entry + 1]):
                    place += codes[context_nodes[context]] * context_strides[context]
                bases[entry - first_entry] = place
            first_state = state_starts[block]
            num_states = state_starts[block + 1] - first_state
            first_node = node_starts[block]
            num_nodes = node_starts[block + 1] - first_node
            first_digit = digit_starts[block]
            state = np.int64(0)
            if is_table[block]:
                while uniform >= cumulative[bases[0] + state]:
                    state += 1
            elif rule == METROPOLIS:
                present, matches = np.int64(-1), np.int64(0)
                while matches < num_nodes:
                    present += 1
                    matches = np.int64(0)
                    while (
                        matches < num_nodes
                        and digits[first_digit + present * num_nodes + matches] == codes[nodes[first_node + matches]]
                    ):
                        matches += 1
                scaled = uniform * (num_states - 1)
                state = np.int64(scaled)
                rest = scaled - state
                state = (present + 1 + state) % num_states
                ratio = local_logs[first_state + state] - local_logs[first_state + present]
                for entry in range(first_entry, end_entry):
                    base, step = bases[entry - first_entry], step_starts[entry]
                    ratio += log_values[base + steps[step + state]] - log_values[base + steps[step + present]]
                if not (ratio >= 0.0 or rest < math.exp(power * ratio)):
                    state = present
            else:
                draws = weigh_states(
                    log_values, local_logs, step_starts, steps, first_state, num_states, first_entry, end_entry, bases,
                    power, weights,
                )  # fmt: skip
                state = draw_index(draws, uniform)
            for index in range(num_nodes):
                codes[nodes[first_node + index]] = digits[first_digit + state * num_nodes + index]
        if (sweep + 1) % thin == 0:
            for index in range(len(kept_nodes)):
                kept[num_kept, index] = codes[kept_nodes[index]]
            num_kept += 1


@kernel
def weigh_states(
    log_values, local_logs, step_starts, steps, first_state, num_states, first_entry, end_entry, bases, power, weights
):
    """The weights of the states of a block, with the target to this power: the first part of `weights`."""
    top = -np.inf
    for state in range(num_states):
        total = local_logs[first_state + state]
        for entry in range(first_entry, end_entry):
            total += log_values[bases[entry - first_entry] + steps[step_starts[entry] + state]]
        weights[state] = total
        top = max(top, total)
    for state in range(num_states):
        weights[state] = math.exp(power * (weights[state] - top))
    return weights[:num_states]


@kernel(work=("uniforms", 10))
def temper_blocks(
    blocks, entries, log_values, cumulatives, owned, order, powers, uniforms, factors, field, first_sweep, codes,
    kept_nodes, kept,
):  # fmt: skip
    """Parallel tempering: Gibbs sweeps of all replicas, codes (replica, node), each followed by exchanges.

    Blocks are visited as in `sweep_blocks`, each in all replicas one after the other, which shares what is read of it.
    `powers` and the rows of `cumulatives` are those of the replicas. `uniforms` is (sweep, replica, visit), and one
    more of each replica decides about an exchange with the next; replicas are paired from the first one on in sweeps of
    even number, else from the second one on. The codes of the first replica are kept.

    The log of the product of factors after a sweep is gathered on the way: `owned` has, at the places of `cumulatives`,
    the logs of the factors that a block is the last to change. `factors` are those of blocks without such tables:
    where each starts, where its nodes start, these and their strides, and where the states of nodes start in `field`.
    """
    node_starts, nodes, state_starts, digit_starts, digits, local_logs, entry_starts, is_table = blocks
    entry_tables, context_starts, context_nodes, context_strides, step_starts, steps = entries
    weights = np.empty(longest_part(state_starts))
    bases = np.empty(max(1, longest_part(entry_starts)), np.int64)
    num_sweeps, num_replicas, num_kept = len(uniforms), len(powers), np.int64(0)
    thin = num_sweeps // len(kept) if len(kept) > 0 else num_sweeps + 1
    logs = np.empty(num_replicas)
    for sweep in range(num_sweeps):
        for replica in range(num_replicas):
            logs[replica] = 0.0
        for visit in range(len(order)):
            block = order[visit]
            first_entry, end_entry = entry_starts[block], entry_starts[block + 1]
            first_state, first_node, first_digit = state_starts[block], node_starts[block], digit_starts[block]
            num_states, num_nodes = state_starts[block + 1] - first_state, node_starts[block + 1] - first_node
            if is_table[block]:
                table, first, end = entry_tables[first_entry], context_starts[first_entry], context_starts[end_entry]
                for replica in range(num_replicas):
                    own, uniform, place, state = codes[replica], uniforms[sweep, replica, visit], table, np.int64(0)
                    for context in range(first, end):
                        place += own[context_nodes[context]] * context_strides[context]
                    for other in range(min(num_states - 1, FEW)):  # without a branch that depends on the draw
                        state += uniform >= cumulatives[replica, place + other]
                    if state == FEW:
                        while uniform >= cumulatives[replica, place + state]:
                            state += 1
                    logs[replica] += owned[place + state]
                    for index in range(num_nodes):
                        own[nodes[first_node + index]] = digits[first_digit + state * num_nodes + index]
                continue
            for replica in range(num_replicas):
                own = codes[replica]
                for entry in range(first_entry, end_entry):
                    place = entry_tables[entry]
                    for context in range(context_starts[entry], context_starts[entry + 1]):
                        place += own[context_nodes[context]] * context_strides[context]
                    bases[entry - first_entry] = place
                draws = weigh_states(
                    log_values, local_logs, step_starts, steps, first_state, num_states, first_entry, end_entry, bases,
                    powers[replica], weights,
                )  # fmt: skip
                state = draw_index(draws, uniforms[sweep, replica, visit])
                for index in range(num_nodes):
                    own[nodes[first_node + index]] = digits[first_digit + state * num_nodes + index]
        add_factors(factors, log_values, field, codes, logs)
        for lower in range((first_sweep + sweep) % 2, num_replicas - 1, 2):
            gain = (powers[lower] - powers[lower + 1]) * (logs[lower + 1] - logs[lower])
            if gain >= 0.0 or uniforms[sweep, lower, len(order)] < math.exp(gain):
                for node in range(codes.shape[1]):
                    held = codes[lower, node]
                    codes[lower, node] = codes[lower + 1, node]
                    codes[lower + 1, node] = held
        if (sweep + 1) % thin == 0:
            for index in range(len(kept_nodes)):
                kept[num_kept, index] = codes[0, kept_nodes[index]]
            num_kept += 1


@kernel
def add_factors(factors, log_values, field, codes, logs):
    """Add the logs of factors at the codes of each replica, and of the likelihoods in `field` if there are any."""
    table_starts, scope_starts, scopes, strides, node_states = factors
    for replica in range(len(codes)):
        own, total = codes[replica], logs[replica]
        for factor in range(len(table_starts)):
            place = table_starts[factor]
            for position in range(scope_starts[factor], scope_starts[factor + 1]):
                place += own[scopes[position]] * strides[position]
            total += log_values[place]
        for node in range(len(own) if len(field) > 0 else 0):
            total += field[node_states[node] + own[node]]
        logs[replica] = total


@kernel
def longest_part(starts):
    """The length of the longest part, where parts start there."""
    longest = np.int64(0)
    for part in range(len(starts) - 1):
        longest = max(longest, starts[part + 1] - starts[part])
    return longest
