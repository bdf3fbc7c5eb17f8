"""`DeepBoltzmannMachine`: an undirected model of layers, each joined to the next (Salakhutdinov and Hinton 2009)."""

from __future__ import annotations

from itertools import pairwise, product
from typing import Any

import numpy as np

from juncture.base.checks import check_count
from juncture.base.options import as_generator
from juncture.factors.factor import Factor
from juncture.inference.sampling.markov_chains.annealed import AnnealedEstimate
from juncture.latent.deep.layer_sums import log_sum_layers, log_weights, neighbour_input
from juncture.latent.deep.parameters import DeepParameters
from juncture.networks.factor_product import MarkovNetwork
from juncture.numerics.stable import sigmoid, softplus


class DeepBoltzmannMachine(DeepParameters):
    """p(s) = exp(Σ_k b_k · s_k + Σ_k s_{k-1} W_k s_k) / Z, with units that are 0 or 1; s_0 is visible.

    Given the even layers the units of the odd ones are independent, and the other way round.

    Parameters
    ----------
    weights
        A list of arrays (unit of the lower layer, unit of the upper layer), the lowest first.
    biases
        A list of the biases of the layers, the visible one first.

    Examples
    --------
    >>> import juncture as jt
    >>> machine = jt.DeepBoltzmannMachine([[[2.0], [-1.0]], [[1.0]]], [[0.0, 0.0], [0.0], [0.5]])
    >>> bool(np.isclose(jt.infer(machine.to_markov_network()).log_evidence, machine.log_partition, rtol=1e-12))
    True
    """

    @property
    def log_partition(self) -> float:
        """Log Z, by the sum over all states of every second layer; `TooLarge` beyond 2^16 states."""
        if "log_partition" not in self.derived:
            self.derived["log_partition"] = log_sum_layers(self.weights, self.biases)
        return float(self.derived["log_partition"])

    def annealed_log_partition(
        self, *, particles: int = 100, temperatures: int = 1000, rng: Any = None
    ) -> AnnealedEstimate:
        """Log Z by annealed importance sampling, with its standard error, for machines of any size.

        Parameters
        ----------
        particles
            The number of independent chains.
        temperatures
            The number of steps from independent units to the machine.
        rng
            A seed or a `numpy.random.Generator`.

        Returns
        -------
        AnnealedEstimate
            Its `log_evidence` estimates log Z.

        Examples
        --------
        >>> import juncture as jt
        >>> machine = jt.DeepBoltzmannMachine.random([5, 4, 3], scale=1.0, rng=0)
        >>> estimate = machine.annealed_log_partition(rng=0)
        >>> abs(estimate.log_evidence - machine.log_partition) < 4 * estimate.standard_error
        True
        """
        count, generator = check_count(particles, "particles", least=1), as_generator(rng)
        steps = np.linspace(0.0, 1.0, check_count(temperatures, "temperatures", least=1) + 1)
        biases = [bias[None] for bias in self.biases]
        states = [(generator.random((count, len(b))) < sigmoid(b)).astype(float) for b in self.biases]
        found = np.full(count, sum(float(softplus(bias).sum()) for bias in self.biases))
        for old, new in pairwise(steps):
            even = [state if layer % 2 == 0 else None for layer, state in enumerate(states)]
            hot, cold = ([heat * matrix for matrix in self.weights] for heat in (old, new))
            found += (log_weights(cold, biases, even, 0) - log_weights(hot, biases, even, 0))[0]
            for parity in (1, 0):
                draw_parity(self, states, parity, generator, heat=new)
        return AnnealedEstimate(found)

    def to_markov_network(self) -> MarkovNetwork:
        """The same distribution over v0, …, h1_0, … as a product of tables, with the same Z."""
        layers = self.variables
        factors = [
            Factor.from_logs([unit], [0.0, b])
            for units, bias in zip(layers, self.biases, strict=True)
            for unit, b in zip(units, bias, strict=True)
        ]
        for (below, above), matrix in zip(pairwise(layers), self.weights, strict=True):
            for i, j in product(range(len(below)), range(len(above))):
                factors.append(Factor.from_logs([below[i], above[j]], [[0.0, 0.0], [0.0, matrix[i, j]]]))
        return MarkovNetwork(factors)


def log_sums(model: DeepBoltzmannMachine, rows: np.ndarray) -> np.ndarray:
    """log Σ_h exp(-E(x, h)) of complete rows, (row,)."""
    first = rows @ model.weights[0] + model.biases[1]
    return np.asarray(rows @ model.biases[0] + log_sum_layers(model.weights[1:], [first, *model.biases[2:]]))


def draw_parity(
    model: DeepBoltzmannMachine, states: list[np.ndarray], parity: int, rng: np.random.Generator, *, heat: float = 1.0
) -> None:
    """Draw the layers of one parity given the others, in place; weights are times `heat`."""
    for layer in range(parity, len(model.sizes), 2):
        odds = model.biases[layer] + heat * neighbour_input(model.weights, states, layer)
        states[layer] = (rng.random(odds.shape) < sigmoid(odds)).astype(float)
