"""Rows of fronts, small dense systems: taken from the model, and kept on a stack between a step and its parent."""

from __future__ import annotations

import numpy as np

from juncture.kernels.compiler import kernel


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
def save_rows(matrix, constants, first, num_rows, stack, constant_stack, top, constant_top):
    """Write rows to a stack, without their first column."""
    width, num_cases = matrix.shape[1] - 1, constants.shape[1]
    for row in range(first, num_rows):
        for column in range(width):
            stack[top + (row - first) * width + column] = matrix[row, column + 1]
        for case in range(num_cases):
            constant_stack[constant_top + (row - first) * num_cases + case] = constants[row, case]
