"""Rows drawn from a calibrated clique tree."""

from __future__ import annotations

from juncture.kernels.compiler import kernel
from juncture.kernels.junction_tree.layout import OFFSET, RESIDUAL
from juncture.kernels.junction_tree.propagation import part


@kernel
def draw_rows(table, starts, nodes, shared, num_states, work, uniforms, codes):
    """Fill `codes` (row, node): each clique's own nodes given its separator; `uniforms` is (row, clique)."""
    for row in range(len(uniforms)):
        for clique in range(len(table)):
            entry = 0
            for place in range(starts[clique], starts[clique] + shared[clique]):
                entry = entry * num_states[nodes[place]] + codes[row, nodes[place]]
            residual = table[clique, RESIDUAL]
            block = part(work, table[clique, OFFSET] + entry * residual, residual)
            cell = draw_cell(block, uniforms[row, clique])
            for place in range(starts[clique + 1] - 1, starts[clique] + shared[clique] - 1, -1):
                codes[row, nodes[place]] = cell % num_states[nodes[place]]
                cell //= num_states[nodes[place]]


@kernel
def draw_cell(weights, uniform):
    """The cell at which the running sum passes `uniform` times the total; never one of weight zero."""
    total = 0.0
    for cell in range(len(weights)):
        total += weights[cell]
    rest = uniform * total
    chosen = 0
    for cell in range(len(weights)):
        if weights[cell] > 0.0:
            chosen = cell
            rest -= weights[cell]
            if rest < 0.0:
                break
    return chosen
