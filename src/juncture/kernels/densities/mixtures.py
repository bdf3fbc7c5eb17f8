"""Mixtures: log Σ_k weight_k · density_k, and the responsibilities of the components."""

from __future__ import annotations

import numpy as np

from juncture.kernels.compiler import kernel


@kernel
def add_components(log_parts, log_weights, log_prob):
    """Fill in log Σ exp(log_weights + log_parts) over the components of each state; -inf where all terms are.

    Parts are (row, state and component) and weights (state, component). `log_parts` becomes the responsibilities: the
    shares of the components in the sum, 0 where the sum is zero.
    """
    num_states, num_components = log_weights.shape
    for row in range(len(log_parts)):
        parts = log_parts[row].reshape(num_states, num_components)
        for state in range(num_states):
            terms, weights = parts[state], log_weights[state]
            top = -np.inf
            for index in range(num_components):
                terms[index] += weights[index]
                top = max(top, terms[index])
            if top == -np.inf:
                terms[:] = 0.0
                log_prob[row, state] = -np.inf
                continue
            total = 0.0
            for index in range(num_components):
                terms[index] = np.exp(terms[index] - top)
                total += terms[index]
            for index in range(num_components):
                terms[index] /= total
            log_prob[row, state] = top + np.log(total)


@kernel
def weight_shares(shares, weights, num_components):
    """Multiply the responsibilities (row, state and component) by the weights (row, state)."""
    for row in range(len(shares)):
        for state in range(weights.shape[1]):
            weight = weights[row, state]
            for index in range(state * num_components, (state + 1) * num_components):
                shares[row, index] *= weight
