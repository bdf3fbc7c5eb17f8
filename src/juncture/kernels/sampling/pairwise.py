"""Gibbs sampling of pairwise models: node by node in colours, of a grid of spins 64 at a time, and of whole trees.

In a model whose nodes have the same states, the nodes of one colour are drawn given those of the others.

A grid of spins with one coupling and one field has 64 spins in a word, as on a checkerboard: spins of one colour have
neighbours of the other colour only. The number of neighbours that are up is counted for 64 spins at once by the logic
of an adder, and the spins are drawn by comparing the binary digits of a uniform number with those of the probability:
random words give one digit of all 64 numbers, until every comparison is decided.

A tree of nodes is drawn as a whole: messages to the root, then draws from the root outwards.
"""

from __future__ import annotations

import math

import numpy as np

from juncture.kernels.compiler import kernel
from juncture.kernels.draws import ONE, S11, UNIT, draw_index, mix, stream_start, stream_step

LIMIT, SCALE = 20.0, 32.0  # the entries of `sigmoids` are at -LIMIT, -LIMIT + 1 / SCALE, …; the ends are 0 and 1
MOST = 700.0  # whose exponential is a finite number
S63, NONE, ALL = np.uint64(63), np.uint64(0), np.uint64(0xFFFFFFFFFFFFFFFF)
NUM_DIGITS = 64


@kernel(work=("codes", "powers", 4))
def sweep_pairs(nodes, edges, tables, log_unary, sigmoids, powers, keys, first_sweep, codes):
    """Draw the nodes of a range given their neighbours, once for each of `powers`: the target to that power.

    `edges` has for each node where its neighbours start, the neighbours, and where the table of their edge starts in
    `tables`: (state of the neighbour, state of the node), or of two states the gain of state 1 over state 0 for each
    state of the neighbour; `log_unary` is (node, state), or the gain of each node. `sigmoids` has 1 / (1 + exp(-x))
    at equal distances over (-LIMIT, LIMIT): most draws need no exponential. Node i takes number i of the random stream
    of a sweep, so that any range can be swept on any thread.
    """
    starts, neighbours, places = edges
    first_node, end_node = nodes
    num_states = log_unary.shape[1]
    weights = np.empty(num_states)
    for sweep in range(len(powers)):
        power = powers[sweep]
        start, step = stream_start(keys, first_sweep + sweep), stream_step(keys, first_sweep + sweep)
        for node in range(first_node, end_node):
            uniform = ((mix(start + np.uint64(node) * step) >> S11) + 0.5) * UNIT
            if num_states == 1:
                gain = log_unary[node, 0]
                for edge in range(starts[node], starts[node + 1]):
                    gain += tables[places[edge] + codes[neighbours[edge]]]
                gain *= power
                cell = np.uint64((min(LIMIT, max(-LIMIT, gain)) + LIMIT) * SCALE)
                is_below = np.uint8(uniform < sigmoids[cell])
                if is_below != np.uint8(uniform < sigmoids[cell + ONE]):  # between two entries: seldom
                    is_below = np.uint8(uniform * (1.0 + math.exp(min(-gain, MOST))) < 1.0)
                codes[node] = is_below
                continue
            top = -np.inf
            for state in range(num_states):
                total = log_unary[node, state]
                for edge in range(starts[node], starts[node + 1]):
                    total += tables[places[edge] + num_states * codes[neighbours[edge]] + state]
                weights[state] = total
                top = max(top, total)
            for state in range(num_states):
                weights[state] = math.exp(power * (weights[state] - top))
            codes[node] = draw_index(weights, uniform)


@kernel(work=("uniforms", "log_unary", 4))
def temper_pairs(
    nodes, edges, tables, log_unary, sigmoids, powers, keys, first_sweep, codes, factors, uniforms, kept_nodes, kept
):
    """Parallel tempering of codes (replica, node): a sweep of each replica at its power, then exchanges of neighbours.

    The first arguments are those of `sweep_pairs`, of which every replica has random streams of its own, and `factors`
    are those of `pair_log`. `uniforms` is (sweep, replica): one decides about an exchange with the next replica, from
    the first one on in sweeps of even number, else from the second one on. The codes of the first replica are kept.
    """
    num_sweeps, num_replicas = uniforms.shape
    thin, num_kept = num_sweeps // len(kept) if len(kept) > 0 else num_sweeps + 1, np.int64(0)
    logs = np.empty(num_replicas)
    for sweep in range(num_sweeps):
        number = first_sweep + sweep
        for replica in range(num_replicas):
            own, power = codes[replica], powers[replica : replica + 1]
            stream = number * num_replicas + replica
            sweep_pairs(nodes, edges, tables, log_unary, sigmoids, power, keys, stream, own)
            logs[replica] = pair_log(factors, own)
        for lower in range(number % 2, num_replicas - 1, 2):
            gain = (powers[lower] - powers[lower + 1]) * (logs[lower + 1] - logs[lower])
            if gain >= 0.0 or uniforms[sweep, lower] < math.exp(gain):
                for node in range(codes.shape[1]):
                    held = codes[lower, node]
                    codes[lower, node] = codes[lower + 1, node]
                    codes[lower + 1, node] = held
        if (sweep + 1) % thin == 0:
            for index in range(len(kept_nodes)):
                kept[num_kept, index] = codes[0, kept_nodes[index]]
            num_kept += 1


@kernel
def pair_log(factors, codes):
    """The log of the product of all factors: logs (node, state), and tables (edge, state, state) or one for all."""
    edges, tables, log_unary = factors
    total, last = 0.0, len(tables) - 1
    for node in range(len(codes)):
        total += log_unary[node, codes[node]]
    for edge in range(len(edges)):
        total += tables[min(edge, last), codes[edges[edge, 0]], codes[edges[edge, 1]]]
    return total


@kernel(work=("planes", "num_sweeps", 100))
def sweep_spins(planes, masks, digits, keys, first_sweep, num_sweeps):
    """Draw all spins given their neighbours, `num_sweeps` times; the rows of `planes` (colour, row, word) change.

    Bit m of a row of colour c is the spin of column 2 m + p with p = (row + c) mod 2; bits past the end are 0. `masks`
    (p, kind, word) has the bits that exist, those with a neighbour at the same place of the other colour, and those
    with a neighbour at the place next to it. `digits` (degree, digit, number of neighbours that are up) has all bits
    set where the probability of up has that binary digit. A row of a sweep has a random stream of its own.
    """
    num_rows, num_words = planes.shape[1], planes.shape[2]
    for sweep in range(first_sweep, first_sweep + num_sweeps):
        for colour in range(2):
            other = planes[1 - colour]
            for row in range(num_rows):
                index = (2 * sweep + colour) * num_rows + row
                word, step = stream_start(keys, index), stream_step(keys, index)
                parity = (row + colour) % 2
                vertical = int(row > 0) + int(row < num_rows - 1)
                for place in range(num_words):
                    up = other[row - 1, place] if row > 0 else NONE
                    down = other[row + 1, place] if row < num_rows - 1 else NONE
                    same = other[row, place]
                    if parity == 0:
                        beside = same << ONE
                        if place > 0:
                            beside |= other[row, place - 1] >> S63
                    else:
                        beside = same >> ONE
                        if place < num_words - 1:
                            beside |= other[row, place + 1] << S63
                    odd_pair, both_pair = up ^ down, up & down
                    odd_rest, both_rest = same ^ beside, same & beside
                    carry = odd_pair & odd_rest
                    ones = odd_pair ^ odd_rest
                    fours = both_pair & both_rest
                    twos = (both_pair | both_rest | carry) & ~fours
                    exist = masks[parity, 0, place]
                    has_same, has_beside = masks[parity, 1, place], masks[parity, 2, place]
                    is_drawn = NONE
                    for degree in range(vertical, vertical + 3):
                        kind = exist & (has_same & has_beside)
                        if degree == vertical:
                            kind = exist & ~(has_same | has_beside)
                        elif degree == vertical + 1:
                            kind = exist & (has_same ^ has_beside)
                        if kind == NONE:
                            continue
                        undecided = kind
                        none_up = kind & ~(ones | twos | fours)
                        one_up, two_up, three_up = ones & ~twos, twos & ~ones, ones & twos
                        table = digits[degree]
                        for digit in range(NUM_DIGITS):
                            word += step
                            random = mix(word)
                            own = (
                                (none_up & table[digit, 0])
                                | (one_up & table[digit, 1])
                                | (two_up & table[digit, 2])
                                | (three_up & table[digit, 3])
                                | (fours & table[digit, 4])
                            )
                            is_drawn |= undecided & own & ~random
                            undecided &= ~(own ^ random)
                            if undecided == NONE:
                                break
                    planes[colour, row, place] = is_drawn


@kernel(work=("uniforms", 40))
def sweep_trees(forests, contexts, parents, log_values, local_logs, uniforms, codes, kept_nodes, kept):
    """Draw all nodes of each forest at once given those outside, forest after forest, one uniform for each node.

    `forests` has where each forest starts among the places, and for each place its node, the place of its parent (-1
    for a root; parents come first) and its number of states. `contexts` and `parents` are the edges of each place to
    nodes outside the forest and to its parent: where they start, the place of their table in `log_values` and the
    strides of the node and of the other; a context also has the other node. `local_logs` is (place, state). The codes
    of some nodes are kept after every sweep whose number is a multiple of (number of sweeps) / (length of `kept`).
    """
    forest_starts, nodes, above, num_states = forests
    context_starts, others, context_tables, context_strides = contexts
    parent_starts, parent_tables, parent_strides = parents
    most = local_logs.shape[1]
    beliefs, weights = np.empty(local_logs.shape), np.empty(most)
    thin = len(uniforms) // len(kept) if len(kept) > 0 else len(uniforms) + 1
    for sweep in range(len(uniforms)):
        for forest in range(len(forest_starts) - 1):
            first, end = forest_starts[forest], forest_starts[forest + 1]
            for place in range(first, end):
                for state in range(num_states[place]):
                    total = local_logs[place, state]
                    for edge in range(context_starts[place], context_starts[place + 1]):
                        step = state * context_strides[edge, 0] + codes[others[edge]] * context_strides[edge, 1]
                        total += log_values[context_tables[edge] + step]
                    beliefs[place, state] = total
            for back in range(end - first):
                place = end - 1 - back
                parent = above[place]
                if parent < 0:
                    continue
                for outer in range(num_states[parent]):
                    top = -np.inf
                    for state in range(num_states[place]):
                        total = beliefs[place, state]
                        for edge in range(parent_starts[place], parent_starts[place + 1]):
                            step = state * parent_strides[edge, 0] + outer * parent_strides[edge, 1]
                            total += log_values[parent_tables[edge] + step]
                        weights[state] = total
                        top = max(top, total)
                    if top == -np.inf:
                        beliefs[parent, outer] = -np.inf
                        continue
                    total = 0.0
                    for state in range(num_states[place]):
                        total += math.exp(weights[state] - top)
                    beliefs[parent, outer] += top + math.log(total)
            for place in range(first, end):
                top = -np.inf
                for state in range(num_states[place]):
                    total = beliefs[place, state]
                    for edge in range(parent_starts[place], parent_starts[place + 1]):
                        step = state * parent_strides[edge, 0] + codes[nodes[above[place]]] * parent_strides[edge, 1]
                        total += log_values[parent_tables[edge] + step]
                    weights[state] = total
                    top = max(top, total)
                for state in range(num_states[place]):
                    weights[state] = math.exp(weights[state] - top)
                codes[nodes[place]] = draw_index(weights[: num_states[place]], uniforms[sweep, place])
        if (sweep + 1) % thin == 0:
            for index in range(len(kept_nodes)):
                kept[(sweep + 1) // thin - 1, index] = codes[kept_nodes[index]]
