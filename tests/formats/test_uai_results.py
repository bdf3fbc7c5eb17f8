"""UAI result files: PR, MAR and MPE, for one sample of evidence or several."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from juncture.errors import FormatError
from juncture.formats.uai_results import Result, parse_result, read_result, result_text, write_result


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("PR\n-0.2008\n", Result("PR", (-0.2008,))),
        ("PR\n1\n-0.2008\n", Result("PR", (-0.2008,))),
        ("PR\n2\n-0.2008\n3.5\n", Result("PR", (-0.2008, 3.5))),
        ("PR\n-inf", Result("PR", (-np.inf,))),
        ("PR\n-0.1\n-BEGIN-\n-0.2\n-BEGIN-\n1\n-0.3\n", Result("PR", (-0.3,))),
        ("MPE\n3 0 1 0\n", Result("MPE", ((0, 1, 0),))),
        ("MPE\n3 0 0 0\n", Result("MPE", ((0, 0, 0),))),
        ("MPE\n1\n3 0 1 0\n", Result("MPE", ((0, 1, 0),))),
        ("MPE\n2\n1 0\n1 1\n", Result("MPE", ((0,), (1,)))),
        ("MAR\n3 2 0.1 0.9 2 0.3 0.7 3 0.2 0.2 0.6\n", Result("MAR", (((0.1, 0.9), (0.3, 0.7), (0.2, 0.2, 0.6)),))),
        ("MAR\n2\n1 2 0.1 0.9\n1 2 0.5 0.5\n", Result("MAR", (((0.1, 0.9),), ((0.5, 0.5),)))),
        ("BEL\n1\n1 2 0.1 0.9\n", Result("MAR", (((0.1, 0.9),),))),
    ],
)
def test_result_files(text, expected, tmp_path):
    path = tmp_path / "result"
    path.write_text(text)

    result = read_result(path)

    assert result == expected
    write_result(result, path)
    assert read_result(path) == expected


@given(
    st.one_of(
        st.tuples(st.just("PR"), st.lists(st.floats(allow_nan=False, max_value=1e300), min_size=1, max_size=3)),
        st.tuples(
            st.just("MPE"), st.lists(st.lists(st.integers(0, 5), min_size=1, max_size=4), min_size=1, max_size=3)
        ),
        st.tuples(
            st.just("MAR"),
            st.lists(
                st.lists(st.lists(st.floats(0, 1), min_size=1, max_size=3), min_size=1, max_size=3),
                min_size=1,
                max_size=3,
            ),
        ),
    )
)
def test_results_survive(pair):
    task, solutions = pair
    freeze = {"PR": float, "MPE": tuple, "MAR": lambda parts: tuple(tuple(part) for part in parts)}[task]
    result = Result(task, tuple(freeze(solution) for solution in solutions))

    assert parse_result(result_text(result).encode()) == result


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("", 1, "a UAI result file begins with its task, not with ''"),
        ("MRA 1", 1, "not with 'MRA'; did you mean 'MAR'?"),
        ("PR", 1, "the file ends too early: log10 of the partition function takes 1 numbers"),
        ("PR\n1 2 3", 2, "expected the end of the file, found 2 more numbers"),
        ("PR\nnan", 2, "expected a number, found 'nan'"),
        ("PR\ninf", 2, "must be finite, or -inf for zero"),
        ("MAR\n1 2 0.5 -0.5", 2, "a probability lies between 0 and 1"),
        ("MAR\n3 2 0.1 0.9 2 0.3", 2, "the file ends too early: a marginal takes 2 numbers, and 1 are left"),
        ("MAR\n1000000000000 2 0.1 0.9", 2, "the file ends too early"),
        ("MPE\n3 0 1", 2, "the file ends too early: a state takes 3 numbers, and 2 are left"),
        ("MPE\n1 0.5", 2, "a state must be a whole number, at least 0; found 0.5"),
    ],
)
def test_wrong_results_are_refused(text, line, message):
    with pytest.raises(FormatError) as caught:
        parse_result(text.encode())

    assert message in str(caught.value)
    assert caught.value.line == line


def test_results_that_cannot_be_written_are_refused(tmp_path):
    for result in (Result("PRR", (1.0,)), Result("PR", (np.nan,)), Result("PR", ()), Result("MPE", ((), ()))):
        with pytest.raises(FormatError):
            write_result(result, tmp_path / "result")
    assert not (tmp_path / "result").exists()
