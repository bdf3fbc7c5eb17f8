"""Random numbers by counting, and a categorical draw by inversion of the cumulative sum.

Number i of a stream is a function of the stream's two keys and i. It is SplitMix64 (Steele, Lea and Flood 2014): a
stream has a start and an odd step of its own, and any part of it can be had without the rest, on any thread.

A categorical draw takes index i with probability weights[i] / Σ weights.
"""

from __future__ import annotations

import numpy as np

from juncture.kernels.compiler import kernel

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
FIRST = np.uint64(0xBF58476D1CE4E5B9)
SECOND = np.uint64(0x94D049BB133111EB)
ONE, S11, S27, S30, S31 = np.uint64(1), np.uint64(11), np.uint64(27), np.uint64(30), np.uint64(31)
UNIT = 2.0**-53


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


@kernel
def stream_start(keys, index):
    """The start of stream number `index` of a chain with two random keys."""
    return mix(keys[0] + np.uint64(index) * GOLDEN)


@kernel
def mix(word):
    """A word whose bits all depend on all bits of another."""
    word = (word ^ (word >> S30)) * FIRST
    word = (word ^ (word >> S27)) * SECOND
    return word ^ (word >> S31)


@kernel
def stream_step(keys, index):
    """The odd step of stream number `index`."""
    return mix(keys[1] + np.uint64(index) * GOLDEN) | ONE
