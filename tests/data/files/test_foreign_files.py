"""CSV files as other programs write them: blanks after commas, an index without a name, another encoding."""

import pytest

import juncture as jt
from juncture.data.files import csv_arrow
from juncture.data.sources import as_source, collect
from juncture.data.sources import csv as csv_source

BLANKS = 'age , region, "a state "\n 31, north, "x "\n40, , y\n'
READ = {"age": [31, 40], "region": ["north", None], "a state ": ["x ", "y"]}


@pytest.fixture(params=[False, True], ids=["parser", "arrow"])
def is_long(request, monkeypatch):
    """Every file counts as long, so that PyArrow reads what it can."""
    if request.param:
        monkeypatch.setattr(csv_arrow, "LONG", 0)
        monkeypatch.setattr(csv_source, "LONG", 0)


@pytest.mark.usefixtures("is_long")
@pytest.mark.parametrize("text", [BLANKS.replace('"', ""), BLANKS, BLANKS.replace(",", ";"), BLANKS.replace(",", "\t")])
def test_blanks_after_separators_are_no_part_of_names_and_cells(tmp_path, text):
    (tmp_path / "rows.csv").write_text(text)
    wanted = READ if '"' in text else {"age": [31, 40], "region": ["north", None], "a state": ["x ", "y"]}
    names = {"age " if '"' in text and name == "age" else name: cells for name, cells in wanted.items()}
    assert jt.Dataset(tmp_path / "rows.csv").to_dict() == names
    assert collect(as_source(tmp_path / "rows.csv")).to_dict() == names


@pytest.mark.usefixtures("is_long")
def test_the_index_of_pandas_is_left_out_and_told_of(tmp_path):
    (tmp_path / "rows.csv").write_text(",age\n0,31\n1,40\n")
    for read in (jt.Dataset, lambda file: collect(as_source(file))):
        with pytest.warns(jt.errors.ColumnKindWarning, match="the first column has no name and numbers or names"):
            assert read(tmp_path / "rows.csv").to_dict() == {"age": [31, 40]}
    (tmp_path / "rows.csv").write_text("age,\n0,31\n1,40\n")
    with pytest.raises(jt.FormatError, match=r"column 2 has no name; the first line must name every column$"):
        jt.Dataset(tmp_path / "rows.csv")


@pytest.mark.usefixtures("is_long")
@pytest.mark.parametrize("encoding", ["cp1252", "utf-16"])
def test_another_encoding_is_told_with_what_to_do(tmp_path, encoding):
    (tmp_path / "rows.csv").write_text("region,age\nköln,31\nbonn,40\n", encoding=encoding)
    for read in (jt.Dataset, lambda path: collect(as_source(path))):
        with pytest.raises(jt.FormatError, match=f'iconv -f {encoding} -t utf-8.*encoding="{encoding}"'):
            read(tmp_path / "rows.csv")
