"""What evidence touches, and how it enters a clique: as a weight for each state of the nodes that are at home there."""

from __future__ import annotations

from juncture.kernels.compiler import kernel
from juncture.kernels.junction_tree.layout import (
    INDEX,
    MESSAGE,
    MOVE,
    NODE_CLIQUE,
    NUM_RUNS,
    PARENT,
    RUN,
    SEPARATOR,
    STATES,
)
from juncture.kernels.junction_tree.propagation import part
from juncture.kernels.junction_tree.scales import smallest_positive
from juncture.kernels.sparse_tree.layout import CODES
from juncture.kernels.sparse_tree.tiles import multiply_message, multiply_states


@kernel
def queue_by_clique(node_table, nodes, heads, links):
    """Link the positions in `nodes` clique by clique: `heads` (clique,), then `links`; -1 ends a list."""
    heads[:] = -1
    for position in range(len(nodes) - 1, -1, -1):
        clique = node_table[nodes[position], NODE_CLIQUE]
        links[position] = heads[clique]
        heads[clique] = position


@kernel
def mark_paths(table, node_table, nodes, marked):
    """Mark the cliques of the nodes and all cliques up to the root."""
    for position in range(len(nodes)):
        clique = node_table[nodes[position], NODE_CLIQUE]
        while clique >= 0 and not marked[clique]:
            marked[clique] = True
            clique = table[clique, PARENT]


@kernel
def bound_cells(clique, layout, smallest, observed, weight_starts, weights, heads, links, touched, least):
    """A lower bound of the positive cells of a clique after its evidence and its children's ratios."""
    node_table, child_starts, children = layout.node_table, layout.child_starts, layout.children
    bound = smallest[clique]
    position = heads[clique]
    while position >= 0:
        bound *= smallest_positive(part(weights, weight_starts[position], node_table[observed[position], STATES]))
        position = links[position]
    for index in range(child_starts[clique], child_starts[clique + 1]):
        if touched[children[index]]:
            bound *= least[children[index]]
    return bound


@kernel
def multiply_tile(clique, tile, first, layout, observed, weight_starts, weights, heads, links, touched, ratios, places):
    """Multiply the evidence on a clique, and what its touched children have sent, into a tile."""
    table, indices, runs, node_table, codes, child_starts, children = (
        layout.table,
        layout.indices,
        layout.runs,
        layout.node_table,
        layout.codes,
        layout.child_starts,
        layout.children,
    )
    position = heads[clique]
    while position >= 0:
        node = observed[position]
        multiply_states(
            tile, part(codes, node_table[node, CODES] + first, len(tile)),
            part(weights, weight_starts[position], node_table[node, STATES]),
        )  # fmt: skip
        position = links[position]
    for index in range(child_starts[clique], child_starts[clique + 1]):
        child = children[index]
        if touched[child]:
            places[index] = multiply_message(
                tile, first, table[child, MOVE], part(runs, table[child, RUN], table[child, NUM_RUNS] + 1),
                part(indices, table[child, INDEX], table[child, NUM_RUNS]), places[index],
                part(ratios, table[child, MESSAGE], table[child, SEPARATOR]),
            )  # fmt: skip
