"""`juncture warmup` says what it compiles: by a bar on a terminal, else by lines."""

from __future__ import annotations

import io

import pytest
from typer.testing import CliRunner

import juncture.warmup
from juncture.cli import warmup as command
from juncture.cli.main import app
from juncture.cli.output import console


@pytest.fixture
def asked(monkeypatch):
    """Subjects that compile nothing; the list of those that were asked."""
    asked: list[str] = []
    subjects = {name: lambda name=name: asked.append(name) for name in ("one thing", "another")}
    monkeypatch.setattr(juncture.warmup, "SUBJECTS", subjects)
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
