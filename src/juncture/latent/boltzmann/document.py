"""Restricted Boltzmann machines as plain data: {"weights": […], "visible_bias": […], "hidden_bias": […], …}."""

from __future__ import annotations

from juncture.base.documents.codec import Record
from juncture.base.documents.kinds import register_kind
from juncture.latent.boltzmann.model import RestrictedBoltzmannMachine

register_kind(Record(RestrictedBoltzmannMachine))
