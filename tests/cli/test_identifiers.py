"""Columns that are identifiers: a note names them, and --ignore leaves columns out."""

from __future__ import annotations

import pytest

import juncture as jt
from support.command_line import juncture


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    path = tmp_path_factory.mktemp("rows") / "rows.csv"
    data = jt.sample(jt.example("cancer"), 200, rng=0).to_dict()
    jt.Dataset({"patient": [f"p{number}" for number in range(200)], **data}).to_csv(path)
    return str(path)


def test_learn_tells_of_an_identifier_and_leaves_it_out(rows):
    run = juncture("learn", rows, "--method", "chow-liu", "--ignore", "Xray")
    assert run.returncode == 0
    assert "the column 'patient' has 200 different values in 200 rows, as an identifier" in run.err
    assert "it is left out (--keep patient keeps it)" in run.err
    assert "patient" not in run.out
    assert "Xray" not in run.out
    run = juncture("learn", rows, "--method", "chow-liu", "--keep", "patient")
    assert (run.err, "patient" in run.out) == ("", True)
    run = juncture("learn", rows, "--method", "chow-liu", "--ignore", "patient")
    assert (run.returncode, run.err) == (0, "")
    assert "patient" not in run.out


def test_fit_leaves_columns_out(rows, tmp_path):
    fitted = str(tmp_path / "fitted.bif")
    run = juncture("fit", "cancer", rows, "--out", fitted, "--ignore", "patient")
    assert (run.returncode, run.err) == (0, "")
    assert "not variables" in juncture("fit", "cancer", rows, "--out", fitted).err
    run = juncture("fit", "cancer", rows, "--out", fitted, "--ignore", "patients")
    assert (run.returncode, "no column 'patients'; did you mean 'patient'?" in run.err) == (1, True)
