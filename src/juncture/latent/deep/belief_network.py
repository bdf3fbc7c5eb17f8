"""`DeepBeliefNetwork`: directed sigmoid layers below a restricted Boltzmann machine (Hinton, Osindero and Teh 2006)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from juncture.errors import InvalidModel, TooLarge
from juncture.latent.boltzmann.model import RestrictedBoltzmannMachine
from juncture.latent.deep.layer_sums import all_binary
from juncture.latent.deep.parameters import DeepParameters, as_arrays
from juncture.numerics.stable import log_sum_exp, softplus

MAX_UNITS = 12  # of a hidden layer below the top, whose states are all visited for an exact log p


class DeepBeliefNetwork(DeepParameters):
    """p(x, h) = p(x | h₁) p(h₁ | h₂) … p(h₍L-1₎, h_L): the two top layers are a restricted Boltzmann machine.

    Each lower layer is independent units given the layer above, with log odds b + W h. A restricted Boltzmann machine
    for each pair of layers, learned from the features of the one below, gives its parameters: `jt.fit`.

    Parameters
    ----------
    weights
        A list of arrays (unit of the lower layer, unit of the upper layer), the lowest first.
    biases
        A list of the biases of the layers, the visible one first.
    recognition
        Biases of the hidden layers below the top in the upward pass q(h_k | h_k-1), whose weights are those of the
        model; None for the biases of the model. They matter to the bound of `infer` only.

    Examples
    --------
    >>> import juncture as jt
    >>> network = jt.DeepBeliefNetwork([[[2.0], [-1.0]], [[1.0]]], [[0.0, 0.0], [0.0], [0.5]])
    >>> network
    DeepBeliefNetwork(2 – 1 – 1 units)
    >>> rows = [[0, 0], [0, 1], [1, 0], [1, 1]]
    >>> round(float(np.exp(jt.log_prob(network, rows)).sum()), 12)
    1.0
    """

    _fields: ClassVar[tuple[str, ...]] = ("weights", "biases", "recognition")
    recognition: tuple[np.ndarray, ...]

    def __init__(self, weights: Any, biases: Any, recognition: Any = None) -> None:
        super().__init__(weights, biases)
        found = self.biases[1:-1] if recognition is None else as_arrays(recognition, "recognition", 1)
        if tuple(map(len, found)) != self.sizes[1:-1]:
            raise InvalidModel(
                f"recognition has a bias for each unit of the hidden layers below the top, {list(self.sizes[1:-1])};"
                f" got {[len(bias) for bias in found]}"
            )
        self._set(recognition=found)

    @property
    def top(self) -> RestrictedBoltzmannMachine:
        """The machine of the two top layers."""
        if "top" not in self.derived:
            self.derived["top"] = RestrictedBoltzmannMachine(self.weights[-1], self.biases[-2], self.biases[-1])
        machine: RestrictedBoltzmannMachine = self.derived["top"]
        return machine


def check_widths(sizes: Sequence[int]) -> None:
    if any(size > MAX_UNITS for size in sizes):
        raise TooLarge(
            f"log p of a deep belief network with {max(sizes)} units in a hidden layer below the top visits all their"
            f" states; the limit is {MAX_UNITS} units: infer gives a lower bound, as log_evidence"
        )


def upward_odds(model: DeepBeliefNetwork, layer: int, below: np.ndarray) -> np.ndarray:
    """The log odds of q(h | the layer below) for a hidden layer, (row, unit)."""
    bias = (*model.recognition, model.biases[-1])[layer - 1]
    return np.asarray(below @ model.weights[layer - 1] + bias)


def log_prob_below(model: DeepBeliefNetwork, layer: int, lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
    """log p(lower | upper) of a layer given the next one, (row,)."""
    odds = upper @ model.weights[layer].T + model.biases[layer]
    return np.asarray((lower * odds - softplus(odds)).sum(axis=1))


def exact_log_prob(model: DeepBeliefNetwork, rows: np.ndarray) -> np.ndarray:
    """log p(row) by the sum over all states of the hidden layers below the top, (row,)."""
    check_widths(model.sizes[1:-1])
    if len(model.weights) == 1:
        return model.top.log_weight(rows) - model.top.log_partition
    states = all_binary(model.sizes[-2])
    log_states = model.top.log_weight(states) - model.top.log_partition
    for layer in range(len(model.sizes) - 3, -1, -1):
        lower = rows if layer == 0 else all_binary(model.sizes[layer])
        odds = states @ model.weights[layer].T + model.biases[layer]
        given = lower @ odds.T - softplus(odds).sum(axis=1)
        states, log_states = lower, log_sum_exp(given + log_states, axis=1)
    return log_states
