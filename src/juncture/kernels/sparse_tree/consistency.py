"""Which states, and which entries of the factors, can be part of a joint state that no factor forbids.

Generalised arc consistency: a state without any entry in one of its factors is dropped, and with it the entries of all
other factors that need it, as long as something is dropped.
"""

from __future__ import annotations

import numpy as np

from juncture.kernels.compiler import kernel


@kernel
def drop_unsupported(num_states, state_starts, factor_starts, factor_nodes, value_starts, supported, possible):
    """Set entries of `supported` (of all factors) and `possible` (all states) to False in place, until none is left."""
    digits = np.zeros(64, np.int64)
    seen = np.zeros(len(possible), np.bool_)
    changed = True
    while changed:
        changed = False
        for factor in range(len(factor_starts) - 1):
            start = factor_starts[factor]
            stop = factor_starts[factor + 1]
            for index in range(start, stop):
                digits[index - start] = 0
                for state in range(state_starts[factor_nodes[index]], state_starts[factor_nodes[index] + 1]):
                    seen[state] = False
            for cell in range(value_starts[factor], value_starts[factor + 1]):
                if supported[cell]:
                    for index in range(start, stop):
                        if not possible[state_starts[factor_nodes[index]] + digits[index - start]]:
                            supported[cell] = False
                            break
                    if supported[cell]:
                        for index in range(start, stop):
                            seen[state_starts[factor_nodes[index]] + digits[index - start]] = True
                axis = stop - start - 1
                while axis >= 0:
                    digits[axis] += 1
                    if digits[axis] < num_states[factor_nodes[start + axis]]:
                        break
                    digits[axis] = 0
                    axis -= 1
            for index in range(start, stop):
                for state in range(state_starts[factor_nodes[index]], state_starts[factor_nodes[index] + 1]):
                    if possible[state] and not seen[state]:
                        possible[state] = False
                        changed = True


@kernel
def find_restrictive(state_starts, factor_starts, factor_nodes, value_starts, supported, possible, found):
    """Set `found[factor]` where a factor forbids some joint state of what is possible for each of its nodes alone."""
    for factor in range(len(factor_starts) - 1):
        product = np.int64(1)
        for index in range(factor_starts[factor], factor_starts[factor + 1]):
            count = np.int64(0)
            for state in range(state_starts[factor_nodes[index]], state_starts[factor_nodes[index] + 1]):
                count += possible[state]
            product *= count
        entries = np.int64(0)
        for cell in range(value_starts[factor], value_starts[factor + 1]):
            entries += supported[cell]
        found[factor] = entries < product
