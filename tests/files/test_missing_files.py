"""A file that does not exist: the error says what to do."""

from __future__ import annotations

import pytest

import juncture as jt
from juncture.data.sources import as_source


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
