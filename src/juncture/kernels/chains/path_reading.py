"""Best paths read from the scores of all states at all steps.

Scores that differ by less than TIE count as equal. Of equally good paths the lexicographically first is read: the
smallest state at the first step, then at the second, and so on.
"""

from __future__ import annotations

import numpy as np

from juncture.kernels.compiler import kernel

TIE = 1e-12


@kernel
def read_forward(log_start, log_matrix, lattice, path):
    """Fill `path` with the best states; lattice[t, i] is the best score of the steps t, t + 1, … with state i at t.

    `log_start` holds the log-weights of the first state.
    """
    scores, zero = np.empty(len(log_start)), np.int64(0)
    if len(path):
        path[0] = choose(log_start.reshape(1, -1), zero, lattice, zero, scores)[0]
    for step in range(1, len(path)):
        path[step] = choose(log_matrix, path[step - 1], lattice, step, scores)[0]


@kernel
def choose(log_weights, row, lattice, step, scores):
    """(the first best state of a step, how many states are best); fills `scores`."""
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
def read_backward(log_transposed, lattice, path):
    """Fill `path` with the best states; lattice[t, i] is the best score of the steps 0 … t with state i at t.

    `log_transposed` is the transposed log-transition matrix. Where several states are equally good, all are followed
    back until they share one predecessor, and the first of the tied states is taken from there on. The lattice loses
    the scores of the states that are not on a best path.
    """
    scores, zero, num_open = np.empty(len(log_transposed)), np.int64(0), np.int64(0)
    nothing = np.zeros((1, len(log_transposed)))
    for step in range(len(path) - 1, -1, -1):
        if num_open > 0:
            state, num_best = keep_sources(log_transposed, lattice, step, scores)
        elif step == len(path) - 1:
            state, num_best = choose(nothing, zero, lattice, step, scores)
        else:
            state, num_best = choose(log_transposed, path[step + 1], lattice, step, scores)
        path[step] = state
        if num_best > 1:
            if num_open == 0:
                keep_best(scores, lattice, step)
            num_open += 1
        elif num_open > 0:
            fill_tied_steps(log_transposed, lattice, path, step, num_open)
            num_open = zero
    fill_tied_steps(log_transposed, lattice, path, zero, num_open - 1)


@kernel
def keep_best(scores, lattice, step):
    """Set the scores of all states of a step to -inf but those of the best states."""
    least = scores.max() - TIE
    for state in range(len(scores)):
        if not scores[state] >= least:
            lattice[step, state] = -np.inf


@kernel
def keep_sources(log_transposed, lattice, step, scores):
    """Set the scores of a step to -inf but those of the best predecessors of the next step; returns as `choose`."""
    is_source = np.zeros(len(scores), np.bool_)
    for target in range(len(scores)):
        if lattice[step + 1, target] > -np.inf:
            choose(log_transposed, target, lattice, step, scores)
            is_source |= scores >= scores.max() - TIE
    for state in range(len(scores)):
        if not is_source[state]:
            lattice[step, state] = -np.inf
    return np.argmax(is_source), is_source.sum()


@kernel
def fill_tied_steps(log_transposed, lattice, path, step, num_open):
    """Fill the `num_open` tied steps after `step`, each with the first state that its predecessor reaches best."""
    for later in range(step + 1, step + 1 + num_open):
        before, state = path[later - 1], np.int64(0)
        while not is_best_predecessor(log_transposed, lattice, later, before, state):
            state += 1
        path[later] = state


@kernel
def is_best_predecessor(log_transposed, lattice, step, before, state):
    """Whether `state` is possible at a step, and `before` is a best predecessor of it."""
    if lattice[step, state] == -np.inf:
        return False
    way = log_transposed[state, before] + lattice[step - 1, before]
    for other in range(len(log_transposed)):
        if log_transposed[state, other] + lattice[step - 1, other] > way + TIE:
            return False
    return True
