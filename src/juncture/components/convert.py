"""`as_emissions`: the emissions that users mean by a family, a list, a table or nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import singledispatch
from typing import Any

import numpy as np

from juncture.components.categorical import CategoricalEmissions
from juncture.components.contract import Emissions
from juncture.components.family import FamilyEmissions, full_members, stack_members
from juncture.components.gaussian import GaussianEmissions
from juncture.components.grouped import GroupedEmissions
from juncture.components.independent import IndependentEmissions
from juncture.components.precomputed import PrecomputedLogLikelihoods
from juncture.errors import InvalidModel
from juncture.families.continuous.gaussian import Gaussian
from juncture.families.discrete.categorical import Categorical
from juncture.families.family import Family
from juncture.families.vectors.independent import Independent
from juncture.families.vectors.multivariate_gaussian import MultivariateGaussian

ListConverter = Callable[[list[Any]], Emissions]


def as_emissions(given: Any, num_states: int) -> Emissions:
    """One distribution per state, from emissions, a batch of a family, a list of families or mixtures, or a table.

    A table is (state, symbol). None means that observations are log-likelihoods (step, state) already.
    """
    emissions = PrecomputedLogLikelihoods(num_states) if given is None else convert(given)
    if emissions.num_states != num_states:
        raise InvalidModel(f"there are {num_states} states, but emissions for {emissions.num_states}")
    return emissions


def as_components(given: Any, num_components: int) -> Emissions:
    """The components of one mixture."""
    emissions = convert(given)
    if emissions.num_states != num_components:
        raise InvalidModel(f"there are {num_components} weights, but {emissions.num_states} components")
    return emissions


def convert(given: Any) -> Emissions:
    if isinstance(given, Emissions):
        return given
    if isinstance(given, Family):
        return of_batch(given)
    converter = find_list_converter(given) if isinstance(given, list | tuple) else None
    if converter is not None:
        return converter(list(given))
    if not is_table(given):
        raise InvalidModel(
            "emissions are a batch of a family, a list of families or mixtures, one for each state, a table"
            f" (state, symbol) whose rows have one length, or None; got {given!r}"
        )
    return CategoricalEmissions(given)


def find_list_converter(given: Sequence[Any]) -> ListConverter | None:
    """The converter of the last kind in the table that a member of the list is of; None for a list of numbers."""
    kinds = reversed(LIST_CONVERTERS.items())
    return next((convert for kind, convert in kinds if any(isinstance(item, kind) for item in given)), None)


def check_members(given: Sequence[Any], *kinds: type) -> None:
    for item in given:
        if not isinstance(item, kinds):
            raise InvalidModel(f"a list of emissions has a family or a mixture for each state; got {item!r}")


def is_table(given: Any) -> bool:
    """Whether this is an array, or lists that make one; which shape it has is checked later."""
    try:
        return np.ndim(given) > 0
    except ValueError:  # rows of different lengths
        return False


@singledispatch
def of_batch(family: Family) -> Emissions:
    """The emissions of a batch of one family, one member per state."""
    return FamilyEmissions(one_per_state(family))


@of_batch.register
def _(family: Categorical) -> Emissions:
    return CategoricalEmissions(full_members(one_per_state(family))["probabilities"])


@of_batch.register
def _(family: Gaussian) -> Emissions:
    given = full_members(one_per_state(family))
    return GaussianEmissions(given["mean"], given["variance"], "diagonal")


@of_batch.register
def _(family: MultivariateGaussian) -> Emissions:
    given = full_members(one_per_state(family))
    return GaussianEmissions(given["mean"], given["covariance"], "full")


@of_batch.register
def _(family: Independent) -> Emissions:
    """A column that is a single distribution is where all states start from."""
    size = len(one_per_state(family))
    columns = ([each] * size if not each.batch_shape else each for each in family.families)
    return IndependentEmissions(map(convert, columns))


def one_per_state(family: Any) -> Any:
    """The family itself, if it is a batch along one axis."""
    if len(family.batch_shape) != 1:
        raise InvalidModel(
            f"emissions are a batch of distributions along one axis, one per state; "
            f"this {type(family).__name__} has the batch {family.batch_shape}"
        )
    return family


def of_families(families: Sequence[Any]) -> Emissions:
    """The emissions of single distributions, those of one class together."""
    check_members(families, Family)
    for family in families:
        if family.batch_shape:
            raise InvalidModel(f"each state has one distribution; got a batch of {family.batch_shape}")
    shapes = {family.event_shape for family in families}
    if len(shapes) > 1:
        raise InvalidModel(f"all states emit observations of one shape; got {' and '.join(map(str, sorted(shapes)))}")
    positions: dict[Any, list[int]] = {}
    for position, family in enumerate(families):
        positions.setdefault((type(family), tuple(map(type, getattr(family, "families", ())))), []).append(position)
    groups = [of_one_class([families[position] for position in own]) for own in positions.values()]
    return groups[0] if len(groups) == 1 else GroupedEmissions(groups, positions.values())


def of_one_class(families: list[Any]) -> Emissions:
    if isinstance(families[0], Independent):
        columns = zip(*(family.families for family in families), strict=True)
        return IndependentEmissions(of_families(column) for column in columns)
    return of_batch(stack_members(families))


def concatenate_components(components: Sequence[Any], positions: Sequence[list[int]]) -> Emissions:
    """The chosen distributions of several emissions, one after the other; Gaussians of one structure keep it."""
    structures = {getattr(each, "structure", None) for each in components}
    if structures <= {"full", "diagonal", "spherical"} and len(structures) == 1:
        pairs = list(zip(components, positions, strict=True))
        mean = np.concatenate([each.mean[own] for each, own in pairs])
        covariance = np.concatenate([each.covariance[own] for each, own in pairs])
        return GaussianEmissions(mean, covariance, structures.pop())
    return convert([each[position] for each, own in zip(components, positions, strict=True) for position in own])


# A list with a distribution for each state, by the kind of its members; a later kind may have earlier ones beside it.
LIST_CONVERTERS: dict[type, ListConverter] = {Family: of_families}
