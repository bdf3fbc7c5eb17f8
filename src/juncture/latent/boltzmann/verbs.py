"""What the verbs do with restricted Boltzmann machines."""

from __future__ import annotations

from juncture import verbs
from juncture.base.dispatch import register
from juncture.latent.boltzmann.fit import BoltzmannOptions, fit_machine
from juncture.latent.boltzmann.infer import infer_hidden, log_prob_machine, sample_machine
from juncture.latent.boltzmann.model import RestrictedBoltzmannMachine
from juncture.latent.boltzmann.most_probable import most_probable_units

register(verbs.infer, RestrictedBoltzmannMachine, infer_hidden)
register(verbs.most_probable, RestrictedBoltzmannMachine, most_probable_units)
register(verbs.sample, RestrictedBoltzmannMachine, sample_machine)
register(verbs.log_prob, RestrictedBoltzmannMachine, log_prob_machine)
register(verbs.fit, RestrictedBoltzmannMachine, fit_machine, BoltzmannOptions)
