"""Paths drawn along a chain of hidden states."""

from __future__ import annotations

import numpy as np

from juncture.kernels.chains.log_encoded import SURE, log_of
from juncture.kernels.compiler import kernel


@kernel
def draw_paths(initial, matrix, lattice, index, uniforms, paths):
    """Fill `paths` (path, step), each state given the one before, with probability ∝ matrix · lattice[index[step]].

    The lattice holds the backward walk's `previous` in the numbers of `tiny_masses`, or ones to draw without evidence.
    """
    weights = np.empty(len(initial))
    for path in range(len(paths)):
        for step in range(len(index)):
            chances = initial if step == 0 else matrix[paths[path, step - 1]]
            fill_weights(chances, lattice[index[step]], weights)
            paths[path, step] = draw_state(weights, uniforms[path, step])


@kernel
def fill_weights(chances, masses, weights):
    """Chances times masses, relative to the largest product where that is tiny."""
    total = 0.0
    for state in range(len(chances)):
        weights[state] = chances[state] * max(masses[state], 0.0)
        total += weights[state]
    if total > SURE:
        return
    top = -np.inf
    for state in range(len(chances)):
        weights[state] = log_of(chances[state]) + log_of(masses[state])
        top = max(top, weights[state])
    for state in range(len(chances)):
        weights[state] = np.exp(weights[state] - top)


@kernel
def draw_state(weights, uniform):
    """The state at which the running sum passes `uniform` times the total; never one of weight zero."""
    total = 0.0
    for state in range(len(weights)):
        total += weights[state]
    rest = uniform * total
    chosen = 0
    for state in range(len(weights)):
        if weights[state] > 0.0:
            chosen = state
            rest -= weights[state]
            if rest < 0.0:
                break
    return chosen
