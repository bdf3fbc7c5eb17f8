"""Laws of export and CSV: what goes out comes back as the same dataset, or is refused."""

import gzip
import io
import math
import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from juncture.data.dataset import Dataset
from juncture.data.files.writers import write_csv
from juncture.errors import FormatError, InvalidData, MissingExtra, UnknownState
from juncture.variables import Variable
from support.csv_files import read_csv

texts = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=6)
integers = st.integers(-(2**63), 2**63 - 1)
floats = st.floats(allow_nan=False, allow_infinity=False)
names = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8)


def states(labels, max_size=5):
    return st.lists(labels, min_size=1, max_size=max_size, unique=True)


state_lists = st.one_of(
    states(texts), states(integers), states(floats), states(st.booleans()), st.just(None), st.just([1, "a", 0.5, True])
)


@st.composite
def datasets(draw):
    labels = draw(st.dictionaries(names, state_lists, min_size=1, max_size=4))
    variables = [Variable(name, labels[name]) for name in labels]
    num_rows = draw(st.integers(0, 12))
    columns = {}
    for variable in variables:
        cells = floats if variable.is_real else st.sampled_from(variable.labels)
        columns[variable.name] = draw(st.lists(st.none() | cells, min_size=num_rows, max_size=num_rows))
    return Dataset(columns, variables)


def through_csv(dataset):
    stream = io.StringIO(newline="")
    write_csv(dataset, stream)
    stream.seek(0)
    return stream


WAYS = {
    "dict": Dataset.to_dict,
    "pandas": Dataset.to_pandas,
    "polars": Dataset.to_polars,
    "arrow": Dataset.to_arrow,
}


@pytest.mark.parametrize("way", WAYS)
@given(dataset=datasets())
def test_every_way_out_leads_back(way, dataset):
    table = WAYS[way](dataset)
    assert Dataset(table, dataset.variables) == dataset


@given(dataset=datasets())
def test_csv_comes_back_bit_for_bit(dataset):
    assert read_csv(through_csv(dataset), dataset.variables) == dataset


def test_csv_files_come_back_plain_and_compressed(tmp_path):
    data = Dataset(
        {"a b": ['say "no"', "x,y", "two\nlines", "cr\r", " pad ", None], "x": [0.1, -0.0, 5e-324, 1e22, None, 3.0]}
    )
    for name in ("rows.csv", "rows.csv.gz"):
        write_csv(data, tmp_path / name)
        assert Dataset(tmp_path / name) == Dataset(str(tmp_path / name)) == read_csv(tmp_path / name) == data
    assert gzip.decompress((tmp_path / "rows.csv.gz").read_bytes()) == (tmp_path / "rows.csv").read_bytes()


def test_a_long_file_is_read_in_parts():
    rng = np.random.default_rng(0)
    data = Dataset({"x": rng.integers(0, 9, 140_000), "y": rng.normal(size=140_000).round(3)})
    assert read_csv(through_csv(data)) == data


def test_a_single_column_keeps_its_holes():
    data = Dataset({"x": ["a", None, None]})
    assert through_csv(data).getvalue() == 'x\na\n""\n""\n'
    assert read_csv(through_csv(data)) == data


CELLS = [
    (["1", "-2", "0", ""], [1, -2, 0, None], int),
    (["1", "2.5", ""], [1.0, 2.5, None], None),
    (["1e-3", ".5", "nan"], [0.001, 0.5, None], None),
    (["True", "False"], [True, False], bool),
    (["true", "True"], ["true", "True"], str),
    (["007", "12"], ["007", "12"], str),
    (["1_0", "10"], ["1_0", "10"], str),
    ([" 1", "1"], [1, 1], int),
    (['" 1"', "1"], [" 1", "1"], str),
    ([" ", "a"], [None, "a"], str),
    (["-0", "0"], [-0.0, 0.0], None),
    (["nullable", "NA"], ["nullable", "NA"], str),
]


@pytest.mark.filterwarnings("ignore::juncture.errors.TextColumnWarning")  # which NA gives
@pytest.mark.parametrize(("cells", "labels", "kind"), CELLS)
def test_csv_cells_become_what_they_look_like(cells, labels, kind):
    data = read_csv(io.StringIO("x,y\n" + "".join(f"{cell},\n" for cell in cells)), [Variable("y", 2)], extra="ignore")
    assert data.to_dict() == {"y": [None] * len(cells)}
    data = read_csv(io.StringIO("x,y\n" + "".join(f"{cell},1\n" for cell in cells)))
    assert data.labels("x").tolist() == labels
    assert data.variable("x").is_real if kind is None else {type(s) for s in data.variable("x").labels} == {kind}


@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_byte_order_marks_and_line_ends_do_not_matter(tmp_path, mark, end):
    text = mark + end.join(['"a",b', "1,x", "2,", "", ""])
    (tmp_path / "rows.csv").write_bytes(text.encode())
    expected = {"a": [1, 2], "b": ["x", None]}
    assert read_csv(tmp_path / "rows.csv").to_dict() == expected
    assert read_csv(io.StringIO(text, newline="")).to_dict() == expected


BROKEN = [
    ("", None, "name every column"),
    ("a,,b\n1,2,3\n", 1, "name every column"),
    ("a,b,a\n1,2,3\n", 1, "names the column 'a' twice"),
    ("a,b\n1,2\n3\n", 3, "has 1 cells; the header names 2"),
    ("a,b\n1,2,3\n", 2, "has 3 cells; the header names 2"),
    ('a,b\n"x\ny",2\n1,2,3\n', 4, "has 3 cells"),
    ("a,b\n\n1,2\n", 3, "line 2 is empty"),
    ('a,b\n1,"2\n', 2, "not readable as CSV"),
    ('a,b\n1,"2"3\n', 2, "not readable as CSV"),
]


@pytest.mark.parametrize(("text", "line", "message"), BROKEN)
def test_broken_csv_is_refused_with_file_and_line(tmp_path, text, line, message):
    path = tmp_path / "rows.csv"
    path.write_text(text)
    with pytest.raises(FormatError, match=message) as caught:
        read_csv(path)
    assert caught.value.file == str(path)
    assert line is None or caught.value.line == line
    with pytest.raises(FormatError, match=message):
        read_csv(io.StringIO(text, newline=""))


def test_files_that_are_no_text_are_refused(tmp_path):
    (tmp_path / "rows.csv").write_bytes(b"a,b\n\xff\xfe,1\n")
    (tmp_path / "rows.csv.gz").write_bytes(b"a,b\n1,2\n")
    (tmp_path / "short.csv.gz").write_bytes(gzip.compress(b"a,b\n" + b"1,2\n" * 99)[:-9])
    for name in ("rows.csv", "rows.csv.gz", "short.csv.gz"):
        with pytest.raises(FormatError, match=r"not readable as text|not a complete gzip file"):
            read_csv(tmp_path / name)
    with pytest.raises(FormatError, match="open it as text"):
        read_csv(io.BytesIO(b"a\n1\n"))
    with pytest.raises(FileNotFoundError):
        Dataset(tmp_path / "absent.csv")


def test_unknown_states_of_a_file_are_refused():
    with pytest.raises(UnknownState, match="'a' has no state 'yess' in row 1; did you mean 'yes'"):
        read_csv(io.StringIO("a\nyes\nyess\n"), [Variable("a", ["no", "yes"])])


@pytest.mark.parametrize(
    ("variable", "message"),
    [
        (Variable("x", ["", "a"]), "empty text as a state"),
        (Variable("x", [1, "1"]), "state 1 of 'x' cannot be distinguished from another state by the text '1'"),
        (Variable("x", [True, "True"]), "cannot be distinguished"),
        (Variable("x", dimension=2), "vector-valued"),
        (Variable("x", ["\ud800"]), "cannot be encoded as UTF-8"),
    ],
)
def test_what_csv_cannot_say_is_not_written(tmp_path, variable, message):
    data = Dataset({"x": [None]}, [variable])
    with pytest.raises(InvalidData, match=message):
        write_csv(data, tmp_path / "rows.csv")
    assert not (tmp_path / "rows.csv").exists()


def test_weights_are_not_lost_silently():
    with pytest.raises(InvalidData, match="cannot hold weights"):
        write_csv(Dataset({"x": [1]}, weights=[2]), io.StringIO())
    with pytest.raises(InvalidData, match="without variables"):
        write_csv(Dataset([{}]), io.StringIO())


COLUMNS = {
    "text": ["b", None, "a"],
    "int": [2, 1, 2],
    "int_hole": [2, None, 1],
    "bool": [True, False, True],
    "bool_hole": [True, None, False],
    "real": [0.5, None, 1.5],
    "mixed": [1, "a", None],
    "vector": [[1.0, 2.0], None, [3.0, 4.0]],
    "long": [2**70, 1, None],
}


def test_pandas_columns_keep_the_types_of_labels():
    frame = Dataset(COLUMNS).to_pandas()
    kinds = {name: str(dtype) for name, dtype in frame.dtypes.items()}
    assert kinds["text"] in {"str", "object"}
    assert {name: kinds[name] for name in kinds if name != "text"} == {
        "int": "int64", "int_hole": "Int64", "bool": "bool", "bool_hole": "boolean", "real": "float64",
        "mixed": "object", "vector": "object", "long": "object",
    }  # fmt: skip
    assert frame["int_hole"].tolist() == [2, pd.NA, 1]
    assert math.isnan(frame["real"][1])
    assert frame["mixed"].tolist() == [1, "a", None]
    assert frame.index.equals(pd.RangeIndex(3))
    assert len(Dataset([{}, {}]).to_pandas()) == 2


def test_polars_and_arrow_columns_keep_the_types_of_labels():
    data = Dataset(COLUMNS)
    frame, table = data.to_polars(), data.to_arrow()
    assert frame.schema == {
        "text": pl.String, "int": pl.Int64, "int_hole": pl.Int64, "bool": pl.Boolean, "bool_hole": pl.Boolean,
        "real": pl.Float64, "mixed": pl.String, "vector": pl.List(pl.Float64), "long": pl.String,
    }  # fmt: skip
    assert table.schema.types == [
        pa.string(), pa.int64(), pa.int64(), pa.bool_(), pa.bool_(), pa.float64(), pa.string(),
        pa.list_(pa.float64()), pa.string(),
    ]  # fmt: skip
    expected = COLUMNS | {"mixed": ["1", "a", None], "long": [str(2**70), "1", None]}
    assert frame.to_dict(as_series=False) == table.to_pydict() == expected


def test_the_real_columns_handed_out_are_copies():
    data = Dataset({"x": [1.0, 2.0]})
    frame = data.to_pandas()
    frame.loc[0, "x"] = 5.0
    assert data.columns["x"][0] == 1.0


@pytest.mark.parametrize(
    ("package", "extra", "convert"),
    [
        ("pandas", "pandas", Dataset.to_pandas),
        ("polars", "polars", Dataset.to_polars),
        ("pyarrow", "arrow", Dataset.to_arrow),
    ],
)
def test_a_missing_package_is_named_with_its_extra(monkeypatch, package, extra, convert):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtra, match=rf"needs {package}.*juncture\[{extra}\]"):
        convert(Dataset({"x": [1]}))


def test_datasets_need_no_frame_library(tmp_path):
    code = (
        "import sys; from juncture.evidence import as_findings; from juncture.data.dataset import Dataset;"
        "from juncture.data.files.writers import write_csv; from juncture.variables import Variable;"
        f"data = Dataset({{'x': ['a', None]}}); write_csv(data, {str(tmp_path / 'x.csv')!r});"
        f"assert Dataset({str(tmp_path / 'x.csv')!r}) == data; as_findings({{'x': 'a'}}, data.variables);"
        "assert not {'pandas', 'polars', 'pyarrow', 'narwhals'} & set(sys.modules)"
    )
    import subprocess

    subprocess.run([sys.executable, "-c", code], check=True)
