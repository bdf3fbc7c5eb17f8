"""Families as plain data: the name of the family, and each parameter as a number or as nested lists for a batch.

A posterior remembers whose statistics it has seen: {"kind": "Gamma", "shape": 7.0, "rate": 4.0, "seen": {"family":
"Poisson", "known": {}}}.
"""

from __future__ import annotations

from typing import Any

from juncture.base.documents.codec import TABLE, Codec, Field, Pair, Record, Union, left_out, list_of, unchanged
from juncture.base.documents.kinds import register_kind
from juncture.base.documents.node import Node
from juncture.errors import FormatError
from juncture.families.conjugacy import ConjugatePrior, find_pair
from juncture.families.family import Family
from juncture.families.registry import COMPOSED, FAMILIES
from juncture.families.statistics.statistics import check_known, rules_of

REFUSAL = "JSON cannot hold a {kind}: it is none of the families that come with the package"


class FamilyRecord(Record):
    """Families of one class by their parameters; a posterior with the family that it has seen."""

    def __init__(self, family: type[Family], /, **codecs: Codec | Field) -> None:
        may_have_seen = issubclass(family, ConjugatePrior)  # what `make` reads, since it has the posterior
        seen = {"seen": left_out(Pair(encode_seen, unchanged))} if may_have_seen else {}
        super().__init__(family, *codecs, *seen, **codecs, **seen)

    def encode(self, value: Family, /) -> dict[str, Any]:
        if 0 in value.batch_shape:
            raise FormatError(f"JSON cannot hold a batch without members; this {type(value).__name__} is one")
        return super().encode(value)

    def parts(self, value: Family, /) -> dict[str, Any]:
        return {**vars(value), **value._given, "seen": getattr(value, "_seen", None)}

    def make(self, *, seen: Node | None = None, **values: Any) -> Family:
        found: Family = self.model(**values)
        if 0 in found.batch_shape:
            name = self.model.__name__
            raise FormatError(f"holds a batch of {name} without members; give each parameter at least one number")
        if seen is not None:
            found._set(_seen=read_seen(seen, found))
        return found


def encode_seen(seen: tuple[type[Family], dict[str, Any]]) -> dict[str, Any]:
    """The family whose statistics a posterior has seen, and what was known of it."""
    likelihood, known = seen
    return {"family": likelihood.__name__, "known": {name: array.tolist() for name, array in known.items()}}


def read_seen(node: Node, posterior: Family) -> tuple[type[Family], dict[str, Any]]:
    """The family that a posterior has seen, which must have such a prior, and what was known of it."""
    likelihood = FAMILIES[node.choice("family", FAMILIES)]
    fields = node.fields(["family", "known"])
    values = {name: each.table() for name, each in fields["known"].fields([], rules_of(likelihood)).items()}
    with node.locate_errors():
        known = check_known(likelihood, values)
        find_pair(type(posterior), likelihood, known)
    if "num_states" in known and (known["num_states"] != posterior.event_shape[-1]).any():
        raise fields["known"].error(f"num_states must be {posterior.event_shape[-1]}, as the posterior has it")
    return likelihood, known


FAMILY = Union(
    REFUSAL,
    *(FamilyRecord(family, **dict.fromkeys(family.parameters, TABLE)) for family in FAMILIES.values()),
)
FAMILY.add(*(FamilyRecord(family, families=list_of(FAMILY)) for family in COMPOSED.values()))

register_kind(*FAMILY.records.values())
