"""A file that does not exist: the error says what to do."""

from __future__ import annotations

import pytest

import juncture as jt
from juncture.data.sources import as_source
from juncture.errors import InvalidData
from juncture.formats.uai_evidence import read_evidence
from juncture.formats.uai_results import read_result
from runtime.files.test_writing import WRITERS
from support.command_line import juncture


def test_a_text_as_evidence_is_told_that_evidence_is_a_mapping():
    asia = jt.example("asia")
    with pytest.raises(FileNotFoundError, match=r"evidence is a mapping, such as \{'xray': 'yes'\}: 'xray=yes'"):
        jt.infer(asia, "xray=yes")
    with pytest.raises(FileNotFoundError, match=r"evidence is a mapping, such as \{name: state\}: 'xray'"):
        jt.infer(asia, "xray")


@pytest.mark.parametrize("entry", [jt.Dataset, as_source, lambda path: jt.fit(jt.example("asia"), path)])
def test_a_table_of_a_similar_name_is_proposed(entry, tmp_path):
    (tmp_path / "patients.csv").write_text("a\n1\n")
    with pytest.raises(FileNotFoundError, match=r"did you mean 'patients.csv'\?: ") as error:
        entry(str(tmp_path / "patient.csv"))
    assert error.value.filename == str(tmp_path / "patient.csv")


def test_a_folder_that_does_not_exist_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"there is no folder '.*nowhere'"):
        jt.Dataset(tmp_path / "nowhere" / "rows.csv")


def test_a_model_of_a_similar_name_or_a_bundled_one_is_proposed(tmp_path):
    jt.write(jt.example("fuel"), tmp_path / "engine.bif")
    with pytest.raises(FileNotFoundError, match=r"did you mean 'engine.bif'\?"):
        jt.read(tmp_path / "engin.bif")
    with pytest.raises(FileNotFoundError, match=r"take a bundled network: juncture.example\('asia'\)"):
        jt.read(tmp_path / "asai.bif")
    with pytest.raises(FileNotFoundError, match=r"take a bundled network: juncture.example\('asia'\)"):
        jt.read(tmp_path / "nope.bif")


def test_the_name_of_a_bundled_network_is_told_how_to_get_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(jt.FormatError, match=r"juncture.example\('alarm'\)"):
        jt.read("alarm")


ASIA = jt.example("asia")
# each reader of files; those that write are listed in test_writing.py
READERS = {
    "model": (".json", jt.read),
    "rows": (".csv", jt.Dataset),
    "rows of Parquet": (".parquet", jt.Dataset),
    "several files": (".csv", lambda path: jt.Dataset([path])),
    "source": (".csv", as_source),
    "source of several files": (".csv", lambda path: as_source([path])),
    "fit": (".csv", lambda path: jt.fit(ASIA.graph, path)),
    "learn_structure": (".csv", jt.learn_structure),
    "statistics": (".csv", lambda path: jt.statistics(ASIA, path)),
    "infer": (".csv", lambda path: jt.infer(ASIA, path)),
    "log_prob": (".csv", lambda path: jt.log_prob(ASIA, path)),
    "most_probable": (".csv", lambda path: jt.most_probable(ASIA, path)),
    "evidence": (".evid", lambda path: read_evidence(path, ASIA)),
    "result": (".PR", read_result),
}
CALLS = {**READERS, **{f"write {name}": (f".{file.partition('.')[2]}", call) for name, (file, call) in WRITERS.items()}}


@pytest.mark.parametrize("name", CALLS)
def test_a_name_that_is_none_is_told_in_one_sentence(name, tmp_path, monkeypatch):
    """An empty name is not the working folder, whose rows would be read."""
    suffix, call = CALLS[name]
    monkeypatch.chdir(tmp_path)
    jt.sample(ASIA, 3, rng=0).to_csv("rows.csv")
    with pytest.raises(InvalidData, match="the name of a file is empty; give its path"):
        call("")
    with pytest.raises(InvalidData, match=r"the path 'a\\x00b\..*' holds a NUL character"):
        call(f"a\0b{suffix}")
    (tmp_path / f"self{suffix}").symlink_to(f"self{suffix}")
    with pytest.raises(OSError, match=r"link|No such file") as caught:
        call(f"self{suffix}")
    assert caught.value.filename == f"self{suffix}"
    assert len(str(caught.value).splitlines()) == 1


@pytest.mark.parametrize("line", [["learn"], ["info"], ["evaluate", "asia"], ["cluster"], ["fit", "asia", "--out=-"]])
def test_commands_take_no_empty_name(line, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    jt.sample(ASIA, 3, rng=0).to_csv("rows.csv")
    ended = juncture(*line, "")
    assert (ended.returncode, ended.err) == (1, "juncture: the name of a file is empty; give its path\n")


def test_a_link_to_itself_is_no_proposal(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.json").symlink_to("a.json")
    assert juncture("info", "a.json").err == "juncture: this is a link that leads to no file: a.json\n"
