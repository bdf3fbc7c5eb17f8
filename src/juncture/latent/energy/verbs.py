"""What the verbs do with energy models."""

from __future__ import annotations

from juncture import verbs
from juncture.base.dispatch import register
from juncture.latent.energy.fit import fit_energy, log_prob_energy
from juncture.latent.energy.model import EnergyModel

register(verbs.log_prob, EnergyModel, log_prob_energy)
register(verbs.fit, EnergyModel, fit_energy)
