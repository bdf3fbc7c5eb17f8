"""`juncture fit` block by block: the same model as at once, and after an interruption."""

from __future__ import annotations

import json
import sys
from contextlib import nullcontext
from pathlib import Path
from unittest import mock

import pytest

import juncture as jt
from juncture.cli import fitted_blocks
from juncture.cli.printing.progress import PassBar, show_passes
from juncture.data.sources import as_source
from juncture.learning.networks import saved_counts
from juncture.learning.networks.saved_counts import count_resumably
from support.command_line import juncture

ASIA = jt.example("asia")


@pytest.fixture(autouse=True)
def rows(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    jt.sample(ASIA, 200, rng=0).to_parquet("rows.parquet")
    Path("rows").mkdir()
    for number in range(2):
        jt.sample(ASIA, 50, rng=number).to_csv(f"rows/{number}.csv")


def test_a_folder_and_a_resumed_count_give_the_model_of_all_rows():
    whole = juncture("fit", "asia", "rows/*.csv", "--prior", "1", "--out", "whole.json")
    folder = juncture("fit", "asia", "rows", "--prior", "1", "--out", "folder.json")
    resumed = juncture("fit", "asia", "rows/*.csv", "--prior", "1", "--out", "resumed.json", "--resume", "state.json")
    assert folder.returncode == resumed.returncode == 0, folder.err + resumed.err
    texts = {name: Path(f"{name}.json").read_text() for name in ("whole", "folder", "resumed")}
    assert texts["whole"] == texts["folder"] == texts["resumed"]
    for run in (whole, folder, resumed):
        assert "100, of which 100 are complete" in run.out


def test_an_interrupted_count_goes_on_with_the_same_bits():
    weights = {"w": [0.1 * (row % 7) for row in range(200)]}
    table = jt.Dataset("rows.parquet").to_dict() | weights
    source = as_source(table, weights="w", block_rows=17)
    expected = jt.statistics(ASIA, source).to_json()
    count, calls = saved_counts.count_complete, []

    def interrupted(*arguments):
        calls.append(1)
        if len(calls) == 6:
            raise KeyboardInterrupt
        return count(*arguments)

    with mock.patch.object(saved_counts, "count_complete", interrupted), pytest.raises(KeyboardInterrupt):
        count_resumably(ASIA, source, "state.json", [["rows", 1, 2]])
    done = json.loads(Path("state.json").read_text())["num_blocks"]
    assert 1 <= done < 12
    with mock.patch.object(saved_counts, "count_complete", wraps=count) as counted:
        found = count_resumably(ASIA, source, "state.json", [["rows", 1, 2]])
    assert counted.call_count == 12 - done
    assert found.to_json() == expected


def test_states_that_cannot_be_resumed_are_refused():
    def run(state):
        return juncture("fit", "asia", "rows.parquet", "--out", "out.json", "--resume", state)

    assert run("state.json").returncode == 0
    assert run("state.json").returncode == 0
    jt.sample(ASIA, 10, rng=0).to_parquet("rows.parquet")
    assert "state.json holds counts of other files, or the files have changed: remove it" in run("state.json").err
    Path("other.json").write_text("{}")
    assert "other.json: the file does not hold counts that can be resumed" in run("other.json").err
    Path("other.json").write_text("{")
    assert run("other.json").returncode == 1
    latent = juncture("fit", "asia", "rows.parquet", "--out", "o.json", "--resume", "s.json", "--latent", "lung")
    assert "--resume saves the counts of complete rows" in latent.err
    assert "standard input cannot be read again" in juncture("fit", "asia", "-", "--out", "o.json", "--resume", "s").err


def test_rows_with_holes_are_refused_with_resume_and_learned_without():
    table = jt.sample(ASIA, 50, rng=0).to_pandas()
    table.loc[3, "xray"] = None
    table.to_csv("rows/0.csv", index=False)
    run = juncture("fit", "asia", "rows", "--out", "out.json", "--resume", "state.json")
    assert "'xray' is missing in row 3 of" in run.err
    run = juncture("fit", "asia", "rows", "--out", "out.json", "--prior", "1", "--max-steps", "500")
    assert run.returncode == 0
    assert "100, of which not all are complete" in run.out


def test_a_bar_shows_the_rows_of_each_pass(monkeypatch):
    """On a terminal; the source that tells of its rows gives the same model."""
    table = jt.sample(ASIA, 50, rng=0).to_pandas()
    table.loc[3, "xray"] = None
    table.to_csv("rows/0.csv", index=False)
    plain = juncture("fit", "asia", "rows", "--out", "plain.json", "--prior", "1")
    told: list[object] = []
    bar = PassBar(lambda: told.append("pass"), told.append, lambda step, objective: told.append((step,)))
    monkeypatch.setattr(fitted_blocks, "show_passes", lambda *arguments: nullcontext(bar))
    shown = juncture("fit", "asia", "rows", "--out", "shown.json", "--prior", "1")
    assert shown.out.replace("shown", "plain") == plain.out
    assert Path("plain.json").read_text() == Path("shown.json").read_text()
    first, *passes = " ".join(map(str, told)).split("pass")
    assert first == ""
    assert set(passes[0].split()) == {"50"}  # complete rows would be counted: the first block has a hole
    assert passes[1].split()[:2] == ["50", "50"]


def test_a_bar_of_passes_is_drawn_on_a_terminal_only(monkeypatch):
    with show_passes("learning", "log-likelihood", 100) as bar:
        assert bar is None
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    with show_passes("learning", "log-likelihood", 100, 2) as bar:
        bar.begin()
        bar.watch(50)
        bar.show(1, -3.5)
