"""Better elimination orders from a given one: parts of its clique tree are triangulated anew, again and again.

A part is a connected set of cliques. Inside it the fill edges are forgotten, the separators to the rest of the tree
become cliques, and a greedy heuristic with random scores eliminates the nodes. If the new cliques have fewer cells,
they replace the old ones; the rest of the tree stays. Now and then a slightly larger tree is accepted. Everything is
counted in work, about nanoseconds of compiled code, never in time: the same graph gets the same order.
"""

from __future__ import annotations

import numpy as np

from juncture.kernels.compiler import kernel
from juncture.kernels.copying import copy_matrix
from juncture.kernels.elimination_orders.cliques import clique_tree
from juncture.kernels.elimination_orders.greedy_orders import (
    are_adjacent,
    as_lists,
    eliminate,
    follow_order,
    members,
    sizes_of,
)

LEAST_PART, LARGEST_PART = 8, 72  # nodes
MAX_SPREAD = 2.0  # of the random scores
EXCURSIONS, EXCESS = 0.05, 1.05  # how often a tree may grow, and to how many times the best so far
PROGRESS = 0.995  # of the total: less than this renews the patience
PATIENCE, FIRST_PATIENCE = 4.0, 0.3  # how many times the work up to the last progress; at first, of the budget
WORK_PER_NODE, WORK_PER_PAIR = 500.0, 16.0  # of a part
WORK_PER_TREE_NODE = 300.0  # of a new clique tree


@kernel
def draw(state):
    """A random number between 0 and 1 (xorshift, Marsaglia 2003)."""
    word = state[0]
    word ^= word << np.uint64(13)
    word ^= word >> np.uint64(7)
    word ^= word << np.uint64(17)
    state[0] = word
    return float(word >> np.uint64(11)) * 2.0**-53


@kernel
def join(graph, one, other):
    """Make two nodes adjacent."""
    graph[one, other >> 6] |= np.uint64(1) << np.uint64(other & 63)
    graph[other, one >> 6] |= np.uint64(1) << np.uint64(one & 63)


@kernel
def add_fill(graph, order, separators):
    """Make each node adjacent to the separator of its step."""
    scratch = np.empty(len(graph), np.int64)
    for step in range(len(order)):
        for index in range(members(separators[step], scratch)):
            join(graph, order[step], scratch[index])


@kernel
def count_simplicial(graph, order, separators):
    """How many nodes at the start of an order go without a fill edge: no better order has them elsewhere."""
    scratch = np.empty(len(graph), np.int64)
    for step in range(len(order)):
        count = members(separators[step], scratch)
        for one in range(count):
            for other in range(one):
                if not are_adjacent(graph, scratch[one], scratch[other]):
                    return step
    return len(order)


@kernel
def perfect_order(filled):
    """An elimination order of a chordal graph that adds no edge.

    Each time the node with the most numbered neighbours is numbered, from the last step to the first (maximum
    cardinality search, Tarjan and Yannakakis 1984). Nodes wait in one doubly linked list for each such number.
    """
    num_nodes = len(filled)
    order = np.empty(num_nodes, np.int64)
    counts = np.zeros(num_nodes, np.int64)  # -1 once numbered
    heads = np.full(num_nodes + 1, -1, np.int64)
    after = np.arange(1, num_nodes + 1)
    before = np.arange(-1, num_nodes - 1)
    scratch = np.empty(num_nodes, np.int64)
    if num_nodes:
        after[-1] = -1
        heads[0] = 0
    most = 0
    for step in range(num_nodes - 1, -1, -1):
        while heads[most] < 0:
            most -= 1
        node = heads[most]
        unlink(node, most, heads, after, before)
        order[step] = node
        counts[node] = -1
        for index in range(members(filled[node], scratch)):
            other = scratch[index]
            if counts[other] >= 0:
                unlink(other, counts[other], heads, after, before)
                counts[other] += 1
                link(other, counts[other], heads, after, before)
        most += 1
    return order


@kernel
def unlink(node, number, heads, after, before):
    """Take a node out of the list of this number."""
    if before[node] >= 0:
        after[before[node]] = after[node]
    else:
        heads[number] = after[node]
    if after[node] >= 0:
        before[after[node]] = before[node]


@kernel
def link(node, number, heads, after, before):
    """Put a node at the head of the list of this number."""
    after[node] = heads[number]
    before[node] = -1
    if heads[number] >= 0:
        before[heads[number]] = node
    heads[number] = node


@kernel
def build_tree(order, separators, sizes):
    """The clique tree of an order: starts and nodes of cliques, starts and cliques next to each, cells, their sum."""
    separator_starts, separator_nodes = as_lists(separators)
    starts, nodes, parents, _ = clique_tree(order, separator_starts, separator_nodes)
    cells = np.ones(len(parents))
    total = 0.0
    degrees = np.zeros(len(parents) + 1, np.int64)
    for clique in range(len(parents)):
        for index in range(starts[clique], starts[clique + 1]):
            cells[clique] *= sizes[nodes[index]]
        total += cells[clique]
        if parents[clique] >= 0:
            degrees[clique + 1] += 1
            degrees[parents[clique] + 1] += 1
    link_starts = np.cumsum(degrees)
    filled = link_starts.copy()
    links = np.empty(link_starts[-1], np.int64)
    for clique in range(len(parents)):
        parent = parents[clique]
        if parent >= 0:
            links[filled[clique]] = parent
            links[filled[parent]] = clique
            filled[clique] += 1
            filled[parent] += 1
    return starts, nodes, link_starts, links, cells, total


@kernel
def pick_clique(cells, state):
    """A clique at random, by the fourth root of its cells."""
    total = 0.0
    for clique in range(len(cells)):
        total += np.sqrt(np.sqrt(cells[clique]))
    rest = draw(state) * total
    for clique in range(len(cells)):
        rest -= np.sqrt(np.sqrt(cells[clique]))
        if rest < 0.0:
            return clique
    return len(cells) - 1


@kernel
def grow_part(tree, num_wanted, state, number, part, around):
    """A connected part of the tree with so many nodes, or a clique's more.

    `number` becomes each node's position in `part`. `around` holds the cliques next to the part, and by which clique
    of the part each was reached. The result is how many nodes and cliques around there are, and the part's cells.
    """
    starts, nodes, link_starts, links, cells, _ = tree
    num_nodes = 0
    num_around = 1
    part_cells = 0.0
    around[0, 0] = pick_clique(cells, state)
    around[1, 0] = -1
    while num_around and num_nodes < num_wanted:
        spot = int(draw(state) * num_around)
        for _ in range(2):
            other = int(draw(state) * num_around)
            if cells[around[0, other]] > cells[around[0, spot]]:
                spot = other
        clique, origin = around[0, spot], around[1, spot]
        num_around -= 1
        around[0, spot], around[1, spot] = around[0, num_around], around[1, num_around]
        part_cells += cells[clique]
        for index in range(starts[clique], starts[clique + 1]):
            node = nodes[index]
            if number[node] < 0:
                number[node] = num_nodes
                part[num_nodes] = node
                num_nodes += 1
        for index in range(link_starts[clique], link_starts[clique + 1]):
            if links[index] != origin:
                around[0, num_around], around[1, num_around] = links[index], clique
                num_around += 1
    return num_nodes, num_around, part_cells


@kernel
def graph_of_part(graph, tree, number, part, around):
    """The graph's edges inside the part, and all edges inside the separators to the cliques around it."""
    starts, nodes = tree[0], tree[1]
    local = np.zeros((len(part), (len(part) + 63) >> 6), np.uint64)
    for one in range(len(part)):
        for other in range(one):
            if are_adjacent(graph, part[one], part[other]):
                join(local, one, other)
    for clique in around:
        for index in range(starts[clique], starts[clique + 1]):
            one = number[nodes[index]]
            for before in range(starts[clique], index):
                other = number[nodes[before]]
                if one >= 0 and other >= 0:
                    join(local, one, other)
    return local


@kernel
def replace_part(filled, part, local, order, separators):
    """Take over the new fill edges of a part in place of the old ones."""
    add_fill(local, order, separators)
    for one in range(len(part)):
        for other in range(one):
            node, neighbour = part[one], part[other]
            if are_adjacent(local, one, other):
                join(filled, node, neighbour)
            else:
                filled[node, neighbour >> 6] &= ~(np.uint64(1) << np.uint64(neighbour & 63))
                filled[neighbour, node >> 6] &= ~(np.uint64(1) << np.uint64(node & 63))


@kernel
def try_part(graph, local_logs, heuristic, state, bound):
    """A greedy elimination of a part, with random scores."""
    noise = np.empty(len(graph))
    for node in range(len(graph)):
        noise[node] = draw(state)
    spread = draw(state)
    late = np.zeros(len(graph), np.bool_)
    return eliminate(graph, local_logs, heuristic, noise, MAX_SPREAD * spread * spread, late, np.inf, bound)


@kernel(work=("budget",))
def improve_order(graph, log_sizes, seed, budget, budget_per_cell):
    """An elimination order that is better than that of the nodes' numbers, found in `budget` work at most.

    The search also ends once it has taken `budget_per_cell` for each cell of the best tree, and once the total has
    not come down for long.
    """
    num_nodes = len(graph)
    best_order = np.arange(num_nodes)
    order = best_order
    separators = follow_order(graph, order)
    filled = graph.copy()
    add_fill(filled, order, separators)
    sizes = sizes_of(log_sizes)
    number, part = np.full(num_nodes, -1, np.int64), np.empty(num_nodes, np.int64)
    around = np.empty((2, num_nodes), np.int64)
    state = np.array([seed], np.uint64)
    tree = build_tree(order, separators, sizes)
    total = tree[5]
    best = mark = total
    work, until = 0.0, FIRST_PATIENCE * budget
    while work < min(budget, budget_per_cell * best, until):
        wanted = LEAST_PART + draw(state) * (LARGEST_PART - LEAST_PART)
        num_part, num_around, part_total = grow_part(tree, wanted, state, number, part, around)
        local = graph_of_part(graph, tree, number, part[:num_part], around[0, :num_around])
        bound = part_total * (1.0 - 1e-12)
        if draw(state) < EXCURSIONS:
            bound = part_total + max(0.0, EXCESS * best - total)
        local_logs = log_sizes[part[:num_part]]
        found = try_part(local, local_logs, np.int64(draw(state) * 4), state, bound)
        for index in range(num_part):
            number[part[index]] = -1
        work += (WORK_PER_NODE + WORK_PER_PAIR * num_part) * num_part
        if found[2] <= bound:
            replace_part(filled, part[:num_part], local, found[0], found[1])
            order = perfect_order(filled)
            separators = follow_order(graph, order)  # without fill edges that have become needless
            copy_matrix(graph, filled)
            add_fill(filled, order, separators)
            tree = build_tree(order, separators, sizes)
            total = tree[5]
            work += WORK_PER_TREE_NODE * num_nodes
        if total < best:
            best = total
            best_order = order
        if best < PROGRESS * mark:
            mark = best
            until = max(until, PATIENCE * work)
    return best_order
