"""Columns of text that look like numbers, dates or missing values are told, with the option that reads them so."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import juncture as jt
from juncture.data.column_kinds import Summary, find_look
from juncture.data.sources import as_source, collect

DATES = [f"2024-{month:02}-{day:02}" for month in range(1, 6) for day in (1, 11, 21)]


@pytest.mark.parametrize("marker", ["NA", "nan", "NULL", "?", "-", "n/a"])
def test_a_marker_among_the_numbers_of_a_file_is_told_with_the_option_that_reads_it(tmp_path, marker, recwarn):
    file = tmp_path / "rows.csv"
    file.write_text(f"age,income,region\n31,{marker},a\n{marker},2.5,b\n40,3.5,a\n")
    data = jt.Dataset(file)
    told = [str(warning.message) for warning in recwarn]
    assert len(told) == (0 if marker == "nan" else 1)  # nan among numbers is a missing number
    if told:
        assert told[0].startswith(f"the columns 'age', 'income' hold numbers and the text {marker!r}")
        assert told[0].endswith(
            'read as a missing value; states=["age", "income"] takes their different cells as states'
        )
        assert data.to_dict()["age"] == [31, None, 40]
        assert data.variable("income").is_real
        assert recwarn[0].filename == __file__
    jt.Dataset(data), data.only(["age"]), jt.evaluation.missingness(data)  # a dataset is not told of again
    read = jt.Dataset(file, missing=marker)
    assert read.to_dict()["age"] == [31, None, 40]
    assert read.variable("income").is_real
    assert len(recwarn) == len(told)


@pytest.mark.parametrize("frame", [dict, pd.DataFrame, pl.DataFrame, pa.table], ids=lambda kind: kind.__module__)
def test_frames_are_told_of_as_files_are(frame, tmp_path):
    rows = {"age": ["31", "40", "NA"], "region": ["a", "b", "NA"], "day": ["1", "2", "3+"]}
    with pytest.warns(jt.errors.ColumnKindWarning) as told:
        assert jt.Dataset(frame(rows)).to_dict()["age"] == [31, 40, None]
    assert len(told) == 1  # a frame has None for what is missing, so that NA among states is one
    assert str(told[0].message).startswith("the column 'age' holds numbers and the text 'NA', read as a missing value")
    many = {"age": [*map(str, range(20)), "unknown"]}
    with pytest.warns(jt.errors.TextColumnWarning, match=r"'unknown', so that each different .*pd.to_numeric"):
        jt.Dataset(frame(many))
    pd.DataFrame(rows).to_csv(tmp_path / "rows.csv", index=False)
    with pytest.warns((jt.errors.ColumnKindWarning, jt.errors.TextColumnWarning)) as told:
        jt.Dataset(tmp_path / "rows.csv")
    assert str(told[1].message).startswith(
        "the column 'region' has the state 'NA', by which files mark a missing value"
    )


def test_a_source_is_told_of_as_its_rows_are(tmp_path):
    (tmp_path / "rows.csv").write_text("age\n31\nNA\n40\n")
    with pytest.warns(jt.errors.ColumnKindWarning, match="'NA', read as a missing value"):
        assert as_source(tmp_path / "rows.csv").variables[0].labels == (31, 40)
    said = as_source(tmp_path / "rows.csv", states=["age"])
    assert said.variables[0].labels == ("31", "40", "NA")
    real = [jt.Variable("age")]
    assert collect(as_source(tmp_path / "rows.csv", real)).to_dict() == {"age": [31.0, None, 40.0]}
    assert jt.Dataset(tmp_path / "rows.csv", real).to_dict() == {"age": [31.0, None, 40.0]}
    assert jt.Dataset({"age": ["1", "NA"]}, [jt.Variable("age", ["1", "NA"])]).is_complete


def test_decimal_commas_are_told_and_read(tmp_path):
    file = tmp_path / "rows.csv"
    file.write_text("sex;glucose;age\nf;5,25;31\nm;;40\nf;6;NA\n")
    with pytest.warns((jt.errors.ColumnKindWarning, jt.errors.TextColumnWarning)) as told:
        jt.Dataset(file)
    assert str(told[0].message).startswith("the column 'glucose' holds numbers with a decimal comma, such as '5,25'")
    assert 'decimal=","' in str(told[0].message)
    read = jt.Dataset(file, decimal=",", missing="NA")
    assert read.to_dict() == {"sex": ["f", "m", "f"], "glucose": [5.25, None, 6.0], "age": [31, 40, None]}
    frame = pd.read_csv(file, sep=";")
    assert jt.Dataset(frame, read.variables, decimal=",") == jt.Dataset(frame, decimal=",") == read
    with pytest.raises(
        jt.errors.InvalidData, match=r"'5,25' in line 2 of .*rows\.csv is not a number \(decimal=\",\" reads"
    ):
        jt.Dataset(file, read.variables, missing="NA")
    with pytest.raises(jt.errors.UnknownState, match=r"no state '7' in row 0; known are 0, 1$"):
        jt.Dataset({"x": ["7"]}, [jt.Variable("x", 2)])
    with pytest.raises(jt.errors.InvalidData, match="decimal"):
        jt.Dataset(file, decimal=";")


def test_text_that_may_be_meant_is_not_told_of():
    quiet = [
        ["0", "1", "2", "3+"],
        ["yes", "no", "-"],
        ["none", "some"],
        ["1,234", "12,500"],
        ["1", "many"],
        DATES[:12],
    ]
    quiet += [[str(age) for age in range(90)] + ["90+"], ["a,5", "1,5"], [1, 2, "NA"], ["NA"], [], list(range(99))]
    assert [find_look(Summary(labels, is_of_file=True)) for labels in quiet] == [None] * len(quiet)


def test_dates_are_told_of_however_they_are_written():
    written = [DATES, [f"{date}T08:30:00Z" for date in DATES], [f"{date} 8:30" for date in DATES]]
    written += [[f"{day}.{month}.24" for day in (1, 12, 31) for month in range(1, 7)], [*DATES, "NA"]]
    assert [look and look.kind for look in map(find_look, map(Summary, written))] == ["date"] * 5
    with pytest.warns(
        jt.errors.TextColumnWarning, match=r"'visit' holds dates, such as '2024-01-01'.*rows.drop\(columns="
    ):
        data = jt.Dataset({"visit": DATES * 2, "x": [0, 1, 1] * 10})
    jt.learn_structure(data.take(np.arange(15)), method="hill-climbing")  # said once: it is no identifier besides


DAYS = pd.to_datetime(DATES)


@pytest.mark.parametrize(
    "cells",
    [
        DAYS,
        DAYS.to_numpy(),
        list(DAYS),
        [day.date() for day in DAYS],
        [day.time() for day in DAYS],
        list(DAYS - DAYS[0]),
        pd.Series(DAYS),
        pl.Series(list(DAYS)),
        pa.array([day.date() for day in DAYS]),
    ],
    ids=lambda cells: f"{type(cells).__module__}.{type(cells).__name__}",
)
def test_dates_and_times_are_refused_with_what_to_do(cells):
    with pytest.raises(
        jt.errors.InvalidData, match=r"'visit' holds dates or times, .* --ignore visit at .* such as the year"
    ):
        jt.Dataset({"visit": cells})
