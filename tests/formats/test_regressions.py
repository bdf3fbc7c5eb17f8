"""Mistakes that readers and writers have made, each with the smallest file or model that shows it."""

from __future__ import annotations

import gzip

import pytest

import juncture as jt
from juncture.errors import MAX_MESSAGE, FormatError
from juncture.formats.uai_evidence import write_evidence
from juncture.formats.uai_results import Result, write_result
from support.bounded import bounded

COIN = jt.BayesianNetwork([jt.Conditional(jt.Variable("x0", 2), [], [0.25, 0.75])])


def test_a_small_file_is_read_in_little_memory(tmp_path):
    """The limit for files was once asked for as a buffer, a gigabyte for every file."""
    jt.write(COIN, tmp_path / "coin.uai")
    jt.write(COIN, tmp_path / "coin.uai.gz")
    with bounded(5, megabytes=50):
        assert jt.read(tmp_path / "coin.uai") == jt.read(tmp_path / "coin.uai.gz") == COIN


def test_damaged_bytes_inside_a_gzip_file_are_a_format_error(tmp_path):
    path = tmp_path / "coin.uai.gz"
    packed = bytearray(gzip.compress(b"BAYES 1 2 1 1 0 2 0.25 0.75", mtime=0))
    packed[12] ^= 0xFF
    path.write_bytes(packed)
    with pytest.raises(FormatError, match="not a complete gzip file"):
        jt.read(path)


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r", " \n  "])
def test_a_label_of_bif_broken_over_lines_is_one_that_can_be_written(line_end, tmp_path):
    path = tmp_path / "broken.bif"
    states = f"{{ very{line_end}low, high }}"
    rows = f"(very{line_end}low) 0.5, 0.5; (high) 0.25, 0.75;"
    path.write_text(
        f"network n {{ }} variable a {{ type discrete [ 2 ] {states}; }} variable b {{ type discrete [ 2 ] {states}; }}"
        f"probability ( a ) {{ table 0.5, 0.5; }} probability ( b | a ) {{ {rows} }}",
        newline="",
    )
    model = jt.read(path)
    jt.write(model, path)

    assert model.variable("a").states == ("very low", "high")
    assert jt.read(path) == model


def test_a_quoted_name_of_bif_ends_on_its_line_also_with_old_line_ends(tmp_path):
    path = tmp_path / "unclosed.bif"
    path.write_text('network n { }\nvariable "a\rb" { type discrete [ 1 ] { x }; }', newline="")
    with pytest.raises(FormatError, match="2: this quoted text is not closed on its line"):
        jt.read(path)


@pytest.mark.parametrize("state", [10**640 - 1, 1 - 10**640])
def test_the_longest_integers_of_json_are_read_with_either_sign(state, tmp_path):
    model = jt.BayesianNetwork([jt.Conditional(jt.Variable("x0", [state, 1]), [], [0.25, 0.75])])
    jt.write(model, tmp_path / "long.json")

    assert jt.read(tmp_path / "long.json") == model


@pytest.mark.parametrize("suffix", [".xmlbif", ".xdsl"])
def test_foreign_digits_are_no_numbers_in_xml(suffix, tmp_path):
    path = tmp_path / f"digits{suffix}"
    jt.write(COIN, path)
    path.write_text(path.read_text().replace("0.75", "٠.٧٥"), encoding="utf-8")
    with pytest.raises(FormatError, match="not a number"):
        jt.read(path)


def test_what_is_wrong_with_a_whole_document_has_a_line(tmp_path):
    """Cycles, missing children and deep nesting came without one in JSON and UAI."""
    path = tmp_path / "deep.json"
    path.write_text('\n{"a": "[[[[",\n' + "[" * 100)
    with pytest.raises(FormatError, match="3: the document is nested more than"):
        jt.read(path)
    path = tmp_path / "cycle.uai"
    path.write_text("BAYES 2 2 2 2\n2 1 0\n2 0 1\n4 1 0 1 0 4 1 0 1 0")
    with pytest.raises(FormatError, match="2: a directed graph must have no cycle"):
        jt.read(path)
    path.write_text("BAYES 2 2 2 1\n1 0\n2 1 0")
    with pytest.raises(FormatError, match="2: no function has the child x1"):
        jt.read(path)


def test_messages_stay_short_whatever_the_names(tmp_path):
    name = "a" * 100_000
    path = tmp_path / "long.bif"
    path.write_text(f"network n {{ }} variable {name} {{ type discrete [ 1 ] {{ x }}; }}" * 2)
    with pytest.raises(FormatError) as caught:
        jt.read(path)
    assert len(caught.value.message) <= MAX_MESSAGE


def test_evidence_and_results_are_written_whole_or_not_at_all(tmp_path):
    (tmp_path / "folder.evid").mkdir()
    with pytest.raises(OSError, match="folder"):
        write_evidence({"x0": 1}, COIN, tmp_path / "folder.evid")
    with pytest.raises(OSError, match="folder"):
        write_result(Result("PR", (0.5,)), tmp_path / "folder.evid")
    assert len(list(tmp_path.iterdir())) == 1
    write_evidence({"x0": 1}, COIN, tmp_path / "coin.evid.GZ")
    assert jt.read_evidence(tmp_path / "coin.evid.GZ", COIN) == {"x0": 1}
