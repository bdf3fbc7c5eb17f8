"""A categorical draw by inversion of the cumulative sum: index i with probability weights[i] / Σ weights."""

from __future__ import annotations

from juncture.kernels.compiler import kernel


@kernel
def draw_index(weights, uniform):
    """The first index whose cumulative sum exceeds `uniform` (in [0, 1)) times the total.

    An index of weight zero is never drawn, also where rounding lets the sum end below the total.
    """
    total = 0.0
    for index in range(len(weights)):
        total += weights[index]
    rest = uniform * total
    drawn = 0
    for index in range(len(weights)):
        if weights[index] > 0.0:
            drawn = index
            rest -= weights[index]
            if rest < 0.0:
                break
    return drawn
