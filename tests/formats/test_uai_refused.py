"""UAI model files that are wrong are refused with their line, quickly."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from juncture.errors import FormatError
from juncture.formats.row_repair import RowRepair
from juncture.formats.uai import NumberReader, read_uai, write_uai
from support.processor_time import takes_at_most
from support.uai_examples import BAYES, MARKOV, read


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ("BAYES", "BAYS", 1, "a UAI file begins with BAYES or MARKOV; this one with 'BAYS'"),
        ("2 2 3", "2 2.5 3", 3, "a variable's number of states must be a whole number, at least 1; found 2.5"),
        ("2 2 3", "2 0 3", 3, "a variable's number of states must be a whole number, at least 1; found 0"),
        ("2 2 3", "2 two 3", 3, "expected a number, found 'two'"),
        ("2 2 3", "2 -2 3", 3, "found -2; numbers must be finite and not negative"),
        (
            "3\n2 2 3",
            "1000000000000\n2 2 3",
            2,
            "the file ends too early: a variable's number of states takes 1,000,000",
        ),
        ("2 2 3", "2 1000000000000 3", 3, "states in all, more than the tables of this file can use"),
        ("2 2 3", "2 3 3", 12, "the function over (x0, x1) has 6 entries, and the file declares 4"),
        ("3\n1 0", "1000000000000\n1 0", 4, "the file declares 1,000,000,000,000 functions, and only"),
        ("2 0 1", "2 0 3", 6, "a variable of a scope must be a whole number, at least 0 and at most 2; found 3"),
        ("2 0 1", "2 0 0.5", 6, "a variable of a scope must be a whole number"),
        ("2 0 1", "2 1 1", 6, "'x1' appears twice in one scope"),
        ("2 0 1", "2 1 0", 6, "each function has a child of its own: x0 is the child of two"),
        ("1 0\n", "0\n", 9, "the function over () has 1 entries, and the file declares 2"),
        ("2 1 2", "2 2 1", 7, "x1 is the child of two"),
        ("0.436", "nan", 10, "expected a number, found 'nan'"),
        ("0.436", "inf", 10, "expected a number, found 'inf'"),
        ("0.436", "1e999", 10, "found inf; numbers must be finite and not negative"),
        ("0.436", "-0.436", 10, "found -0.436; numbers must be finite and not negative"),
        ("0.436", "0.4.36", 10, "expected a number, found '0.4.36'"),
        ("0.436", "0_436", 10, "expected a number, found '0_436'"),
        ("0.436", "0,436", 10, "expected a number, found '0,436'"),
        ("0.436", "0.3", 10, "the row of 'x0' sums to 0.864; a row must sum to 1 within 0.001"),
        ("0.920 0.080", "0.8 0.1", 13, "the row of 'x1' given x0=1 sums to 0.9"),
        ("0.920 0.080", "1e308 1e308", 13, "the row of 'x1' given x0=1 sums to"),
        ("0.920 0.080", "0.920", 17, "the size of the function over (x1, x2) must be a whole number"),
        ("0.189", "", 16, "the function over (x1, x2) declares 6 entries or more, and the file can hold 5"),
        ("0.189", "0.189 0.5", 18, "expected the end of the file, found 1 more numbers"),
        ("0.189", "0.189 junk", 18, "expected a number, found 'junk'"),
        ("0.189", "0.189 \x00", 18, "expected a number, found '\\x00'"),
    ],
)
def test_each_mistake_is_refused_with_its_line(old, new, line, message):
    assert old in BAYES
    with pytest.raises(FormatError) as caught:
        read(BAYES.replace(old, new, 1))

    assert message in str(caught.value)
    assert caught.value.line == line


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "a UAI file begins with BAYES or MARKOV; this one with ''"),
        ("BAYES", "the file ends too early: the number of variables takes 1 numbers, and 0 are left"),
        ("BAYES 1", "the file ends too early: a variable's number of states takes 1 numbers, and 0 are left"),
        ("BAYES 1 2 1", "the file declares 1 functions, and only 0 numbers follow"),
        ("BAYES 1 2 1 1 0 2 0.5", "the function over (x0) declares 2 entries or more, and the file can hold 1"),
        ("BAYES 1 2 1 0 1 1", "in a BAYES file each function has a child of its own: an empty scope has no child"),
        ("BAYES 1 2 0", "no function has the child x0; a BAYES file has one for each variable"),
        ("BAYES 2 1 1 2 2 0 1 2 1 0 1 1 1 1", "x0"),  # a cycle
        ("MARKOV 1 1000000000000 0", "states in all"),
        ("MARKOV 1000001 " + "2 " * 1000001, "states in all"),
        (f"MARKOV 70 {'1 ' * 70} 1 70 {' '.join(map(str, range(70)))} 1 1.0", "70 variables; a table has at most 64"),
        (f"MARKOV 50 {'9999 ' * 50} 1 50 {' '.join(map(str, range(50)))} 1 1.0", "declares"),
        (f"MARKOV 20000 {'2 ' * 20000} 1 20000 {' '.join(map(str, range(20000)))} 1 1.0", "declares"),
        (b"\x7fELF\x02\x01\x01\x00" * 1000, "a UAI file begins with BAYES or MARKOV"),
        (b"MARKOV\n" + bytes(range(128, 256)) * 1000, "expected a number"),
        (b"MARKOV 1 2 " + b"1" * 10**7, "found inf; numbers must be finite"),
        (b"MARKOV 1 2 " + b"x" * 10**7, "expected a number, found 'xxx"),
        (b"c\n" * 10**6, "a UAI file begins with BAYES or MARKOV"),
    ],
)
def test_hostile_files_are_refused_quickly(text, message):
    with takes_at_most(5), pytest.raises(FormatError) as caught:
        read(text)

    assert message in str(caught.value)
    assert len(str(caught.value)) < 300


def test_numbers_of_many_chunks_are_read_and_the_line_of_a_mistake_is_found(monkeypatch):
    monkeypatch.setattr("juncture.formats.uai.CHUNK", 2**16)
    size = 10**5
    lines = [
        "MARKOV",
        "1",
        str(size),
        "1",
        "1 0",
        str(size),
        *map(repr, np.random.default_rng(0).random(size).tolist()),
    ]
    text = "\n".join(lines).encode()
    assert len(text) > 10 * 2**16

    assert read(text).factors[0].values[-1] == float(lines[-1])
    lines[90_000] = "-1"
    with pytest.raises(FormatError, match="found -1") as caught:
        read("\n".join(lines))
    assert caught.value.line == 90_001
    lines[90_000] = "minus"
    with pytest.raises(FormatError, match="found 'minus'") as caught:
        read("\n".join(lines))
    assert caught.value.line == 90_001


@given(st.sampled_from([BAYES, MARKOV]), st.binary(max_size=5), st.data())
def test_any_bytes_anywhere_are_accepted_or_refused(text, junk, data):
    at = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(at, min(at + 4, len(text))))
    try:
        model = read_uai(text.encode()[:at] + junk + text.encode()[end:], RowRepair())
    except FormatError:
        return
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert read(write_uai(model)) == model


@given(st.lists(st.integers(0, 4), max_size=30), st.sampled_from(["BAYES", "MARKOV"]))
def test_any_numbers_are_accepted_or_refused(numbers, word):
    try:
        read_uai(" ".join(map(str, [word, *numbers])).encode(), RowRepair())
    except FormatError as error:
        assert str(error)  # noqa: PT017


@given(st.lists(st.sampled_from([b"1", b"2.5", b" ", b"\n", b"-", b"e", b".", b"c", b"\nc x\n"]), max_size=30))
def test_numbers_are_what_python_says(pieces):
    data = b"".join(pieces)
    try:
        expected = [float(word) for word in data.split()]
    except ValueError:
        with pytest.raises(FormatError):
            NumberReader(data)
    else:
        assert NumberReader(data).values.tolist() == expected
