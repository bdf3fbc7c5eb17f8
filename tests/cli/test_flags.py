"""Messages of the library, told by a command, name its flags."""

from __future__ import annotations

import pytest

from juncture.cli.main import use_flags
from support.command_line import juncture

ROWS = "a,b,empty\n1,x,\n,y,\n2,x,\n"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ((), "leave it out with --ignore empty\n"),
        (("--ignore", "empty", "--method", "pc"), "learn with --method structural-em\n"),
    ],
)
def test_learn_is_told_flags(options, words):
    run = juncture("learn", "-", *options, stdin=ROWS.encode())
    assert run.returncode == 1
    assert words in run.err


def test_numbers_beside_text_are_told_the_option_that_cuts_them():
    run = juncture("learn", "-", "--method", "pc", stdin=b"a,b\n1.5,x\n2.5,y\n")
    assert "put the numbers into bins first, juncture learn --bins 5" in run.err
    assert "jt." not in run.err


def test_markers_of_missing_cells_and_rows_of_files_are_told_as_flags(tmp_path):
    run = juncture("predict", "asia", "-", "--target", "lung", stdin=b"smoke\nNA\n")
    assert "add it to --missing" in run.err
    (tmp_path / "net.bif").write_text(
        "network n {}\nvariable a { type discrete [2] { x, y }; }\nprobability (a) { table 2, 2; }\n"
    )
    assert "--normalize divides each by its sum" in juncture("info", str(tmp_path / "net.bif")).err


def test_a_finding_is_no_flag():
    assert use_flags("level=3 and method=x cannot occur together", ["level", "method"]).startswith(
        "level=3 and method=x"
    )
    assert use_flags("take on_unseen='uniform'", ["unseen"]) == "take on_unseen='uniform'"


def test_few_rows_of_many_numbers_are_told_to_take_fewer_parents():
    """Four rows that a line of three parents meets exactly, or that lie on a plane."""
    rows = "a,b,c,d\n" + "".join(f"{i * i}.5,{3 * i % 5}.25,{2**i}.75,{i}.125\n" for i in range(4))
    run = juncture("learn", "-", stdin=rows.encode())
    assert "allow fewer parents with --max-parents, or take --score bge" in run.err
    message = (
        "meets them all; give more rows, drop a parent, or give a prior,"
        " prior={'d': jt.NormalInverseGamma(mean, strength, shape, scale)}"
    )
    wanted = "meets them all; give more rows, or fewer parents (juncture learn --max-parents)"
    assert use_flags(message, ["prior", "score"]) == wanted
    assert juncture("learn", "-", "--max-parents", "1", stdin=rows.encode()).returncode == 0
