"""State paths drawn forward, from the prior or (after a backward pass) from the posterior."""

from __future__ import annotations

import numpy as np

from juncture.kernels.chains.log_encoded import DECISIVE_SUM, decode_log
from juncture.kernels.compiler import kernel
from juncture.kernels.draws import draw_index


@kernel(work=("uniforms", "initial"))
def draw_paths(initial, matrix, lattice, index, uniforms, paths):
    """Fill `paths` (path, step): each state given its predecessor, with probability ∝ matrix · lattice[index[step]].

    The lattice holds `previous` of the backward pass, encoded as in `log_encoded`; ones sample without evidence.
    """
    weights = np.empty(len(initial))
    for path in range(len(paths)):
        for step in range(len(index)):
            probabilities = initial if step == 0 else matrix[paths[path, step - 1]]
            fill_weights(probabilities, lattice[index[step]], weights)
            paths[path, step] = draw_index(weights, uniforms[path, step])


@kernel
def fill_weights(probabilities, masses, weights):
    """Fill `weights` with probability · mass; where the sum underflows, relative to the largest product."""
    total = 0.0
    for state in range(len(probabilities)):
        weights[state] = probabilities[state] * max(masses[state], 0.0)
        total += weights[state]
    if total > DECISIVE_SUM:
        return
    top = -np.inf
    for state in range(len(probabilities)):
        weights[state] = decode_log(probabilities[state]) + decode_log(masses[state])
        top = max(top, weights[state])
    for state in range(len(probabilities)):
        weights[state] = np.exp(weights[state] - top)
