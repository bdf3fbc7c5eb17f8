"""What the verbs do with deep belief networks and deep Boltzmann machines."""

from __future__ import annotations

from juncture import verbs
from juncture.base.dispatch import register
from juncture.latent.deep.belief_network import DeepBeliefNetwork
from juncture.latent.deep.boltzmann_machine import DeepBoltzmannMachine
from juncture.latent.deep.fit import fit_deep_machine
from juncture.latent.deep.mean_field import infer_deep_machine, log_prob_deep_machine, sample_deep_machine
from juncture.latent.deep.upward import (
    fit_belief_network,
    infer_belief_network,
    log_prob_belief_network,
    sample_belief_network,
)

register(verbs.infer, DeepBeliefNetwork, infer_belief_network)
register(verbs.sample, DeepBeliefNetwork, sample_belief_network)
register(verbs.log_prob, DeepBeliefNetwork, log_prob_belief_network)
register(verbs.fit, DeepBeliefNetwork, fit_belief_network)
register(verbs.infer, DeepBoltzmannMachine, infer_deep_machine)
register(verbs.sample, DeepBoltzmannMachine, sample_deep_machine)
register(verbs.log_prob, DeepBoltzmannMachine, log_prob_deep_machine)
register(verbs.fit, DeepBoltzmannMachine, fit_deep_machine)
