"""Gibbs sampling and Metropolis steps on any product of factors: blocks of nodes are drawn given all others."""

from __future__ import annotations

import math

import numpy as np

from juncture.kernels.compiler import kernel
from juncture.kernels.draws import draw_index

GIBBS, METROPOLIS = 0, 1


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
                top = -np.inf
                for other in range(num_states):
                    total = local_logs[first_state + other]
                    for entry in range(first_entry, end_entry):
                        total += log_values[bases[entry - first_entry] + steps[step_starts[entry] + other]]
                    weights[other] = total
                    top = max(top, total)
                for other in range(num_states):
                    weights[other] = math.exp(power * (weights[other] - top))
                state = draw_index(weights[:num_states], uniform)
            for index in range(num_nodes):
                codes[nodes[first_node + index]] = digits[first_digit + state * num_nodes + index]
        if (sweep + 1) % thin == 0:
            for index in range(len(kept_nodes)):
                kept[num_kept, index] = codes[kept_nodes[index]]
            num_kept += 1


@kernel
def longest_part(starts):
    """The length of the longest part, where parts start there."""
    longest = np.int64(0)
    for part in range(len(starts) - 1):
        longest = max(longest, starts[part + 1] - starts[part])
    return longest
