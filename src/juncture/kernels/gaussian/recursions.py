"""Recursions down a directed network of linear regressions: means, scales, and what evidence makes of the rows."""

from __future__ import annotations

import math

from juncture.kernels.compiler import kernel

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
