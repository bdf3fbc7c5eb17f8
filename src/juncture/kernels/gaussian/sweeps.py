"""What the regressions x = Σ gain · later variable + shift + noise of an elimination give.

The joint distribution of all variables is their product, from the last variable to the first: means, variances and the
covariances of each variable with its separator in one sweep, draws in another.
"""

from __future__ import annotations

import numpy as np

from juncture.kernels.compiler import kernel
from juncture.kernels.gaussian.ordering import lengthen


@kernel
def sweep_means(starts, nodes, gains, shifts, means):
    """Fill in the means, (step, case)."""
    for step in range(len(starts) - 2, -1, -1):
        for case in range(shifts.shape[1]):
            means[step, case] = shifts[step, case]
        for index in range(starts[step], starts[step + 1]):
            for case in range(shifts.shape[1]):
                means[step, case] += gains[index] * means[nodes[index], case]


@kernel
def sweep_variances(starts, places, parents, gains, deviations, variances):
    """Fill in the variances, (step,).

    The covariance matrix of a variable and its separator stays on a stack until all children have read their part.
    """
    num_steps = len(parents)
    num_children = np.zeros(num_steps, np.int64)
    for step in range(num_steps):
        if parents[step] >= 0:
            num_children[parents[step]] += 1
    stack, top = np.empty(64), np.int64(0)
    for step in range(num_steps - 1, -1, -1):
        width = starts[step + 1] - starts[step]
        gain, place = gains[starts[step] : starts[step + 1]], places[starts[step] : starts[step + 1]]
        block = np.empty((width + 1, width + 1))
        if width:
            parent = parents[step]
            size = starts[parent + 1] - starts[parent] + 1
            whole = stack[top - size * size : top].reshape((size, size))
            for row in range(width):
                for column in range(width):
                    block[row + 1, column + 1] = whole[place[row], place[column]]
            num_children[parent] -= 1
            if num_children[parent] == 0:
                top -= size * size
        variance = deviations[step] * deviations[step]
        for row in range(width):
            total = 0.0
            for column in range(width):
                total += block[row + 1, column + 1] * gain[column]
            block[0, row + 1] = total
            block[row + 1, 0] = total
            variance += total * gain[row]
        variances[step] = max(variance, deviations[step] * deviations[step])
        block[0, 0] = variances[step]
        if num_children[step]:
            size = width + 1
            stack = lengthen(stack, top + size * size)
            for row in range(size):
                for column in range(size):
                    stack[top + row * size + column] = block[row, column]
            top += size * size


@kernel
def trace_loadings(step, starts, nodes, parents, gains, loadings):
    """Write a variable as the sum of `loadings` (step,) times the noise of each step; those off its path stay 0."""
    loadings[step] = 1.0
    while step >= 0:
        if loadings[step] != 0.0:
            for index in range(starts[step], starts[step + 1]):
                loadings[nodes[index]] += gains[index] * loadings[step]
        step = parents[step]


@kernel
def find_covariances(steps, starts, nodes, parents, gains, deviations, covariances):
    """Fill in the covariances of the variables of some steps, whichever they are."""
    loadings = np.zeros((len(steps), len(parents)))
    for row in range(len(steps)):
        trace_loadings(steps[row], starts, nodes, parents, gains, loadings[row])
        for step in range(len(parents)):
            loadings[row, step] *= deviations[step]
    for row in range(len(steps)):
        for column in range(row + 1):
            total = 0.0
            step = max(steps[row], steps[column])
            for index in range(step, len(parents)):
                total += loadings[row, index] * loadings[column, index]
            covariances[row, column] = total
            covariances[column, row] = total


@kernel
def draw_values(starts, nodes, gains, shifts, deviations, values):
    """Turn standard normal numbers (step, draw) into draws of the variables; the shifts are those of one case."""
    for step in range(len(starts) - 2, -1, -1):
        for draw in range(values.shape[1]):
            values[step, draw] = shifts[step] + deviations[step] * values[step, draw]
        for index in range(starts[step], starts[step + 1]):
            for draw in range(values.shape[1]):
                values[step, draw] += gains[index] * values[nodes[index], draw]
