"""Completion in a bash on a terminal, which takes words apart at `=`."""

from __future__ import annotations

import os
import pty
import re
import select
import shutil
import sys

import pytest
from typer._completion_shared import get_completion_script

import juncture as jt
from juncture.cli.reading.completion import SCRIPT, replace_bash_script

CODE = "from juncture.cli.main import run; run()"
NAMES = {"complete_func": "_complete", "autocomplete_var": "_JUNCTURE_COMPLETE", "prog_name": "juncture"}
DEADLINE = 120  # seconds without a letter, after which the shell counts as hung
SETTINGS = r"""
cd "$(dirname "${BASH_SOURCE[0]}")"; PATH=$PWD:$PATH; PS1='ready> '
show() { printf '<%s>' "$@"; echo '<end>'; }
. ./script
"""


@pytest.fixture
def terminal(tmp_path):
    rain = jt.Variable("rain", ["< 0.5", "0.5 or more"])
    jt.write(jt.BayesianNetwork([jt.Conditional(rain, [], [0.5, 0.5])]), tmp_path / "net.json")
    (tmp_path / "script").write_text(SCRIPT % NAMES)
    (tmp_path / "juncture").write_text(f"#!/bin/sh\nexec '{sys.executable}' -c '{CODE}' \"$@\"\n")
    (tmp_path / "juncture").chmod(0o755)
    (tmp_path / "settings").write_text(SETTINGS)
    pid, opened = pty.fork()
    if pid == 0:
        os.environ.update(TERM="dumb", LC_ALL="C.UTF-8", PYTHONPATH=os.pathsep.join(sys.path))
        os.execvp("bash", ["bash", "--noprofile", "--rcfile", str(tmp_path / "settings"), "-i"])  # noqa: S606
    yield opened
    os.close(opened)
    os.waitpid(pid, 0)


def type_line(terminal: int, line: str) -> list[str]:
    """The words of a line in which tabulators were completed."""
    os.write(terminal, f"{line}\x01show \n".encode())  # at the beginning of the line: a command that prints its words
    shown = ""
    while "<end>\r\n" not in shown and select.select([terminal], [], [], DEADLINE)[0]:
        shown += os.read(terminal, 4096).decode(errors="replace")
    return re.findall(r"<(.*?)>", shown.splitlines()[-1 if shown.endswith("<end>\r\n") else -2])[:-1]


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
def test_names_and_states_are_completed_and_quoted(terminal):
    assert type_line(terminal, "juncture query net.json --given ra\t0\t") == [
        *("juncture", "query", "net.json", "--given"),
        "rain=0.5 or more",
    ]


def test_the_command_shows_this_script():
    replace_bash_script()
    arguments = {"prog_name": "a", "complete_var": "A", "shell": "bash"}
    assert get_completion_script(**arguments).count("compopt -o nospace") == 1
