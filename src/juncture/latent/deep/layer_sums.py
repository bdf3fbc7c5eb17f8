"""Sums over all states of a chain of layers, with every second layer summed out in closed form.

log Σ exp(Σ_k b_k · s_k + Σ_k s_{k-1} W_k s_k): given the layers of one parity, the units of the others are independent.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from juncture.errors import TooLarge
from juncture.numerics.stable import log_sum_exp, softplus

MAX_BITS = 16  # log2 of the largest number of joint states that are visited
CELLS = 2**22  # numbers at a time

Layers = Sequence[np.ndarray]


def neighbour_input(weights: Layers, states: Sequence[Any], layer: int) -> np.ndarray:
    """What the layers below and above say to the units of a layer, (row, unit)."""
    below = states[layer - 1] @ weights[layer - 1] if layer > 0 else 0.0
    above = states[layer + 1] @ weights[layer].T if layer < len(weights) else 0.0
    return np.asarray(below + above)


def parity_sizes(sizes: Sequence[int]) -> tuple[int, int]:
    """The number of units in even and in odd layers."""
    return sum(sizes[::2]), sum(sizes[1::2])


def can_sum(sizes: Sequence[int]) -> bool:
    return min(parity_sizes(sizes)) <= MAX_BITS


def all_binary(size: int) -> np.ndarray:
    """(state, unit): every joint state of units that are 0 or 1."""
    return (np.arange(2**size)[:, None] >> np.arange(size) & 1).astype(float)


def split_layers(states: np.ndarray, sizes: Sequence[int], parity: int) -> list[np.ndarray | None]:
    """States of the layers of one parity, side by side, as one array for each; None for the other layers."""
    ends = np.cumsum(sizes[parity::2])
    parts = iter(np.split(states, ends[:-1], axis=1))
    return [next(parts) if layer % 2 == parity else None for layer in range(len(sizes))]


def log_sum_layers(weights: Layers, biases: Layers) -> np.ndarray:
    """The logarithm of the sum over all states of all layers; each bias is (unit,), or (row, unit) for many sums."""
    sizes = [bias.shape[-1] for bias in biases]
    even, odd = parity_sizes(sizes)
    if min(even, odd) > MAX_BITS:
        raise TooLarge(
            f"a sum over all states of layers of {', '.join(map(str, sizes))} units visits 2^{min(even, odd)} states;"
            f" the limit is 2^{MAX_BITS}: estimate log Z by annealed_log_partition()"
        )
    parity = 0 if even <= odd else 1
    states = split_layers(all_binary(min(even, odd)), sizes, parity)
    rows = [np.atleast_2d(bias) for bias in biases]
    count = max(map(len, rows))
    block = max(1, CELLS // (2 ** min(even, odd) * max(sizes)))
    found = []
    for first in range(0, count, block):
        part = [bias if len(bias) == 1 else bias[first : first + block] for bias in rows]
        found.append(log_sum_exp(log_weights(weights, part, states, parity), axis=1))
    sums = np.concatenate(found)
    return sums if any(bias.ndim == 2 for bias in biases) else sums[0]


def log_weights(weights: Layers, biases: Layers, states: Sequence[np.ndarray | None], parity: int) -> np.ndarray:
    """(row, state): the log weight of states of one parity, with the layers of the other summed out."""
    total = np.zeros((1, 1))
    for layer, bias in enumerate(biases):
        own = states[layer]
        if own is not None:
            total = total + bias @ own.T
        else:
            heard = neighbour_input(weights, states, layer)
            total = total + softplus(bias[:, None, :] + heard).sum(axis=2)
    return total
