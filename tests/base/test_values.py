"""What every value promises: frozen, read-only, equal by content, picklable, readable; over `value_kinds.KINDS`."""

from __future__ import annotations

import copy
import pickle
from dataclasses import FrozenInstanceError
from functools import cache, cached_property
from itertools import combinations, product
from typing import ClassVar

import numpy as np
import pytest

import juncture as jt
from juncture.base.values import Value, content_key
from juncture.errors import JunctureError
from support.loops import loop_over
from support.public_names import public_things
from support.value_kinds import KINDS, MODELS, OWN, two

over_kinds = loop_over("build", {"every kind": OWN, "registered models": MODELS})

TRAVELS = [copy.copy, copy.deepcopy, lambda value: pickle.loads(pickle.dumps(value))]  # noqa: S301


def test_every_public_value_is_in_the_table():
    public = {one.thing for one in public_things() if isinstance(one.thing, type) and issubclass(one.thing, Value)}
    assert public <= {type(value) for build in KINDS for value in build()}


def fill_caches(value):
    """Ask for everything the value would remember."""
    for kind in type(value).__mro__:
        for name, attribute in vars(kind).items():
            if isinstance(attribute, cached_property):
                try:
                    getattr(value, name)
                except JunctureError:
                    continue  # a real-valued variable has no numbers


def arrays_in(thing):
    if isinstance(thing, np.ndarray):
        yield thing
    elif isinstance(thing, Value):
        yield from arrays_in(vars(thing))
    elif isinstance(thing, dict):
        yield from arrays_in(tuple(thing.values()))
    elif isinstance(thing, tuple):
        for item in thing:
            yield from arrays_in(item)


@over_kinds
def test_equality_and_hash_are_by_content(build):
    """Built twice they are equal; names, states, types of states, structure and single bits tell them apart."""
    values = build()
    for value, again in zip(values, build(), strict=True):
        assert value is not again
        assert value == again
        assert hash(value) == hash(again)
    assert len(set(values)) == len(values)
    for value, other in combinations(values, 2):
        assert value != other, f"{value!r} {other!r}"


@cache
def first_of_each_kind():
    return {build: build()[0] for build in KINDS}


@over_kinds
def test_equal_to_no_other_kind(build):
    value = first_of_each_kind()[build]
    others = [first for other, first in first_of_each_kind().items() if other is not build]
    assert len(others) == len(KINDS) - 1
    assert all(value != other for other in [*others, None, 1, "x", (), np.zeros(2).tolist()])


@over_kinds
def test_frozen(build):
    for value, again in zip(build(), build(), strict=True):
        for name in (*type(value)._fields, "anything"):
            with pytest.raises(FrozenInstanceError, match=name):
                setattr(value, name, None)
            with pytest.raises(FrozenInstanceError, match=name):
                delattr(value, name)
        assert value == again


@over_kinds
def test_travels_unchanged_and_stays_read_only(build):
    for value, travel in product(build(), TRAVELS):
        fill_caches(value)
        arrived = travel(value)
        assert type(arrived) is type(value)
        assert arrived == value
        assert hash(arrived) == hash(value)
        assert repr(arrived) == repr(value)
        fill_caches(arrived)
        for array in (*arrays_in(value), *arrays_in(arrived)):
            assert not array.flags.writeable
            with pytest.raises(ValueError, match="read-only"):
                array[...] = 0


@over_kinds
def test_caches_are_not_pickled(build):
    for value in build():
        before = len(pickle.dumps(value))
        fill_caches(value)
        assert len(pickle.dumps(value)) == before


@over_kinds
def test_repr_is_one_short_line_that_names_the_kind(build):
    for value in build():
        text = repr(value)
        assert type(value).__name__ in text
        assert len(text) <= 120
        assert "\n" not in text
        assert "object at 0x" not in text


def test_repr_stays_short_for_large_values():
    many = [two(f"cause {number}") for number in range(1000)]
    network = jt.BayesianNetwork(jt.Conditional(variable, [], [0.5, 0.5]) for variable in many)
    large = [jt.NoisyOr(two(), many, [0.5] * 1000), network, jt.Variable("x", 1000), network.to_factor_graph()]
    assert all(len(repr(value)) <= 200 for value in large)


def test_the_callers_arrays_stay_his_own():
    mine = np.array([0.25, 0.75])
    factor, conditional = jt.Factor([two()], mine), jt.Conditional(two(), [], mine)
    mine[:] = 0
    assert factor.values.tolist() == conditional.values.tolist() == [0.25, 0.75]
    assert mine.flags.writeable


def test_order_of_parts_does_not_matter_where_it_means_nothing():
    first, second = jt.Conditional(two(), [], [0.25, 0.75]), jt.Conditional(two("y"), [], [0.5, 0.5])
    assert jt.BayesianNetwork([first, second]) == jt.BayesianNetwork([second, first])
    pair = [jt.Factor([two()], [1, 2]), jt.Factor([two("y")], [1, 2])]
    assert jt.MarkovNetwork(pair) == jt.MarkovNetwork(pair[::-1])
    assert jt.Evidence({"x": 1, "y": 0}) == jt.Evidence({"y": 0, "x": 1})


def test_arrays_differ_by_type_shape_and_bits():
    zeros = [np.zeros(2), np.zeros(2, int), np.zeros(4, "f4"), np.zeros((1, 2)), np.array([0.0, -0.0])]
    assert len({content_key(array) for array in zeros}) == len(zeros)
    assert content_key(np.zeros((2, 3)).T) == content_key(np.zeros((3, 2)))  # the order in memory means nothing


SCRIPT = "<script>alert(1)</script>"


def hostile_values():
    variable, other = jt.Variable(SCRIPT, [SCRIPT, "b"]), jt.Variable("y", [SCRIPT, "&"])
    joint = jt.Factor([variable, other], [[1, 2], [3, 4]])
    prior = jt.Conditional(variable, [], [0.5, 0.5])
    network = jt.BayesianNetwork([prior], plates=[(SCRIPT, [SCRIPT])])
    return [
        joint,
        joint.sum_out("y"),
        jt.Conditional(variable, [other], [[0.5, 0.5]] * 2),
        network,
        jt.MarkovNetwork([joint], plates=[(SCRIPT, (0,))]),
        jt.FactorGraph([joint], plates=[(SCRIPT, (0,))]),
        jt.Dataset({SCRIPT: [SCRIPT, "b"]}, [variable]),
    ]


@pytest.mark.parametrize("value", hostile_values(), ids=lambda value: type(value).__name__)
def test_html_is_escaped(value):
    html = value._repr_html_()
    assert "<script" not in html.lower()
    assert "&lt;script&gt;" in html or "&lt;scr" in html


def test_html_of_large_tables_is_cut_and_says_so():
    html = jt.Factor([jt.Variable("a", 100), jt.Variable("b", 40)], np.ones((100, 40)))._repr_html_()
    assert html.count("<tr>") == 33
    assert "cut from 100 rows × 40 columns" in html
    assert jt.Factor([], 2.5)._repr_html_() == "<code>2.5</code>"


def test_the_fields_are_what_a_class_annotates_without_a_value():
    """Those of the bases come first, in their order; a class that lists its fields has those."""

    class Shape(Value):
        kinds: ClassVar[int]
        name: str
        colour: str
        is_closed: bool = True
        _area: float

    class Circle(Shape):
        radius: float
        name: str

    class Point(Circle):
        _fields = ("name",)
        place: float

    assert Shape._fields == ("name", "colour")
    assert Circle._fields == ("name", "colour", "radius")
    assert Point._fields == ("name",)
