"""The codec of fields: what annotations say, what is given by keyword, and what is refused."""

from __future__ import annotations

import json
import math
import re

import numpy as np
import pytest

from juncture.base.documents.codec import (
    LOG_TABLE,
    NUMBER,
    TABLE,
    TEXT,
    Given,
    Record,
    Union,
    encode_table,
    left_out,
    list_of,
    one_of,
    or_null,
    under,
)
from juncture.base.documents.node import Node
from juncture.base.values import Value
from juncture.errors import FormatError, InvalidModel


class Reading(Value):
    """A value with a field of each kind that annotations say."""

    numbers: np.ndarray
    tables: tuple[np.ndarray, ...]
    level: float
    count: int
    is_closed: bool
    unit: str
    limit: float | None
    extra: np.ndarray | None

    def __init__(self, *, tables, extra=None, **fields):
        if fields["count"] < 0:
            raise InvalidModel("the count is at least 0")
        self._set(tables=tuple(tables), extra=extra, **fields)


class Station(Value):
    """A value with fields whose codecs are given."""

    name: str
    readings: tuple[Reading, ...]

    def __init__(self, name, readings):
        self._set(name=name, readings=tuple(readings))


READING = Record(Reading)
EXAMPLE = Reading(
    numbers=np.array([[1.0, 0.5]]), tables=(np.array([2.0]),), level=0.25, count=3, is_closed=True, unit="m", limit=None
)


def node(value):
    return Node.parse(json.dumps(value).encode())


def reread(codec, value):
    return codec.read(node(codec.encode(value)))


def test_annotations_say_how_fields_are_written():
    written = {"numbers": [[1.0, 0.5]], "tables": [[2.0]], "level": 0.25, "count": 3, "is_closed": True, "unit": "m"}
    assert READING.encode(EXAMPLE) == {**written, "limit": None}
    assert reread(READING, EXAMPLE) == EXAMPLE
    whole = Reading(**{name: getattr(EXAMPLE, name) for name in written}, limit=7.0, extra=np.zeros((1, 2)))
    assert READING.encode(whole)["extra"] == [[0.0, 0.0]]
    assert reread(READING, whole) == whole


def test_annotations_need_not_be_text():
    annotations = {"a": np.ndarray, "b": np.ndarray | None, "c": tuple[np.ndarray, ...], "d": float, "e": float | None}
    kind = type("Own", (Value,), {"__annotations__": annotations})
    value = kind()
    value._set(a=np.eye(1), b=None, c=(np.ones(1),), d=0.5, e=None)
    assert Record(kind).encode(value) == {"a": [[1.0]], "c": [[1.0]], "d": 0.5, "e": None}


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("numbers", "x", 'readings[0].numbers: must be a number; got "x"'),
        ("tables", [[1], [None]], "readings[0].tables[1][0]: must be a number; got null"),
        ("count", 0.5, "readings[0].count: must be a whole number; got 0.5"),
        ("is_closed", 1, "readings[0].is_closed: must be true or false; got 1"),
        ("unit", None, "readings[0].unit: must be text; got null"),
        ("limit", "", 'readings[0].limit: must be a number; got ""'),
        ("extra", None, "readings[0].extra: must be a number; got null"),
        ("count", -1, "readings[0]: the count is at least 0"),
        ("cuont", 1, "readings[0]: has the unknown key 'cuont'; did you mean 'count'?"),
    ],
)
def test_what_is_refused_has_its_place(key, value, message):
    station = Record(Station, readings=list_of(READING))
    document = station.encode(Station("north", [EXAMPLE]))
    document["readings"][0][key] = value
    with pytest.raises(FormatError, match=re.escape(message)):
        station.read(node(document))
    with pytest.raises(FormatError, match="lacks the key 'name'"):
        station.read(node({"readings": []}))


def test_codecs_read_what_they_write():
    bounds = list_of(or_null(NUMBER, math.inf, is_null=math.isinf))
    assert bounds.encode([1.0, math.inf]) == [1.0, None]
    assert reread(bounds, [1.0, math.inf]) == [1.0, math.inf]
    logs = np.array([[0.0, -np.inf]])
    assert LOG_TABLE.encode(logs) == [[0.0, None]]
    assert (reread(LOG_TABLE, logs) == logs).all()
    with pytest.raises(FormatError, match=r"is \"soft\"; known are 'hard'"):
        one_of(["hard"]).read(node("soft"))


def test_keys_may_have_other_names_and_another_order():
    record = Record(Station, "readings", "name", readings=left_out(list_of(READING), when=lambda _: True), name=TEXT)
    assert record.encode(Station("north", [EXAMPLE])) == {"name": "north"}
    titled = Record(Station, name=under("title", TEXT), readings=list_of(READING))
    assert list(titled.encode(Station("north", []))) == ["title", "readings"]
    assert reread(titled, Station("north", [])) == Station("north", [])


def test_a_field_may_be_read_by_those_before_it():
    def read(one, values):
        return [one.table()] * len(values["name"])

    record = Record(Station, readings=Given(encode_table, read))
    assert record.read(node({"name": "ab", "readings": 1.0})).readings == (1.0, 1.0)


def test_a_union_tells_its_kinds_apart():
    union = Union("files hold {kinds}; this is a {kind}", READING)
    union.add(Record(Station, readings=list_of(union)))
    station = Station("north", [EXAMPLE])
    assert union.encode(station)["readings"][0]["kind"] == "Reading"
    assert reread(union, station) == station
    with pytest.raises(FormatError, match="files hold Reading, Station; this is a float"):
        union.encode(1.0)
    with pytest.raises(FormatError, match='kind: is "Town"; known are'):
        union.read(node({"kind": "Town"}))


def test_records_that_cannot_be_derived_are_refused_at_once():
    with pytest.raises(TypeError, match="'readings' does not say how Station is written"):
        Record(Station)
    with pytest.raises(TypeError, match="Station has no fields"):
        Record(Station, readings=TABLE, colour=TEXT)
