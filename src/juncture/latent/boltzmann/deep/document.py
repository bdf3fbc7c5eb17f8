"""Deep models as plain data: {"weights": [[…], …], "biases": [[…], …]}."""

from __future__ import annotations

from juncture.base.documents.codec import Record
from juncture.base.documents.kinds import register_kind
from juncture.latent.boltzmann.deep.belief_network import DeepBeliefNetwork
from juncture.latent.boltzmann.deep.boltzmann_machine import DeepBoltzmannMachine

register_kind(Record(DeepBeliefNetwork), Record(DeepBoltzmannMachine))
