"""Scores of families (a child and its parents) from coded rows: each counts, then adds up.

`codes` is (variable, row), each row different from the others, `weights` how many rows are like it. Parents' states
together are numbered: as digits while there are few, else only those that occur, found by hashing.
"""

from __future__ import annotations

import math

import numpy as np

from juncture.kernels.compiler import kernel
from juncture.kernels.tables.distinct import number_keys

LIKELIHOOD, CELL, EVEN, SEEN = 0, 1, 2, 3  # what `amount` is: a cost per parameter, or rows before the data
NOTHING = -1  # the candidate that adds no parent
SPREAD = 1024  # cells up to which rows go to several tables, so that one need not wait for the last
MIN_CELLS = 4096
LARGE = 1e4  # a start from which Stirling's series needs one term
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
def is_few(count, num_rows):
    """Whether so many combinations of states are better all counted than looked for in the rows."""
    return count <= max(MIN_CELLS, 2 * num_rows)


@kernel
def refine(column, size, count, numbers, refined):
    """`refined` tells apart what the numbers do, and the column's states as well; gives how many there are."""
    for row in range(len(numbers)):
        refined[row] = numbers[row] * size + column[row]
    if is_few(count * size, len(numbers)):
        return count * size
    codes = np.empty(len(numbers), np.int32)
    firsts = np.empty(len(numbers), np.int32)
    found = number_keys(refined.view(np.uint64), codes, firsts)
    refined[:] = codes
    return found


@kernel
def count_cells(numbers, column, size, count, weights):
    """The weight of each cell (number, state)."""
    starts = np.empty(len(numbers), np.uint32)
    for row in range(len(numbers)):
        starts[row] = numbers[row] * size
    return add_weights(starts, column, 1, count * size, weights)


@kernel
def add_weights(starts, column, stride, cells, weights):
    """The weight of each cell; a row falls into its start, plus the column's state times the stride.

    Numbers without a sign spare the compiler a look at negative places.
    """
    apart = np.uint32(stride)
    one = np.zeros(cells)
    if cells > SPREAD:
        for row in range(len(starts)):
            one[starts[row] + np.uint32(column[row]) * apart] += weights[row]
        return one
    two, three, four = np.zeros(cells), np.zeros(cells), np.zeros(cells)
    whole = len(starts) - len(starts) % 4
    for row in range(0, whole, 4):
        one[starts[row] + np.uint32(column[row]) * apart] += weights[row]
        two[starts[row + 1] + np.uint32(column[row + 1]) * apart] += weights[row + 1]
        three[starts[row + 2] + np.uint32(column[row + 2]) * apart] += weights[row + 2]
        four[starts[row + 3] + np.uint32(column[row + 3]) * apart] += weights[row + 3]
    for row in range(whole, len(starts)):
        one[starts[row] + np.uint32(column[row]) * apart] += weights[row]
    return (one + two) + (three + four)


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
    """log Γ(start + steps) / Γ(start): of few whole steps, the logarithm of their product.

    The two logarithms are so alike from a large start that their difference would be rounding: there it is Stirling's.
    """
    if start > LARGE:
        end = start + steps
        bend = (1.0 / end - 1.0 / start) / 12.0  # the next term is less than 1e-14
        return steps * (math.log(start) - 1.0) + (end - 0.5) * math.log1p(steps / start) + bend
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
    """The scores of the child's family with each candidate added to the parents.

    The cells of the family without a candidate are worked out once; its states then lie one such table apart.
    """
    numbers = np.empty(codes.shape[1], np.int64)
    refined = np.empty(codes.shape[1], np.int64)
    cells = np.empty(codes.shape[1], np.uint32)
    count = number_parents(codes, sizes, parents, numbers)
    size, states, num_cells = sizes[child], 1.0, count * sizes[child]
    for row in range(len(cells)):
        cells[row] = numbers[row] * size + codes[child, row]
    for parent in parents:
        states *= sizes[parent]
    for place in range(len(candidates)):
        candidate = candidates[place]
        if candidate == NOTHING:
            table = count_cells(numbers, codes[child], size, count, weights)
            scores[place] = score_table(table, size, states, kind, amount)
            continue
        new = sizes[candidate]
        if is_few(count * new, len(cells)):
            table = add_weights(cells, codes[candidate], num_cells, num_cells * new, weights)
        else:
            found = refine(codes[candidate], new, count, numbers, refined)
            table = count_cells(refined, codes[child], size, found, weights)
        scores[place] = score_table(table, size, states * new, kind, amount)
