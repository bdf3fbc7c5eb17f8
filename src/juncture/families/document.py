"""Families as plain data: the name of the family, and each parameter as a number or as nested lists for a batch.

A posterior remembers whose statistics it has seen: {"kind": "Gamma", "shape": 7.0, "rate": 4.0, "seen": {"family":
"Poisson", "known": {}}}.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from juncture.base.documents.kinds import HEAD, register_kind
from juncture.base.documents.node import Node
from juncture.errors import FormatError
from juncture.families.conjugacy import ConjugatePrior, find_pair
from juncture.families.family import Family
from juncture.families.registry import COMPOSED, FAMILIES
from juncture.families.statistics.statistics import check_known, rules_of
from juncture.families.vectors.independent import Independent

KNOWN_FAMILIES = FAMILIES | COMPOSED
NAMED = ("kind",)  # what says the family inside a document


def encode_family(family: Family) -> dict[str, Any]:
    """A family as a part of a document."""
    return {"kind": type(family).__name__, **encode_parameters(family)}


def encode_parameters(family: Family) -> dict[str, Any]:
    if KNOWN_FAMILIES.get(type(family).__name__) is not type(family):
        raise FormatError(
            f"JSON cannot hold a {type(family).__name__}: it is none of the families that come with the package"
        )
    if 0 in family.batch_shape:
        raise FormatError(f"JSON cannot hold a batch without members; this {type(family).__name__} is one")
    if isinstance(family, Independent):
        return {"families": [encode_family(column) for column in family.families]}
    return {name: family._given[name].tolist() for name in family.parameters} | encode_seen(family)


def encode_seen(family: Family) -> dict[str, Any]:
    """The family whose statistics a posterior has seen, and what was known of it."""
    seen = family._seen if isinstance(family, ConjugatePrior) else None
    if seen is None:
        return {}
    likelihood, known = seen
    return {
        "seen": {"family": likelihood.__name__, "known": {name: array.tolist() for name, array in known.items()}},
    }


def read_family(node: Node) -> Family:
    """The family in a part of a document."""
    return read_parameters(KNOWN_FAMILIES[node.choice("kind", KNOWN_FAMILIES)], NAMED, node)


def read_parameters(family: type[Family], head: tuple[str, ...], node: Node) -> Family:
    if family is Independent:
        columns = [read_family(item) for item in node.fields([*head, "families"])["families"].items()]
        with node.locate_errors():
            return Independent(columns)
    may_have_seen = ["seen"] if issubclass(family, ConjugatePrior) else []
    fields = node.fields([*head, *family.parameters], may_have_seen)
    values = {name: fields[name].table() for name in family.parameters}
    with node.locate_errors():
        found = family(**values)
    if 0 in found.batch_shape:
        raise node.error(f"holds a batch of {family.__name__} without members; give each parameter at least one number")
    if "seen" in fields:
        found._set(_seen=read_seen(fields["seen"], found))
    return found


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


for each in KNOWN_FAMILIES.values():
    register_kind(each, encode_parameters, partial(read_parameters, each, HEAD))
