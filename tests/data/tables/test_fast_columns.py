"""Laws of fast coding: compiled and native ways give what a look at every cell gives."""

import math
from unittest import mock

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from juncture.data.dataset import Dataset
from juncture.data.tables import cells as cells_module
from juncture.data.tables import columns as columns_module
from juncture.data.tables import frames as frames_module
from juncture.data.tables.cells import list_column, object_column, text_column
from juncture.data.tables.columns import NumericColumn
from juncture.data.tables.distinct import (
    MANY,
    distinct_keys,
    distinct_numbers,
    distinct_objects,
    distinct_rows,
    distinct_texts,
)
from juncture.data.tables.frames import pandas_objects, polars_levels
from juncture.errors import InvalidData, UnknownState
from juncture.variables import Variable

scalars = st.one_of(
    st.sampled_from(["1", "a", "A", "", "ä", "1.0", "True"]), st.integers(-2, 2), st.booleans(), st.none(),
    st.sampled_from([1.0, -0.0, 0.0, math.nan, np.float32(1), np.int8(1), np.True_, pd.NA, pd.NaT, 2**70]),
)  # fmt: skip


def always_compiled():
    return mock.patch.multiple(cells_module, MANY=0), mock.patch.multiple(columns_module, MANY=0)


def described(column):
    if isinstance(column, NumericColumn):
        return repr(column.values.tolist())
    labels = [*column.labels, None]
    return [(type(labels[code]), labels[code]) for code in column.codes]


@given(cells=st.lists(scalars, max_size=30))
def test_objects_are_coded_as_one_by_one(cells):
    """Mixed cells too: True, 1 and "1" stay three labels, and 1.0 joins 1."""
    array = np.fromiter(cells, dtype=object, count=len(cells))
    with always_compiled()[0]:
        assert described(object_column(array, "x")) == described(list_column(cells, "x"))


texts = st.one_of(st.text(max_size=2), st.sampled_from([None, math.nan, pd.NA, pd.NaT, np.str_("a"), "True", "1"]))


@given(cells=st.one_of(st.lists(texts, max_size=30), st.lists(scalars, max_size=30)))
def test_objects_of_pandas_are_coded_as_one_by_one(cells):
    """By pandas where all are texts or missing, with the same labels in the same order."""
    array = np.fromiter(cells, dtype=object, count=len(cells))
    with mock.patch.multiple(frames_module, MANY=0):
        found = pandas_objects(array, "x")
    assert described(found) == described(list_column(cells, "x"))


@pytest.mark.parametrize("dtype", [object, "string[python]", pd.StringDtype("python", na_value=np.nan)])
def test_python_does_not_look_at_each_text_of_a_pandas_column(dtype):
    """Texts that are no shared objects either, as those of a CSV file are not."""
    column = pd.Series([chr(ord("b") - row % 2) * 2 for row in range(MANY - 1)] + [None], dtype=dtype)
    with mock.patch.object(frames_module, "object_column"), mock.patch.object(frames_module, "list_column"):
        data = Dataset({"x": column})
    assert data.variables == (Variable("x", ["aa", "bb"]),)
    assert data.columns["x"].tolist() == [1 - row % 2 for row in range(MANY - 1)] + [-1]


@given(cells=st.lists(st.text(max_size=3), max_size=30))
def test_texts_of_fixed_width_are_coded_as_one_by_one(cells):
    array = np.array(cells, dtype="U3")
    for ordered in (array, array.astype(">U3"), np.stack([array, array], axis=1)[:, 0]):
        with always_compiled()[0]:
            assert described(text_column(ordered, "x")) == described(list_column(array.tolist(), "x"))


@given(
    values=st.lists(st.integers(-3, 3), min_size=1, max_size=30),
    dtype=st.sampled_from([np.int8, np.int64, np.float32, np.float64, bool]),
)
def test_numbers_are_coded_as_by_sorting(values, dtype):
    array = np.array(values, dtype=dtype)
    if array.dtype.kind == "f":
        array[array == 2] = np.nan
    expected = [label if label == label else None for label in array.tolist()]  # noqa: PLR0124
    for patch in (mock.patch.multiple(columns_module, MANY=0), mock.patch.multiple(columns_module, MANY=1000)):
        with patch:
            levels = NumericColumn(array).levels
        assert [[*levels.labels, None][code] for code in levels.codes] == expected
        assert {type(label) for label in levels.labels} <= {type(array.tolist()[0])}


def test_numbering_is_in_order_of_appearance_and_survives_growth():
    rng = np.random.default_rng(0)
    values = rng.permutation(np.repeat(np.arange(5000) * 2**33, 3))
    codes, firsts = distinct_numbers(values)
    assert len(firsts) == 5000
    assert (np.diff(firsts) > 0).all()
    np.testing.assert_array_equal(values[firsts][codes], values)


def test_two_texts_that_share_a_hash_are_noticed():
    texts = np.array(["a", "b"] * 10)
    with mock.patch("juncture.data.tables.distinct.distinct_keys", lambda keys: distinct_keys(np.zeros_like(keys))):
        assert distinct_texts(texts) is None


def test_the_same_object_is_the_same_cell():
    one, other = "".join(list("xy")), "".join(list("xy"))
    codes, firsts = distinct_objects(np.array([one, other, one], dtype=object))
    assert codes.tolist() == [0, 1, 0]
    assert firsts.tolist() == [0, 1]


N = 2 * MANY
LABELS = ["no", "yes", "a rather long label", "ÿ"]
CODES = np.random.default_rng(1).integers(-1, 4, N)
CELLS = np.array([*LABELS, None], dtype=object)[CODES]
WHOLE = np.where(CODES < 0, 7, CODES)
TEXT_COLUMNS = {
    "objects": CELLS,
    "fresh objects": np.array([cell and "".join(list(cell)) for cell in CELLS], dtype=object),
    "list": CELLS.tolist(),
    "fixed width": np.where(CODES < 0, "hole", CELLS).astype(str),
    "pandas objects": pd.Series(CELLS, dtype=object),
    "pandas str": pd.Series(CELLS, dtype="str"),
    "pandas python strings": pd.Series(CELLS, dtype="string[python]"),
    "pandas arrow strings": pd.Series(CELLS, dtype=pd.ArrowDtype(pa.string())),
    "polars": pl.Series(CELLS.tolist(), dtype=pl.String),
    "polars categories": pl.Series(CELLS.tolist(), dtype=pl.Categorical),
    "arrow": pa.chunked_array([pa.array(CELLS[: N // 3]), pa.array(CELLS[N // 3 :])]),
    "arrow views": pa.array(CELLS.tolist(), pa.string_view()),
    "arrow large": pa.array(CELLS, pa.large_string()),
}


@pytest.mark.parametrize("kind", TEXT_COLUMNS)
def test_long_columns_of_every_kind_agree(kind):
    cells, variable = TEXT_COLUMNS[kind], Variable("x", LABELS)
    data = Dataset({"x": cells}, [variable], missing="hole")
    np.testing.assert_array_equal(data.columns["x"], CODES)
    assert data.columns["x"].dtype == np.int8
    assert Dataset({"x": cells}, missing="hole").variable("x") == Variable("x", sorted(LABELS))
    with pytest.raises(UnknownState, match=rf"'x' has no state 'ÿ' in row {np.argmax(CODES == 3)}"):
        Dataset({"x": cells}, [Variable("x", LABELS[:3])], missing="hole")


@pytest.mark.parametrize(
    "cells",
    [
        pd.Series(np.where(CODES < 0, None, CODES), dtype="Int64"),
        pd.Series(np.where(CODES < 0, np.nan, CODES)),
        pl.Series([None if code < 0 else code for code in CODES.tolist()]),
        pa.array([None if code < 0 else code for code in CODES.tolist()]),
    ],
)
def test_long_columns_of_integers_with_holes_agree(cells):
    for states in (4, range(-1, 4)):
        data = Dataset({"x": cells}, [Variable("x", states)])
        np.testing.assert_array_equal(data.labels("x") == None, CODES < 0)  # noqa: E711
        assert data.take(CODES >= 0).labels("x").tolist() == CODES[CODES >= 0].tolist()


def test_integers_of_which_all_are_holes():
    for cells in (pd.Series([None, None], dtype="Int64"), pl.Series([None, None], dtype=pl.Boolean)):
        assert Dataset({"x": cells}, [Variable("x", 2)]).columns["x"].tolist() == [-1, -1]
        with pytest.raises(InvalidData, match="no observed value"):
            Dataset({"x": cells})


def test_labels_that_come_late_are_found():
    cells = pl.Series([None, "a"] * N + ["b"])
    assert polars_levels(cells).labels == ("a", "b")
    assert Dataset({"x": cells}).columns["x"][-1] == 1


def test_long_columns_refuse_by_row_what_is_no_state():
    cells = np.array([[1.0, 2.0] if row % 2 else None for row in range(N)] + [[1.0]], dtype=object)
    with pytest.raises(InvalidData, match=f"row {N} holds"):
        Dataset({"v": cells})
    with pytest.raises(InvalidData, match=f"in row {N - 1}"):
        Dataset({"v": np.array(["a"] * (N - 1) + [{}], dtype=object)})


def test_a_dataset_is_shared_by_datasets_made_of_it():
    """A million rows of 37 variables are 37 MB however often they are handed on."""
    variables = [Variable(f"x{number}", 3) for number in range(37)]
    codes = np.random.default_rng(0).integers(0, 3, (N, 37))
    data = Dataset(codes, variables, weights=np.ones(N))
    assert sum(array.nbytes for array in data.arrays) == 37 * N
    reals = Dataset({"x": [0.5, math.nan]})
    for again in (Dataset(data), Dataset(data, variables), Dataset(data, variables[::-1]), data.only(["x3"])):
        assert all(np.shares_memory(again.columns[v.name], data.columns[v.name]) for v in again.variables)
        assert again.weights is data.weights
        assert {array.dtype for array in again.arrays} == {np.dtype(np.int8)}
    assert Dataset(reals).arrays[0] is reals.arrays[0]
    assert not np.shares_memory(Dataset(data, [Variable("x3", 4)], extra="ignore").arrays[0], data.columns["x3"])


@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.float64])
@pytest.mark.parametrize("num_columns", [0, 1, 3, 8])
def test_distinct_rows_are_numbered_in_order_of_appearance(dtype, num_columns):
    rng = np.random.default_rng(num_columns)
    table = rng.integers(-1, 2, (50, num_columns)).astype(dtype)
    for row_order in (table, np.asfortranarray(table)):
        numbers, firsts = distinct_rows(row_order)
        assert len(firsts) == len(set(map(tuple, table.tolist())))
        assert (np.diff(firsts) > 0).all()
        np.testing.assert_array_equal(table[firsts][numbers], table)
    with mock.patch("juncture.data.tables.distinct.distinct_keys", lambda keys: distinct_keys(np.zeros_like(keys))):
        exact = distinct_rows(table)
    for one, other in zip(exact, (numbers, firsts), strict=True):
        np.testing.assert_array_equal(one, other)


SHORT = {
    "objects": pd.Series(["no", None, "yes", np.nan, pd.NA, "ÿ"], dtype=object),
    "str": pd.Series(["no", None, "yes", None, "no", "ÿ"], dtype="str"),
    "python strings": pd.Series(["no", None, "yes", None, "no", "ÿ"], dtype="string[python]"),
    "arrow strings": pd.Series(["no", None, "yes", None, "no", "ÿ"], dtype="string[pyarrow]"),
    "arrow types": pd.Series(["no", None, "yes", None, "no", "ÿ"], dtype=pd.ArrowDtype(pa.string())),
    "categories": pd.Series(["no", None, "yes", None, "no", "no"], dtype=pd.CategoricalDtype(["yes", "no", "?!"])),
    "whole numbers with holes": pd.Series([3.0, np.nan, -1.0, 3.0, np.nan, 7.0]),
    "a negative zero": pd.Series([3.0, np.nan, -0.0, 3.0, np.nan, 7.0]),
    "floats": pd.Series([0.5, np.nan, 1.0, 2.0, np.nan, 2.0]),
    "small floats": pd.Series([1.0, 2.0, np.nan, 1.0, 2.0, 1.0], dtype=np.float32),
    "integers": pd.Series([4, 2, 4, 4, 2, 9]),
    "small integers": pd.Series([0, 1, 2, 0, 1, 2], dtype=np.uint8),
    "integers with holes": pd.Series([4, None, 4, 4, 2, 9], dtype="Int64"),
    "truths": pd.Series([True, False, True, True, False, True]),
    "truths with holes": pd.Series([True, False, None, True, False, True], dtype="boolean"),
    "polars": pl.Series(["no", None, "yes", None, "no", "ÿ"]),
}


@pytest.mark.parametrize("kind", SHORT)
def test_short_columns_are_coded_as_long_ones(kind):
    """Of a frame and of a mapping: the same variables, and the same codes or numbers."""
    short = SHORT[kind]
    library = pl if isinstance(short, pl.Series) else pd
    long = library.concat([short] * 400)
    for wrap in (lambda cells: {"x": cells}, lambda cells: library.DataFrame({"x": cells})):
        few, many = Dataset(wrap(short)), Dataset(wrap(long))
        assert few.variables == many.variables
        assert few.columns["x"].dtype == many.columns["x"].dtype
        np.testing.assert_array_equal(np.tile(few.columns["x"], 400), many.columns["x"])
