"""Misspelt commands, files, methods and arguments are told what may be meant."""

from __future__ import annotations

import pytest

import juncture as jt
from support.command_line import juncture


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("lern",), 2, "there is no command 'lern'; did you mean 'learn'?"),
        (
            ("explain",),
            2,
            "known are 'info', 'examples', 'query', 'mpe', 'separation', 'sample', 'fit', 'learn', 'predict'",
        ),
        (("learn", "rows.csv", "--method", "hill"), 2, "did you mean 'hill-climbing'?"),
        (
            ("compare", "rows.csv", "-t", "y", "--metric", "acc"),
            2,
            "there is no metric 'acc'; did you mean 'accuracy'?",
        ),
        (("sample", "asia", "-57"), 2, "-57 is no argument of this command"),
        (("sample", "asia", "-x"), 2, "-x"),
        (("query", "asia", "lung", "-g", "xray=yes", "smoke=no"), 2, "--given smoke=no"),
        (("mpe", "asia", "smoke=no"), 2, "--given smoke=no"),
        (("query", "net"), 1, "did you mean 'net.json'?"),
        (("query", "folder/other"), 1, "did you mean 'folder/other-net.bif'?"),
        (("convert", "asia", "net.tab"), 1, "known are '.json', '.bif'"),
        (("learn", "-"), 1, "juncture: standard input:3: the row has 1 cells"),
    ],
)
def test_what_may_be_meant_is_told(arguments, code, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    for name in ("net.json", "network-of-old.json", "folder/other-net.bif"):
        jt.write(jt.example("fuel"), name)
    run = juncture(*arguments, stdin=b"a,b\n1,2\n1\n")
    assert (run.returncode, run.out) == (code, "")
    assert words in run.err


def test_a_probability_of_one_has_the_logarithm_zero():
    assert juncture("query", "alarm", "HR").out.endswith("log p(evidence) = 0.000000\n")


def test_a_picture_is_written_to_the_short_option_as_well(tmp_path):
    assert juncture("draw", "asia", "-o", str(tmp_path / "asia.svg")).returncode == 0
    assert (tmp_path / "asia.svg").read_text().startswith("<svg")
