"""Collecting without evidence on a clique tree that keeps possible cells only."""

from __future__ import annotations

import math

import numpy as np

from juncture.kernels.compiler import kernel
from juncture.kernels.copying import copy_vector
from juncture.kernels.junction_tree.layout import (
    INDEX,
    MESSAGE,
    MOVE,
    NUM_RUNS,
    OFFSET,
    PARENT,
    RUN,
    SEPARATOR,
    SIZE,
)
from juncture.kernels.junction_tree.propagation import DONE, IMPOSSIBLE, SAFE, TINY, part
from juncture.kernels.junction_tree.scales import smallest_positive
from juncture.kernels.sparse_tree.scales import scale_down
from juncture.kernels.sparse_tree.tiles import add_blocks, multiply_message


@kernel
def collect_prior(layout, base, prior, smallest):
    """Collect without evidence, in place: `base`, `prior` and `smallest` become what runs start from.

    Gives (status, log of the total).
    """
    table, blocks, indices, runs, child_starts, children = (
        layout.table,
        layout.blocks,
        layout.indices,
        layout.runs,
        layout.child_starts,
        layout.children,
    )
    total = 1.0
    power = np.int64(0)
    ratios = np.empty(len(prior))
    prior[:] = 0.0
    for clique in range(len(table) - 1, -1, -1):
        start = table[clique, OFFSET]
        cells = part(base, start, table[clique, SIZE])
        for index in range(child_starts[clique], child_starts[clique + 1]):
            child = children[index]
            ratio = part(ratios, table[child, MESSAGE], table[child, SEPARATOR])
            if smallest_positive(cells) * smallest_positive(ratio) < SAFE:
                power += scale_down(cells)
                if smallest_positive(cells) * smallest_positive(ratio) < SAFE:
                    return TINY, 0.0
            multiply_message(
                cells, np.int64(0), table[child, MOVE], part(runs, table[child, RUN], table[child, NUM_RUNS] + 1),
                part(indices, table[child, INDEX], table[child, NUM_RUNS]), np.int64(0), ratio,
            )  # fmt: skip
        smallest[clique] = smallest_positive(cells)
        message = part(prior, table[clique, MESSAGE], table[clique, SEPARATOR])
        add_blocks(
            cells, start, part(blocks, table[clique, MESSAGE], table[clique, SEPARATOR] + 1), np.int64(0), message
        )
        ratio = part(ratios, table[clique, MESSAGE], table[clique, SEPARATOR])
        copy_vector(message, ratio)
        power += scale_down(ratio)
        if smallest[clique] == np.inf:
            return IMPOSSIBLE, -np.inf
        if table[clique, PARENT] < 0:
            total *= ratio[0]
            total, more = math.frexp(total)
            power += more
    return DONE, math.log(total) + power * math.log(2.0)
