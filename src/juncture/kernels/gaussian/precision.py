"""Eliminate all variables from a precision matrix and loadings, front by front up the tree of the elimination."""

from __future__ import annotations

import math

import numpy as np

from juncture.kernels.compiler import kernel
from juncture.kernels.gaussian.minimum_degree import lengthen

HALF_LOG_TWO_PI = 0.5 * math.log(2.0 * math.pi)
SINGULAR = 2.0**-46  # relative to the terms that a pivot was summed from: a smaller one is a rounding error


@kernel
def add_child(front, sizes, stack, top, places):
    """Add the matrix that a child left, each of its rows at its place."""
    width = len(places)
    for row in range(width):
        for column in range(width):
            front[places[row], places[column]] += stack[top + row * width + column]
    for row in range(width):
        sizes[places[row]] += stack[top + width * width + row]


@kernel(work=("operations",))
def eliminate_precision(
    operations,
    starts,
    separators,
    places,
    parents,
    pair_starts,
    pair_places,
    pairs,
    loadings,
    gains,
    shifts,
    deviations,
    log_values,
):
    """Fill in the regression of each variable on its separator, and the log-integral in each case.

    The pairs of a step are the entries of the precision matrix of its variable with the places of its front; loadings
    (step, case) are changed; `operations` say how much there is to do. Returns the step whose variable has no positive
    precision given the others, or -1.
    """
    num_steps, num_cases = loadings.shape
    waiting = np.empty(num_steps, np.int64)
    num_waiting = 0
    stack, top = np.empty(64), np.int64(0)
    for step in range(num_steps):
        width = starts[step + 1] - starts[step]
        front, sizes = np.zeros((width + 1, width + 1)), np.zeros(width + 1)
        for index in range(pair_starts[step], pair_starts[step + 1]):
            place = pair_places[index]
            front[0, place] += pairs[index]
            if place == 0:
                sizes[0] += abs(pairs[index])
        while num_waiting > 0 and parents[waiting[num_waiting - 1]] == step:
            num_waiting -= 1
            child = waiting[num_waiting]
            child_width = starts[child + 1] - starts[child]
            top -= child_width * (child_width + 1)
            add_child(front, sizes, stack, top, places[starts[child] : starts[child + 1]])
        pivot = front[0, 0]
        if not pivot > SINGULAR * sizes[0]:
            return step
        deviations[step] = 1.0 / math.sqrt(pivot)
        for case in range(num_cases):
            shifts[step, case] = loadings[step, case] / pivot
            log_values[case] += (
                HALF_LOG_TWO_PI - 0.5 * math.log(pivot) + 0.5 * loadings[step, case] * shifts[step, case]
            )
        for column in range(width):
            gain = -front[0, column + 1] / pivot
            gains[starts[step] + column] = gain
            for case in range(num_cases):
                loadings[separators[starts[step] + column], case] += gain * loadings[step, case]
        if width == 0:
            continue
        stack = lengthen(stack, top + width * (width + 1))
        for row in range(width):
            gain = gains[starts[step] + row]
            for column in range(width):
                stack[top + row * width + column] = front[row + 1, column + 1] + gain * front[0, column + 1]
            stack[top + width * width + row] = sizes[row + 1] + abs(gain * front[0, row + 1])
        top += width * (width + 1)
        waiting[num_waiting] = step
        num_waiting += 1
    return np.int64(-1)
