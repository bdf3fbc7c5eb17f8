"""Tables that an estimator does not take are refused in one sentence that names the column."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest

from juncture import estimators
from juncture.errors import InvalidData, JunctureError, UnseenStatesWarning
from support.estimator_kinds import answers, over

FRAME = pd.DataFrame({"a": [0.0, 1.0, 1.0, 0.0] * 3, "b": [0.0, 0.0, 1.0, 1.0] * 3})
TARGETS = np.arange(12) % 2


def refused(name, frame, targets=TARGETS):
    with pytest.raises(JunctureError) as caught:
        getattr(estimators, name)().fit(frame, targets)
    text = str(caught.value)
    assert "\n" not in text
    return text


@over(lambda kind: not kind.tags.input_tags.string)
def test_a_column_that_is_not_of_numbers_is_named(kind):
    text = FRAME.assign(color=["red", "blue"] * 6)
    for frame in (text, text.astype({"color": "category"}), pl.from_pandas(text)):
        assert "the column 'color' holds 'red'" in refused(kind.name, frame)
    assert "the column 'day' holds dates" in refused(
        kind.name, FRAME.assign(day=pd.date_range("2020-01-01", periods=12))
    )


@over(lambda kind: not kind.tags.input_tags.allow_nan)
def test_a_hole_is_named_where_rows_must_be_complete(kind):
    holes = FRAME.assign(b=pd.array([0, 1, None] * 4, dtype="Int64"))
    for frame in (holes, pl.from_pandas(holes)):
        assert "row 2 of the column 'b'" in refused(kind.name, frame)


@over()
def test_columns_of_one_name_are_refused(kind):
    assert "names of columns must differ" in refused(kind.name, pd.concat([FRAME, FRAME[["a"]]], axis=1))


@over()
def test_a_table_without_columns_is_refused(kind):
    assert "no columns" in refused(kind.name, FRAME[[]])


def test_targets_that_are_missing_or_text_are_refused():
    labels = [*["in", "out"] * 5, None, "in"]
    assert "row 10 of the targets has no class" in refused("LogisticRegression", FRAME, labels)
    for name in ("BayesianLinearRegression", "GeneralizedLinearModel"):
        assert "a target takes numbers" in refused(name, FRAME, ["in", "out"] * 6)
        assert "y contains NaN" in refused(name, FRAME, np.where(TARGETS == 1, np.nan, 1.0))


def test_trees_say_that_they_need_every_column():
    tree = estimators.DecisionTree().fit(FRAME, TARGETS)
    with pytest.raises(InvalidData, match=r"lacks the column 'a'.*column of holes"):
        tree.predict(FRAME[["b"]])
    with pytest.raises(InvalidData, match=r"'c' was unseen at fit time.*columns that fit has not seen must be left"):
        tree.predict(FRAME.assign(c=1))


@over(lambda kind: kind.tags.input_tags.allow_nan)
@pytest.mark.filterwarnings("ignore::juncture.errors.NotConvergedWarning")  # the settings end soon
def test_a_column_without_a_cell_is_named_or_says_nothing(kind):
    table = kind.frame()
    table[table.columns[0]] = np.nan
    try:
        found = answers(kind.fit(table), table)
    except JunctureError as error:
        assert "'column 0'" in str(error)  # noqa: PT017
    else:
        assert all(np.isfinite(answer).all() for answer in found.values() if answer.dtype.kind == "f")


def test_mixtures_take_every_mark_of_a_hole_and_warn_of_unseen_categories():
    for dtype in ("string", "object", "category"):
        frame = FRAME.assign(color=pd.array(["red", "blue", pd.NA] * 4, dtype="string").astype(dtype))
        mixture = estimators.MixedMixture(1).fit(frame)
        assert mixture.categories_[2] == ["blue", "red"]
        with pytest.warns(UnseenStatesWarning, match="color 1"):
            mixture.predict(frame.head(1).assign(color="green"))


def test_rows_that_are_mappings_are_refused_where_numbers_are_needed():
    assert "pandas.DataFrame(X)" in refused("LogisticRegression", [{"a": 1.0}] * 12)
