"""Clique potentials at the possible cells, and sums of cells for the entries of factors."""

from __future__ import annotations

import numpy as np

from juncture.kernels.compiler import kernel
from juncture.kernels.junction_tree.layout import OFFSET
from juncture.kernels.junction_tree.packing import stride_of
from juncture.kernels.junction_tree.propagation import SAFE, part
from juncture.kernels.junction_tree.scales import smallest_positive
from juncture.kernels.sparse_tree.tries import build_sets, next_joint_state, next_on_axis

PRODUCTS, LOGS, SUMS = 0, 1, 2  # multiply factors into cells; add their logarithms; sum cells for the factors' entries


@kernel
def list_steps(clique, tree, factors, held_starts, held):
    """How the places in the factors of a clique follow its axes: (step_starts, above, strides, ends).

    A step is one factor at one axis; steps lie axis by axis. `above` is the step of the same factor at its axis before
    (-1 at its first), `ends` where the factor's values start if this is its last axis, else -1.
    """
    starts, nodes = tree.starts, tree.nodes
    num_states, factor_starts, factor_nodes, value_starts = (
        factors.num_states,
        factors.factor_starts,
        factors.factor_nodes,
        factors.value_starts,
    )
    num_axes = starts[clique + 1] - starts[clique]
    capacity = np.int64(0)
    for index in range(held_starts[clique], held_starts[clique + 1]):
        capacity += factor_starts[held[index] + 1] - factor_starts[held[index]]
    step_starts = np.zeros(num_axes + 1, np.int64)
    above = np.empty(capacity, np.int64)
    strides = np.empty(capacity, np.int64)
    ends = np.empty(capacity, np.int64)
    latest = np.full(held_starts[clique + 1] - held_starts[clique], -1, np.int64)
    count = np.int64(0)
    for axis in range(num_axes):
        node = nodes[starts[clique] + axis]
        for index in range(held_starts[clique], held_starts[clique + 1]):
            factor = held[index]
            stride = stride_of(node, factor_starts[factor], factor_starts[factor + 1], factor_nodes, num_states)
            if stride > 0:
                before = latest[index - held_starts[clique]]
                above[count] = before
                if before >= 0:
                    ends[before] = -1
                strides[count] = stride
                ends[count] = value_starts[factor]
                latest[index - held_starts[clique]] = count
                count += 1
        step_starts[axis + 1] = count
    return step_starts, above, strides, ends


@kernel
def pack_cells(
    tree, factors, supported, possible, entries, entry_starts, entry_stops, table, held_starts, held, values, mode,
    base, home_starts, home_axes, home_codes, codes,
):  # fmt: skip
    """Fill `base` from `values`, or with SUMS fill `values` from `base`; and the codes of the nodes at home in cliques.

    `home_axes[home_starts[c]:home_starts[c + 1]]` are the axes of clique c whose codes go to `codes`, from
    `home_codes` on.
    """
    starts, parents = tree.starts, tree.parents
    states = np.zeros(64, np.int64)
    products = np.zeros(65)
    steps = np.zeros(1, np.int64)
    limit = np.int64(2**62)
    for clique in range(len(parents)):
        sets = build_sets(clique, tree, factors, supported, possible, entries, entry_starts, entry_stops, False, True)
        step_starts, above, strides, ends = list_steps(clique, tree, factors, held_starts, held)
        places = np.zeros(len(above), np.int64)
        current = np.zeros(len(sets.above), np.int64)
        stops = np.zeros(len(sets.above), np.int64)
        last = starts[clique + 1] - starts[clique] - 1
        cell = table[clique, OFFSET]
        products[0] = 1.0 if mode == PRODUCTS else 0.0
        axis = np.int64(-1)
        while True:
            changed = next_joint_state(axis, last, sets, current, stops, states, steps, limit)
            if changed < 0:
                break
            while states[last] >= 0:
                for outer in range(changed, last + 1):
                    product = products[outer]
                    for step in range(step_starts[outer], step_starts[outer + 1]):
                        place = states[outer] * strides[step]
                        if above[step] >= 0:
                            place += places[above[step]]
                        places[step] = place
                        if ends[step] >= 0 and mode == PRODUCTS:
                            product *= values[ends[step] + place]
                        elif ends[step] >= 0 and mode == LOGS:
                            product += values[ends[step] + place]
                    products[outer + 1] = product
                if mode == SUMS:
                    for step in range(len(ends)):
                        if ends[step] >= 0:
                            values[ends[step] + places[step]] += base[cell]
                else:
                    base[cell] = products[last + 1]
                offset = cell - table[clique, OFFSET]
                for index in range(home_starts[clique], home_starts[clique + 1]):
                    codes[home_codes[index] + offset] = states[home_axes[index]]
                cell += 1
                changed = last
                states[last] = next_on_axis(last, sets.slot_starts, sets.values, current, stops)
            axis = last - 1
            if axis < 0:
                break


@kernel
def is_packing_safe(held_starts, held, value_starts, values):
    """Whether no product of positive entries of a clique's factors can vanish."""
    for clique in range(len(held_starts) - 1):
        bound = 1.0
        for index in range(held_starts[clique], held_starts[clique + 1]):
            factor = held[index]
            entries = part(values, value_starts[factor], value_starts[factor + 1] - value_starts[factor])
            bound *= smallest_positive(entries)
            if bound < SAFE:
                return False
    return True
