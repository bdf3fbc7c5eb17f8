"""The kinds of tables that people have: every reader, verb and command finds the same columns, kinds and notes."""

from __future__ import annotations

import csv
import re
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest

import juncture as jt
from juncture.data.sources.entries import as_source
from support.command_line import juncture

ROWS = 200
DAYS = [f"2023-{1 + row // 28:02}-{1 + row % 28:02}" for row in range(ROWS)]


def drawn(seed, *choices):
    return np.random.default_rng(seed).choice(np.array(choices), ROWS)


def measured(least, most, number, seed):
    """So many different whole numbers with gaps between them, in all rows."""
    rng = np.random.default_rng(seed)
    different = np.sort(rng.choice(np.arange(least, most), number, replace=False))
    return rng.permutation(np.resize(different, ROWS))


def with_holes(column):
    cells = column.astype(object)
    cells[::17] = None
    return cells.tolist()


def lasting(seed):
    return np.random.default_rng(seed).exponential(300.0, ROWS).astype(int)


WEIGHT = measured(1600, 5200, 100, 0)
MPG = np.round(46.3 - 0.0077 * WEIGHT + 4.5 * np.random.default_rng(1).normal(size=ROWS), 1)
# the name of the difficulty: (the cells, what the column is, which notes there are)
TABLES = {
    "hundred values": (WEIGHT.tolist(), "real", {"real"}),
    "a value a row": (measured(1600, 5200, ROWS, 2).tolist(), "real", {"real"}),
    "horsepower": (with_holes(measured(46, 230, 93, 3)), "real", {"real"}),
    "price": ((100 * measured(33, 400, 140, 4)).tolist(), "real", {"real"}),
    "glucose": (measured(44, 199, 120, 5).tolist(), "real", {"real"}),
    "body mass": ((50 * measured(54, 126, 60, 6)).tolist(), "real", {"real"}),
    "survival time": (lasting(7).tolist(), "real", {"real"}),
    "floats with holes": (with_holes(np.round(np.random.default_rng(8).normal(size=ROWS), 3)), "real", set()),
    "whole with holes": (with_holes(drawn(9, 0, 1, 2, 3)), (0, 1, 2, 3), set()),
    "running": (list(range(1, ROWS + 1)), "left out", {"left out"}),
    "keys": ([f"P{row:04}" for row in range(ROWS)], "left out", {"left out"}),
    "numbers and NA": (drawn(10, "1", "2", "3", "NA").tolist(), (1, 2, 3), {"hole"}),
    "fractions and NA": ([*map(str, np.round(MPG[1:], 1).tolist()), "NA"], "real", {"hole"}),
    "dates": (DAYS, "left out", {"left out"}),
    "constant": (["same"] * ROWS, "left out", {"left out"}),
    "few whole": (drawn(11, 3, 4, 5, 6, 8).tolist(), (3, 4, 5, 6, 8), set()),
    "truths": (drawn(12, False, True).tolist(), (False, True), set()),
    "texts": (drawn(13, "east", "north", "007").tolist(), ("007", "east", "north"), set()),
}
NOTES = {"real": "read as real numbers", "hole": "read as a missing value"}
UNNAMED = {"": range(ROWS), "Unnamed: 0": range(ROWS), "rownames": [f"row {row}" for row in range(ROWS)]}


@pytest.fixture(scope="module", params=TABLES)
def name(request):
    return request.param


def cells_of(name, unnamed):
    return {unnamed: list(UNNAMED[unnamed]), "mpg": MPG.tolist(), "column": TABLES[name][0]}


def read_by_all(cells, folder):
    """The same table in everything that people have it in."""
    file = folder / "rows.csv"
    with file.open("w", newline="", encoding="utf-8") as stream:
        csv.writer(stream).writerows([cells, *zip(*cells.values(), strict=True)])
    pandas, polars = pd.DataFrame(cells), pl.DataFrame(cells)
    return {
        "mapping": cells,
        "pandas": pandas,
        "pandas from a file": pd.read_csv(file, keep_default_na=False, na_values=[""]),
        "polars": polars,
        "arrow": polars.to_arrow(),
        "file": str(file),
        "source": as_source(str(file), block_rows=64),
        "lazy frame": as_source(polars.lazy()),
    }


def told(call):
    """(what a call gives, the kinds of notes that it gives)."""
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        found = call()
    kinds = [each for each in given if each.category is jt.errors.ColumnKindWarning]
    return found, sorted({str(each.message) for each in kinds})


def wanted_notes(name):
    return {NOTES[note] for note in TABLES[name][2] if note in NOTES} | {"numbers or names the rows"}


def kind_of(variable):
    return "real" if variable.is_real else variable.labels


@pytest.mark.parametrize("unnamed", UNNAMED)
def test_all_readers_find_the_same_columns_and_kinds_and_say_the_same(name, unnamed, tmp_path):
    found = {}
    for reader, rows in read_by_all(cells_of(name, unnamed), tmp_path).items():
        source = rows if reader in {"source", "lazy frame"} else None
        found[reader] = told(lambda rows=rows, source=source: (source or jt.Dataset(rows)).variables)
    variables, notes = found["mapping"]
    assert [one.name for one in variables] == ["mpg", "column"]
    expected = TABLES[name][1]
    if expected != "left out":
        assert kind_of(variables[1]) == expected
    for note in wanted_notes(name):
        assert any(note in each for each in notes), note
    assert len([each for each in notes if "left out" not in each]) <= 1
    for reader, (kinds, said) in found.items():
        assert kinds == variables, reader
        assert [each for each in said if "left out: rename" not in each] == [
            each for each in notes if "left out: rename" not in each
        ], reader


def test_verbs_take_the_kinds_that_readers_find(name, tmp_path):
    expected, graph = TABLES[name][1], jt.DirectedGraph([], ["mpg", "column"])
    if expected == "left out":
        return
    for reader, rows in read_by_all(cells_of(name, ""), tmp_path).items():
        fitted, notes = told(lambda rows=rows: jt.fit(graph, rows).model)
        assert kind_of(fitted.variable("column")) == expected, reader
        if reader == "file":
            searched, said = told(lambda rows=rows: jt.learn_structure(rows))
            assert (set(searched.nodes), said) == ({"mpg", "column"}, notes)


def test_commands_take_the_same_columns_and_say_the_same(name, tmp_path):
    read_by_all(cells_of(name, "Unnamed: 0"), tmp_path)
    file, (_, expected, notes) = str(tmp_path / "rows.csv"), TABLES[name]
    runs = [
        juncture("learn", file, "--out", str(tmp_path / "net.json")),
        juncture("cluster", file, "--out", str(tmp_path / "clusters.csv"), "-k", "1", "--restarts", "0"),
        juncture("info", file),
    ]
    if expected != "left out":
        options = ("--learners", "regression-tree", "--folds", "2", "--repeats", "1")
        runs.append(juncture("compare", file, "--target", "mpg", *options))
    for run in runs:
        assert run.returncode == 0, run.err
        said = run.err + run.out
        assert "numbers or names the rows" in said
        assert {kind for kind, sentence in NOTES.items() if sentence in said} == notes - {"left out"}
        assert ("--states column takes its different cells as states" in said) == bool(notes - {"left out"})
        assert ("left out (--keep column" in said or "juncture learn leaves it out" in said) == ("left out" in notes)
    model = jt.read(str(tmp_path / "net.json"))
    assert [one.name for one in model.variables] == ["mpg", *(["column"] if expected != "left out" else [])]
    if expected != "left out":
        assert kind_of(model.variable("column")) == expected


def test_what_somebody_says_of_a_column_decides(name, tmp_path):
    cells = TABLES[name][0]
    is_number = all(isinstance(cell, int | float | None) and not isinstance(cell, bool) for cell in cells)
    for rows in ({"column": cells}, str(written(tmp_path, cells))):
        variable = jt.Dataset(rows, states=["column"]).variable("column")
        assert variable.num_states == len(set(cells) - {None})
        if is_number:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                assert jt.Dataset(rows, real=["column"]).variable("column").is_real


def written(folder, cells):
    file = folder / "column.csv"
    with file.open("w", newline="", encoding="utf-8") as stream:
        csv.writer(stream).writerows([["column"], *([cell] for cell in cells)])
    return file


def test_the_weight_of_cars_is_joined_to_their_consumption(tmp_path):
    """100 whole values, whose correlation with the consumption is −0.88."""
    assert np.corrcoef(WEIGHT, MPG)[0, 1] == pytest.approx(-0.88, abs=0.02)
    rows = read_by_all(cells_of("hundred values", ""), tmp_path)
    for reader in ("mapping", "pandas", "polars", "file", "source"):
        graph, notes = told(lambda reader=reader: jt.learn_structure(rows[reader]))
        assert {frozenset(edge) for edge in graph.edges} == {frozenset({"mpg", "column"})}, reader
        assert any("'column' has 100 different whole numbers" in note for note in notes) or reader == "source"
    run = juncture("learn", rows["file"])
    assert re.search(r"mpg -> column|column -> mpg", run.out)
    assert "--states column takes its different cells as states" in run.err


def test_both_kinds_of_one_column_are_refused():
    with pytest.raises(jt.errors.InvalidData, match=r"'x' is named in real=\[…\] and in states=\[…\]"):
        jt.Dataset({"x": [1, 2]}, real=["x"], states=["x"])
    with pytest.raises(jt.errors.UnknownVariable, match="'z'"):
        jt.Dataset({"x": [1, 2]}, real=["z"])
    with pytest.raises(jt.errors.InvalidData, match="declared in variables"):
        jt.Dataset({"x": [1, 2]}, [jt.Variable("x", [1, 2])], states=["x"])
    with pytest.raises(jt.errors.InvalidData, match="are for a graph"):
        jt.fit(jt.example("asia"), {"xray": ["yes"]}, real=["xray"])


def test_a_first_column_without_a_name_is_kept_where_it_says_more():
    with pytest.raises(jt.errors.InvalidData, match="the first column has no name, and does not number"):
        jt.Dataset({"": [1, 1, 2], "y": [1.5, 2.5, 3.5]})
    assert jt.Dataset({"rownames": ["a", "a", "b"], "y": [1.5, 2.5, 3.5]}).variables[0].labels == ("a", "b")
    named = jt.Variable("Unnamed: 0")
    assert jt.Dataset({"Unnamed: 0": [1, 2, 3], "y": [1.5, 2.5, 3.5]}, [named, jt.Variable("y")]).variables[0] == named
