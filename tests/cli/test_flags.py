"""Messages of the library, told by a command, name its flags."""

from __future__ import annotations

import pytest

from juncture.cli.printing.flags import use_flags
from support.command_line import juncture

ROWS = "a,b,empty\n1,x,\n,y,\n2,x,\n"


def test_learn_is_told_flags():
    run = juncture("learn", "-", "--method", "pc", stdin=ROWS.encode())
    assert run.returncode == 1
    assert "the column 'empty' has no value; it is left out" in run.err
    assert "learn with --method structural-em\n" in run.err


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


@pytest.mark.parametrize(
    ("message", "wanted"),
    [
        ("turn it round, or put 'x' into bins with jt.Discretizer", "put 'x' into bins with juncture learn --bins"),
        ("planning takes longer than the budget leaves; raise it, or plan ahead with jt.compile", "a longer --budget"),
        ("chains are stuck; give blocks= of variables that change together, or infer by another method",
         "chains are stuck; take another --method"),
        ("no start found; give more starts= or a start= that is possible, or infer by another method",
         "no start found; take another --method"),
        ("had not converged: more steps, or damping=0.5, may help", "had not converged: another --method may help"),
        ("there is none: try damping=0.5, or method='exact'", "there is none: take --method exact"),
        ("among the targets: leave targets= out, or use method='exact'",
         "among the targets: name no variables, or use --method exact"),
        ("too rare for rejection; raise max_tries=, or use method='importance'",
         "too rare for rejection; use --method importance"),
        ("no column 'a' (a variable that is never observed goes into latent=['a'], for a graph into variables=[…])",
         "no column 'a' (--latent a is for a variable that is never observed)"),
        ("has more required parents than max_parents=2", "has more required parents than --max-parents 2"),
        ("cells occur: set max_parents, or group", "cells occur: set --max-parents, or group"),
        ("'x' cannot be learned; keep it as it is with fixed=['x']", "'x' cannot be learned by this command"),
        ("2 GiB: observe more, ask for fewer targets, or raise memory_limit", "observe more, ask for fewer targets"),
        ("there the child is uniform: give a prior to change this", "there the child is uniform: give a --prior"),
        ("the rows leave no noise: give more rows, drop a parent, or give a prior, a jt.NormalInverseGamma",
         "give more rows, or fewer parents (juncture learn --max-parents)"),
    ],
)  # fmt: skip
def test_proposals_in_python_become_proposals_of_commands(message, wanted):
    told = use_flags(message, ["method", "prior", "budget"])
    assert told.endswith(wanted) or wanted in told
    for word in ("jt.", "targets=", "starts=", "blocks=", "damping", "max_tries", "variables=", "memory_limit"):
        assert word not in told


def test_engines_are_told_apart_by_flags():
    run = juncture("query", "asia", "tub", "bronc", "--joint", "--method", "loopy")
    assert run.err.endswith("no factor has 'tub', 'bronc': leave out --joint, or take another --method\n")
    run = juncture("mpe", "asia", "lung", "--method", "max-product")
    assert (run.returncode, "jt." in run.err, "targets=" in run.err) == (1, False, False)
