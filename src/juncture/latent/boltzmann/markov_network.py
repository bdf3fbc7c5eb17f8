"""A machine as a Markov network: a table for each bias and each weight, so that Z is the same."""

from __future__ import annotations

from itertools import product

import numpy as np

from juncture.errors import Unsupported
from juncture.factors.factor import Factor
from juncture.latent.boltzmann.parameters import BoltzmannParameters
from juncture.latent.boltzmann.units import visible_variables
from juncture.networks.factor_product import MarkovNetwork


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
