"""Dynamic programming over all subsets of some variables; a subset is a number, its bits are the members."""

from __future__ import annotations

import numpy as np

from juncture.kernels.compiler import kernel
from juncture.kernels.structure.local_scores import LIKELIHOOD, count_cells, number_parents, refine, score_table


@kernel
def best_within(scores, choices):
    """For each set the best score among its subsets, in place, and the subset that has it."""
    for number in range(len(scores)):
        choices[number] = number
        left = number
        while left:
            without = number & ~(left & -left)
            left &= left - 1
            if scores[without] >= scores[number]:  # of equally good sets the smaller
                scores[number] = scores[without]
                choices[number] = choices[without]


@kernel
def best_orders(scores):
    """For each set the variable that comes last in its best graph; `scores` (child, others) come from `best_within`."""
    size = len(scores)
    best = np.full(1 << size, -np.inf)
    last = np.full(1 << size, -1, np.int8)
    best[0] = 0.0
    for number in range(1, 1 << size):
        for child in range(size):
            if number >> child & 1:
                without = number & ~(1 << child)
                below = (1 << child) - 1
                total = best[without] + scores[child, (without & below) | ((without >> 1) & ~below)]
                if total > best[number] or last[number] < 0:
                    best[number] = total
                    last[number] = child
    return last


@kernel(work=("scores", "weights"))
def score_subsets(codes, weights, sizes, child, needed, free, most, kind, amount, scores):
    """The local score of the child with each set of at most `most` of the `free` parents besides the needed ones.

    `scores` are by the number of the set (bit i is `free[i]`), and -inf where they cannot be best: a set whose
    parameters alone cost more than a smaller set scores is left out, with all its supersets.
    """
    num_rows, depth = codes.shape[1], 0
    numbers = np.empty((len(free) + 1, num_rows), np.int64)
    counts = np.empty(len(free) + 1, np.int64)
    nominal = np.ones(len(free) + 1)
    best = np.empty(len(free) + 1)
    sets = np.zeros(len(free) + 1, np.int64)
    coming = np.zeros(len(free) + 1, np.int64)
    for parent in needed:
        nominal[0] *= sizes[parent]
    counts[0] = number_parents(codes, sizes, needed, numbers[0])
    table = count_cells(numbers[0], codes[child], sizes[child], counts[0], weights)
    best[0] = scores[0] = score_table(table, sizes[child], nominal[0], kind, amount)
    while depth >= 0:
        if depth == most or coming[depth] == len(free):
            depth -= 1
            continue
        index = coming[depth]
        coming[depth] += 1
        parent = free[index]
        states = nominal[depth] * sizes[parent]
        if kind == LIKELIHOOD and -amount * states * (sizes[child] - 1) < best[depth]:
            continue
        deeper = depth + 1
        counts[deeper] = refine(codes[parent], sizes[parent], counts[depth], numbers[depth], numbers[deeper])
        table = count_cells(numbers[deeper], codes[child], sizes[child], counts[deeper], weights)
        nominal[deeper] = states
        sets[deeper] = sets[depth] | (1 << index)
        score = score_table(table, sizes[child], states, kind, amount)
        scores[sets[deeper]] = score
        best[deeper] = max(score, best[depth])
        coming[deeper] = index + 1
        depth = deeper
