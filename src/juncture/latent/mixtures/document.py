"""Mixtures as plain data: {"weights": [0.25, 0.75], "components": {"kind": "FamilyEmissions", …}}."""

from __future__ import annotations

from juncture.base.documents.codec import Record
from juncture.base.documents.kinds import register_kind
from juncture.components.document import EMISSIONS
from juncture.components.mixture import Mixture

register_kind(Record(Mixture, components=EMISSIONS))
