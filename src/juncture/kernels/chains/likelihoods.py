"""Log-likelihoods of the steps of a chain, made relative to the largest of their step."""

from __future__ import annotations

import numpy as np

from juncture.kernels.chains.log_encoded import encoded
from juncture.kernels.compiler import kernel

LOG_SMALLEST = -700.0  # the exponential of what is below is no ordinary double any more


@kernel
def subtract_tops(values, labels, tops):
    """Subtract from each row (step, state) its largest, which goes to `tops`; gives the first step with NaN, or -1.

    Where `labels` (empty, or one a step) tell the state, the others are impossible. A row without any possible state is
    all -inf with top 0; of a row with infinite densities only these are left.
    """
    for step in range(len(values)):
        if len(labels) and labels[step] >= 0:
            for state in range(values.shape[1]):
                if state != labels[step]:
                    values[step, state] = -np.inf
        top = -np.inf
        for state in range(values.shape[1]):
            if np.isnan(values[step, state]):
                return step
            top = max(top, values[step, state])
        tops[step] = top if top > -np.inf else 0.0
        for state in range(values.shape[1]):
            if top == np.inf:
                values[step, state] = 0.0 if values[step, state] == np.inf else -np.inf
            else:
                values[step, state] -= tops[step]
    return -1


@kernel
def clear_small(values):
    """Make -inf of what is too small to be told from zero."""
    for step in range(len(values)):
        for state in range(values.shape[1]):
            if values[step, state] < LOG_SMALLEST:
                values[step, state] = -np.inf


@kernel
def encode(values):
    """Turn logarithms into the numbers of `tiny_masses`."""
    for step in range(len(values)):
        for state in range(values.shape[1]):
            values[step, state] = encoded(values[step, state])
