"""Best paths read off the scores of all states at all steps.

Of equally good paths the one with the earliest states is read, the first step counting most. Scores that differ by less
than TIE count as equal.
"""

from __future__ import annotations

import numpy as np

from juncture.kernels.compiler import kernel

TIE = 1e-12


@kernel
def read_ahead(log_start, log_matrix, lattice, path):
    """Fill `path` with the best states, where the lattice scores a state's own step and the rest of the path.

    `log_start` weighs the state of the first step.
    """
    scores = np.empty(len(log_start))
    if len(path):
        path[0] = choose(log_start.reshape(1, -1), 0, lattice, 0, scores)[0]
    for step in range(1, len(path)):
        path[step] = choose(log_matrix, path[step - 1], lattice, step, scores)[0]


@kernel
def choose(log_weights, row, lattice, step, scores):
    """The first of the best states of a step, and how many there are."""
    top = -np.inf
    for state in range(len(scores)):
        scores[state] = log_weights[row, state] + lattice[step, state]
        top = max(top, scores[state])
    first, num_best = 0, 0
    for state in range(len(scores) - 1, -1, -1):
        is_best = scores[state] >= top - TIE
        first = state if is_best else first
        num_best += is_best
    return first, num_best


@kernel
def read_back(log_back, lattice, path):
    """Fill `path` with the best states, where the lattice scores the way to a state, at the last step the whole path.

    `log_back` is the transposed log-transition matrix. Where states are equally good, all are followed until they come
    from one state; from there the first way is taken. The lattice loses the scores of other states on the way.
    """
    scores, num_open = np.empty(len(log_back)), 0
    nothing = np.zeros((1, len(log_back)))
    for step in range(len(path) - 1, -1, -1):
        if num_open > 0:
            state, num_best = keep_sources(log_back, lattice, step, scores)
        elif step == len(path) - 1:
            state, num_best = choose(nothing, 0, lattice, step, scores)
        else:
            state, num_best = choose(log_back, path[step + 1], lattice, step, scores)
        path[step] = state
        if num_best > 1:
            if num_open == 0:
                keep_best(scores, lattice, step)
            num_open += 1
        elif num_open > 0:
            take_first_way(log_back, lattice, path, step, num_open)
            num_open = 0
    take_first_way(log_back, lattice, path, 0, num_open - 1)


@kernel
def keep_best(scores, lattice, step):
    """Make all states of a step impossible but the best."""
    least = scores.max() - TIE
    for state in range(len(scores)):
        if not scores[state] >= least:
            lattice[step, state] = -np.inf


@kernel
def keep_sources(log_back, lattice, step, scores):
    """Make all states of a step impossible but those from which the next step's are reached best; as `choose`."""
    is_source = np.zeros(len(scores), np.bool_)
    for target in range(len(scores)):
        if lattice[step + 1, target] > -np.inf:
            choose(log_back, target, lattice, step, scores)
            is_source |= scores >= scores.max() - TIE
    for state in range(len(scores)):
        if not is_source[state]:
            lattice[step, state] = -np.inf
    return np.argmax(is_source), is_source.sum()


@kernel
def take_first_way(log_back, lattice, path, step, num_open):
    """Fill in the steps after `step` that were left open, each with the first state that is reached best from there."""
    for later in range(step + 1, step + 1 + num_open):
        before, state = path[later - 1], 0
        while not is_way(log_back, lattice, later, before, state):
            state += 1
        path[later] = state


@kernel
def is_way(log_back, lattice, step, before, state):
    """Whether `state` is left at a step, and no state of the step before is a better way to it than `before`."""
    if lattice[step, state] == -np.inf:
        return False
    way = log_back[state, before] + lattice[step - 1, before]
    for other in range(len(log_back)):
        if log_back[state, other] + lattice[step - 1, other] > way + TIE:
            return False
    return True
