"""What the verbs do with deep belief networks and deep Boltzmann machines."""

from __future__ import annotations

from juncture import verbs
from juncture.base.dispatch import register
from juncture.latent.boltzmann.deep.belief_network import (
    DeepBeliefNetwork,
    fit_belief_network,
    infer_belief_network,
    log_prob_belief_network,
    sample_belief_network,
)
from juncture.latent.boltzmann.deep.boltzmann_machine import (
    DeepBoltzmannMachine,
    DeepBoltzmannOptions,
    fit_deep_machine,
    infer_deep_machine,
    log_prob_deep_machine,
    sample_deep_machine,
)
from juncture.latent.boltzmann.fit import BoltzmannOptions

register(verbs.infer, DeepBeliefNetwork, infer_belief_network)
register(verbs.sample, DeepBeliefNetwork, sample_belief_network)
register(verbs.log_prob, DeepBeliefNetwork, log_prob_belief_network)
register(verbs.fit, DeepBeliefNetwork, fit_belief_network, BoltzmannOptions)
register(verbs.infer, DeepBoltzmannMachine, infer_deep_machine)
register(verbs.sample, DeepBoltzmannMachine, sample_deep_machine)
register(verbs.log_prob, DeepBoltzmannMachine, log_prob_deep_machine)
register(verbs.fit, DeepBoltzmannMachine, fit_deep_machine, DeepBoltzmannOptions)
