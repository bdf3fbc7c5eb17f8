"""One table of rules decides the kind of a column, from its summary alone."""

from __future__ import annotations

import numpy as np
import pytest

from juncture.data.column_kinds import (
    Summary,
    are_classes,
    are_states,
    are_whole,
    count_whole_numbers,
    explain,
    family_of,
    find_hole_texts,
    holds_dates,
    holds_integers,
    holds_numbers,
    identify,
    is_quantity,
    is_real,
    may_be_cut,
    name_kind,
    text_kind,
)

RULES = (are_whole, may_be_cut, is_real, is_quantity, holds_numbers, are_classes, count_whole_numbers)


def numbers(*values):
    return Summary(None, np.array(values, float))


def states(labels, codes=(), **said):
    return Summary(labels, np.array(codes, int), **said)


COLUMNS = {
    "few whole floats": (numbers(1, 2, np.nan), "are_whole may_be_cut is_real is_quantity holds_numbers are_classes"),
    "fractions": (numbers(0.5, 2), "may_be_cut is_real is_quantity holds_numbers"),
    "vectors": (Summary(None, np.ones((2, 2))), "is_real is_quantity holds_numbers are_classes"),
    "integers": (states((1, 2, 4)), "may_be_cut is_quantity holds_numbers are_classes"),
    "declared integers": (states((1, 2), is_declared=True), "is_quantity holds_numbers are_classes"),
    "running numbers": (
        states(range(30), range(30)),
        "may_be_cut is_real is_quantity holds_numbers count_whole_numbers",
    ),
    "truth values": (states((False, True)), "holds_numbers are_classes"),
    "text": (states(("no", "yes")), "are_classes"),
    "numbers of a file": (states(("1", "2.5"), is_of_file=True), "is_real are_classes"),
    "integers of a file": (states(("1", "2"), is_of_file=True), "are_classes"),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_the_rules_agree_on_the_kinds_of_a_column(name):
    column, expected = COLUMNS[name]
    wanted = set(expected.split())
    assert {rule.__name__ for rule in RULES if rule(column)} == wanted


def test_integers_in_floats_have_holes_and_no_negative_zero():
    assert holds_integers(numbers(1, np.nan))
    assert not any(map(holds_integers, (numbers(1, 2), numbers(-0.0, np.nan), numbers(0.5, np.nan), numbers(np.nan))))
    assert not holds_integers(numbers(2.0**54, np.nan))  # beyond, doubles skip whole numbers


def test_whole_numbers_are_states_where_they_are_few():
    column = numbers(3, 1, 3, np.nan)
    assert are_states(column, 2)
    assert not are_states(column, 1)


def test_texts_of_a_file_say_what_all_of_them_say():
    assert text_kind(["1", "-2"]) == "integers"
    assert text_kind(["1", "2.0"]) == "numbers"
    assert text_kind(["True", "False"]) == "truths"
    assert text_kind(["007", "1"]) == "texts"


def test_families_of_naive_bayes():
    columns = [numbers(0, 1), numbers(0, 2), states((False, True)), states((1, 5)), states((0, 1), is_declared=True)]
    assert list(map(family_of, columns)) == ["bernoulli", "gaussian", "bernoulli", "gaussian", "categorical"]


def test_identifiers_have_another_value_in_nearly_every_row():
    texts = [f"row {number}" for number in range(30)]
    found = identify(states(texts, range(30)), "id")
    assert found is not None
    assert "has 30 different values in 30 rows" in found.describe()
    assert identify(Summary(texts, np.arange(30), np.full(30, 9.0)), "id") is None  # each stands for many rows
    assert identify(states(texts, [0] * 30), "id") is None
    dates = [f"2024-01-{day:02}" for day in range(1, 31)]
    assert holds_dates(states(dates))
    assert identify(states(dates, range(30)), "day") is None  # the look at the texts says more
    assert identify(states(dates, range(30), is_declared=True), "day") is not None


def test_numbers_are_identifiers_where_they_run_and_measurements_elsewhere():
    for running in (numbers(*range(1, 31)), states(range(5, 35), np.arange(30)[::-1])):
        assert "numbers 1 to 30" in str(identify(running, "id")) or "numbers 5 to 34" in str(identify(running, "id"))
    gaps, twice, halves = numbers(*range(0, 60, 2)), numbers(*range(29), 28), numbers(*np.arange(30) / 2)
    assert [identify(column, "x") for column in (gaps, twice, halves, numbers(*range(20)))] == [None] * 4
    assert identify(states(range(30), range(30), is_declared=True), "x") is None
    assert explain(gaps, "x") is None
    assert explain(numbers(3, 3, np.nan), "x") == "the column 'x' has one value only"
    assert explain(numbers(np.nan), "x") == "the column 'x' has no value"


def test_text_that_marks_missing_values_among_numbers():
    assert find_hole_texts(["1", "NA", "2.5", "?"], is_of_file=True) == ["NA", "?"]
    assert find_hole_texts([1, 2, "NA"], is_of_file=False) == ["NA"]
    for labels in (["1", "2"], ["1", "NA"], ["no", "NA", "yes"], ["007", "NA", "1"], [True, 2, "NA"], [1, 2, 3]):
        assert find_hole_texts(labels, is_of_file=False) == []


def test_names_of_kinds():
    kinds = [(), (True, False), ("a", 1), (1.0, 2), (0.5, 2)]
    names = [name_kind(Summary(labels)) for labels in kinds]
    assert names == ["empty", "true or false", "text", "whole numbers", "numbers"]
