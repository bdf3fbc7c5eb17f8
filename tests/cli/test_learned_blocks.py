"""`juncture learn` block by block: the same network as at once, past memory too, and after an interruption."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from unittest import mock

import pytest

import juncture as jt
from juncture.cli.printing.progress import PassBar, show_passes
from juncture.cli.training_rows import Training, WatchedPasses
from juncture.data.sources import as_source
from juncture.learning.structure import data as structure_data
from juncture.learning.structure.streamed import streamed_rows
from support.command_line import juncture

ASIA = jt.example("asia")


@pytest.fixture(autouse=True)
def rows(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("rows").mkdir()
    for number in range(2):
        jt.sample(ASIA, 150, rng=number).to_csv(f"rows/{number}.csv")


@pytest.mark.parametrize("most", [6, 1000])
def test_a_folder_gives_the_network_of_all_rows(monkeypatch, most):
    monkeypatch.setattr(structure_data, "MAX_DISTINCT", most)
    whole = juncture("learn", "rows/*.csv", "--tier", "asia,smoke", "--out", "whole.json", "--json")
    folder = juncture("learn", "rows", "--tier", "asia,smoke", "--out", "folder.json", "--json")
    assert folder.returncode == 0, folder.err
    assert Path("whole.json").read_text() == Path("folder.json").read_text()
    ours, theirs = json.loads(folder.out), json.loads(whole.out)
    assert ours["rows"] == 300
    different = {"data", "written_to"}
    assert {name: ours[name] for name in ours.keys() - different} == {
        name: theirs[name] for name in theirs.keys() - different
    }


def test_columns_are_chosen_and_refusals_name_the_option(monkeypatch):
    monkeypatch.setattr(structure_data, "MAX_DISTINCT", 6)
    for options, text in (
        (("--ignore", "xray", "--method", "chow-liu"), "7"),
        (("--ignore", "nothing"), "--ignore: rows has no column 'nothing'"),
        (("--real", "age"), "--real: rows has no column 'age'"),
        (("--bins", "3"), "--bins cuts numbers of rows in memory, and rows is read block by block"),
        (("--bootstrap", "3", "--method", "chow-liu"), "drawing bootstrap samples needs rows in memory"),
        (("--test", "permutation", "--method", "pc"), "rows past memory cannot be shuffled"),
    ):
        run = juncture("learn", "rows", *options)
        assert text in run.out + run.err, options
        assert (run.returncode == 0) == (text == "7"), options


def test_real_columns_are_learned_from_sums(monkeypatch):
    monkeypatch.setattr(structure_data, "MAX_DISTINCT", 6)
    data = jt.sample(ASIA, 80, rng=0)
    columns = {
        "dose": list(range(0, 160, 2)),
        "level": [2.5 * one + (one % 7) for one in range(80)],
        "lung": data.labels("lung"),
    }
    Path("numbers").mkdir()
    jt.Dataset(columns, real=["dose"]).to_csv("numbers/rows.csv")
    run = juncture("learn", "numbers", "--real", "dose", "--json")
    assert run.returncode == 0, run.err
    assert {"dose", "level"} in [set(edge) for edge in json.loads(run.out)["edges"]]


def past_memory(monkeypatch) -> Training:
    monkeypatch.setattr(structure_data, "MAX_DISTINCT", 6)
    source = as_source("rows")
    return Training("rows", structure_data.read_cases(source, None, None), source)


def test_an_interrupted_search_keeps_the_graph_of_its_estimates(monkeypatch, capsys):
    training = past_memory(monkeypatch)
    with mock.patch.object(streamed_rows, "count_sets", side_effect=KeyboardInterrupt):
        found = training.search("hill-climbing", 0, {})
    assert found.graph.edges
    assert "interrupted in pass 1: the graph so far is kept" in capsys.readouterr().err
    assert training.fit(found.graph, 1.0).model.graph == found.graph
    with (
        mock.patch.object(streamed_rows, "PASS_CELLS", 0),
        mock.patch.object(streamed_rows, "count_sets", side_effect=KeyboardInterrupt),
        pytest.raises(KeyboardInterrupt),
    ):
        past_memory(monkeypatch).search("hill-climbing", 0, {})  # no run came to its end


def test_the_bar_shows_the_rows_of_each_pass(monkeypatch, capsys):
    training = past_memory(monkeypatch)
    calls = []
    bar = PassBar(lambda: calls.append("begin"), calls.append, lambda *step: None)
    passes = WatchedPasses(training.rows.copy, bar)
    assert passes.num_rows == training.rows.copy.num_rows
    assert sum(passes.map(lambda chunk: float(chunk.weights.sum()))) == 300
    assert calls == ["begin", *calls[1:]]
    assert sum(calls[1:]) == 300
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    with show_passes("counting rows", "score", 300) as shown:
        shown.begin()
        shown.begin()
        shown.watch(120)
    assert "pass 2, 120 rows" in capsys.readouterr().err
