"""The best path along a chain of hidden states, and the k best.

All scores are logarithms. Of equally good paths the one with the earliest states is found, the first step counting
most: scores run from the end to the start, and the path is read from the start on. Scores that differ by less than TIE
count as equal.
"""

from __future__ import annotations

import numpy as np

from juncture.kernels.compiler import kernel

TIE = 1e-12
LOW = -64.0  # scores are raised before they have lost digits


@kernel
def score_steps(log_matrix, values, tops, index, is_reverse, scores, lattice):
    """Fill `lattice` (step, state) with the best log-weight of a way there and of its own step, less what is returned.

    `scores` carries it, its own step excluded, from one block of steps to the next. Along the transposed log-transition
    matrix and in reverse it is the rest of a path that is scored, from the last step on. -inf if no path is left.
    """
    num_steps, num_states = len(index), len(scores)
    log_scale = 0.0
    for turn in range(num_steps):
        step = num_steps - 1 - turn if is_reverse else turn
        row = index[step]
        log_scale += tops[row]
        top = -np.inf
        for state in range(num_states):
            score = scores[state] + values[row, state]
            lattice[step, state] = score
            top = max(top, score)
        if top < LOW:
            if top == -np.inf:
                return top
            log_scale += top
            for state in range(num_states):
                lattice[step, state] -= top
        move_best(lattice, step, log_matrix, scores)
    return log_scale


@kernel
def move_best(lattice, step, log_matrix, moved):
    """The best of lattice[step, source] + log_matrix[source, target] for each target, four sources at a time."""
    num_states = len(moved)
    for target in range(num_states):
        moved[target] = -np.inf
    source = 0
    while source + 4 <= num_states:
        a, b = lattice[step, source], lattice[step, source + 1]
        c, d = lattice[step, source + 2], lattice[step, source + 3]
        for target in range(num_states):
            first = max(a + log_matrix[source, target], b + log_matrix[source + 1, target])
            second = max(c + log_matrix[source + 2, target], d + log_matrix[source + 3, target])
            moved[target] = max(moved[target], first, second)
        source += 4
    while source < num_states:
        a = lattice[step, source]
        for target in range(num_states):
            moved[target] = max(moved[target], a + log_matrix[source, target])
        source += 1


@kernel
def trace(log_start, log_matrix, lattice, is_reverse, path):
    """Fill `path` with the best states, read against the direction of the scores; whether it never met a tie.

    `log_start` weighs the state of the first step that is read.
    """
    num_steps, num_states, was_alone = len(path), len(log_start), True
    scores = np.empty(num_states)
    before = 0
    for turn in range(num_steps):
        step = num_steps - 1 - turn if is_reverse else turn
        top = -np.inf
        for state in range(num_states):
            scores[state] = (log_start[state] if turn == 0 else log_matrix[before, state]) + lattice[step, state]
            top = max(top, scores[state])
        num_best = 0
        for state in range(num_states - 1, -1, -1):
            is_best = scores[state] >= top - TIE
            before = state if is_best else before
            num_best += is_best
        path[step] = before
        was_alone = was_alone and num_best == 1
    return was_alone


@kernel
def best_score(log_start, lattice, step):
    """The log-weight of the best path through a step, less what the scores before and after have returned."""
    top = -np.inf
    for state in range(len(log_start)):
        top = max(top, log_start[state] + lattice[step, state])
    return top


@kernel
def decode_each(log_initial, log_matrix, log_back, values, tops, index, offsets, lattice, path, log_joint):
    """The best path of each sequence of a chunk and its log-weight; -inf where no path is possible."""
    scores = np.empty(len(log_initial))
    no, yes = np.bool_(False), np.bool_(True)  # for plain constants Numba would compile the steps again
    for place in range(len(offsets) - 1):
        first, last = offsets[place], offsets[place + 1]
        own = lattice[first:last]
        scores[:] = 0.0
        log_joint[place] = score_steps(log_back, values, tops, index[first:last], yes, scores, own)
        if last > first and log_joint[place] > -np.inf:
            log_joint[place] += best_score(log_initial, own, 0)
        if log_joint[place] > -np.inf:
            trace(log_initial, log_matrix, own, no, path[first:last])


@kernel
def log_weight(log_initial, log_matrix, values, tops, index, path):
    """The logarithm of the joint probability of a path and the observations."""
    total = 0.0
    for step in range(len(path)):
        total += log_initial[path[step]] if step == 0 else log_matrix[path[step - 1], path[step]]
        total += values[index[step], path[step]] + tops[index[step]]
    return total
