"""Rows drawn from a calibrated clique tree, root first: p(residual | separator) in each clique."""

from __future__ import annotations

from juncture.kernels.compiler import kernel
from juncture.kernels.draws import draw_index
from juncture.kernels.junction_tree.layout import OFFSET, RESIDUAL
from juncture.kernels.junction_tree.propagation import part


@kernel
def draw_rows(table, starts, nodes, shared, num_states, work, uniforms, codes):
    """Fill `codes` (row, node): each clique's residual nodes given its separator; `uniforms` is (row, clique)."""
    for row in range(len(uniforms)):
        for clique in range(len(table)):
            entry = 0
            for index in range(starts[clique], starts[clique] + shared[clique]):
                entry = entry * num_states[nodes[index]] + codes[row, nodes[index]]
            residual = table[clique, RESIDUAL]
            block = part(work, table[clique, OFFSET] + entry * residual, residual)
            cell = draw_index(block, uniforms[row, clique])
            for index in range(starts[clique + 1] - 1, starts[clique] + shared[clique] - 1, -1):
                codes[row, nodes[index]] = cell % num_states[nodes[index]]
                cell //= num_states[nodes[index]]
