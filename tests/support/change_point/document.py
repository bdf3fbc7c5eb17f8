"""Change-point models as plain data: {"before": 2.0, "after": 9.0, "change": [0.5, 0.5]}."""

from __future__ import annotations

from typing import Any

from juncture.base.documents.kinds import HEAD, register_kind
from juncture.base.documents.node import Node
from support.change_point.model import PoissonChangePoint


def encode_change(model: PoissonChangePoint) -> dict[str, Any]:
    return {"before": model.before, "after": model.after, "change": model.change.tolist()}


def read_change(document: Node) -> PoissonChangePoint:
    fields = document.fields([*HEAD, "before", "after", "change"])
    return PoissonChangePoint(fields["before"].number(), fields["after"].number(), fields["change"].table())


register_kind(PoissonChangePoint, encode_change, read_change)
