"""What the laws of `tests/families` run over: members of every family, SciPy's of the same, values in and outside.

A family of the registry without examples fails `families/test_registry.py`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from juncture.errors import Unsupported
from juncture.families.exponential_family import ExponentialFamily
from juncture.families.family import Family
from juncture.families.registry import FAMILIES
from support.family_references import continuous, discrete, vectors
from support.loops import by_type, loop_over

EXAMPLES = discrete.EXAMPLES | continuous.EXAMPLES | vectors.EXAMPLES
REFERENCES = discrete.REFERENCES | continuous.REFERENCES | vectors.REFERENCES


def members_of(family: type[Family]) -> list[Any]:
    """The examples of a family, batches taken apart."""
    found = []
    for example in EXAMPLES.get(family.__name__, []):
        found += [example[place] for place in np.ndindex(example.batch_shape)] if example.batch_shape else [example]
    return list(dict.fromkeys(found))


MEMBERS = [member for family in FAMILIES.values() for member in members_of(family)]
EXPONENTIAL = [member for member in MEMBERS if isinstance(member, ExponentialFamily)]
INTERIOR = [member for member in EXPONENTIAL if np.isfinite(member.natural_parameters).all()]


def few(members: list[Any]) -> list[Any]:
    """The first two of each family: enough where parameters hardly matter."""
    found: dict[type, list[Any]] = {}
    for member in members:
        found.setdefault(type(member), []).append(member)
    return [member for group in found.values() for member in group[:2]]


def provides(family: type[Family], name: str) -> bool:
    """Whether a family says something of its own where `Family` only refuses."""
    own, refused = getattr(family, name), getattr(Family, name)
    return getattr(own, "__func__", own) is not getattr(refused, "__func__", refused)


def over(members: list[Any]) -> Any:
    """One case a family, which loops over its members."""
    return loop_over("member", by_type(members))


def over_providing(name: str) -> Any:
    return over([member for member in MEMBERS if provides(type(member), name)])


def over_providing_families(name: str) -> Any:
    found = [family for family in FAMILIES.values() if provides(family, name)]
    return pytest.mark.parametrize("family", found, ids=[family.__name__ for family in found])


over_families = pytest.mark.parametrize("family", list(FAMILIES.values()), ids=list(FAMILIES))
over_members = over(MEMBERS)
over_interior = over(INTERIOR)


# -- values: arrays with rows first; a few families have pairs of them


def as_tuple(values: Any) -> tuple[Any, ...]:
    return values if isinstance(values, tuple) else (values,)


def rows_of(values: Any, index: Any) -> Any:
    return tuple(part[index] for part in values) if isinstance(values, tuple) else values[index]


def concatenate_draws(*parts: Any) -> Any:
    if isinstance(parts[0], tuple):
        return tuple(np.concatenate(same) for same in zip(*parts, strict=True))
    return np.concatenate(parts)


def numbers_each(values: Any) -> int:
    """How many numbers a draw has; of a pair, the longer part."""
    return max(part[0].size for part in (values if isinstance(values, tuple) else (values,)))


def draws(member: Any, number: int, seed: int = 0) -> Any:
    """Draws, on which a law is checked."""
    return member.sample(number, rng=seed)


def asked(member: Any, name: str) -> Any:
    """A property, or the answer of a method without arguments; None where the distribution has none and says so."""
    try:
        found = getattr(member, name)
        return found() if callable(found) else found
    except Unsupported as error:
        assert_is_a_sentence(error)
        return None


def assert_is_a_sentence(error: BaseException) -> None:
    text = str(error)
    assert len(text.split()) >= 4, text
    assert "\n" not in text


# -- batches and relatives


def batch_of(members: list[Any]) -> Any:
    """One object that holds all of them."""
    family = type(members[0])
    return family(**{name: np.stack([m._given[name] for m in members]) for name in family.parameters})


def groups_of(family: type[Family]) -> list[list[Any]]:
    """Examples whose parameters have the same shapes, so that they make a batch."""
    groups: dict[Any, list[Any]] = {}
    for member in members_of(family):
        groups.setdefault(tuple(array.shape for array in member._given.values()), []).append(member)
    return [group for group in groups.values() if len(group) > 1]


over_groups = loop_over("group", {name: groups_of(family) for name, family in FAMILIES.items()})


def relative_of(member: Any, seed: int = 1) -> Any:
    """Another member with the same knowns: its mean parameters lie between the member's and those of some draws."""
    drawn = member.sufficient_statistics(draws(member, 25, seed)).mean(axis=0)
    return type(member).from_mean_parameters(0.5 * member.mean_parameters + 0.5 * drawn, **known_of(member))


def known_of(member: Any) -> dict[str, Any]:
    known = member._known()
    return {name: known[name] for name in (*member.required, *member.fixed)}


def toward(member: Any, other: Any, share: float) -> Any:
    """The member at η + share · (η' - η): natural parameters form a convex set."""
    natural = member.natural_parameters
    moved = natural + share * (other.natural_parameters - natural)
    return type(member).from_natural_parameters(moved, **known_of(member))
