"""Tests of conditional independence of two discrete variables: G² and χ² of their contingency tables.

A table has one layer for each configuration of the conditions; statistics and degrees of freedom add over layers.
"""

from __future__ import annotations

import math

import numpy as np

from juncture.kernels.compiler import kernel
from juncture.kernels.structure.local_scores import number_parents

LIKELIHOOD_RATIO, CHI_SQUARED = 0, 1


@kernel(work=("conditions", "weights"))
def test_pair(codes, weights, sizes, pair, conditions, kind, statistics, degrees):
    """For each row of `conditions` (set, member) the statistic of the pair given that set, and its degrees of freedom.

    A state that does not occur in a layer takes no degrees of freedom there.
    """
    numbers = np.empty(codes.shape[1], np.int64)
    rows, columns = sizes[pair[0]], sizes[pair[1]]
    for index in range(len(conditions)):
        count = number_parents(codes, sizes, conditions[index], numbers)
        table = layers(codes[pair[0]], codes[pair[1]], rows, columns, numbers, count, weights)
        statistics[index], degrees[index] = add_layers(table, kind)


@kernel
def layers(first, second, rows, columns, numbers, count, weights):
    """The contingency table: the weight of each (configuration, first, second)."""
    table = np.zeros((count, rows, columns))
    for row in range(len(numbers)):
        table[numbers[row], first[row], second[row]] += weights[row]
    return table


@kernel
def add_layers(table, kind):
    """Σ over layers of G² = 2 Σ n log(n / expected) or χ² = Σ (n - expected)² / expected; degrees of freedom."""
    statistic = 0.0
    freedom = 0.0
    rows = np.empty(table.shape[1])
    columns = np.empty(table.shape[2])
    for layer in table:
        total = 0.0
        rows[:] = 0.0
        columns[:] = 0.0
        for row in range(len(rows)):
            for column in range(len(columns)):
                rows[row] += layer[row, column]
                columns[column] += layer[row, column]
            total += rows[row]
        if total == 0.0:
            continue
        freedom += (num_positive(rows) - 1) * (num_positive(columns) - 1)
        for row in range(len(rows)):
            for column in range(len(columns)):
                expected = rows[row] * columns[column] / total
                if expected > 0.0:
                    statistic += departure(layer[row, column], expected, kind)
    return statistic, freedom


@kernel
def num_positive(weights):
    """How many weights are positive."""
    count = 0
    for weight in weights:
        if weight > 0.0:
            count += 1
    return count


@kernel
def departure(weight, expected, kind):
    """The term of one cell in G² or χ²."""
    if kind == CHI_SQUARED:
        return (weight - expected) ** 2 / expected
    return 2.0 * weight * math.log(weight / expected) if weight > 0.0 else 0.0


@kernel
def permuted_statistics(first, second, rows, columns, numbers, count, order, kind, uniforms):
    """The statistic after each shuffle of the first column among rows of the same configuration (Fisher and Yates).

    `order` sorts the configurations, and `uniforms` (shuffle, row) decide the shuffles.
    """
    weights = np.ones(len(first))
    shuffled = first.copy()
    statistics = np.empty(len(uniforms))
    for shuffle in range(len(uniforms)):
        start = 0
        while start < len(order):
            stop = start
            while stop < len(order) and numbers[order[stop]] == numbers[order[start]]:
                other = start + int(uniforms[shuffle, stop] * (stop - start + 1))
                shuffled[order[stop]], shuffled[order[other]] = shuffled[order[other]], shuffled[order[stop]]
                stop += 1
            start = stop
        table = layers(shuffled, second, rows, columns, numbers, count, weights)
        statistics[shuffle] = add_layers(table, kind)[0]
    return statistics
