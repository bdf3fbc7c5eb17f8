"""Columns by name: the order of the columns of a table changes no answer, and a table without a column is refused."""

from __future__ import annotations

import pickle
from functools import cache
from itertools import cycle, permutations

import numpy as np
import pandas as pd
import polars as pl
import pytest

import juncture as jt
from support.named_kinds import COLUMNS, KINDS, ROWS, TARGETS, Named, two_gaussians

over_kinds = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
FRAMES = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "Dataset": jt.Dataset, "mapping": dict}


def columns_of(kind: Named, order=COLUMNS):
    rows = ROWS[kind.rows]
    return {name: rows[:, COLUMNS.index(name)] for name in order}


def flat(answers):
    return [np.asarray(answer, float) for answer in answers]


@cache
def learned(kind: Named):
    return kind.learn(pd.DataFrame(columns_of(kind)))


def check_same(kind, model, rows, wanted):
    """The answers are the same but for the rounding of sums in another order."""
    for found, expected in zip(flat(kind.ask(model, rows)), flat(kind.ask(model, wanted)), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-11)


@over_kinds
def test_the_order_of_columns_changes_no_answer(kind):
    model, rows = learned(kind), ROWS[kind.rows]
    assert model.feature_names == COLUMNS
    for order, make in zip(permutations(COLUMNS), cycle(FRAMES.values()), strict=False):
        check_same(kind, model, make(columns_of(kind, order)), rows)


@over_kinds
def test_a_model_is_learned_with_the_order_of_its_table(kind):
    order = ("c", "a", "b")
    model, columns = kind.learn(pl.DataFrame(columns_of(kind, order))), columns_of(kind)
    assert model.feature_names == order
    check_same(kind, model, pl.DataFrame(columns), np.stack([columns[name] for name in order], axis=1))


@over_kinds
def test_a_table_without_a_column_is_refused(kind):
    model = learned(kind)
    for make in FRAMES.values():
        with pytest.raises(jt.UnknownVariable, match=r"lack the column 'b'.*did you mean 'bb'"):
            kind.ask(model, make({"bb" if name == "b" else name: cells for name, cells in columns_of(kind).items()}))


@over_kinds
def test_a_column_that_the_model_does_not_know_is_named(kind):
    model, columns = learned(kind), columns_of(kind)
    with pytest.raises(jt.errors.InvalidData, match="without the column 'more'"):
        kind.ask(model, pd.DataFrame({**columns, "more": columns["a"]}))


@over_kinds
def test_names_are_no_part_of_the_numbers(kind):
    """A model learned from an array has no names, and is that of the same columns with names otherwise."""
    unnamed, named = kind.learn(ROWS[kind.rows]), learned(kind)
    assert unnamed.feature_names is None
    assert named.with_feature_names(None).feature_names is None
    assert unnamed.with_feature_names(COLUMNS) != unnamed
    assert unnamed.with_feature_names(COLUMNS).with_feature_names(None) == unnamed
    check_same(kind, unnamed, pd.DataFrame(columns_of(kind, ("a", "b", "c"))), ROWS[kind.rows])


@over_kinds
def test_numbered_columns_are_taken_as_they_come(kind):
    check_same(kind, learned(kind), pd.DataFrame(ROWS[kind.rows]), ROWS[kind.rows])


@over_kinds
def test_names_travel(kind):
    model = learned(kind)
    assert pickle.loads(pickle.dumps(model)) == model  # noqa: S301
    assert pickle.loads(pickle.dumps(model)).feature_names == COLUMNS  # noqa: S301


@over_kinds
def test_wrong_names_are_refused(kind):
    model = learned(kind)
    with pytest.raises(jt.errors.InvalidModel, match="as many as the columns, 3 here; got 2 names"):
        model.with_feature_names(["a", "b"])
    for wrong in ("abc", [1, 2, 3], ["a", "b", "b"], 3):
        with pytest.raises(jt.errors.InvalidModel):
            model.with_feature_names(wrong)


def test_one_row_by_name():
    """A mapping of numbers, and a row of a frame, is taken by name."""
    kind = next(kind for kind in KINDS if kind.name == "Mixture")
    model, frame = learned(kind), pd.DataFrame(columns_of(kind, ("c", "b", "a")))
    wanted = jt.infer(model, ROWS["numbers"][4])["component"].values
    for row in (frame.iloc[4], frame.iloc[4].to_dict()):
        np.testing.assert_array_equal(jt.infer(model, row)["component"].values, wanted)
    with pytest.raises(jt.UnknownVariable, match="lack the column 'a'"):
        jt.infer(model, {"b": 1.0, "c": 2.0})


def test_a_named_template_is_learned_by_name():
    """`fit` takes the columns of the template and leaves others out; the weights may be a column."""
    template, columns = two_gaussians(), columns_of(KINDS[0], ("c", "b", "a"))
    wide = pd.DataFrame({**columns, "weight": 1.0, "other": 0.0})
    again = jt.fit(template.with_feature_names(COLUMNS), wide, weights="weight", prior="weak").model
    assert again.feature_names == COLUMNS
    expected = jt.fit(template, ROWS["numbers"], prior="weak").model
    np.testing.assert_allclose(again.weights, expected.weights, rtol=1e-9)
    found = jt.fit(template, wide.drop(columns="other"), weights="weight", prior="weak").model
    assert found.feature_names == ("c", "b", "a")


def test_draws_have_the_names():
    for kind in KINDS:
        model = learned(kind)
        if kind.name.startswith(("Mixture", "Factor", "Prob", "Restricted", "Deep", "Helm")):
            assert tuple(jt.sample(model, 2, rng=0).columns) == COLUMNS


def test_statistics_of_other_columns_do_not_add():
    kind = KINDS[0]
    one, other = (
        jt.supervised.regression_statistics(pd.DataFrame(columns_of(kind, order)), TARGETS)
        for order in (COLUMNS, ("c", "b", "a"))
    )
    assert (one + one).feature_names == COLUMNS
    with pytest.raises(jt.errors.InvalidData, match="take the same columns in the same order"):
        one + other
    with pytest.raises(jt.errors.InvalidData, match="take the same columns in the same order"):
        jt.supervised.BayesianLinearRegression.standard(4).update_by(one).update_by(other)


def test_a_name_that_is_there_twice_is_refused():
    twice = pd.DataFrame(ROWS["numbers"], columns=["a", "b", "a"])
    with pytest.raises(jt.errors.InvalidData, match="'a' is there twice"):
        jt.fit(jt.supervised.LinearRegression, twice, TARGETS)
