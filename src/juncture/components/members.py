"""Members of batches: of distributions, and of their statistics."""

from __future__ import annotations

from functools import singledispatch
from typing import Any, TypeVar

import numpy as np

from juncture.families.family import Family
from juncture.families.statistics.known import Known, known_of_members
from juncture.families.statistics.sample_statistics import Sample
from juncture.families.statistics.statistics import Statistics

AnyFamily = TypeVar("AnyFamily", bound=Family)


def full_members(family: Family) -> dict[str, np.ndarray]:
    """The parameters of a batch, each with an entry for every member."""
    parts = {}
    for name, array in family._given.items():
        event = array.shape[array.ndim - family.parameters[name].axes :]
        parts[name] = np.broadcast_to(array, family.batch_shape + event)
    return parts


def with_members(family: AnyFamily, positions: np.ndarray, members: Family) -> AnyFamily:
    """The batch with its members at these positions replaced."""
    parts = {name: array.copy() for name, array in full_members(family).items()}
    for name, array in parts.items():
        array[positions] = members._given[name]
    return type(family)(**parts | shared_known(family))


def take_members(family: AnyFamily, positions: Any) -> AnyFamily:
    """The batch of the members at these positions."""
    parts = {name: array[positions] for name, array in full_members(family).items()}
    return type(family)(**parts | shared_known(family))


def shared_known(family: Family) -> dict[str, np.ndarray]:
    """What must be known of the family and is the same for all members."""
    return {
        name: family._given[name] for name in family.required if name in family._given and not family._given[name].ndim
    }


def stack_members(families: list[Any]) -> Any:
    """One batch of single distributions of one class; what must be known and is the same in all stays one number."""
    first = families[0]
    parts = {name: np.stack([each._given[name] for each in families]) for name in first._given}
    same = {name for name in first.required if name in parts and (parts[name] == parts[name][0]).all()}
    return type(first)(**parts | {name: first._given[name] for name in same})


@singledispatch
def members_of(statistics: Statistics, positions: np.ndarray) -> Any:
    """The statistics of these members of a batch."""
    arrays = {
        name: getattr(statistics, name)[positions] for name in statistics._fields if name not in {"family", "known"}
    }
    return statistics._with(**arrays, known=known_at(statistics, positions))


@members_of.register
def _(statistics: Sample, positions: np.ndarray) -> Sample:
    return statistics._with(
        values=statistics.values[:, positions],
        weights=statistics.weights[:, positions],
        known=known_at(statistics, positions),
    )


def known_at(statistics: Statistics, positions: np.ndarray) -> Known:
    """What is known of these members; what all share stays as it is."""
    return known_of_members(statistics.family, statistics.known, statistics.batch_shape, positions)
