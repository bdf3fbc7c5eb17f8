"""`--normalize`: every command that reads a network takes a file of counts."""

from __future__ import annotations

import pytest

from support.command_line import juncture

COUNTS = """net { }
node a { states = ("y" "n"); }
node b { states = ("y" "n"); }
potential (a) { data = (30 10); }
potential (b | a) { data = ((1 3) (0 0)); }
"""
ROWS = "a,b\ny,y\nn,y\ny,n\n"
COMMANDS = {
    "info": [],
    "query": ["b"],
    "mpe": [],
    "separation": ["a", "b"],
    "sample": ["2"],
    "fit": ["rows.csv", "--out", "fitted.bif"],
    "predict": ["rows.csv", "--target", "a"],
    "convert": ["counts.bif"],
    "draw": ["counts.svg"],
}


@pytest.mark.parametrize("command", COMMANDS)
def test_a_file_of_counts_is_read_on_request(command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "counts.net").write_text(COUNTS)
    (tmp_path / "rows.csv").write_text(ROWS)
    refused = juncture(command, "counts.net", *COMMANDS[command])
    assert refused.returncode == 1
    assert "sums to 40; a row must sum to 1 within 0.001." in refused.err
    assert "--normalize divides each by its sum" in refused.err
    done = juncture(command, "counts.net", *COMMANDS[command], "--normalize")
    assert done.returncode == 0, done.err
    assert "2 rows did not sum to 1 and were divided by their sum" in done.err
    assert "1 rows of zeros became uniform" in done.err
