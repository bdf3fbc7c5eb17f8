"""Fixed-lag smoothing: p(state at t | observations up to t + lag)."""

from __future__ import annotations

import numpy as np

from juncture.kernels.chains.log_encoded import combine_exactly, recompute_in_logs, weigh_exactly
from juncture.kernels.chains.passes import divide, dot_at_step
from juncture.kernels.chains.steps import matvec
from juncture.kernels.compiler import kernel


@kernel(work=("index", "lag", "transition"))
def smooth_with_lag(transition, is_exact, values, index, lag, lattice):
    """Turn filtered distributions (step, state) into p(state at t | observations up to t + lag), in place.

    `transition` is that of the backward pass, see `pass_block`.
    """
    message, previous = np.empty(lattice.shape[1]), np.empty(lattice.shape[1])
    for step in range(len(index)):
        message[:] = 1.0
        for later in range(min(step + lag, len(index) - 1), step, -1):
            backward_step(transition, is_exact, values, index[later], message, previous)
        if is_exact:
            combine_exactly(message, lattice, step)
        else:
            share = 1.0 / dot_at_step(message, lattice, step)
            for state in range(len(message)):
                lattice[step, state] *= message[state] * share


@kernel
def backward_step(transition, is_exact, values, row, message, previous):
    """One step of the backward pass: weigh the message by the likelihoods of a row, and multiply by the matrix."""
    matrix, starts, sources, logs = transition
    if is_exact:
        weigh_exactly(message, values, row, previous)
    else:
        total = dot_at_step(message, values, row)
        for state in range(len(message)):
            previous[state] = message[state] * values[row, state]
        divide(previous, total)
    matvec(previous, matrix, message)
    if is_exact:
        recompute_in_logs(previous, starts, sources, logs, message)
