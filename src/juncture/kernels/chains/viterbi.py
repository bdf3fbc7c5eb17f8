"""Viterbi's algorithm: the most probable path, in logarithms.

    score_t[i] = log likelihood_t[i] + max_j (log transition[i, j] + score_t+1[j])

Scores run from the last step to the first and the path is read from the first step on, so that of equally good paths
the lexicographically first is found.
"""

from __future__ import annotations

import numpy as np

from juncture.kernels.chains.padding import LANES, pad_matrix_to_lanes, pad_to_lanes
from juncture.kernels.chains.path_reading import read_forward
from juncture.kernels.compiler import kernel
from juncture.kernels.copying import copy_vector

LOW = -64.0  # scores below are shifted up before they lose digits


@kernel(work=("index", "log_matrix"))
def score_steps(log_matrix, values, tops, index, is_reverse, scores, lattice):
    """Fill `lattice` (step, state) with the best log-weight of a path to that state, less the returned shift.

    `scores` carries the best log-weights before the likelihoods of a step from one block of steps to the next. With the
    transposed log-transition matrix and `is_reverse`, the lattice scores the rest of a path, from the last step on. The
    result is -inf if no path is possible.
    """
    num_steps, num_states = len(index), len(scores)
    matrix, moved = pad_matrix_to_lanes(log_matrix, -np.inf), pad_to_lanes(scores, -np.inf)
    now, cells = np.full(len(moved), -np.inf), matrix.reshape(-1)
    log_scale, leader = 0.0, 0
    for turn in range(num_steps):
        step = num_steps - 1 - turn if is_reverse else turn
        row = index[step]
        log_scale += tops[row]
        for state in range(num_states):
            now[state] = moved[state] + values[row, state]
            lattice[step, state] = now[state]
        if now[leader] < LOW:
            leader = np.argmax(now)
            top = now[leader]
            if top == -np.inf:
                return top
            if top < LOW:
                log_scale += top
                for state in range(num_states):
                    now[state] -= top
                    lattice[step, state] = now[state]
        if len(moved) == LANES:
            max_plus_matvec_8(now, cells, moved)
        else:
            max_plus_matvec(now, matrix, moved)
    copy_vector(moved, scores)
    return log_scale


@kernel
def max_plus_matvec(scores, log_matrix, moved):
    """Fill `moved` with max over sources of scores[source] + log_matrix[source, target], four sources at a time."""
    num_states = len(moved)
    for target in range(num_states):
        moved[target] = -np.inf
    source = 0
    while source + 4 <= num_states:
        a, b, c, d = scores[source], scores[source + 1], scores[source + 2], scores[source + 3]
        for target in range(num_states):
            first = max(a + log_matrix[source, target], b + log_matrix[source + 1, target])
            second = max(c + log_matrix[source + 2, target], d + log_matrix[source + 3, target])
            moved[target] = max(moved[target], first, second)
        source += 4
    while source < num_states:
        a = scores[source]
        for target in range(num_states):
            moved[target] = max(moved[target], a + log_matrix[source, target])
        source += 1


@kernel
def max_plus_matvec_8(scores, cells, moved):
    """`max_plus_matvec` for eight states; `cells` is the matrix row by row."""
    a, b, c, d, e, f, g, h = scores[0], scores[1], scores[2], scores[3], scores[4], scores[5], scores[6], scores[7]
    for target in range(len(moved)):
        first = max(a + cells[target], b + cells[target + 8])
        second = max(c + cells[target + 16], d + cells[target + 24])
        third = max(e + cells[target + 32], f + cells[target + 40])
        fourth = max(g + cells[target + 48], h + cells[target + 56])
        first, third = max(first, second), max(third, fourth)
        moved[target] = max(first, third)


@kernel(work=("index", "log_matrix"))
def decode_each(log_initial, log_matrix, log_transposed, values, tops, index, offsets, lattice, path, log_joint):
    """The best path of each sequence of a chunk, and its log-weight; -inf where no path is possible."""
    scores = np.empty(len(log_initial))
    yes = np.bool_(True)  # for a plain constant Numba would compile the steps again
    for position in range(len(offsets) - 1):
        first, last = offsets[position], offsets[position + 1]
        own = lattice[first:last]
        scores[:] = 0.0
        log_joint[position] = score_steps(log_transposed, values, tops, index[first:last], yes, scores, own)
        if last > first and log_joint[position] > -np.inf:
            log_joint[position] += (log_initial + own[0]).max()
        if log_joint[position] > -np.inf:
            read_forward(log_initial, log_matrix, own, path[first:last])


@kernel
def log_weight(log_initial, log_matrix, values, tops, index, path):
    """The logarithm of the joint probability of a path and the observations."""
    total = 0.0
    for step in range(len(path)):
        total += log_initial[path[step]] if step == 0 else log_matrix[path[step - 1], path[step]]
        total += values[index[step], path[step]] + tops[index[step]]
    return total
