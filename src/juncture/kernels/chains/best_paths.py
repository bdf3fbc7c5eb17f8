"""The k best paths of a chain, by Viterbi's recursion on ranked lists."""

from __future__ import annotations

import numpy as np

from juncture.kernels.chains.path_reading import TIE
from juncture.kernels.compiler import kernel
from juncture.kernels.copying import copy_vector


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
