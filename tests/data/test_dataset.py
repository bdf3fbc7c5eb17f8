"""Laws of `Dataset`: every kind of table gives the same coded columns, and what cannot be coded is refused by name."""

import copy
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from juncture.data.dataset import Dataset
from juncture.errors import InvalidData, UnknownState, UnknownVariable
from juncture.variables import Variable

SMOKE = Variable("smoke", ["no", "yes"])
COUNT = Variable("count", 3)
SICK = Variable("sick", [False, True])
AGE = Variable("age")
VARIABLES = (SMOKE, COUNT, SICK, AGE)
COLUMNS = {
    "smoke": ["yes", None, "no", "yes"],
    "count": [2, 0, None, 1],
    "sick": [True, False, True, None],
    "age": [31.5, None, 0.1, 60.0],
}
ROWS = [dict(zip(COLUMNS, cells, strict=True)) for cells in zip(*COLUMNS.values(), strict=True)]

TABLES = {
    "columns": COLUMNS,
    "tuples": {name: tuple(cells) for name, cells in COLUMNS.items()},
    "object arrays": {name: np.array(cells, dtype=object) for name, cells in COLUMNS.items()},
    "rows": ROWS,
    "rows with missing keys": [{name: cell for name, cell in row.items() if cell is not None} for row in ROWS],
    "object array": np.array(list(zip(*COLUMNS.values(), strict=True)), dtype=object),
    "pandas": pd.DataFrame(COLUMNS),
    "pandas objects": pd.DataFrame(COLUMNS, dtype=object),
    "pandas nullable": pd.DataFrame(COLUMNS).convert_dtypes(),
    "pandas arrow": pd.DataFrame(COLUMNS).convert_dtypes(dtype_backend="pyarrow"),
    "pandas categories": pd.DataFrame(COLUMNS).astype({"smoke": "category", "count": "category", "sick": "category"}),
    "polars": pl.DataFrame(COLUMNS),
    "polars categories": pl.DataFrame(COLUMNS, schema_overrides={"smoke": pl.Categorical}),
    "polars enum": pl.DataFrame(COLUMNS, schema_overrides={"smoke": pl.Enum(["yes", "no", "never"])}),
    "arrow": pa.table(COLUMNS),
    "arrow dictionary": pa.table(COLUMNS | {"smoke": pa.array(COLUMNS["smoke"]).dictionary_encode()}),
    "series": {name: pd.Series(cells) for name, cells in COLUMNS.items()},
    "arrow arrays": {name: pa.array(cells) for name, cells in COLUMNS.items()},
    "dataset": Dataset(COLUMNS),
    "masked": {
        name: np.ma.array([c or 0 for c in cells], mask=[c is None for c in cells])
        for name, cells in COLUMNS.items()
        if name in {"count", "age"}
    }
    | {name: COLUMNS[name] for name in ("smoke", "sick")},
}


@pytest.mark.parametrize("kind", TABLES)
def test_all_tables_give_the_same_coded_columns(kind):
    data = Dataset(TABLES[kind], VARIABLES)
    assert data.variables == VARIABLES
    assert data.columns["smoke"].tolist() == [1, -1, 0, 1]
    assert data.columns["count"].tolist() == [2, 0, -1, 1]
    assert data.columns["sick"].tolist() == [1, 0, 1, -1]
    np.testing.assert_array_equal(data.columns["age"], [31.5, np.nan, 0.1, 60.0])
    assert data == Dataset(COLUMNS, VARIABLES)
    assert data.to_dict() == COLUMNS


def test_codes_are_small_and_read_only():
    data = Dataset(COLUMNS, VARIABLES)
    assert [array.dtype for array in data.columns.values()] == [np.int8, np.int8, np.int8, np.float64]
    with pytest.raises(ValueError, match="read-only"):
        data.columns["smoke"][0] = 0
    with pytest.raises(TypeError):
        data.columns["smoke"] = None
    with pytest.raises(AttributeError):
        data.num_rows = 3


def test_the_users_array_stays_theirs():
    ages = np.array([1.0, 2.0])
    codes = np.array([0, 1], dtype=np.int8)
    data, coded = Dataset({"age": ages}, [AGE]), Dataset.from_codes([SMOKE], {"smoke": codes})
    ages[0], codes[0] = 7.0, 1
    assert data.columns["age"][0] == 1.0
    assert coded.columns["smoke"][0] == 0


@pytest.mark.parametrize(
    ("num_states", "dtype"), [(1, np.int8), (127, np.int8), (128, np.int16), (32767, np.int16), (32768, np.int32)]
)
@pytest.mark.parametrize("shift", [0, 1])
def test_the_smallest_integer_type_holds_all_codes(num_states, dtype, shift):
    states = range(shift, num_states + shift)  # states from 0 are taken as codes, others are looked up
    data = Dataset({"x": np.array(states)}, [Variable("x", states)])
    assert data.columns["x"].dtype == dtype
    np.testing.assert_array_equal(data.columns["x"], np.arange(num_states))


HOLES = {
    "None": [1, None],
    "nan": [1, float("nan")],
    "NumPy's nan": [1, np.float32("nan")],
    "NA": [1, pd.NA],
    "NaT": [1, pd.NaT],
    "float array": np.array([1.0, np.nan]),
    "pandas integers as floats": pd.Series([1, None]),
    "Int64": pd.Series([1, None], dtype="Int64"),
    "Arrow null": pa.chunked_array([[1, None]]),
    "Polars null": pl.Series([1, None]),
    "Polars NaN": pl.Series([1.0, float("nan")]),
}


@pytest.mark.parametrize("hole", HOLES)
def test_every_kind_of_hole_is_a_hole(hole):
    data = Dataset({"x": HOLES[hole]}, [Variable("x", [0, 1, 2])])
    assert data.columns["x"].tolist() == [1, -1]
    assert not data.is_complete
    assert Dataset({"x": HOLES[hole]}, [Variable("x")]).to_dict() == {"x": [1.0, None]}


@pytest.mark.parametrize("cells", [[0, 1], ["0", "1"], [0.0, 1.0], np.array([0, 1], dtype=np.uint8)])
@pytest.mark.parametrize("states", [[0, 1], ["0", "1"], [0.0, 1.0]])
def test_numbers_and_their_texts_match(cells, states):
    assert Dataset({"x": cells}, [Variable("x", states)]).columns["x"].tolist() == [0, 1]


def test_booleans_are_no_numbers():
    truth = Variable("x", [False, True])
    assert Dataset({"x": ["False", "True"]}, [truth]).columns["x"].tolist() == [0, 1]
    assert Dataset({"x": np.array([True, False])}, [truth]).columns["x"].tolist() == [1, 0]
    for cells in ([0, 1], np.array([0, 1]), pd.Series([0.0, 1.0])):
        with pytest.raises(UnknownState, match="'x' has no state 0"):
            Dataset({"x": cells}, [truth])
    for cells in ([True], np.array([True]), pl.Series([True])):
        with pytest.raises(UnknownState, match="'x' has no state True in row 0"):
            Dataset({"x": cells}, [Variable("x", 2)])


def test_true_and_one_are_two_states_of_one_column():
    mixed = Variable("x", [1, True, "1"])
    assert Dataset({"x": [True, 1, np.True_, np.int64(1), 1.0, "1", None]}, [mixed]).columns["x"].tolist() == [
        1, 0, 1, 0, 0, 2, -1,
    ]  # fmt: skip


def test_states_come_from_the_data_in_sorted_order():
    data = Dataset({"text": ["b", "a", "B", None], "number": [10, 9, -1, 9], "truth": [True, False, True, True]})
    assert [variable.states for variable in data.variables] == [("B", "a", "b"), (-1, 9, 10), (False, True)]
    assert data.labels("text").tolist() == ["b", "a", "B", None]


def test_mixed_cells_sort_by_kind_then_value():
    assert Dataset({"x": ["b", 2, True, 1.5, "a"]}).variable("x").states == (True, 1.5, 2, "a", "b")


@pytest.mark.parametrize(
    "cells",
    [[0.5, 1.0], [1, 2.5, None], np.array([1.0, 2.0]), pd.Series([1.5, None]), pl.Series([1.0]), [np.float32(1), None]],
)
def test_float_columns_are_real(cells):
    assert Dataset({"x": cells}).variable("x") == Variable("x")


@pytest.mark.parametrize("cells", [[2, 1, None], pd.Series([2, 1, None], dtype="Int64"), pl.Series([2, 1, None])])
def test_integers_with_holes_that_are_still_integers_are_states(cells):
    assert Dataset({"x": cells}).variable("x") == Variable("x", [1, 2])


@pytest.mark.parametrize(
    "series",
    [
        pd.Categorical(["mid", None], categories=["low", "mid", "high"]),
        pd.Series(pd.Categorical(["mid", None], categories=["low", "mid", "high"])),
        pd.Series(pd.Categorical(["mid", None], categories=["low", "mid", "high"], ordered=True)),
        pl.Series(["mid", None], dtype=pl.Enum(["low", "mid", "high"])),
        pa.chunked_array([pa.DictionaryArray.from_arrays([1, None], ["low", "mid", "high"])]),
    ],
)
def test_categories_keep_their_order_and_unseen_levels(series):
    data = Dataset({"x": series})
    assert data.variable("x").states == ("low", "mid", "high")
    assert data.columns["x"].tolist() == [1, -1]
    other = Variable("x", ["mid", "top"])  # levels that no row has need no state
    assert Dataset({"x": series}, [other]).columns["x"].tolist() == [0, -1]


def test_polars_categories_without_declared_order_are_sorted():
    pl.Series(["elsewhere"], dtype=pl.Categorical)
    assert Dataset({"x": pl.Series(["b", "a"], dtype=pl.Categorical)}).variable("x").states == ("a", "b")


def test_dictionaries_of_every_make_are_read_by_their_values():
    kind = pd.ArrowDtype(pa.dictionary(pa.int32(), pa.string()))
    with_null = pa.DictionaryArray.from_arrays([1, 0, 2], pa.array(["no", "yes", None]))
    for cells in (pd.Series(["yes", "no", None], dtype=kind), with_null, pa.chunked_array([with_null])):
        assert Dataset({"smoke": cells}, [SMOKE]).columns["smoke"].tolist() == [1, 0, -1]
    assert Dataset({"smoke": pa.chunked_array([], type=with_null.type)}, [SMOKE]).num_rows == 0


def test_arrow_chunks_may_have_different_dictionaries():
    chunks = [pa.array(["a", "b"]).dictionary_encode(), pa.array(["c", "a", None]).dictionary_encode()]
    data = Dataset({"x": pa.chunked_array(chunks)}, [Variable("x", ["c", "b", "a"])])
    assert data.columns["x"].tolist() == [2, 1, 0, 2, -1]


@pytest.mark.parametrize(
    "build", [list, np.array, pd.Series, pl.Series, lambda cells: pd.Series(cells, dtype="category")]
)
def test_an_unseen_value_is_refused_by_name_value_and_row(build):
    cells = ["no"] * 17 + ["Yes", "yes", "Yes"]
    with pytest.raises(UnknownState, match=r"'smoke' has no state 'Yes' in row 17; did you mean 'yes'\?"):
        Dataset({"smoke": build(cells)}, [SMOKE])


@pytest.mark.parametrize(
    "cells", [[0, 1, 3], np.array([0, 1, 3]), np.array([0, 1, 3], dtype=np.uint64), [0.0, 1.0, 3.0]]
)
def test_a_number_out_of_range_is_refused(cells):
    with pytest.raises(UnknownState, match=r"'count' has no state 3(\.0)? in row 2"):
        Dataset({"count": cells}, [COUNT])
    with pytest.raises(UnknownState, match=r"'count' has no state -1"):
        Dataset({"count": np.array([0, -1])}, [COUNT])


def test_columns_that_are_no_variable():
    data = {"smoke": ["yes"], "smok": ["no"], "day": pd.Series(pd.date_range("2020-01-01", periods=1))}
    with pytest.raises(UnknownVariable, match="'smok' is not one of the variables; did you mean 'smoke'"):
        Dataset(data, [SMOKE])
    assert Dataset(data, [SMOKE, AGE], extra="ignore") == Dataset({"smoke": ["yes"]}, [SMOKE])
    assert Dataset({"day": [1, 2]}, [SMOKE], extra="ignore").num_rows == 2
    with pytest.raises(InvalidData, match="extra must be"):
        Dataset(data, [SMOKE], extra="drop")


def test_variables_without_a_column_are_left_out_in_the_order_of_the_variables():
    data = Dataset({"age": [1.0], "smoke": ["no"]}, [SMOKE, COUNT, AGE])
    assert data.variables == (SMOKE, AGE)


def test_an_array_takes_its_columns_from_the_variables():
    data = Dataset(np.array([[0, 2], [1, 0]]), [Variable("a", 2), COUNT])
    assert data.to_dict() == {"a": [0, 1], "count": [2, 0]}
    structured = np.array([("no", 1.5), ("yes", np.nan)], dtype=[("smoke", "U3"), ("age", float)])
    assert Dataset(structured).to_dict() == {"smoke": ["no", "yes"], "age": [1.5, None]}
    with pytest.raises(InvalidData, match="come with `variables`"):
        Dataset(np.zeros((2, 2)))
    with pytest.raises(InvalidData, match="2 columns for 1 variables"):
        Dataset(np.zeros((2, 2)), [AGE])


VECTOR = Variable("v", dimension=2)


@pytest.mark.parametrize(
    "cells",
    [
        np.array([[1.0, 2.0], [np.nan, np.nan], [0.5, 4.0]]),
        [[1, 2], None, (0.5, 4)],
        [np.array([1, 2]), float("nan"), [0.5, 4]],
        pl.Series([[1.0, 2.0], None, [0.5, 4.0]]),
        pl.Series([[1.0, 2.0], None, [0.5, 4.0]], dtype=pl.Array(pl.Float64, 2)),
        pd.Series([[1.0, 2.0], None, [0.5, 4.0]]),
        pa.chunked_array([[[1.0, 2.0], None, [0.5, 4.0]]]),
    ],
)
def test_vectors(cells):
    data = Dataset({"v": cells}, [VECTOR])
    np.testing.assert_array_equal(data.columns["v"], [[1, 2], [np.nan, np.nan], [0.5, 4]])
    assert data.to_dict() == {"v": [[1.0, 2.0], None, [0.5, 4.0]]}
    assert Dataset({"v": cells}).variables == (VECTOR,)


def test_a_column_of_holes_fits_any_variable():
    for variable in (SMOKE, AGE, VECTOR):
        data = Dataset({variable.name: [None, None]}, [variable])
        assert data.to_dict() == {variable.name: [None, None]}
    with pytest.raises(InvalidData, match="'x' has no observed value"):
        Dataset({"x": [None]})


REFUSED = [
    ({"a": [1, 2], "b": [1]}, None, "'a' has 2 rows, 'b' has 1"),
    ({"age": [1.0, np.inf]}, [AGE], "'age' is infinite in row 1"),
    ({"age": [1, "tall"]}, [AGE], "'age' is real-valued; 'tall' in row 1 is not a number"),
    ({"age": ["1_000"]}, [AGE], "'1_000' in row 0 is not a number"),
    ({"age": [[1.0, 2.0]]}, [AGE], "takes a number per row; its column holds vectors of length 2"),
    ({"v": [1.0]}, [VECTOR], "takes a vector of length 2 per row; its column holds single numbers"),
    ({"v": [[1.0, 2.0], [1.0]]}, [VECTOR], "vectors of 2 numbers; row 1 holds"),
    ({"smoke": [[0.2, 0.8]]}, [SMOKE], "'smoke' holds vectors"),
    ({"a": "yes"}, None, "'a' must be a list, array or series"),
    ({"a": 5}, None, "'a' must be a list, array or series"),
    ({"a": [{"b": 1}]}, None, "'a' holds {'b': 1} in row 0"),
    ({0: [1]}, None, "name must be non-empty text; got 0"),
    ({"a": np.array(["2020-01-01"], dtype="datetime64[ns]")}, None, "'a' holds dates or times"),
    ({"a": pd.Series(pd.date_range("2020-01-01", periods=1))}, None, "'a' holds dates or times"),
    ({"a": [pd.Timestamp("2020-01-01")]}, None, "'a' holds dates or times"),
    (pd.DataFrame([[1, 2]], columns=["a", "a"]), None, "names of columns must differ"),
    (pd.DataFrame([[1, 2]]), None, "name must be non-empty text; got 0"),
    (pl.LazyFrame({"a": [1]}), None, "data frame in memory"),
    (17, None, "got int"),
    ([{"a": 1}, 2], None, "row 1 is 2"),
]  # fmt: skip


@pytest.mark.parametrize(("data", "variables", "message"), REFUSED)
def test_bad_data_is_refused_with_a_sentence(data, variables, message):
    with pytest.raises(InvalidData, match=message):
        Dataset(data, variables)


def test_weights():
    data = Dataset({"smoke": ["no", "yes"]}, [SMOKE], weights=[0, 2.5])
    assert data.weights.tolist() == [0.0, 2.5]
    assert Dataset(data).weights.tolist() == [0.0, 2.5]
    assert Dataset(data, weights=[1, 1]) != data
    for weights, message in [
        ([1], "shape"),
        ([1, -1], "row 1 is -1"),
        ([np.nan, 1], "row 0 is nan"),
        (["a", 1], "num"),
    ]:
        with pytest.raises(InvalidData, match=message):
            Dataset({"smoke": ["no", "yes"]}, [SMOKE], weights=weights)


def test_rows_without_columns_are_still_rows():
    assert len(Dataset([{}, {}])) == 2
    assert len(Dataset([])) == 0
    assert Dataset({}).to_dict() == {}
    assert Dataset({"smoke": []}, [SMOKE]).columns["smoke"].shape == (0,)


def test_another_dataset_is_recoded():
    data = Dataset({"smoke": ["no", "yes", None], "age": [0.0, 1.0, np.nan]})
    turned = Dataset(data, [Variable("age", [1, 0]), Variable("smoke", ["yes", "no"])])
    assert turned.columns["smoke"].tolist() == [1, 0, -1]
    assert turned.columns["age"].tolist() == [1, 0, -1]
    assert Dataset(data) == data


def test_equality_is_by_content():
    data = Dataset(COLUMNS, VARIABLES)
    assert data == Dataset(ROWS, VARIABLES)
    assert hash(data) == hash(Dataset(ROWS, VARIABLES))
    assert data != Dataset(COLUMNS | {"smoke": ["no"] * 4}, VARIABLES)
    assert Dataset({"x": ["0"]}, [Variable("x", ["0"])]) != Dataset({"x": [0]}, [Variable("x", [0])])
    assert Dataset({"age": [-np.nan]}) == Dataset({"age": [np.nan]})


def test_pickled_and_copied_datasets_are_equal_and_frozen():
    data = Dataset(COLUMNS, VARIABLES, weights=[1, 2, 3, 4])
    for twin in (pickle.loads(pickle.dumps(data)), copy.copy(data), copy.deepcopy(data)):  # noqa: S301
        assert twin == data
        assert not twin.columns["age"].flags.writeable


def test_take():
    data = Dataset(COLUMNS, VARIABLES, weights=[1, 2, 3, 4])
    for rows in ([2, 3], slice(2, 4), np.array([False, False, True, True])):
        assert data.take(rows).to_dict() == {name: cells[2:] for name, cells in COLUMNS.items()}
        assert data.take(rows).weights.tolist() == [3, 4]
    assert data.take([]).num_rows == 0
    assert data.take(1).to_dict() == {name: [cells[1]] for name, cells in COLUMNS.items()}


def test_from_codes_checks_ranges():
    columns = {"smoke": np.array([0, 1, -1]), "age": [1.0, 2.0, np.nan]}
    assert Dataset.from_codes([SMOKE, AGE], columns).to_dict() == {
        "smoke": ["no", "yes", None],
        "age": [1.0, 2.0, None],
    }
    for codes in ([0, 2], [-2, 0], [0.0, 1.0], [[0], [1]], ["no", "yes"]):
        with pytest.raises(InvalidData, match=r"codes of 'smoke' must be integers from -1 \(missing\) to 1"):
            Dataset.from_codes([SMOKE], {"smoke": np.array(codes)})
    with pytest.raises(InvalidData, match="'smoke' has 3 rows, 'age' has 1"):
        Dataset.from_codes([SMOKE, AGE], columns | {"age": [1.0]})
    with pytest.raises(UnknownVariable, match="no variable 'count'"):
        Dataset.from_codes([COUNT], columns)


def test_unknown_names_get_a_hint():
    with pytest.raises(UnknownVariable, match="the dataset has no variable 'smok'; did you mean 'smoke'"):
        Dataset(COLUMNS).labels("smok")


def test_text_forms():
    data = Dataset({"<b>": ["<i>", None] * 6, "age": [1.5] * 12}, weights=[1] * 12)
    assert repr(data) == "Dataset(12 rows of 2 variables: <b>, age, weighted)"
    html = data._repr_html_()
    assert "&lt;b&gt;" in html
    assert "<td>&lt;i&gt;</td><td>1.5</td>" in html
    assert html.count("<tr>") == 11
    assert "<i>" not in html
    assert "12 rows" in html
