"""Local scores of a child and its parents from coded rows: count the family's cells, then sum over them.

`codes` (variable, row) holds distinct rows, and `weights` how often each occurs. The configurations of the parents are
numbered: as mixed-radix numbers if there are few, else only those that occur, found by hashing.
"""

from __future__ import annotations

import math

import numpy as np

from juncture.kernels.compiler import kernel
from juncture.kernels.copying import copy_vector
from juncture.kernels.counting import number_keys
from juncture.kernels.structure.state_counts import take_table

LIKELIHOOD, CELL, EVEN, SEEN = 0, 1, 2, 3  # what `amount` is: a cost per parameter, or a pseudo-count
NOTHING = -1  # the candidate that adds no parent
MULTI_TABLE_CELLS = 1024  # cells up to which four tables are filled in turn: equal cells need not wait for each other
MIN_CELLS = 4096
LARGE = 1e4  # from here on one term of Stirling's series suffices
FEW = 16.0  # rows of a cell up to which a product is faster than log Γ


@kernel
def number_parents(codes, sizes, parents, numbers):
    """Number the parents' configuration of each row; how many numbers there are."""
    count = np.int64(1)
    numbers[:] = 0
    for index in range(len(parents)):
        count = refine(codes[parents[index]], sizes[parents[index]], count, numbers, numbers)
    return count


@kernel
def is_few(count, num_rows):
    """Whether it is better to count all configurations than to find those that occur."""
    return count <= max(MIN_CELLS, 2 * num_rows)


@kernel
def refine(column, size, count, numbers, refined):
    """Fill `refined` with a number for each pair of old number and column state; how many numbers there are."""
    for row in range(len(numbers)):
        refined[row] = numbers[row] * size + column[row]
    if is_few(count * size, len(numbers)):
        return count * size
    codes = np.empty(len(numbers), np.int32)
    firsts = np.empty(len(numbers), np.int32)
    found = number_keys(refined.view(np.uint64), codes, firsts)
    copy_vector(codes, refined)
    return found


@kernel
def count_cells(numbers, column, size, count, weights):
    """The weight of each cell (configuration, state)."""
    starts = np.empty(len(numbers), np.uint32)
    for row in range(len(numbers)):
        starts[row] = numbers[row] * size
    return add_to_cells(starts, column, np.int64(1), count * size, weights)


@kernel
def add_to_cells(starts, column, stride, cells, weights):
    """The weight of each cell: the cell of a row is its start plus the column's state times the stride.

    Unsigned numbers spare the compiler the check for negative indices.
    """
    apart = np.uint32(stride)
    one = np.zeros(cells)
    if cells > MULTI_TABLE_CELLS:
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
    for cell in range(cells):
        one[cell] = (one[cell] + two[cell]) + (three[cell] + four[cell])
    return one


@kernel
def log_likelihood(table, size):
    """Σ n log(n / n_parents) over the cells, `size` of them for each configuration of the parents."""
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
    """log Γ(start + steps) / Γ(start): for few whole steps, the logarithm of the product of the factors.

    For a large start the two terms nearly cancel; there the difference comes from Stirling's series.
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
    """The log-probability of the counts under a Dirichlet prior of `before` pseudo-counts a cell."""
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
    """For how many configurations of the parents there are rows."""
    seen = 0
    for start in range(0, len(table), size):
        for cell in range(start, start + size):
            if table[cell] > 0.0:
                seen += 1
                break
    return seen


@kernel
def score_table(table, size, num_parents_states, kind, amount):
    """The local score of a table; the table may leave out configurations of the parents without rows."""
    if kind == LIKELIHOOD:
        return log_likelihood(table, size) - amount * num_parents_states * (size - 1)
    if kind == CELL:
        return log_evidence(table, size, amount)
    shared = num_parents_states if kind == EVEN else max(num_seen(table, size), 1)
    return log_evidence(table, size, amount / (shared * size))


@kernel(work=("candidates", "weights"))
def score_extensions(codes, weights, sizes, child, parents, candidates, kind, amount, scores):
    """The local scores of the child with each candidate added to the parents.

    The cells of the family without a candidate are computed once; the states of the candidate then lie one such table
    apart.
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
    for index in range(len(candidates)):
        candidate = candidates[index]
        if candidate == NOTHING:
            table = count_cells(numbers, codes[child], size, count, weights)
            scores[index] = score_table(table, size, states, kind, amount)
            continue
        new = sizes[candidate]
        if not is_few(count * new, len(cells)):
            found = refine(codes[candidate], new, count, numbers, refined)
            table = count_cells(refined, codes[child], size, found, weights)
        else:
            table = add_to_cells(cells, codes[candidate], num_cells, num_cells * new, weights)
        scores[index] = score_table(table, size, states * new, kind, amount)


@kernel
def score_counted(counts, cells, size, starts, sizes, kind, amount, scores):
    """The same scores from counts (cell, state) of all states of the candidates, whose states begin at `starts`.

    `cells` are those of the family without a candidate, in the order that its tables have; a candidate with one state
    adds nothing.
    """
    for index in range(len(scores)):
        table = take_table(counts, cells, starts[index], sizes[index])
        scores[index] = score_table(table, size, len(cells) // size * 1.0 * sizes[index], kind, amount)
