"""Change-point models as plain data: {"before": 2.0, "after": 9.0, "change": [0.5, 0.5]}."""

from __future__ import annotations

from juncture.base.documents.codec import Record
from juncture.base.documents.kinds import register_kind
from support.change_point.model import PoissonChangePoint

register_kind(Record(PoissonChangePoint))
