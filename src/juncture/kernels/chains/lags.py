"""Smoothing with a fixed lag: each state given the observations up to so many steps later."""

from __future__ import annotations

import numpy as np

from juncture.kernels.chains.log_encoded import meet_exactly, mend, weigh_exactly
from juncture.kernels.chains.passes import divide, meeting
from juncture.kernels.chains.steps import move
from juncture.kernels.compiler import kernel


@kernel
def look_back(road, is_exact, values, index, lag, lattice):
    """Turn filtered laws (step, state) into p(state at t | observations up to t + lag), in place.

    `road` leads back, see `walk`.
    """
    message, previous = np.empty(lattice.shape[1]), np.empty(lattice.shape[1])
    for step in range(len(index)):
        message[:] = 1.0
        for later in range(min(step + lag, len(index) - 1), step, -1):
            step_back(road, is_exact, values, index[later], message, previous)
        if is_exact:
            meet_exactly(message, lattice, step)
        else:
            share = 1.0 / meeting(message, lattice, step)
            for state in range(len(message)):
                lattice[step, state] *= message[state] * share


@kernel
def step_back(road, is_exact, values, row, message, previous):
    matrix, starts, sources, logs = road
    if is_exact:
        weigh_exactly(message, values, row, previous)
    else:
        total = meeting(message, values, row)
        for state in range(len(message)):
            previous[state] = message[state] * values[row, state]
        divide(previous, total)
    move(previous, matrix, message)
    if is_exact:
        mend(previous, starts, sources, logs, message)
