"""Log Z by annealed importance sampling: from independent units to the machine (Salakhutdinov and Murray 2008)."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from juncture.base.checks import check_count
from juncture.base.options import as_generator
from juncture.inference.sampling.markov_chains.annealed import AnnealedEstimate
from juncture.latent.boltzmann.parameters import BoltzmannParameters
from juncture.numerics.stable import sigmoid, softplus


def anneal(model: BoltzmannParameters, particles: int, temperatures: int, rng: Any) -> AnnealedEstimate:
    """Chains through the machines with the weights β W, hidden biases β a and visible biases b, for β from 0 to 1."""
    count = check_count(particles, "particles", least=1)
    steps = np.linspace(0.0, 1.0, check_count(temperatures, "temperatures", least=1) + 1)
    generator, units, bias = as_generator(rng), model.units, model.visible_bias.ravel()
    theta = np.broadcast_to(bias, (count, len(bias)))
    u = units.draw(theta, generator)
    at_zero = model.num_hidden * np.log(2) + float(units.log_partition(theta[:1]).sum())
    log_weights = np.full(count, at_zero)
    for old, new in pairwise(steps):
        odds = model.hidden_input(u)
        log_weights += (softplus(new * odds) - softplus(old * odds)).sum(axis=1)
        hidden = generator.random(odds.shape) < sigmoid(new * odds)
        u = units.draw(new * (hidden @ model.matrix.T) + bias, generator)
    return AnnealedEstimate(log_weights)
