"""Sums of values, with the number of values outside the support; for integers and real numbers."""

from __future__ import annotations

from juncture.kernels.compiler import summing_kernel


@summing_kernel
def sum_inside(values, low, high):
    """Σ value, and how many values do not lie from `low` to `high` (NaN never does)."""
    total = values[0] - values[0]  # a zero of the values' own type
    num_outside = 0
    for row in range(len(values)):
        value = values[row]
        total += value
        num_outside += not ((value >= low) & (value <= high))
    return total, num_outside


@summing_kernel
def weighted_sum_inside(values, weights, low, high):
    """Σ weight · value, Σ weight, and how many values do not lie from `low` to `high` (NaN never does)."""
    total = 0.0
    weight = 0.0
    num_outside = 0
    for row in range(len(values)):
        value = values[row]
        total += weights[row] * value
        weight += weights[row]
        num_outside += not ((value >= low) & (value <= high))
    return total, weight, num_outside
