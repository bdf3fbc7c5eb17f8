"""The checks at the entrances: what passes is the value itself, what does not is told in one sentence."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from juncture.base import checks
from juncture.errors import InvalidData, InvalidModel, Unsupported

ANYTHING = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=5), st.binary(max_size=3), st.just(int),
    st.lists(st.integers(), max_size=3), st.dictionaries(st.text(max_size=2), st.integers(), max_size=2),
    st.sampled_from([np.float32(1.5), np.int8(3), np.array(2), np.array(2.5), np.zeros((2, 0)), np.array(["a"]), len]),
)  # fmt: skip
CHECKS = {
    "kind": lambda value: checks.check_kind(value, (dict, int), "it"),
    "mapping": lambda value: checks.check_mapping(value, "it"),
    "function": lambda value: checks.check_function(value, "it"),
    "choice": lambda value: checks.check_choice(value, ("a", None), "it"),
    "flag": lambda value: checks.check_flag(value, "it"),
    "count": lambda value: checks.check_count(value, "it", least=-2),
    "counts": lambda value: checks.check_counts(value, "it"),
    "number": lambda value: checks.check_number(value, "it", above=0, most=5),
    "finite": lambda value: checks.check_number(value, "it", finite=True),
    "iterable": lambda value: checks.check_iterable(value, "it"),
    "tuples": lambda value: checks.check_tuples(value, 2, "it"),
    "array": lambda value: checks.check_array(value, "it"),
    "vector": lambda value: checks.check_array(value, "it", ndim=1),
    "index": lambda value: checks.check_index(np.arange(3), value, "it"),
    "places": lambda value: checks.check_positions(value, 3, "it"),
    "path": checks.check_path,
}


@pytest.mark.parametrize("name", CHECKS)
@given(value=ANYTHING)
def test_anything_passes_or_is_refused_in_a_short_sentence(name, value):
    said = refusal(CHECKS[name], value)
    assert said is None or (len(said.split()) >= 4 and len(said) < 250 and "\n" not in said)


def refusal(check, value):
    try:
        check(value)
    except InvalidData as error:
        return str(error)
    return None


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (lambda: checks.check_count(np.int8(3), "k"), 3),
        (lambda: checks.check_counts((1, np.int64(2)), "n"), [1, 2]),
        (lambda: checks.check_number(np.float32(0.5), "p", least=0, most=1), 0.5),
        (lambda: checks.check_number(10**400, "p"), np.inf),
        (lambda: checks.check_number(np.array(2), "p"), 2.0),
        (lambda: checks.check_iterable(iter("ab"), "names"), ["a", "b"]),
        (lambda: checks.check_tuples([["a", 1]], 2, "pairs"), [("a", 1)]),
        (lambda: checks.check_flag(np.True_, "flag"), True),
        (lambda: checks.check_array([1, 2], "x").tolist(), [1.0, 2.0]),
        (lambda: checks.check_positions([-1, 0], 2, "a state").tolist(), [-1, 0]),
        (lambda: checks.shown("a\nb"), "'a\\nb'"),
    ],
)
def test_what_passes(found, expected):
    assert found() == expected


@pytest.mark.parametrize(
    ("ask", "error", "sentence"),
    [
        (lambda: checks.check_count(2.0, "k", least=1), InvalidData, "k must be a whole number of at least 1; got 2.0"),
        (lambda: checks.check_number(1, "p", below=1), InvalidData, "p must be a number below 1; got 1"),
        (lambda: checks.check_number("1", "p", above=0, most=1), InvalidData,
         "p must be a number above 0 and of at most 1; got '1'"),
        (lambda: checks.check_number(np.inf, "p", finite=True), InvalidData, "p must be a finite number; got inf"),
        (lambda: checks.check_choice("c", ("a", "b"), "x"), InvalidData, 'x must be "a" or "b"; got \'c\''),
        (lambda: checks.check_iterable("ab", "names", error=InvalidModel), InvalidModel,
         "names must be a list; got 'ab': write ['ab']"),
        (lambda: checks.check_kind(dict, (dict, int), "x", error=Unsupported), Unsupported,
         "x must be a dict or an int; got the class dict"),
        (lambda: checks.check_array("text", "x"), InvalidData, "x must be numbers; got 'text'"),
        (lambda: checks.check_array([[1]], "x", ndim=1), InvalidData, "x must be a list of numbers; got [[1]]"),
        (lambda: checks.check_positions(3, 3, "a state"), InvalidData, "a state has a whole number from 0 to 2; got 3"),
        (lambda: checks.check_tuples(iter([("a",)]), 2, "pairs"), InvalidData,
         "pairs must be a list whose items hold 2 things each; got ('a',)"),
    ],
)  # fmt: skip
def test_what_is_said(ask, error, sentence):
    with pytest.raises(error) as caught:
        ask()
    assert str(caught.value) == sentence
