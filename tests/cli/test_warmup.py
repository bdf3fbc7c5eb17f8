"""`juncture warmup` says what it compiles: by a bar on a terminal, else by lines."""

from __future__ import annotations

import io

import pytest
from typer.testing import CliRunner

import juncture.cli.warmup
from juncture.cli import warmup as command
from juncture.cli.main import app
from juncture.cli.printing.output import console


@pytest.fixture
def asked(monkeypatch):
    """Subjects that compile nothing; the list of those that were asked."""
    asked: list[str] = []
    subjects = {name: lambda name=name: asked.append(name) for name in ("one thing", "another")}
    monkeypatch.setattr(juncture.cli.warmup, "SUBJECTS", subjects)
    monkeypatch.setenv("JUNCTURE_NUM_THREADS", "1")
    return asked


def test_a_line_for_each_subject(asked):
    answer = CliRunner().invoke(app, ["warmup"])
    assert answer.exit_code == 0, answer.output
    assert answer.output.splitlines()[1:-1] == asked == ["one thing", "another"]
    assert answer.output.splitlines()[-1].startswith("done in ")


def test_a_bar_on_a_terminal(asked, monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    screen = Terminal()
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(command, "console", lambda: console(screen))
    command.warmup()
    assert asked == ["one thing", "another"]
    assert "/2" in screen.getvalue()
    assert "done in " in screen.getvalue()


def test_two_processes_share_the_subjects(monkeypatch):
    begun: list[str] = []
    monkeypatch.setattr(juncture.cli.warmup, "SECOND_PROCESS", "import sys; print(*sys.argv[1:], sep='\\n')")
    monkeypatch.setattr(
        juncture.cli.warmup, "warm_up", lambda begin, subjects: [begin(subject) for subject in subjects]
    )
    juncture.cli.warmup.warm_up_in_two_processes(begun.append)
    assert sorted(begun) == sorted(juncture.cli.warmup.SUBJECTS)


def test_a_second_process_that_fails_is_told(monkeypatch, asked):
    monkeypatch.setattr(juncture.cli.warmup, "SECOND_PROCESS", "raise SystemExit(1)")
    with pytest.raises(juncture.JunctureError, match="a process that compiled kernels has failed"):
        juncture.cli.warmup.warm_up_in_two_processes(lambda subject: None)


def test_without_numba_there_is_nothing_to_compile(monkeypatch):
    monkeypatch.setattr("juncture.base.compilation.can_compile", lambda: False)
    answer = CliRunner().invoke(app, ["warmup"])
    told = "there is nothing to compile: Numba is not installed, and kernels run interpreted"
    assert " ".join(answer.output.split()) == told
