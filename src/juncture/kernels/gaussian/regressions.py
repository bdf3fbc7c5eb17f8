"""Linear regressions x = Σ gain · other variable + shift + noise: of a directed network, and of an elimination.

Down a network run means, scales, and what evidence makes of the rows of its regressions. The regressions of an
elimination, each on later variables, give the joint distribution as their product, from the last variable to the first:
means, variances and the covariances of each variable with its separator in one sweep, draws in another.
"""

from __future__ import annotations

import math

import numpy as np

from juncture.kernels.compiler import kernel
from juncture.kernels.gaussian.minimum_degree import lengthen

LEAST, MOST = 2.0**-500, 2.0**500  # of a scale


@kernel
def sum_means(order, starts, parents, coefficients, intercepts, means):
    """The mean of each variable: its intercept, and the means of its parents times their coefficients."""
    for index in range(len(order)):
        node = order[index]
        total = intercepts[node]
        for place in range(starts[node], starts[node + 1]):
            total += coefficients[place] * means[parents[place]]
        means[node] = total


@kernel
def find_scales(order, starts, parents, coefficients, deviations, scales):
    """A power of two near the standard deviation that each variable would have if its parents were independent."""
    for index in range(len(order)):
        node = order[index]
        total = deviations[node]
        for place in range(starts[node], starts[node + 1]):
            total = math.hypot(total, coefficients[place] * scales[parents[place]])
        if total == 0.0:
            scales[node] = 1.0
        else:
            scales[node] = 2.0 ** round(math.log2(min(max(total, LEAST), MOST)))


@kernel
def enter_evidence(row_starts, places, entries, is_exact, values, magnitudes, constants, sizes):
    """Add the observed values, (observed variable, case), times their coefficients to the constants of the rows.

    Entry k of a row with `places` -1 - i belongs to observed variable i; `magnitudes` bound the terms that a value was
    computed from.
    """
    for row in range(len(row_starts) - 1):
        for index in range(row_starts[row], row_starts[row + 1]):
            if places[index] < 0:
                observed = -1 - places[index]
                for case in range(values.shape[1]):
                    constants[row, case] += entries[index] * values[observed, case]
                if is_exact[row]:
                    for case in range(values.shape[1]):
                        sizes[row, case] += abs(entries[index]) * magnitudes[observed, case]


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
def drop_components(factor, width):
    """Rotate the components (component, variable) until there are no more than variables; how many are left.

    The variables from the last to the second are taken one by one, as they were in the front that they come from.
    """
    count = 0
    for variable in range(width, 0, -1):
        for other in range(count + 1, len(factor)):
            entry = factor[other, variable]
            if entry != 0.0:
                pivot = factor[count, variable]
                length = math.hypot(pivot, entry)
                cosine, sine = pivot / length, entry / length
                for column in range(1, variable + 1):
                    one, two = factor[count, column], factor[other, column]
                    factor[count, column] = cosine * one + sine * two
                    factor[other, column] = cosine * two - sine * one
                factor[other, variable] = 0.0
        if count < len(factor) and factor[count, variable] != 0.0:
            count += 1
    return count


@kernel(work=("operations",))
def sweep_variances(operations, starts, places, parents, gains, deviations, variances, covariances):
    """Fill in the variances, (step,), and the covariances of each variable with those of its separator.

    From the last step to the first; `operations` say how much there is to do. The covariances of a variable and its
    separator are kept as a sum of independent components (component, variable), of which the variance is the sum of
    squares: where large terms cancel, no digits are lost. They stay on a stack until all children have read their part.
    """
    num_steps = len(parents)
    num_children = np.zeros(num_steps, np.int64)
    for step in range(num_steps):
        if parents[step] >= 0:
            num_children[parents[step]] += 1
    counts = np.zeros(num_steps, np.int64)
    stack, top = np.empty(64), np.int64(0)
    for step in range(num_steps - 1, -1, -1):
        width, parent = starts[step + 1] - starts[step], parents[step]
        count = np.int64(0)
        factor = np.empty((1, 1))
        if width:
            size = starts[parent + 1] - starts[parent] + 1
            start = top - counts[parent] * size
            factor = np.empty((counts[parent] + 1, width + 1))
            for component in range(counts[parent]):
                for index in range(width):
                    factor[component, index + 1] = stack[start + component * size + places[starts[step] + index]]
            count = drop_components(factor[: counts[parent]], width)
            num_children[parent] -= 1
            if num_children[parent] == 0:
                top = start
        variance = deviations[step] * deviations[step]
        for index in range(starts[step], starts[step + 1]):
            covariances[index] = 0.0
        for component in range(count):
            total = 0.0
            for index in range(width):
                total += factor[component, index + 1] * gains[starts[step] + index]
            factor[component, 0] = total
            variance += total * total
            for index in range(width):
                covariances[starts[step] + index] += total * factor[component, index + 1]
        variances[step] = variance
        if num_children[step]:
            if deviations[step] > 0.0:
                factor[count, 0] = deviations[step]
                factor[count, 1:] = 0.0
                count += 1
            counts[step] = count
            stack = lengthen(stack, top + count * (width + 1))
            for component in range(count):
                for index in range(width + 1):
                    stack[top + component * (width + 1) + index] = factor[component, index]
            top += count * (width + 1)


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
