"""Emissions as plain data: their kind and their fields, with other emissions and families inside.

A new kind of emissions is one entry in `KINDS`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from juncture.base.documents.node import Node
from juncture.components.bernoulli import BernoulliEmissions
from juncture.components.categorical import CategoricalEmissions
from juncture.components.contract import Emissions
from juncture.components.family import FamilyEmissions, StudentEmissions
from juncture.components.gaussian import STRUCTURES, GaussianEmissions
from juncture.components.grouped import GroupedEmissions
from juncture.components.independent import IndependentEmissions
from juncture.components.mixture import MixtureEmissions
from juncture.components.precomputed import PrecomputedLogLikelihoods
from juncture.components.repeated import RepeatedEmissions
from juncture.components.shared import SharedEmissions
from juncture.components.word_counts import DirichletCounts, MultinomialCounts
from juncture.data.document import encode_states, read_states
from juncture.errors import FormatError
from juncture.families.document import encode_family, read_family

Fields = dict[str, Node]
MAX_COLUMNS = 2**20  # of a table


class Kind(NamedTuple):
    """The keys that a kind needs and those that may be left out, and how it is written and read."""

    required: tuple[str, ...]
    optional: tuple[str, ...]
    encode: Callable[[Any], dict[str, Any]]
    read: Callable[[Fields], Emissions]


def encode_emissions(emissions: Emissions) -> dict[str, Any]:
    """Emissions as a part of a document; a kind that is not in the table is refused by name."""
    kind = KINDS.get(type(emissions))
    if kind is None:
        raise FormatError(
            f"JSON cannot hold {type(emissions).__name__}: this kind of emissions is none of {', '.join(KIND_NAMES)}"
        )
    return {"kind": type(emissions).__name__, **kind.encode(emissions)}


def read_emissions(node: Node) -> Emissions:
    """The emissions in a part of a document."""
    kind = KINDS[KIND_NAMES[node.choice("kind", KIND_NAMES)]]
    fields = node.fields(["kind", *kind.required], kind.optional)
    with node.locate_errors():
        return kind.read(fields)


def read_indices(node: Node) -> np.ndarray:
    """A list of whole numbers."""
    indices = node.codes()
    if indices.ndim != 1:
        raise node.kind_error("a list of whole numbers")
    return indices


def encode_categorical(emissions: CategoricalEmissions) -> dict[str, Any]:
    symbols = encode_states(emissions.symbols, "symbol")
    return {"symbols": symbols, "probabilities": emissions.probabilities.tolist()}


def read_categorical(fields: Fields) -> Emissions:
    return CategoricalEmissions(fields["probabilities"].table(), read_states(fields.get("symbols")))


def encode_gaussian(emissions: GaussianEmissions) -> dict[str, Any]:
    numbers = {"mean": emissions.mean.tolist(), "covariance": emissions.covariance.tolist()}
    return {"structure": emissions.structure, **numbers}


def read_gaussian(fields: Fields) -> Emissions:
    structure = fields["structure"].one_of(STRUCTURES)
    return GaussianEmissions(fields["mean"].table(), fields["covariance"].table(), structure)  # type: ignore[arg-type]


def encode_mixture(emissions: MixtureEmissions) -> dict[str, Any]:
    return {"weights": emissions.weights.tolist(), "components": encode_emissions(emissions.components)}


def read_mixture(fields: Fields) -> Emissions:
    return MixtureEmissions(fields["weights"].table(), read_emissions(fields["components"]))


def encode_shared(emissions: SharedEmissions) -> dict[str, Any]:
    return {"groups": emissions.groups.tolist(), "distributions": encode_emissions(emissions.distributions)}


def read_shared(fields: Fields) -> Emissions:
    return SharedEmissions(read_emissions(fields["distributions"]), read_indices(fields["groups"]))


def encode_grouped(emissions: GroupedEmissions) -> dict[str, Any]:
    states = [own.tolist() for own in emissions.positions]
    return {"states": states, "groups": [encode_emissions(group) for group in emissions.groups]}


def read_grouped(fields: Fields) -> Emissions:
    states = [read_indices(own) for own in fields["states"].items()]
    return GroupedEmissions([read_emissions(group) for group in fields["groups"].items()], states)


def encode_repeated(emissions: RepeatedEmissions) -> dict[str, Any]:
    if emissions.num_columns > MAX_COLUMNS:
        raise FormatError(f"JSON holds at most {MAX_COLUMNS:,} tied columns; this model has {emissions.num_columns:,}")
    return {"column": encode_emissions(emissions.column), "num_columns": emissions.num_columns}


def read_repeated(fields: dict[str, Node]) -> RepeatedEmissions:
    node = fields["num_columns"]
    number = node.check_size(node.integer(), "columns", MAX_COLUMNS)
    return RepeatedEmissions(read_emissions(fields["column"]), number)


KINDS: dict[type[Emissions], Kind] = {
    CategoricalEmissions: Kind(("probabilities",), ("symbols",), encode_categorical, read_categorical),
    BernoulliEmissions: Kind(
        ("probabilities",),
        (),
        lambda emissions: {"probabilities": emissions.probabilities.tolist()},
        lambda fields: BernoulliEmissions(fields["probabilities"].table()),
    ),
    GaussianEmissions: Kind(("structure", "mean", "covariance"), (), encode_gaussian, read_gaussian),
    FamilyEmissions: Kind(
        ("family",),
        (),
        lambda emissions: {"family": encode_family(emissions.family)},
        lambda fields: FamilyEmissions(read_family(fields["family"])),
    ),
    StudentEmissions: Kind(
        ("family",),
        (),
        lambda emissions: {"family": encode_family(emissions.family)},
        lambda fields: StudentEmissions(read_family(fields["family"])),
    ),
    MultinomialCounts: Kind(
        ("probabilities",),
        (),
        lambda emissions: {"probabilities": emissions.table.tolist()},
        lambda fields: MultinomialCounts(fields["probabilities"].table()),
    ),
    DirichletCounts: Kind(
        ("concentration",),
        (),
        lambda emissions: {"concentration": emissions.table.tolist()},
        lambda fields: DirichletCounts(fields["concentration"].table()),
    ),
    RepeatedEmissions: Kind(
        ("column", "num_columns"),
        (),
        encode_repeated,
        read_repeated,
    ),
    MixtureEmissions: Kind(("weights", "components"), (), encode_mixture, read_mixture),
    IndependentEmissions: Kind(
        ("parts",),
        (),
        lambda emissions: {"parts": [encode_emissions(part) for part in emissions.parts]},
        lambda fields: IndependentEmissions([read_emissions(part) for part in fields["parts"].items()]),
    ),
    SharedEmissions: Kind(("groups", "distributions"), (), encode_shared, read_shared),
    GroupedEmissions: Kind(("states", "groups"), (), encode_grouped, read_grouped),
    PrecomputedLogLikelihoods: Kind(
        ("num_states",),
        (),
        lambda emissions: {"num_states": emissions.num_states},
        lambda fields: PrecomputedLogLikelihoods(fields["num_states"].integer()),
    ),
}
KIND_NAMES = {kind.__name__: kind for kind in KINDS}
