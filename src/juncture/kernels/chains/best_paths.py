"""The k best paths along a chain of hidden states."""

from __future__ import annotations

import numpy as np

from juncture.kernels.chains.path_reading import TIE
from juncture.kernels.compiler import kernel


@kernel
def rank_rests(log_weights, scores, nexts, num_ranks, found):
    """Merge the ranked rests of the next step's states (state · rank) into one ranking, of equals the first."""
    for rank in range(num_ranks):
        scores[rank] = -np.inf
    for state in range(len(log_weights)):
        for rank in range(num_ranks):
            score = log_weights[state] + found[state * num_ranks + rank]
            if not score > scores[num_ranks - 1] + TIE:
                break
            place = num_ranks - 1
            while place > 0 and score > scores[place - 1] + TIE:
                scores[place], nexts[place] = scores[place - 1], nexts[place - 1]
                place -= 1
            scores[place], nexts[place] = score, state * num_ranks + rank


@kernel
def best_paths(log_initial, log_matrix, values, index, num_ranks, nexts, paths):
    """Fill `paths` (rank, step) with the best ones in order; how many there are. `nexts` is (step, state · rank)."""
    num_states, num_steps = len(log_initial), len(index)
    rests, moved = np.full(num_states * num_ranks, -np.inf), np.empty(num_states * num_ranks)
    rests[::num_ranks] = 0.0
    for step in range(num_steps - 1, -1, -1):
        top = -np.inf
        for place in range(len(rests)):
            rests[place] += values[index[step], place // num_ranks]
            top = max(top, rests[place])
        if top == -np.inf:
            return 0
        rests -= top
        for state in range(num_states if step > 0 else 1):
            own = slice(state * num_ranks, (state + 1) * num_ranks)
            weights = log_matrix[state] if step > 0 else log_initial
            rank_rests(weights, moved[own], nexts[step, own], num_ranks, rests)
        rests[:] = moved
    count = 0
    while count < num_ranks and moved[count] > -np.inf:
        place = count
        for step in range(num_steps):
            place = nexts[step, place]
            paths[count, step] = place // num_ranks
        count += 1
    return count
