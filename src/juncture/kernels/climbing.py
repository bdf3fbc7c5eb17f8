"""What a hill climber asks of its graph at every step: which changes are legal, and who reaches whom."""

from __future__ import annotations

import numpy as np

from juncture.kernels.compiler import kernel

ADD, DELETE, REVERSE = 0, 1, 2


@kernel
def close_paths(reaches):
    """Edges (tail, head) become paths, in place: whether one leads from a node to another."""
    for middle in range(len(reaches)):
        for start in range(len(reaches)):
            if reaches[start, middle]:
                for end in range(len(reaches)):
                    reaches[start, end] |= reaches[middle, end]


@kernel
def legal_gains(edges, reaches, allowed, required, gains, max_parents, options):
    """Fill `options` (change, parent, child) with the gain of every legal change, and -inf elsewhere."""
    size = len(edges)
    num_parents = np.zeros(size, np.int64)
    for parent in range(size):
        for child in range(size):
            num_parents[child] += edges[parent, child]
    options[:] = -np.inf
    for parent in range(size):
        for child in range(size):
            if not edges[parent, child]:
                is_legal = allowed[parent, child] and not reaches[child, parent] and num_parents[child] < max_parents
                if is_legal and not edges[child, parent]:
                    options[ADD, parent, child] = gains[parent, child]
            elif not required[parent, child]:
                options[DELETE, parent, child] = gains[parent, child]
                has_room = allowed[child, parent] and num_parents[parent] < max_parents
                if has_room and not has_detour(edges, reaches, parent, child):
                    options[REVERSE, parent, child] = gains[parent, child] + gains[child, parent]


@kernel
def has_detour(edges, reaches, parent, child):
    """Whether a path besides the edge leads from parent to child, so that turning the edge would close a cycle."""
    for other in range(len(edges)):
        if reaches[parent, other] and edges[other, child]:
            return True
    return False
