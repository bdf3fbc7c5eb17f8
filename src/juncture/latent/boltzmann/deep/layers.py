"""Layers of Bernoulli units with weights between neighbouring layers: the arrays of deep models, and their sums.

A sum over all states, log Σ exp(Σ_k b_k · s_k + Σ_k s_{k-1} W_k s_k), has every second layer summed out in closed form:
given the layers of one parity, the units of the others are independent. The states of the smaller parity are visited,
up to 2^16.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any, Self

import numpy as np

from juncture.base.checks import check_array, check_count, check_number, is_iterable, shown
from juncture.base.options import as_generator
from juncture.base.values import read_only
from juncture.data.feature_names import NamedFeatures
from juncture.errors import InvalidModel, TooLarge
from juncture.latent.boltzmann.layers import BernoulliUnits, visible_variables
from juncture.numerics.stable import log_sum_exp, softplus
from juncture.variables import Scope, Variable

MAX_BITS = 16  # log2 of the largest number of joint states that are visited
CELLS = 2**22  # numbers at a time
Layers = Sequence[np.ndarray]


class DeepParameters(NamedFeatures):
    """W_k between the layers k - 1 and k, and the bias of each layer; layer 0 is visible."""

    weights: tuple[np.ndarray, ...]
    biases: tuple[np.ndarray, ...]

    def __init__(self, weights: Any, biases: Any) -> None:
        matrices = as_arrays(weights, "weights", 2)
        vectors = as_arrays(biases, "biases", 1)
        if not matrices or len(vectors) != len(matrices) + 1:
            raise InvalidModel(
                "there are weights between any two neighbouring layers and a bias for each layer, so one bias more"
                f" than weights; got {len(matrices)} weights and {len(vectors)} biases"
            )
        for layer, matrix in enumerate(matrices):
            expected = len(vectors[layer]), len(vectors[layer + 1])
            if matrix.shape != expected or not matrix.size:
                raise InvalidModel(
                    f"weights[{layer}] joins layers of {expected[0]} and {expected[1]} units, as their biases say, and"
                    f" has the shape {matrix.shape}"
                )
        self._set(weights=matrices, biases=vectors)

    @classmethod
    def random(cls, sizes: Iterable[int], *, scale: float = 0.01, rng: Any = None) -> Self:
        """A model with small random weights and biases of 0, from which learning starts.

        Parameters
        ----------
        sizes
            The number of units of each layer, the visible one first.
        scale
            The standard deviation of the weights.
        rng
            A seed or a `numpy.random.Generator`.

        Returns
        -------
        The model.
        """
        if not is_iterable(sizes):
            raise InvalidModel(f"sizes are the numbers of units of the layers, as [6, 4, 2]; got {shown(sizes)}")
        numbers = [check_count(size, "sizes", least=1) for size in sizes]
        spread, generator = check_number(scale, "scale", least=0), as_generator(rng)
        weights = [spread * generator.standard_normal(pair) for pair in pairwise(numbers)]
        return cls(weights, [np.zeros(size) for size in numbers])

    @property
    def num_columns(self) -> int:
        """The number of columns of a row."""
        return len(self.biases[0])

    @property
    def sizes(self) -> tuple[int, ...]:
        """The number of units of each layer, the visible one first."""
        return tuple(len(bias) for bias in self.biases)

    @property
    def num_visible(self) -> int:
        return self.sizes[0]

    @property
    def units(self) -> BernoulliUnits:
        """The visible units."""
        return BernoulliUnits(self.num_visible)

    @property
    def hidden_layers(self) -> list[list[Variable]]:
        """The units of each hidden layer: h1_0, h1_1, … of the first, and so on."""
        layers = enumerate(self.sizes[1:], start=1)
        return [[Variable(f"h{layer}_{unit}", 2) for unit in range(size)] for layer, size in layers]

    @property
    def variables(self) -> Scope:
        """The visible units v0, v1, … or by their names, and the hidden ones after them, layer by layer."""
        visible = visible_variables(self.units, self.feature_names)
        return Scope([*visible, *(unit for layer in self.hidden_layers for unit in layer)])

    @property
    def num_parameters(self) -> int:
        """The number of weights and biases."""
        return sum(array.size for array in (*self.weights, *self.biases))

    def _draw_hidden(self, row: np.ndarray, means: np.ndarray, count: int, rng: np.random.Generator) -> np.ndarray:
        """(draw, unit): draws of the posterior of all hidden units, which is independent with these means (unit,)."""
        return (rng.random((count, len(means))) < means).astype(np.int64)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({' – '.join(map(str, self.sizes))} units)"


def as_arrays(values: Any, name: str, ndim: int) -> tuple[np.ndarray, ...]:
    """Finite arrays, one for each layer."""
    if not is_iterable(values):
        raise InvalidModel(f"{name} are a list of arrays, one for each layer; got {shown(values)}")
    found = [check_array(array, f"{name}[{at}]", ndim=ndim, error=InvalidModel) for at, array in enumerate(values)]
    if not all(np.isfinite(array).all() for array in found):
        raise InvalidModel(f"{name} must be finite numbers")
    return tuple(read_only(array) for array in found)


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


def neighbour_input(weights: Layers, states: Sequence[Any], layer: int) -> np.ndarray:
    """What the layers below and above say to the units of a layer, (row, unit)."""
    below = states[layer - 1] @ weights[layer - 1] if layer > 0 else 0.0
    above = states[layer + 1] @ weights[layer].T if layer < len(weights) else 0.0
    return np.asarray(below + above)


def split_layers(states: np.ndarray, sizes: Sequence[int], parity: int) -> list[np.ndarray | None]:
    """States of the layers of one parity, side by side, as one array for each; None for the other layers."""
    ends = np.cumsum(sizes[parity::2])
    parts = iter(np.split(states, ends[:-1], axis=1))
    return [next(parts) if layer % 2 == parity else None for layer in range(len(sizes))]


def all_binary(size: int) -> np.ndarray:
    """(state, unit): every joint state of units that are 0 or 1."""
    return (np.arange(2**size)[:, None] >> np.arange(size) & 1).astype(float)


def parity_sizes(sizes: Sequence[int]) -> tuple[int, int]:
    """The number of units in even and in odd layers."""
    return sum(sizes[::2]), sum(sizes[1::2])


def can_sum(sizes: Sequence[int]) -> bool:
    return min(parity_sizes(sizes)) <= MAX_BITS
