"""Viterbi's algorithm, in logarithms: the most probable path of a hidden Markov chain, and the k best paths.

    score_t[i] = log likelihood_t[i] + max_j (log transition[i, j] + score_t+1[j])

Scores run from the last step to the first and the path is read from the first step on. Scores that differ by less than
TIE count as equal. Of equally good paths the lexicographically first is read: the smallest state at the first step,
then at the second, and so on. For the k best paths the recursion runs on ranked lists.
"""

from __future__ import annotations

import numpy as np

from juncture.kernels.chains.steps import LANES, pad_matrix_to_lanes, pad_to_lanes
from juncture.kernels.compiler import kernel
from juncture.kernels.copying import copy_vector

LOW = -64.0  # scores below are shifted up before they lose digits
TIE = 1e-12


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
def keep_best(scores, lattice, step):
    """Set the scores of all states of a step to -inf but those of the best states."""
    least = scores.max() - TIE
    for state in range(len(scores)):
        if not scores[state] >= least:
            lattice[step, state] = -np.inf


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


@kernel(work=("nexts", "log_initial"))
def best_paths(log_initial, log_matrix, values, index, num_ranks, nexts, paths):
    """Fill `paths` (rank, step) with the best paths in order; how many exist. `nexts` is (step, state · rank)."""
    num_states, num_steps = len(log_initial), len(index)
    suffixes, moved = np.full(num_states * num_ranks, -np.inf), np.empty(num_states * num_ranks)
    suffixes[::num_ranks] = 0.0
    for step in range(num_steps - 1, -1, -1):
        top = -np.inf
        for position in range(len(suffixes)):
            suffixes[position] += values[index[step], position // num_ranks]
            top = max(top, suffixes[position])
        if top == -np.inf:
            return 0
        suffixes -= top
        for state in range(num_states if step > 0 else 1):
            own = slice(state * num_ranks, (state + 1) * num_ranks)
            weights = log_matrix[state] if step > 0 else log_initial
            rank_suffixes(weights, moved[own], nexts[step, own], num_ranks, suffixes)
        copy_vector(moved, suffixes)
    count = 0
    while count < num_ranks and moved[count] > -np.inf:
        position = count
        for step in range(num_steps):
            position = nexts[step, position]
            paths[count, step] = position // num_ranks
        count += 1
    return count


@kernel
def rank_suffixes(log_weights, scores, nexts, num_ranks, found):
    """Merge the ranked suffixes of the next step's states (state · rank) into one ranking; of equals the first."""
    for rank in range(num_ranks):
        scores[rank] = -np.inf
    for state in range(len(log_weights)):
        for rank in range(num_ranks):
            score = log_weights[state] + found[state * num_ranks + rank]
            if not score > scores[num_ranks - 1] + TIE:
                break
            position = num_ranks - 1
            while position > 0 and score > scores[position - 1] + TIE:
                scores[position], nexts[position] = scores[position - 1], nexts[position - 1]
                position -= 1
            scores[position], nexts[position] = score, state * num_ranks + rank


@kernel
def log_weight(log_initial, log_matrix, values, tops, index, path):
    """The logarithm of the joint probability of a path and the observations."""
    total = 0.0
    for step in range(len(path)):
        total += log_initial[path[step]] if step == 0 else log_matrix[path[step - 1], path[step]]
        total += values[index[step], path[step]] + tops[index[step]]
    return total
