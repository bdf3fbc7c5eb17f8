"""Examples in a loop fail, pass and skip as separate cases would."""

from __future__ import annotations

import pytest

from support.loops import by_type, loop_over, run_all


def run(test, examples):
    return run_all(test, "number", examples, {})


def test_every_example_runs_and_failures_are_named():
    seen = []

    def is_small(number):
        seen.append(number)
        assert number < 2

    with pytest.raises(AssertionError) as one:
        run(is_small, [0, 5, 1])
    assert seen == [0, 5, 1]
    assert one.value.__notes__ == ["number = 5"]
    with pytest.raises(BaseExceptionGroup, match="2 of 3 examples fail") as several:
        run(is_small, [2, 3, 0])
    assert [failure.__notes__ for failure in several.value.exceptions] == [["number = 2"], ["number = 3"]]


def test_what_does_not_raise_is_a_failure_too():
    def raises(number):
        with pytest.raises(ValueError, match="no"):
            assert number

    with pytest.raises(pytest.fail.Exception) as caught:
        run(raises, [1])
    assert caught.value.__notes__ == ["number = 1"]


def test_a_case_is_skipped_when_all_its_examples_are():
    def skip_even(number):
        if number % 2 == 0:
            pytest.skip("even")

    run(skip_even, [0, 1])
    with pytest.raises(pytest.skip.Exception, match="even"):
        run(skip_even, [0, 2])


@pytest.mark.parametrize("sign", [1, -1])
@loop_over("number", {"few": [1, 2], "none": [], "one": [3]})
def test_other_parameters_and_fixtures_are_handed_on(number, sign, tmp_path):
    assert number in {1, 2, 3}
    assert sign in {1, -1}
    assert tmp_path.is_dir()


def test_groups_by_type():
    assert by_type([1, "a", 2]) == {"int": [1, 2], "str": ["a"]}
