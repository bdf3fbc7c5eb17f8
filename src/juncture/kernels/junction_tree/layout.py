"""Where the tables of a clique tree lie, and how the cells of one map to the cells of another.

A clique's axes are its separator (the nodes shared with its parent, in the parent's order), then the rest, so
that the message to the parent sums contiguous blocks. How a parent's cells read a child's message is one of
three moves: GATHER, one index a cell; CONSTANT, one index for each run of cells that read the same entry;
STRIP, one index for each run of cells that read consecutive entries.
"""

from __future__ import annotations

import numpy as np

from juncture.kernels.compiler import kernel

GATHER, CONSTANT, STRIP = 0, 1, 2
SHORT_RUN = 4

# columns of the clique table
OFFSET, SIZE, SEPARATOR, RESIDUAL, MESSAGE, PARENT, MOVE, RUN, INDEX, NUM_RUNS = range(10)
# columns of the node table
HOME, HOME_OFFSET, OUTER, STATES, INNER, MARGINAL = range(6)


@kernel
def lay_out(starts, members, parents, num_nodes):
    """The axes of every clique, in the order of `nodes[starts[c]:starts[c + 1]]`: the first `shared[c]` its separator.

    Nodes that many children read lie outside, so that runs of cells that read one entry are long.
    """
    num_cliques = len(parents)
    nodes = np.empty(len(members), np.int64)
    shared = np.zeros(num_cliques, np.int64)
    usage = count_readers(starts, members, parents, num_nodes)
    own = np.full(num_nodes, -1, np.int64)  # the clique that last marked a node as its own
    above = np.full(num_nodes, -1, np.int64)  # ... or as its parent's
    for clique in range(num_cliques):
        for place in range(starts[clique], starts[clique + 1]):
            own[members[place]] = clique
        at = starts[clique]
        parent = parents[clique]
        if parent >= 0:
            for place in range(starts[parent], starts[parent + 1]):
                node = nodes[place]
                above[node] = clique
                if own[node] == clique:
                    nodes[at] = node
                    at += 1
        shared[clique] = at - starts[clique]
        begin = at
        for place in range(starts[clique], starts[clique + 1]):
            node = members[place]
            if above[node] == clique:
                continue
            spot = at  # insertion sort by falling usage
            while spot > begin and usage[position(starts, members, clique, nodes[spot - 1])] < usage[place]:
                nodes[spot] = nodes[spot - 1]
                spot -= 1
            nodes[spot] = node
            at += 1
    return nodes, shared


@kernel
def position(starts, members, clique, node):
    for place in range(starts[clique], starts[clique + 1]):
        if members[place] == node:
            return place
    return -1


@kernel
def count_readers(starts, members, parents, num_nodes):
    """For each place in `members`, how many child cliques share that node."""
    usage = np.zeros(len(members), np.int64)
    for clique in range(len(parents)):
        parent = parents[clique]
        if parent < 0:
            continue
        for place in range(starts[clique], starts[clique + 1]):
            spot = position(starts, members, parent, members[place])
            if spot >= 0:
                usage[spot] += 1
    return usage


@kernel
def place_tables(parents, starts, nodes, shared, num_states):
    """The clique table (see the columns above), all but how parents read messages, and the number of indices needed."""
    num_cliques = len(parents)
    table = np.zeros((num_cliques, 10), np.int64)
    offset = 0
    message = 0
    num_indices = 0
    for clique in range(num_cliques):
        separator = 1
        residual = 1
        for place in range(starts[clique], starts[clique + 1]):
            if place - starts[clique] < shared[clique]:
                separator *= num_states[nodes[place]]
            else:
                residual *= num_states[nodes[place]]
        table[clique, OFFSET] = offset
        table[clique, SIZE] = separator * residual
        table[clique, SEPARATOR] = separator
        table[clique, RESIDUAL] = residual
        table[clique, MESSAGE] = message
        table[clique, PARENT] = parents[clique]
        offset += separator * residual
        message += separator
        parent = parents[clique]
        if parent >= 0:
            move, run = choose_move(clique, parent, starts, nodes, shared, num_states)
            table[clique, MOVE] = move
            table[clique, RUN] = run
            table[clique, INDEX] = num_indices
            table[clique, NUM_RUNS] = table[parent, SIZE] // run
            num_indices += table[clique, NUM_RUNS]
    return table, offset, message, num_indices


@kernel
def is_shared(node, clique, starts, nodes, shared):
    for place in range(starts[clique], starts[clique] + shared[clique]):
        if nodes[place] == node:
            return True
    return False


@kernel
def choose_move(clique, parent, starts, nodes, shared, num_states):
    """The longest run at the inner end of the parent's axes that lies all inside, or all outside, the separator."""
    last = starts[parent + 1] - 1
    inside = is_shared(nodes[last], clique, starts, nodes, shared)
    run = 1
    for place in range(last, starts[parent] - 1, -1):
        if is_shared(nodes[place], clique, starts, nodes, shared) != inside:
            break
        run *= num_states[nodes[place]]
    if run < SHORT_RUN:
        return GATHER, 1
    return (STRIP, run) if inside else (CONSTANT, run)


@kernel
def fill_indices(table, starts, nodes, shared, num_states, indices):
    """For every child, which entry of its message each run of the parent's cells starts to read."""
    digits = np.zeros(64, np.int64)
    strides = np.zeros(64, np.int64)
    sizes = np.zeros(64, np.int64)
    for clique in range(len(table)):
        parent = table[clique, PARENT]
        if parent < 0:
            continue
        stride = 1
        run = table[clique, RUN]
        axes = 0  # the outer axes, innermost first
        covered = 1
        for place in range(starts[parent + 1] - 1, starts[parent] - 1, -1):
            node = nodes[place]
            inside = is_shared(node, clique, starts, nodes, shared)
            if covered >= run:
                strides[axes] = stride if inside else 0
                sizes[axes] = num_states[node]
                digits[axes] = 0
                axes += 1
            covered *= num_states[node]
            if inside:
                stride *= num_states[node]
        at = table[clique, INDEX]
        value = 0
        for place in range(table[clique, NUM_RUNS]):
            indices[at + place] = value
            axis = 0
            while axis < axes:
                digits[axis] += 1
                value += strides[axis]
                if digits[axis] < sizes[axis]:
                    break
                value -= strides[axis] * sizes[axis]
                digits[axis] = 0
                axis += 1


@kernel
def place_nodes(table, starts, nodes, num_states):
    """For each node its home, the smallest clique that has it, and how its states lie there: outer × states × inner."""
    num_nodes = len(num_states)
    homes = np.zeros((num_nodes, 6), np.int64)
    homes[:, HOME] = -1
    for clique in range(len(table)):
        inner = table[clique, SIZE]
        outer = 1
        for place in range(starts[clique], starts[clique + 1]):
            node = nodes[place]
            inner //= num_states[node]
            home = homes[node, HOME]
            if home < 0 or table[clique, SIZE] < table[home, SIZE]:
                homes[node, HOME] = clique
                homes[node, HOME_OFFSET] = table[clique, OFFSET]
                homes[node, OUTER] = outer
                homes[node, STATES] = num_states[node]
                homes[node, INNER] = inner
            outer *= num_states[node]
    at = 0
    for node in range(num_nodes):
        homes[node, MARGINAL] = at
        at += num_states[node]
    return homes
