"""Eliminate all variables from a system of rows Σ a x + c = noise, front by front up the tree of the elimination.

Each step gathers the rows that hold its variable: those of the model, and those that the steps below it left, which are
kept on a stack. An exact row that has the variable is subtracted from all others; without one, the rows are rotated
until one of them has the variable. That row becomes the regression of the variable on its separator, and the others go
to the parent.

A front is a small dense system. Exact rows have no noise, others unit noise. Every row has coefficients (row, column)
and constants (row, case): one constant for each case of evidence. An exact row carries the sizes of the terms that its
numbers were summed from: what is small beside its size is a rounding error.
"""

from __future__ import annotations

import math

import numpy as np

from juncture.kernels.compiler import kernel
from juncture.kernels.gaussian.minimum_degree import lengthen

HALF_LOG_TWO_PI = 0.5 * math.log(2.0 * math.pi)


@kernel(work=("operations",))
def eliminate_rows(
    operations, starts, places, parents, row_starts, is_exact, entry_starts, entry_places, entries, constants, sizes,
    tolerance, gains, shifts, deviations, log_values, clashes,
):  # fmt: skip
    """Fill in the regression of each variable on its separator, and the log-density that remains in each case.

    `row_starts` has the rows whose first variable is that of a step, `entry_places` their columns in its front. `sizes`
    are those of the constants of the rows; `operations` say how much there is to do. Returns the step whose variable no
    row has, or -1, and the constants of the exact rows that came to hold no variable, row after row.
    """
    num_steps, num_cases = shifts.shape
    num_exact, num_noisy = np.zeros(num_steps, np.int64), np.zeros(num_steps, np.int64)  # rows that a step leaves
    waiting, num_waiting = np.empty(num_steps, np.int64), 0  # steps whose rows are on the stack
    stack, constant_stack = np.empty(64), np.empty(64)
    top, constant_top = np.int64(0), np.int64(0)
    relations, num_relations = np.empty(16), np.int64(0)
    for step in range(num_steps):
        width = starts[step + 1] - starts[step]
        exact_room, noisy_room = count_own(step, row_starts, is_exact)
        first_child = num_waiting
        while first_child > 0 and parents[waiting[first_child - 1]] == step:
            first_child -= 1
            exact_room += num_exact[waiting[first_child]]
            noisy_room += num_noisy[waiting[first_child]]
        exact, exact_sizes = np.zeros((exact_room, width + 1)), np.zeros((exact_room, width + 1))
        exact_constants, exact_constant_sizes = np.empty((exact_room, num_cases)), np.empty((exact_room, num_cases))
        noisy, noisy_constants = np.zeros((noisy_room, width + 1)), np.empty((noisy_room, num_cases))
        n = load_own(
            step, row_starts, is_exact, False, entry_starts, entry_places, entries, constants, noisy, noisy_constants
        )
        e = load_own(
            step, row_starts, is_exact, True, entry_starts, entry_places, entries, constants, exact, exact_constants
        )
        load_own(
            step, row_starts, is_exact, True, entry_starts, entry_places, entries, sizes, exact_sizes,
            exact_constant_sizes,
        )  # fmt: skip
        for row in range(e):
            for column in range(width + 1):
                exact_sizes[row, column] = abs(exact[row, column])
        while num_waiting > first_child:
            num_waiting -= 1
            child = waiting[num_waiting]
            place = places[starts[child] : starts[child + 1]]
            top -= num_noisy[child] * len(place)
            constant_top -= num_noisy[child] * num_cases
            load_rows(noisy, noisy_constants, n, stack, constant_stack, top, constant_top, num_noisy[child], place)
            n += num_noisy[child]
            top -= num_exact[child] * len(place)
            constant_top -= num_exact[child] * num_cases
            count = num_exact[child]
            load_rows(exact_sizes, exact_constant_sizes, e, stack, constant_stack, top, constant_top, count, place)
            top -= count * len(place)
            constant_top -= count * num_cases
            load_rows(exact, exact_constants, e, stack, constant_stack, top, constant_top, count, place)
            e += count
        first_exact, first_noisy = np.int64(0), np.int64(0)
        best = largest_share(exact, e, np.int64(0), np.int64(0))
        if best >= 0:
            use_exact_row(
                exact, exact_sizes, exact_constants, exact_constant_sizes, e, best, noisy, noisy_constants, n, tolerance
            )
            write_regression(exact, exact_constants, np.int64(0), starts[step], gains, shifts, step)
            deviations[step] = 0.0
            entry = abs(exact[0, 0])
            first_exact = np.int64(1)
        else:
            best = largest_entry(noisy, n, np.int64(0), np.int64(0))
            if best < 0:
                return step, relations[:0].copy()
            use_noisy_rows(noisy, noisy_constants, n, best)
            write_regression(noisy, noisy_constants, np.int64(0), starts[step], gains, shifts, step)
            entry = abs(noisy[0, 0])
            deviations[step] = 1.0 / entry
            first_noisy = np.int64(1)
        for case in range(num_cases):
            log_values[case] -= math.log(entry)
        n = reduce_noisy(noisy, noisy_constants, first_noisy, n, log_values)
        if e - first_exact > width:
            triangulate_exact(exact, exact_sizes, exact_constants, exact_constant_sizes, first_exact, e, tolerance)
        e, relations, num_relations = drop_empty_exact(
            exact, exact_sizes, exact_constants, exact_constant_sizes, first_exact, e, tolerance, clashes, relations,
            num_relations,
        )  # fmt: skip
        num_exact[step], num_noisy[step] = e - first_exact, n - first_noisy
        if width == 0:
            continue
        rows = 2 * num_exact[step] + num_noisy[step]
        stack = lengthen(stack, top + rows * width)
        constant_stack = lengthen(constant_stack, constant_top + rows * num_cases)
        save_rows(exact, exact_constants, first_exact, e, stack, constant_stack, top, constant_top)
        top += num_exact[step] * width
        constant_top += num_exact[step] * num_cases
        save_rows(exact_sizes, exact_constant_sizes, first_exact, e, stack, constant_stack, top, constant_top)
        top += num_exact[step] * width
        constant_top += num_exact[step] * num_cases
        save_rows(noisy, noisy_constants, first_noisy, n, stack, constant_stack, top, constant_top)
        top += num_noisy[step] * width
        constant_top += num_noisy[step] * num_cases
        waiting[num_waiting] = step
        num_waiting += 1
    return np.int64(-1), relations[: num_relations * num_cases].copy()


@kernel
def count_own(step, row_starts, is_exact):
    """(exact, other) rows of a step."""
    num_exact = np.int64(0)
    for row in range(row_starts[step], row_starts[step + 1]):
        if is_exact[row]:
            num_exact += 1
    return num_exact, row_starts[step + 1] - row_starts[step] - num_exact


@kernel
def load_own(
    step, row_starts, is_exact, wanted, entry_starts, entry_places, entries, constants, matrix, front_constants
):
    """Copy the rows of a step that are exact, or those that are not, into its front; how many there are."""
    count = np.int64(0)
    for row in range(row_starts[step], row_starts[step + 1]):
        if is_exact[row] == wanted:
            for index in range(entry_starts[row], entry_starts[row + 1]):
                matrix[count, entry_places[index]] = entries[index]
            for case in range(constants.shape[1]):
                front_constants[count, case] = constants[row, case]
            count += 1
    return count


@kernel
def load_rows(matrix, constants, num_rows, stack, constant_stack, top, constant_top, count, places):
    """Append `count` rows from a stack, each of its columns at its place in the front."""
    width, num_cases = len(places), constants.shape[1]
    for row in range(count):
        for column in range(matrix.shape[1]):
            matrix[num_rows + row, column] = 0.0
        for column in range(width):
            matrix[num_rows + row, places[column]] = stack[top + row * width + column]
        for case in range(num_cases):
            constants[num_rows + row, case] = constant_stack[constant_top + row * num_cases + case]


@kernel
def largest_share(matrix, num_rows, first, column):
    """The exact row, from `first` on, whose entry in this column is largest beside its other entries; -1 for none."""
    best, best_share = np.int64(-1), 0.0
    for row in range(first, num_rows):
        entry = abs(matrix[row, column])
        if entry > 0.0:
            total = 0.0
            for other in range(matrix.shape[1]):
                total = max(total, abs(matrix[row, other]))
            if entry / total > best_share:
                best, best_share = np.int64(row), entry / total
    return best


@kernel
def use_exact_row(
    exact, sizes, constants, constant_sizes, num_exact, best, noisy, noisy_constants, num_noisy, tolerance
):
    """Subtract the exact row `best`, which becomes the first, from all rows that have the first variable."""
    exchange(exact, 0, best)
    exchange(sizes, 0, best)
    exchange(constants, 0, best)
    exchange(constant_sizes, 0, best)
    clear_column(exact, sizes, constants, constant_sizes, num_exact, np.int64(0), np.int64(0), tolerance)
    for row in range(num_noisy):
        if noisy[row, 0] != 0.0:
            factor = noisy[row, 0] / exact[0, 0]
            subtract_row(noisy, row, factor, exact, np.int64(0))
            subtract_row(noisy_constants, row, factor, constants, np.int64(0))
            noisy[row, 0] = 0.0


@kernel
def exchange(matrix, one, other):
    """Exchange two rows."""
    if one != other:
        for column in range(matrix.shape[1]):
            entry = matrix[one, column]
            matrix[one, column] = matrix[other, column]
            matrix[other, column] = entry


@kernel
def clear_column(matrix, sizes, constants, constant_sizes, num_rows, pivot, column, tolerance):
    """Subtract an exact pivot row from the exact rows after it that have an entry in this column."""
    for row in range(pivot + 1, num_rows):
        if matrix[row, column] != 0.0:
            factor = matrix[row, column] / matrix[pivot, column]
            subtract_exact(matrix, sizes, row, factor, pivot, tolerance)
            matrix[row, column] = 0.0
            subtract_row(constants, row, factor, constants, pivot)
            add_sizes(constant_sizes, row, factor, pivot)


@kernel
def subtract_exact(matrix, sizes, row, factor, pivot, tolerance):
    """Row -= factor · pivot row among exact rows; what is left of two equal terms is 0."""
    for column in range(matrix.shape[1]):
        term = factor * matrix[pivot, column]
        sizes[row, column] += abs(factor) * sizes[pivot, column]
        matrix[row, column] -= term
        if abs(matrix[row, column]) <= tolerance * sizes[row, column]:
            matrix[row, column] = 0.0


@kernel
def subtract_row(matrix, row, factor, pivot_matrix, pivot):
    """Row -= factor · pivot row."""
    for column in range(matrix.shape[1]):
        matrix[row, column] -= factor * pivot_matrix[pivot, column]


@kernel
def add_sizes(sizes, row, factor, pivot):
    for column in range(sizes.shape[1]):
        sizes[row, column] += abs(factor) * sizes[pivot, column]


@kernel
def write_regression(matrix, constants, row, start, gains, shifts, step):
    """x = Σ gain · later variable + shift, from the row that has x in its first column."""
    entry = matrix[row, 0]
    for column in range(1, matrix.shape[1]):
        gains[start + column - 1] = -matrix[row, column] / entry
    for case in range(constants.shape[1]):
        shifts[step, case] = -constants[row, case] / entry


@kernel
def largest_entry(matrix, num_rows, first, column):
    """The row, from `first` on, with the largest entry in this column; -1 where all are 0."""
    best, size = np.int64(-1), 0.0
    for row in range(first, num_rows):
        if abs(matrix[row, column]) > size:
            best, size = np.int64(row), abs(matrix[row, column])
    return best


@kernel
def use_noisy_rows(noisy, constants, num_rows, best):
    """Rotate all rows that have the first variable into the row `best`, which becomes the first."""
    exchange(noisy, 0, best)
    exchange(constants, 0, best)
    gather_column(noisy, constants, num_rows, np.int64(0), np.int64(0))


@kernel
def gather_column(matrix, constants, num_rows, pivot, column):
    """Rotate the rows after `pivot` into it until only the pivot has an entry in this column."""
    for row in range(pivot + 1, num_rows):
        other = matrix[row, column]
        if other != 0.0:
            entry = matrix[pivot, column]
            length = math.hypot(entry, other)
            cosine, sine = entry / length, other / length
            rotate(matrix, pivot, row, cosine, sine, column)
            rotate(constants, pivot, row, cosine, sine, np.int64(0))
            matrix[pivot, column] = length
            matrix[row, column] = 0.0


@kernel
def rotate(matrix, one, other, cosine, sine, first):
    """Rotate two rows from column `first` on."""
    for column in range(first, matrix.shape[1]):
        a, b = matrix[one, column], matrix[other, column]
        matrix[one, column] = cosine * a + sine * b
        matrix[other, column] = cosine * b - sine * a


@kernel
def reduce_noisy(matrix, constants, first, num_rows, log_values):
    """Triangular rows where there are more than variables, those without variables settled; how many are left."""
    num_rows = drop_empty_noisy(matrix, constants, first, num_rows, log_values)
    width = matrix.shape[1] - 1
    if num_rows - first <= width:
        return num_rows
    pivot = first
    for column in range(1, width + 1):
        best = largest_entry(matrix, num_rows, pivot, np.int64(column))
        if best >= 0:
            exchange(matrix, pivot, best)
            exchange(constants, pivot, best)
            gather_column(matrix, constants, num_rows, pivot, np.int64(column))
            pivot += 1
    for row in range(pivot, num_rows):
        settle_noisy(constants, row, log_values)
    return pivot


@kernel
def drop_empty_noisy(matrix, constants, first, num_rows, log_values):
    """Settle the rows without variables, and close the gaps; how many rows are left."""
    kept = first
    for row in range(first, num_rows):
        if is_empty(matrix, row, np.int64(1)):
            settle_noisy(constants, row, log_values)
        else:
            exchange(matrix, kept, row)
            exchange(constants, kept, row)
            kept += 1
    return kept


@kernel
def is_empty(matrix, row, first):
    """Whether a row has no coefficient from column `first` on."""
    for column in range(first, matrix.shape[1]):
        if matrix[row, column] != 0.0:
            return False
    return True


@kernel
def settle_noisy(constants, row, log_values):
    """A row without variables and with unit noise: the density of its constant, in each case."""
    for case in range(constants.shape[1]):
        log_values[case] -= HALF_LOG_TWO_PI + 0.5 * constants[row, case] * constants[row, case]


@kernel
def triangulate_exact(matrix, sizes, constants, constant_sizes, first, num_rows, tolerance):
    """Rows of the same meaning, each without the first variables of those before it."""
    pivot = first
    for column in range(1, matrix.shape[1]):
        best = largest_share(matrix, num_rows, pivot, np.int64(column))
        if best >= 0:
            exchange(matrix, pivot, best)
            exchange(sizes, pivot, best)
            exchange(constants, pivot, best)
            exchange(constant_sizes, pivot, best)
            clear_column(matrix, sizes, constants, constant_sizes, num_rows, pivot, np.int64(column), tolerance)
            pivot += 1


@kernel
def drop_empty_exact(
    matrix, sizes, constants, constant_sizes, first, num_rows, tolerance, clashes, relations, num_relations
):
    """As `drop_empty_noisy`, for exact rows; also the relations among constants, and how many there are."""
    kept = first
    for row in range(first, num_rows):
        if is_empty(matrix, row, np.int64(1)):
            settle_exact(constants, constant_sizes, row, tolerance, clashes)
            relations = keep_relation(relations, num_relations, constants, row)
            num_relations += 1
        else:
            exchange(matrix, kept, row)
            exchange(sizes, kept, row)
            exchange(constants, kept, row)
            exchange(constant_sizes, kept, row)
            kept += 1
    return kept, relations, num_relations


@kernel
def settle_exact(constants, sizes, row, tolerance, clashes):
    """An exact row without variables: a clash in each case where its constant is not 0."""
    for case in range(constants.shape[1]):
        if abs(constants[row, case]) > tolerance * sizes[row, case]:
            clashes[case] = True


@kernel
def keep_relation(relations, num_relations, constants, row):
    """Add the constants of an exact row without variables to the list of these relations."""
    width = constants.shape[1]
    relations = lengthen(relations, (num_relations + 1) * width)
    for case in range(width):
        relations[num_relations * width + case] = constants[row, case]
    return relations


@kernel
def save_rows(matrix, constants, first, num_rows, stack, constant_stack, top, constant_top):
    """Write rows to a stack, without their first column."""
    width, num_cases = matrix.shape[1] - 1, constants.shape[1]
    for row in range(first, num_rows):
        for column in range(width):
            stack[top + (row - first) * width + column] = matrix[row, column + 1]
        for case in range(num_cases):
            constant_stack[constant_top + (row - first) * num_cases + case] = constants[row, case]
