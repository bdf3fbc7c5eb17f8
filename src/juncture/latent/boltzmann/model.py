"""`RestrictedBoltzmannMachine`: p(x, h) ∝ exp(aᵀh + bᵀu(x) + u(x)ᵀW h), with hidden units h that are 0 or 1.

As a Markov network it has a table for each bias and each weight, so that Z is the same.
"""

from __future__ import annotations

from itertools import product
from typing import Any, ClassVar

import numpy as np

from juncture.base.checks import check_choice, check_count, check_number
from juncture.base.options import as_generator
from juncture.base.values import number_of
from juncture.errors import InvalidModel, Unsupported
from juncture.factors.factor import Factor
from juncture.inference.sampling.markov_chains.annealed import AnnealedEstimate
from juncture.latent.boltzmann.layers import KINDS, BoltzmannParameters, visible_variables
from juncture.latent.boltzmann.partition_function import anneal, exact_log_partition
from juncture.latent.boltzmann.visible_rows import complete_rows
from juncture.networks.factor_product import MarkovNetwork
from juncture.numerics.stable import sigmoid
from juncture.variables import Scope


class RestrictedBoltzmannMachine(BoltzmannParameters):
    """p(x, h) = exp(aᵀh + bᵀx + xᵀW h) / Z, a Markov network with edges between visible and hidden units only.

    Hidden units are 0 or 1, and independent given the visible ones, as these are given the hidden ones. Bernoulli
    visible units are 0 or 1. Gaussian ones are real, with the factor exp(-x²/2) and so the variance 1 given h. A
    softmax unit has one of several states, and a weight for each: x stands for its indicators.

    Parameters
    ----------
    weights
        W: (visible, hidden); for softmax units (visible, state, hidden).
    visible_bias
        b: (visible,); for softmax units (visible, state).
    hidden_bias
        a: (hidden,).
    visible
        "bernoulli", "gaussian" or "softmax".

    Examples
    --------
    >>> import juncture as jt
    >>> weights = [[1.0, -0.5], [-1.0, 2.0], [0.5, 0.3]]
    >>> machine = jt.RestrictedBoltzmannMachine(weights, [0.0, 0.3, -0.4], [0.2, -0.1])
    >>> round(machine.log_partition, 7)
    4.4613546
    >>> jt.infer(machine, [1, 0, 1]).hidden.round(4)
    array([0.8455, 0.4256])
    """

    kind: ClassVar[str] = "restricted Boltzmann machine"

    @property
    def variables(self) -> Scope:
        """The visible units, and the hidden ones after them."""
        return Scope([*visible_variables(self.units, self.feature_names), *self.hidden_variables])

    @property
    def num_parameters(self) -> int:
        """The number of weights and biases, of softmax units without those that the others determine."""
        entries = len(self.matrix) - (self.num_visible if self.visible == "softmax" else 0)
        return (entries + 1) * (self.num_hidden + 1) - 1

    @classmethod
    def random(
        cls,
        num_visible: int,
        num_hidden: int,
        visible: str = "bernoulli",
        *,
        num_states: int = 2,
        scale: float = 0.01,
        rng: Any = None,
    ) -> RestrictedBoltzmannMachine:
        """A machine with small random weights and biases of 0, from which learning starts.

        Parameters
        ----------
        num_visible, num_hidden
            The number of units.
        visible
            "bernoulli", "gaussian" or "softmax".
        num_states
            The number of states of softmax units.
        scale
            The standard deviation of the weights.
        rng
            A seed or a `numpy.random.Generator`.
        """
        check_choice(visible, KINDS, "visible", error=InvalidModel)
        count, hidden = check_count(num_visible, "num_visible", least=1), check_count(num_hidden, "num_hidden", least=1)
        states = check_count(num_states, "num_states", least=2)
        shape = (count, states) if visible == "softmax" else (count,)
        spread = check_number(scale, "scale", least=0)
        weights = spread * as_generator(rng).standard_normal((*shape, hidden))
        return cls(weights, np.zeros(shape), np.zeros(hidden), visible)

    def free_energy(self, rows: Any) -> np.ndarray:
        """F(x) = -log Σ_h exp(-E(x, h)), so that p(x) = exp(-F(x)) / Z.

        Parameters
        ----------
        rows
            Complete rows, (row, visible), or one row.

        Returns
        -------
        numpy.ndarray
            (row,), or a number of one row.
        """
        values, is_single = complete_rows(self, rows)
        energies = -self.log_weight(self.units.encode(values))
        return energies[0] if is_single else energies

    def hidden_probabilities(self, rows: Any) -> np.ndarray:
        """p(h_j = 1 | x) of complete rows, (row, hidden): the features of the rows."""
        values, is_single = complete_rows(self, rows)
        shares = sigmoid(self.hidden_input(self.units.encode(values)))
        return shares[0] if is_single else shares

    @property
    def log_partition(self) -> float:
        """Log Z, by the sum over all states of the smaller layer; `TooLarge` where both are large."""
        if "log_partition" not in self.derived:
            self.derived["log_partition"] = exact_log_partition(self)
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
            The number of steps from W = 0 and a = 0 to the machine; each is one step of block Gibbs sampling.
        rng
            A seed or a `numpy.random.Generator`.

        Returns
        -------
        AnnealedEstimate
            Its `log_evidence` estimates log Z.

        Examples
        --------
        >>> import juncture as jt
        >>> machine = jt.RestrictedBoltzmannMachine.random(6, 4, scale=1.0, rng=0)
        >>> estimate = machine.annealed_log_partition(rng=0)
        >>> abs(estimate.log_evidence - machine.log_partition) < 4 * estimate.standard_error
        True
        """
        return anneal(self, particles, temperatures, rng)

    def to_markov_network(self) -> MarkovNetwork:
        """The same distribution over v0, v1, … and h0, h1, … as a product of tables, with the same Z.

        Gaussian machines have no tables: `Unsupported`.
        """
        return as_markov_network(self)

    def __repr__(self) -> str:
        hidden = number_of(self.num_hidden, "hidden unit")
        return f"RestrictedBoltzmannMachine({self.num_visible} visible {self.visible} units, {hidden})"


def as_markov_network(model: BoltzmannParameters) -> MarkovNetwork:
    """exp(b_i x_i), exp(a_j h_j) and exp(w_ij x_i h_j) for each unit and each pair."""
    if not model.units.num_states:
        raise Unsupported("a machine with Gaussian visible units has no tables; it stays what it is")
    visible, hidden = visible_variables(model.units), model.hidden_variables
    by_state = model.visible == "softmax"
    bias = model.visible_bias if by_state else np.stack([np.zeros(len(visible)), model.visible_bias], axis=1)
    weights = model.weights if by_state else np.stack([np.zeros_like(model.weights), model.weights], axis=1)
    pairs = product(range(len(visible)), range(len(hidden)))
    zeros = np.zeros(model.units.num_states)
    return MarkovNetwork(
        [
            *(Factor.from_logs([unit], logs) for unit, logs in zip(visible, bias, strict=True)),
            *(Factor.from_logs([unit], [0.0, a]) for unit, a in zip(hidden, model.hidden_bias, strict=True)),
            *(Factor.from_logs([visible[i], hidden[j]], np.stack([zeros, weights[i, :, j]], axis=1)) for i, j in pairs),
        ]
    )
