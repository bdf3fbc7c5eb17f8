"""Tables by the labels of states, and conditionals as CSV files: any spelling of a table is the same table."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import juncture as jt
from juncture.errors import InvalidModel, UnknownState
from support.builders import random_conditional, random_table, random_variables

SEEDS = st.integers(0, 2**32)
SMOKE, LUNG = jt.Variable("smoke", ["no", "yes"]), jt.Variable("lung", ["no", "yes"])
TABLE = jt.Conditional(LUNG, [SMOKE], [[0.99, 0.01], [0.9, 0.1]])


def spelled(rng, variables, values):
    """A table as nested mappings whose keys name one or several variables, in any order, or as lists at the end."""
    if not variables:
        return float(values)
    if rng.random() < 0.25:
        return values.tolist()
    count = int(rng.integers(1, len(variables) + 1))
    shape = [variable.num_states for variable in variables[:count]]
    cells = [tuple(cell) for cell in rng.permutation(list(np.ndindex(*shape)))]
    keys = [tuple(v.labels[code] for v, code in zip(variables, cell, strict=False)) for cell in cells]
    parts = [spelled(rng, variables[count:], values[cell]) for cell in cells]
    return dict(zip((key[0] if count == 1 else key for key in keys), parts, strict=True))


@given(SEEDS)
def test_any_spelling_gives_the_same_table(seed):
    rng = np.random.default_rng(seed)
    child, *parents = random_variables(rng, int(rng.integers(1, 5)))
    table = random_table(rng, child, jt.results.Scope(parents))
    assert jt.Conditional(child, parents, spelled(rng, [*parents, child], table.values)) == table
    factor = jt.Factor(table.scope, spelled(rng, [*parents, child], table.values))
    assert factor == table.to_factor()


@given(SEEDS)
def test_what_leaves_comes_back(seed):
    """`to_dict`, `to_pandas`."""
    rng = np.random.default_rng(seed)
    child, *parents = random_variables(rng, int(rng.integers(1, 5)))
    table = random_table(rng, child, jt.results.Scope(parents))
    factor = table.to_factor()
    for values in (table.to_dict(), table.to_pandas()):
        assert jt.Conditional(child, parents, values) == table
    for values in (factor.to_dict(), factor.to_pandas()):
        assert jt.Factor(factor.scope, values) == factor


@given(SEEDS)
def test_csv_files_round_trip_bit_for_bit(tmp_path_factory, seed):
    """Every kind that has a table; without variables the file says the same of the same names and texts."""
    rng, path = np.random.default_rng(seed), tmp_path_factory.mktemp("tables") / "table.csv"
    child, *parents = random_variables(rng, int(rng.integers(1, 5)))
    part = random_conditional(rng, child, parents)
    part.to_csv(path)
    assert jt.Conditional.from_csv(path, child, parents) == part.to_table()
    alone = jt.Conditional.from_csv(path)
    assert np.array_equal(alone.values, part.to_table().values)
    assert [v.name for v in alone.scope] == [v.name for v in part.scope]
    assert [[str(x) for x in v.labels] for v in alone.scope] == [[str(x) for x in v.labels] for v in part.scope]


def test_csv_files_of_others(tmp_path):
    """Heads of states alone, other separators, rows and columns in any order; names that need quotes."""
    path = tmp_path / "lung.csv"
    path.write_text("yes;smoke;no\n0.1;yes;0.9\n0.01;no;0.99\n")
    assert jt.Conditional.from_csv(path, LUNG, [SMOKE]) == TABLE
    assert jt.Conditional.from_csv(path, LUNG).parents[0].states == ("yes", "no")
    odd = jt.Variable("a,b", ['say "x"', " blank", "1", "=", "ü"])
    table = jt.Conditional(odd, [LUNG], np.random.default_rng(0).dirichlet(np.ones(5), size=2))
    for name in ("odd.tsv", "odd.csv.gz"):
        table.to_csv(tmp_path / name)
        assert jt.Conditional.from_csv(tmp_path / name, odd, [LUNG]) == table


@pytest.mark.parametrize(
    ("values", "error", "message"),
    [
        ({"yess": [0.9, 0.1]}, UnknownState, "'smoke' has no state 'yess' in the conditional of 'lung'; did you mean"),
        ({"yes": [0.9, 0.1], "no": {"No": 1.0}}, UnknownState, "'lung' has no state 'No' in .*; did you mean 'no'"),
        ({"yes": [0.9, 0.1]}, InvalidModel, "has no entry for smoke=no; give one for each state"),
        ({"yes": [0.9, 0.1], "no": {"no": 1.0}}, InvalidModel, "has no entry for smoke=no, lung=yes; give one"),
        ({"yes": 0.1, "no": 0.01}, InvalidModel, r"for smoke=yes must have the shape \(2,\), one entry per state"),
        ({("yes", "no", "no"): 1.0}, InvalidModel, "has the key .*, where the states of smoke, lung follow"),
        ({"yes": {"no": {"no": 1}}}, InvalidModel, "has the key 'no' for smoke=yes, lung=no, where only a number"),
        ({"yes": [0.9, 0.1], ("yes", "no"): 0.9}, InvalidModel, "is given twice for smoke=yes, lung=no"),
        ({(): [0.9, 0.1]}, InvalidModel, r"has the key \(\), where the states of smoke, lung follow"),
        ({"yes": [0.9, 0.1], "no": {"no": 0.9, "yes": 0.2}}, InvalidModel, "a row that sums to 1.1"),
        ({"yes": [0.9, 0.1], "no": {"no": "x", "yes": 0.2}}, InvalidModel, "for smoke=no, lung=no must be a table"),
    ],
)
def test_what_is_no_table_is_said(values, error, message):
    with pytest.raises(error, match=message):
        jt.Conditional(LUNG, [SMOKE], values)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("smoke,lung=no,lung=yes\nyes,.9,.1\n", "has no entry for smoke=no"),
        ("smoke,lung=no,lung=yes\nyes,.9,.1\nno,.9,x\n", "the column 'lung=yes' has 'x' in row 2; give a number"),
        ("smoke,lung=no,lung=yes\nyes,.9,.1\nnoo,.9,.1\n", "has no state 'noo' .* did you mean 'no'"),
        ("smoke,lung=no,lung=yep\nyes,.9,.1\nno,.9,.1\n", "has no state 'yep' .* did you mean 'yes'"),
        ("smok,lung=no,lung=yes\nyes,.9,.1\nno,.9,.1\n", "no column of the parent 'smoke'; did you mean 'smok'"),
        ("smoke,age,lung=no,lung=yes\nyes,1,.9,.1\n", "the column 'age' is neither a parent nor a state"),
        ("smoke,lung=no,lung=yes\nyes,.9,.1\nyes,.9,.1\n", "is given twice for smoke=yes"),
        ("smoke,lung=no,lung=yes\nyes,.9,.1\nno,.9,.2\n", "a row that sums to 1.1"),
        ("smoke,lung=no,lung=yes\nyes,.9,.1\n,.9,.1\n", "the column 'smoke' is empty in row 2"),
    ],
)
def test_what_is_no_table_in_a_file_is_said_with_the_file(tmp_path, text, message):
    path = tmp_path / "lung.csv"
    path.write_text(text)
    with pytest.raises(jt.FormatError, match=f"lung.csv: .*{message}"):
        jt.Conditional.from_csv(path, LUNG, [SMOKE])


def test_a_file_without_heads_of_a_child_asks_for_it(tmp_path):
    path = tmp_path / "lung.csv"
    path.write_text("smoke,no,yes\nyes,.9,.1\nno,.99,.01\n")
    with pytest.raises(jt.FormatError, match="headed child=state, but there is none; give child="):
        jt.Conditional.from_csv(path)


def test_a_frame_in_another_order_is_read_by_its_labels():
    frame = TABLE.to_pandas().loc[["yes", "no"], ["yes", "no"]]
    assert jt.Conditional(LUNG, [SMOKE], frame) == TABLE
    with pytest.raises(UnknownState, match="did you mean 'yes'"):
        jt.Conditional(LUNG, [SMOKE], frame.rename(columns={"yes": "Yes"}))
