"""Traits of a distribution that learning does not change: its kind, its known parameters, and its zeros."""

from __future__ import annotations

from collections.abc import Hashable
from functools import singledispatch

from juncture.components.categorical import CategoricalEmissions
from juncture.components.contract import Emissions
from juncture.components.family import FamilyEmissions
from juncture.components.gaussian import GaussianEmissions
from juncture.components.grouped import GroupedEmissions
from juncture.components.independent import IndependentEmissions
from juncture.components.mixture import MixtureEmissions
from juncture.families.constraints import NON_NEGATIVE, PROBABILITY, SIMPLEX
from juncture.families.family import Family

WITH_EDGES = (PROBABILITY, NON_NEGATIVE, SIMPLEX)  # a distribution that is at such an edge stays there


@singledispatch
def lasting_traits(emissions: Emissions) -> Hashable:
    """Equal for emissions that can become the same by learning."""
    return type(emissions).__name__


@lasting_traits.register
def _(emissions: CategoricalEmissions) -> Hashable:
    return type(emissions), (emissions.probabilities > 0).tobytes()


@lasting_traits.register
def _(emissions: GaussianEmissions) -> Hashable:
    return type(emissions), emissions.structure


@lasting_traits.register
def _(emissions: FamilyEmissions) -> Hashable:
    family = emissions.family
    known = tuple(family._given[name].tobytes() for name in family.required)
    return type(family), known, tuple(edges(family, name) for name in family.parameters)


def edges(family: Family, name: str) -> Hashable:
    """Where a parameter is 0 or 1, if these are the ends of what it may be."""
    array = family._given[name]
    return ((array == 0).tobytes(), (array == 1).tobytes()) if family.parameters[name] in WITH_EDGES else None


@lasting_traits.register
def _(emissions: MixtureEmissions) -> Hashable:
    return type(emissions), (emissions.weights > 0).tobytes(), traits_of_states(emissions.components)


@lasting_traits.register
def _(emissions: IndependentEmissions) -> Hashable:
    return tuple(map(lasting_traits, emissions.parts))


@lasting_traits.register
def _(emissions: GroupedEmissions) -> Hashable:
    return traits_of_states(emissions)


def traits_of_states(emissions: Emissions) -> Hashable:
    return tuple(lasting_traits(emissions.take([state])) for state in range(emissions.num_states))
