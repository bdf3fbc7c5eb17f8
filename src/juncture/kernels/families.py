"""Scores of families (a child and its parents) from coded rows: each counts, then adds up.

`codes` is (variable, row), each row different from the others, `weights` how many rows are like it. Parents' states
together are numbered: as digits while there are few, else only those that occur, found by hashing.
"""

from __future__ import annotations

import math

import numpy as np

from juncture.kernels.compiler import kernel
from juncture.kernels.distinct import number_keys

LIKELIHOOD, CELL, EVEN, SEEN = 0, 1, 2, 3  # what `amount` is: a cost per parameter, or rows before the data
NOTHING = -1  # the candidate that adds no parent
SPREAD = 1024  # cells up to which rows go to several tables, so that one need not wait for the last
MIN_CELLS = 4096
FEW = 16.0  # rows of a cell up to which a product is quicker than the logarithm of Γ


@kernel
def number_parents(codes, sizes, parents, numbers):
    """Number the parents' states of each row; gives how many numbers there are."""
    count = 1
    numbers[:] = 0
    for place in range(len(parents)):
        count = refine(codes[parents[place]], sizes[parents[place]], count, numbers, numbers)
    return count


@kernel
def refine(column, size, count, numbers, refined):
    """`refined` tells apart what the numbers do, and the column's states as well; gives how many there are."""
    for row in range(len(numbers)):
        refined[row] = numbers[row] * size + column[row]
    if count * size <= max(MIN_CELLS, 2 * len(numbers)):
        return count * size
    codes = np.empty(len(numbers), np.int32)
    firsts = np.empty(len(numbers), np.int32)
    found = number_keys(refined.view(np.uint64), codes, firsts)
    refined[:] = codes
    return found


@kernel
def count_cells(numbers, column, size, count, weights):
    """The weight of each cell (number, state)."""
    cells = count * size
    if cells > SPREAD:
        table = np.zeros(cells)
        for row in range(len(numbers)):
            table[numbers[row] * size + column[row]] += weights[row]
        return table
    tables = np.zeros((4, cells))
    whole = len(numbers) - len(numbers) % 4
    for row in range(0, whole, 4):
        tables[0, numbers[row] * size + column[row]] += weights[row]
        tables[1, numbers[row + 1] * size + column[row + 1]] += weights[row + 1]
        tables[2, numbers[row + 2] * size + column[row + 2]] += weights[row + 2]
        tables[3, numbers[row + 3] * size + column[row + 3]] += weights[row + 3]
    for row in range(whole, len(numbers)):
        tables[0, numbers[row] * size + column[row]] += weights[row]
    return (tables[0] + tables[1]) + (tables[2] + tables[3])


@kernel
def log_likelihood(table, size):
    """Σ n log(n / n_parents) over the cells, `size` of them for each of the parents' states."""
    total = 0.0
    for start in range(0, len(table), size):
        row = 0.0
        for cell in range(start, start + size):
            weight = table[cell]
            if weight > 0.0:
                row += weight
                total += weight * math.log(weight)
        if row > 0.0:
            total -= row * math.log(row)
    return total


@kernel
def log_rising(start, steps):
    """log Γ(start + steps) / Γ(start): of few whole steps, the logarithm of their product."""
    if steps <= FEW and steps == math.floor(steps):
        product = 1.0
        for step in range(int(steps)):
            product *= start + step
        return math.log(product)
    return math.lgamma(start + steps) - math.lgamma(start)


@kernel
def log_evidence(table, size, before):
    """The probability of the counts when each cell has seen `before` rows: Dirichlet and multinomial."""
    total = 0.0
    for start in range(0, len(table), size):
        row = 0.0
        for cell in range(start, start + size):
            if table[cell] > 0.0:
                row += table[cell]
                total += log_rising(before, table[cell])
        if row > 0.0:
            total -= log_rising(size * before, row)
    return total


@kernel
def num_seen(table, size):
    """For how many of the parents' states there are rows."""
    seen = 0
    for start in range(0, len(table), size):
        for cell in range(start, start + size):
            if table[cell] > 0.0:
                seen += 1
                break
    return seen


@kernel
def score_table(table, size, num_parents_states, kind, amount):
    """The score of a family; of the parents' states, whose number is given, the table need only have those seen."""
    if kind == LIKELIHOOD:
        return log_likelihood(table, size) - amount * num_parents_states * (size - 1)
    if kind == CELL:
        return log_evidence(table, size, amount)
    shared = num_parents_states if kind == EVEN else max(num_seen(table, size), 1)
    return log_evidence(table, size, amount / (shared * size))


@kernel
def score_extensions(codes, weights, sizes, child, parents, candidates, kind, amount, scores):
    """The scores of the child's family with each candidate added to the parents."""
    numbers = np.empty(codes.shape[1], np.int64)
    refined = np.empty(codes.shape[1], np.int64)
    count = number_parents(codes, sizes, parents, numbers)
    nominal = 1.0
    for parent in parents:
        nominal *= sizes[parent]
    for place in range(len(candidates)):
        candidate = candidates[place]
        if candidate == NOTHING:
            table = count_cells(numbers, codes[child], sizes[child], count, weights)
            scores[place] = score_table(table, sizes[child], nominal, kind, amount)
        else:
            found = refine(codes[candidate], sizes[candidate], count, numbers, refined)
            table = count_cells(refined, codes[child], sizes[child], found, weights)
            scores[place] = score_table(table, sizes[child], nominal * sizes[candidate], kind, amount)
