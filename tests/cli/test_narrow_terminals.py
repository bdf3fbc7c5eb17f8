"""Tables on narrow terminals: no line is too wide, no number is broken, and what is left out is told."""

from __future__ import annotations

import io
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console

import juncture as jt
from juncture.cli.printing.tables import PADDING, TextTable, table
from support.command_line import juncture

WORDS = st.text("abcä語", min_size=1, max_size=12)
STYLES = re.compile(r"\x1b\[[0-9;]*m")
NUMBERS = st.floats(-1e6, 1e6).map("{:.4g}".format)


@st.composite
def tables(draw: st.DrawFn) -> TextTable:
    """Columns of texts and numbers, of which some may be left out."""
    heads = draw(st.lists(st.lists(WORDS, min_size=1, max_size=3).map(" ".join), min_size=1, max_size=8, unique=True))
    numeric = [head for head in heads[1:] if draw(st.booleans())]
    spare = [head for head in draw(st.permutations(heads[1:])) if draw(st.booleans())]
    found = table("a table", *heads, numeric=numeric, spare=spare)
    for _ in range(draw(st.integers(1, 4))):
        found.add_row(*(draw(NUMBERS if head in numeric else WORDS) for head in heads))
    return found


def show(part: object, width: int) -> str:
    out = io.StringIO()
    Console(file=out, width=width, color_system=None, markup=False, highlight=False, emoji=False).print(part)
    return out.getvalue()


@given(tables(), st.integers(40, 130))
def test_a_table_fits_and_breaks_no_number(found, width):
    _title, *parts, last = [*found.fitted_to(width)]
    told = last if isinstance(last, str) else ""
    parts = parts if told else [*parts, last]
    printed = [show(part, 200) for part in parts]
    shown = {column.header for part in parts for column in part.columns}
    left_out = set(told.removeprefix("left out: ").partition(";")[0].split(", ")) if told else set()
    assert shown | left_out == {column.head for column in found.columns}
    assert not shown & left_out
    assert left_out <= set(found.spare)
    words = {word for text in printed for line in text.splitlines() for word in line.split()}
    for place, column in enumerate(found.columns):
        if column.is_numeric and column.head in shown:
            assert {row[place] for row in found.rows} <= words
    for part, text in zip(parts, printed, strict=True):
        if len(part.columns) > 2:
            assert max(map(cell_len, text.splitlines())) <= width, text


@given(tables())
def test_with_room_nothing_is_broken_or_left_out(found):
    title, part = found.fitted_to(10_000)
    assert str(title) == "a table"
    assert len(show(part, 10_000).splitlines()) == len(found.rows) + 4


def test_columns_that_have_no_room_together_stand_below_each_other():
    found = table("ranks", "variable", *map(str, range(9)))
    found.add_row("smoke", *["yes"] * 9)
    title, *parts = found.fitted_to(8 + 2 * PADDING + 20)
    assert [part.columns[0].header for part in parts] == ["variable"] * len(parts)
    assert [column.header for part in parts for column in part.columns[1:]] == [*map(str, range(9))]
    assert (str(title), len(parts) > 1) == ("ranks", True)


@pytest.fixture
def rows(tmp_path):
    file = tmp_path / "rows.csv"
    jt.sample(jt.example("asia"), 200, rng=0).to_csv(file)
    return str(file)


@pytest.mark.parametrize("width", [60, 80, 120])
def test_commands_fit_the_terminal(rows, width):
    lines = [
        ("info", "asia"), ("info", rows), ("examples",), ("query", "asia"), ("mpe", "asia", "-k", "9"),
        ("query", "asia", "lung", "bronc", "--joint"), ("advise", "oil"),
        ("evaluate", "asia", rows), ("predict", "asia", rows, "-t", "lung", "-o", rows.replace(".csv", "-out.csv")),
        ("compare", rows, "-t", "lung", "--learners", "naive-bayes", "--folds", "2", "--repeats", "1"),
    ]  # fmt: skip
    for line in lines:
        ended = juncture(*line, width=width)
        assert ended.returncode == 0, ended.err
        assert max(map(len, STYLES.sub("", ended.out).splitlines())) <= width, ended.out


def test_a_comparison_keeps_what_decides(rows):
    line = ("compare", rows, "-t", "lung", "--learners", "naive-bayes", "--folds", "2", "--repeats", "1")
    narrow = juncture(*line, width=80).out
    assert all(head in narrow for head in ("learner", "accuracy", "interval", "verdict"))
    assert "left out: of, p, equivalent; a terminal 1" in narrow
    assert "left out" not in juncture(*line, width=120).out
    assert "left out" not in juncture(*line).out
