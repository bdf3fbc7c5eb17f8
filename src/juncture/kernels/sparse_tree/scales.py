"""Scales by powers of two, which are exact."""

from __future__ import annotations

import math

from juncture.kernels.compiler import kernel


@kernel
def largest_of(values):
    """The largest value."""
    largest = 0.0
    for position in range(len(values)):
        largest = max(largest, values[position])
    return largest


@kernel
def scale_down(values):
    """Divide by the power of two that brings the largest value into [1/2, 1); that power, 0 if all are zero."""
    largest = largest_of(values)
    if largest == 0.0:
        return 0
    power = math.frexp(largest)[1]
    scale = math.ldexp(1.0, -power)
    for position in range(len(values)):
        values[position] *= scale
    return power
