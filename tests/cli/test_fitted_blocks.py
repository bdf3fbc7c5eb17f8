"""`juncture fit` block by block: the same model as at once, and after an interruption."""

from __future__ import annotations

import json
import sys
from contextlib import nullcontext
from pathlib import Path
from unittest import mock

import pandas as pd
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
    assert "state.json was saved for other files, or the files have changed: remove it" in run("state.json").err
    Path("other.json").write_text("{}")
    assert "other.json: the file does not hold steps that can be resumed" in run("other.json").err
    Path("other.json").write_text("{")
    assert run("other.json").returncode == 1
    assert "standard input cannot be read again" in juncture("fit", "asia", "-", "--out", "o.json", "--resume", "s").err


@pytest.fixture
def holes() -> None:
    table = jt.sample(ASIA, 50, rng=0).to_pandas()
    table.loc[3::4, "xray"] = None
    table.to_csv("rows/0.csv", index=False)


def fit_rows(out: str, *options: str):
    return juncture("fit", "asia", "rows", "--prior", "1", "--out", out, *options)


@pytest.mark.parametrize("options", [(), ("--latent", "lung")])
def test_an_interrupted_run_of_em_goes_on_with_the_same_bits(holes, options):
    """Seven steps, and three of them and then four: the models, and the numbers of steps."""
    if options:
        for file in Path("rows").iterdir():
            pd.read_csv(file).drop(columns="lung").to_csv(file, index=False)
    steps = ("--tolerance", "0", "--max-steps")
    whole = fit_rows("whole.json", *steps, "7", *options)
    first = fit_rows("first.json", *steps, "3", "--resume", "state.json", *options)
    assert json.loads(Path("state.json").read_text())["steps"] == 3
    second = fit_rows("second.json", *steps, "4", "--resume", "state.json", *options)
    assert whole.returncode == first.returncode == second.returncode == 0, second.err
    assert Path("whole.json").read_text() == Path("second.json").read_text() != Path("first.json").read_text()
    assert json.loads(Path("state.json").read_text())["steps"] == 7
    assert "100, of which not all are complete" in second.out


def test_steps_are_saved_when_they_are_interrupted(holes):
    def keep(saver, model):
        if saver.saved.num_steps == 2:
            raise ZeroDivisionError  # anything that ends the run
        saver.saved = saver.saved._replace(num_steps=saver.saved.num_steps + 1, model=model)

    with mock.patch.object(fitted_blocks.Saver, "keep", keep), pytest.raises(ZeroDivisionError):
        fit_rows("out.json", "--resume", "state.json")
    assert json.loads(Path("state.json").read_text())["steps"] == 2


def test_steps_of_other_rows_networks_and_priors_are_refused(holes):
    assert fit_rows("out.json", "--resume", "state.json", "--max-steps", "2").returncode == 0
    other = juncture("fit", "asia", "rows", "--out", "out.json", "--resume", "state.json")
    assert "state.json was saved for another network or prior: remove it, to start anew" in other.err
    assert "leave --restarts out" in fit_rows("out.json", "--resume", "state.json", "--restarts", "2").err
    text = Path("state.json").read_text()
    Path("state.json").write_text(text.replace('"steps": 2', '"steps": true'))
    assert "the steps are not complete: remove the file" in fit_rows("out.json", "--resume", "state.json").err
    Path("state.json").write_text(text.replace("BayesianNetwork", "Bayesian"))
    assert "the saved model is not one" in fit_rows("out.json", "--resume", "state.json").err
    jt.sample(ASIA, 10, rng=0).to_csv("rows/1.csv")
    assert "saved for other files" in fit_rows("out.json", "--resume", "state.json").err


def test_a_bar_shows_the_rows_of_each_pass(monkeypatch):
    """On a terminal; the source that tells of its rows gives the same model."""
    table = jt.sample(ASIA, 50, rng=0).to_pandas()
    table.loc[3, "xray"] = None
    table.to_csv("rows/0.csv", index=False)
    plain = juncture("fit", "asia", "rows", "--out", "plain.json", "--prior", "1")
    calls: list[object] = []
    bar = PassBar(lambda: calls.append("pass"), calls.append, lambda step, objective: calls.append((step,)))
    monkeypatch.setattr(fitted_blocks, "show_passes", lambda *arguments: nullcontext(bar))
    shown = juncture("fit", "asia", "rows", "--out", "shown.json", "--prior", "1")
    assert shown.out.replace("shown", "plain") == plain.out
    assert Path("plain.json").read_text() == Path("shown.json").read_text()
    first, *passes = " ".join(map(str, calls)).split("pass")
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
