"""The memory layout of a clique tree's tables, and how the cells of one table map to the entries of another.

The axes of a clique are its separator (the nodes shared with its parent, in the parent's order), then its residual, so
that the message to the parent sums contiguous blocks. A parent's cells read a child's message in one of three ways:
GATHER, one index a cell; CONSTANT, one index for each run of cells that read the same entry; STRIP, one index for each
run of cells that read consecutive entries.
"""

from __future__ import annotations

import numpy as np

from juncture.kernels.compiler import kernel

GATHER, CONSTANT, STRIP = 0, 1, 2
SHORT_RUN = 4
LONG_SUM = 64  # cells that are summed one after the other; longer sums go by blocks

# columns of the clique table
OFFSET, SIZE, SEPARATOR, RESIDUAL, MESSAGE, PARENT, MOVE, RUN, INDEX, NUM_RUNS = range(10)
BLOCK, AXES, NUM_AXES, SHARED = range(10, 14)
# columns of the node table
NODE_CLIQUE, NODE_OFFSET, OUTER, STATES, INNER, MARGINAL = range(6)


@kernel
def lay_out(starts, members, parents, num_nodes):
    """The axes of every clique, `nodes[starts[c]:starts[c + 1]]`, of which the first `shared[c]` are its separator.

    Nodes that many children read become outer axes, and those that one child reads are neighbours, so that runs of
    cells that read one entry, or consecutive ones, are long.
    """
    num_cliques = len(parents)
    nodes = np.empty(len(members), np.int64)
    shared = np.zeros(num_cliques, np.int64)
    ranks = rank_members(starts, members, parents, num_nodes)
    own = np.full(num_nodes, -1, np.int64)  # the clique that last marked a node as its member
    above = np.full(num_nodes, -1, np.int64)  # ... or as a member of its parent
    for clique in range(num_cliques):
        for index in range(starts[clique], starts[clique + 1]):
            own[members[index]] = clique
        at = starts[clique]
        parent = parents[clique]
        if parent >= 0:
            for index in range(starts[parent], starts[parent + 1]):
                node = nodes[index]
                above[node] = clique
                if own[node] == clique:
                    nodes[at] = node
                    at += 1
        shared[clique] = at - starts[clique]
        begin = at
        for index in range(starts[clique], starts[clique + 1]):
            node = members[index]
            if above[node] == clique:
                continue
            spot = at  # insertion sort by falling rank
            while spot > begin and ranks[find_member(starts, members, clique, nodes[spot - 1])] < ranks[index]:
                nodes[spot] = nodes[spot - 1]
                spot -= 1
            nodes[spot] = node
            at += 1
    return nodes, shared


@kernel
def find_member(starts, members, clique, node):
    """The index of a node in the list of a clique, or -1."""
    for index in range(starts[clique], starts[clique + 1]):
        if members[index] == node:
            return index
    return -1


@kernel
def rank_members(starts, members, parents, num_nodes):
    """For each entry of `members` a rank: first by how many child cliques share that node, then by the last of these.

    A child that shares few nodes comes first, so that the many nodes of another one make a long run inside.
    """
    ranks = np.zeros(len(members), np.int64)
    for clique in range(len(parents)):
        parent = parents[clique]
        if parent < 0:
            continue
        count = 0
        for index in range(starts[clique], starts[clique + 1]):
            if find_member(starts, members, parent, members[index]) >= 0:
                count += 1
        last = (num_nodes - count) * len(parents) + clique
        for index in range(starts[clique], starts[clique + 1]):
            spot = find_member(starts, members, parent, members[index])
            if spot >= 0:
                readers = ranks[spot] // (num_nodes * len(parents)) + 1
                ranks[spot] = readers * num_nodes * len(parents) + last
    return ranks


@kernel
def build_clique_table(parents, starts, nodes, shared, num_states, kept_states):
    """The clique table (columns above), the number of cells, of message entries and of indices.

    `kept_states` are the sizes of the axes: `num_states`, or 1 for those cut down to one state. How sums go by runs
    depends on `num_states` alone. The indices themselves are filled in by `fill_indices`.
    """
    num_cliques = len(parents)
    table = np.zeros((num_cliques, 14), np.int64)
    offset = 0
    message = 0
    num_indices = 0
    for clique in range(num_cliques):
        separator = 1
        residual = 1
        for index in range(starts[clique], starts[clique + 1]):
            if index - starts[clique] < shared[clique]:
                separator *= kept_states[nodes[index]]
            else:
                residual *= kept_states[nodes[index]]
        table[clique, OFFSET] = offset
        table[clique, SIZE] = separator * residual
        table[clique, SEPARATOR] = separator
        table[clique, RESIDUAL] = residual
        table[clique, MESSAGE] = message
        table[clique, PARENT] = parents[clique]
        table[clique, AXES] = starts[clique]
        table[clique, NUM_AXES] = starts[clique + 1] - starts[clique]
        table[clique, SHARED] = shared[clique]
        table[clique, BLOCK] = choose_block(clique, starts, nodes, shared, num_states, kept_states)
        offset += separator * residual
        message += separator
        parent = parents[clique]
        if parent >= 0:
            move, run = choose_move(clique, parent, starts, nodes, shared, num_states, kept_states)
            table[clique, MOVE] = move
            table[clique, RUN] = run
            table[clique, INDEX] = num_indices
            table[clique, NUM_RUNS] = table[parent, SIZE] // run
            num_indices += table[clique, NUM_RUNS]
    return table, offset, message, num_indices


@kernel
def choose_block(clique, starts, nodes, shared, num_states, kept_states):
    """How many cells of a clique's residual are summed one after the other: its inner axes up to a long sum."""
    whole = 1
    block = 1
    for index in range(starts[clique + 1] - 1, starts[clique] + shared[clique] - 1, -1):
        if whole > 1 and whole * num_states[nodes[index]] > LONG_SUM:
            break
        whole *= num_states[nodes[index]]
        block *= kept_states[nodes[index]]
    return block


@kernel
def is_shared(node, clique, starts, nodes, shared):
    """Whether a node is in the separator of a clique."""
    for index in range(starts[clique], starts[clique] + shared[clique]):
        if nodes[index] == node:
            return True
    return False


@kernel
def choose_move(clique, parent, starts, nodes, shared, num_states, kept_states):
    """How the parent's cells read the message of a clique, and the length of the runs.

    A run covers the longest inner block of the parent's axes that lies all inside, or all outside, the separator.
    """
    last = starts[parent + 1] - 1
    inside = is_shared(nodes[last], clique, starts, nodes, shared)
    whole = 1
    run = 1
    for index in range(last, starts[parent] - 1, -1):
        if is_shared(nodes[index], clique, starts, nodes, shared) != inside:
            break
        whole *= num_states[nodes[index]]
        run *= kept_states[nodes[index]]
    if not inside and whole >= SHORT_RUN and run > 1:
        return CONSTANT, run
    if inside and run >= SHORT_RUN:
        return STRIP, run
    return GATHER, 1


@kernel
def fill_indices(table, starts, nodes, shared, num_states, indices):
    """Fill in, for every child, the message entry at which each run of the parent's cells starts to read."""
    strides = np.zeros(64, np.int64)
    sizes = np.zeros(64, np.int64)
    for clique in range(len(table)):
        parent = table[clique, PARENT]
        if parent < 0:
            continue
        stride = 1
        run = table[clique, RUN]
        axes = np.int64(0)  # the outer axes, innermost first
        covered = 1
        for index in range(starts[parent + 1] - 1, starts[parent] - 1, -1):
            node = nodes[index]
            inside = is_shared(node, clique, starts, nodes, shared)
            if covered >= run:
                strides[axes] = stride if inside else 0
                sizes[axes] = num_states[node]
                axes += 1
            covered *= num_states[node]
            if inside:
                stride *= num_states[node]
        at = table[clique, INDEX]
        count_up(sizes[:axes], strides[:axes], indices[at : at + table[clique, NUM_RUNS]])


@kernel
def count_up(sizes, strides, positions):
    """The positions of all cells of a table with these axes, innermost first, each with its own stride."""
    digits = np.zeros(len(sizes), np.int64)
    value = 0
    for index in range(len(positions)):
        positions[index] = value
        axis = 0
        while axis < len(sizes):
            digits[axis] += 1
            value += strides[axis]
            if digits[axis] < sizes[axis]:
                break
            value -= strides[axis] * sizes[axis]
            digits[axis] = 0
            axis += 1


@kernel
def build_node_table(table, starts, nodes, num_states):
    """The node table: the smallest clique that holds a node, and how its states lie there: outer × states × inner."""
    num_nodes = len(num_states)
    node_table = np.zeros((num_nodes, 6), np.int64)
    node_table[:, NODE_CLIQUE] = -1
    for clique in range(len(table)):
        for index in range(starts[clique], starts[clique + 1]):
            current = node_table[nodes[index], NODE_CLIQUE]
            if current < 0 or table[clique, SIZE] < table[current, SIZE]:
                node_table[nodes[index], NODE_CLIQUE] = clique
    at = 0
    for node in range(num_nodes):
        node_table[node, MARGINAL] = at
        at += num_states[node]
    place_nodes(table, starts, nodes, num_states, node_table)
    return node_table


@kernel
def place_nodes(table, starts, nodes, num_states, node_table):
    """Fill in how the states of each node lie in its clique."""
    for clique in range(len(table)):
        inner = table[clique, SIZE]
        outer = 1
        for index in range(starts[clique], starts[clique + 1]):
            node = nodes[index]
            inner //= num_states[node]
            if node_table[node, NODE_CLIQUE] == clique:
                node_table[node, NODE_OFFSET] = table[clique, OFFSET]
                node_table[node, OUTER] = outer
                node_table[node, STATES] = num_states[node]
                node_table[node, INNER] = inner
            outer *= num_states[node]
