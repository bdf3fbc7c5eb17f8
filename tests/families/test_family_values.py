"""Families are values: frozen, equal by content, picklable, and told by a line that builds them again."""

from __future__ import annotations

import copy
import pickle
from dataclasses import FrozenInstanceError

import numpy as np
import pytest

from juncture.errors import InvalidModel
from juncture.families.registry import FAMILIES
from support.family_examples import EXAMPLES, assert_is_a_sentence, members_of, over, over_families, over_members

TRAVELS = [copy.copy, copy.deepcopy, lambda value: pickle.loads(pickle.dumps(value))]  # noqa: S301
over_travels = pytest.mark.parametrize("travel", TRAVELS, ids=["copy", "deepcopy", "pickle"])
over_examples = over([example for name in FAMILIES for example in EXAMPLES.get(name, [])])


@over_members
def test_the_line_builds_it_again(member):
    if max(array.size for array in member._given.values()) <= 9:  # longer ones are cut
        assert eval(repr(member), {**FAMILIES}) == member  # noqa: S307
    assert "\n" not in repr(member)


@over_examples
def test_the_line_stays_short(member):
    assert repr(member).startswith(f"{type(member).__name__}(")
    assert len(repr(member)) <= 300


@over_travels
@over_examples
def test_travels_unchanged(member, travel):
    arrived = travel(member)
    assert type(arrived) is type(member)
    assert arrived == member
    assert hash(arrived) == hash(member)
    assert arrived.batch_shape == member.batch_shape
    assert all(not array.flags.writeable for array in arrived._given.values())
    np.testing.assert_array_equal(arrived.sample(3, rng=0)[0], member.sample(3, rng=0)[0])


@over_examples
def test_built_again_it_is_equal(member):
    again = type(member)(**{name: np.array(array) for name, array in member._given.items()})
    assert again is not member
    assert again == member
    assert hash(again) == hash(member)


@over_families
def test_members_differ(family):
    members = members_of(family)
    assert len(set(members)) == len(members)
    assert all(member != other for member in members for other in members if member is not other)
    strangers = [members_of(other)[0] for other in FAMILIES.values() if other is not family and members_of(other)]
    assert all(members[0] != stranger for stranger in [*strangers, None, 0, repr(members[0])])


@over_examples
def test_frozen(member):
    for name in (*member.parameters, "_given", "batch_shape", "anything"):
        with pytest.raises(FrozenInstanceError, match=name):
            setattr(member, name, 0.5)
    for array in member._given.values():
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0


@over_examples
def test_the_callers_arrays_stay_his_own(member):
    mine = {name: np.array(array) for name, array in member._given.items()}
    built = type(member)(**mine)
    for array in mine.values():
        array[...] = 0.123
    assert built == member


@over_members
def test_parameters_are_read_back(member):
    for name, rule in member.parameters.items():
        value = getattr(member, name)
        np.testing.assert_array_equal(value, member._given[name])
        if not rule.axes:
            assert type(value) is (int if rule.is_whole else float)


BAD = [np.nan, np.inf, -np.inf, "a", None, [], {}]


@over_families
def test_parameters_are_checked_in_a_sentence(family):
    member = members_of(family)[0]
    for name, rule in family.parameters.items():
        for bad in BAD:
            wrong = np.full(member._given[name].shape, bad) if isinstance(bad, float) else bad
            if isinstance(bad, list) and not rule.axes:
                continue  # a batch of no members
            with pytest.raises(InvalidModel, match=name) as caught:
                family(**{**member._given, name: wrong})
            assert_is_a_sentence(caught.value)
            assert family.__name__ in str(caught.value)
