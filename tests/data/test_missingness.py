"""Where a table has holes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import juncture as jt
from juncture.data.missingness import group_by_pattern


@given(seed=st.integers(0, 2**32 - 1), num_rows=st.integers(0, 30), num_columns=st.integers(1, 11))
def test_shares_and_patterns_against_a_loop_over_the_rows(seed, num_rows, num_columns):
    rng = np.random.default_rng(seed)
    names = [f"v{place}" for place in range(num_columns)]
    codes = {name: rng.integers(-1, 2, num_rows) for name in names}
    weights = rng.random(num_rows)
    data = jt.Dataset.from_codes([jt.Variable(name, 2) for name in names], codes, weights)
    found = jt.evaluation.missingness(data)
    patterns: dict[tuple[str, ...], float] = {}
    for row in range(num_rows):
        missing = tuple(name for name in names if codes[name][row] < 0)
        patterns[missing] = patterns.get(missing, 0.0) + weights[row]
    assert found.weight == pytest.approx(weights.sum())
    assert found.patterns == pytest.approx(patterns)
    assert list(found.patterns.values()) == sorted(found.patterns.values(), reverse=True)
    for name in names:
        lost = weights[codes[name] < 0].sum()
        assert found.shares[name] == pytest.approx(lost / weights.sum() if num_rows else 0.0)


def test_numbers_and_variables_that_are_never_observed():
    found = jt.evaluation.missingness({"x": [1.5, np.nan, np.nan], "h": [None, None, None], "y": ["a", "b", None]})
    assert found.never_observed == ("h",)
    assert found.patterns == {("h",): 1.0, ("x", "h"): 1.0, ("x", "h", "y"): 1.0}


def test_weights_do_not_hide_what_is_never_observed():
    """Sums in another order differ in the last bit; a share of 1 is 1."""
    weights = np.random.default_rng(0).random(10_001)
    holes = jt.Dataset.from_codes([jt.Variable("h", 2)], {"h": np.full(10_001, -1)}, weights)
    assert jt.evaluation.missingness(holes).never_observed == ("h",)


def test_a_table_without_rows_or_columns():
    assert jt.evaluation.missingness({}).patterns == {}
    empty = jt.evaluation.missingness(jt.Dataset.from_codes([jt.Variable("a", 2)], {"a": np.empty(0, int)}))
    assert (empty.weight, empty.shares, empty.patterns) == (0.0, {"a": 0.0}, {})


def test_it_says_the_worst_first():
    many = {f"v{place}": [None, 1] if place else [None, None] for place in range(12)}
    text = repr(jt.evaluation.missingness(many))
    assert text.startswith("Missingness(2 rows, 0 complete, 2 patterns: v0 100%")
    assert text.endswith(", …)")


@pytest.mark.parametrize("num_variables", [0, 1, 3, 62, 63, 64, 130])
def test_rows_are_grouped_by_their_pattern(num_variables):
    rng = np.random.default_rng(num_variables)
    kinds = rng.random((5, num_variables)) < 0.5
    masks = kinds[rng.integers(5, size=40)]
    grouped = group_by_pattern(masks)
    assert sorted(row for _, rows in grouped for row in rows) == list(range(40))
    for pattern, rows in grouped:
        assert (masks[rows] == pattern).all()
        assert rows.tolist() == sorted(rows)
    patterns = [tuple(pattern) for pattern, _ in grouped]
    assert patterns == sorted(set(map(tuple, masks)))
    assert group_by_pattern(masks[:0]) == []


def test_many_rows_are_written_with_separators_in_both_texts():
    found = jt.evaluation.missingness({"a": np.where(np.arange(1_201_200) < 1_200, np.nan, 1.5)})
    assert repr(found) == "Missingness(1,201,200 rows, 1,200,000 complete, 2 patterns: a 0.1%)"
    assert "1,200,000" in str(found).splitlines()[2]
