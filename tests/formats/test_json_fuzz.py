"""Whatever is changed in a JSON document, it is read as a model or refused; and every place has its line."""

from __future__ import annotations

import copy
import json
import warnings

from hypothesis import given
from hypothesis import strategies as st

import juncture as jt
from juncture.base.documents.node import line_of
from juncture.errors import FormatError
from juncture.formats.json import read_json, write_json
from juncture.formats.row_repair import RowRepair

json_values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=3)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=3), inner, max_size=3)),
    max_leaves=6,
)


def places(value, path=()):
    """The paths of all values in a document."""
    yield path
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, child in children:
        yield from places(child, (*path, step))


def replaced(value, path, new):
    if not path:
        return new
    result = copy.copy(value)
    result[path[0]] = replaced(value[path[0]], path[1:], new)
    return result


def accepts_or_refuses(data):
    try:
        model = read_json(data, RowRepair())
    except FormatError:
        return
    assert read_json(write_json(model).encode(), RowRepair()) == model


@given(st.sampled_from(["asia", "fuel", "seven"]), st.data())
def test_any_value_anywhere_is_accepted_or_refused(name, data):
    document = json.loads(write_json(jt.example(name)))
    path = data.draw(st.sampled_from(list(places(document))))
    changed = replaced(document, path, data.draw(json_values))

    accepts_or_refuses(json.dumps(changed).encode())


@given(st.binary(max_size=6), st.data())
def test_any_bytes_anywhere_are_accepted_or_refused(junk, data):
    text = write_json(jt.example("fuel")).encode()
    at = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(at, min(at + 5, len(text))))

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        accepts_or_refuses(text[:at] + junk + text[end:])


def test_every_place_has_its_line():
    """The line of each value is found where the value is written."""
    document = {"a": [1, {"b\n": [[], 2]}, "x,y:["], "": {"c": None}, "d": -1.5e3}
    text = "\n" + json.dumps(document, indent=1)
    lines = text.splitlines()
    for path in places(document):
        if path:
            value = document
            for step in path:
                value = value[step]
            written = json.dumps(value, indent=1).splitlines()[0]
            assert written in lines[line_of(text, path) - 1]
