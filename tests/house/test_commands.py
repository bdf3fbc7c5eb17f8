"""Every command has help, and an example that stands in the documentation, whose commands run."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest
from typer.testing import CliRunner

from juncture.cli import commands
from juncture.cli.main import app

ROOT = Path(__file__).resolve().parents[2]
COMMANDS = {name: getattr(import_module(f"juncture.cli.{name}"), name) for name in commands.COMMANDS}


def example_of(command) -> str:
    found = re.search(r"Example: (juncture .+)", command.__doc__ or "")
    assert found, f"{command.__name__} shows no example"
    return found.group(1)


@pytest.mark.parametrize("name", COMMANDS)
def test_help_tells_what_the_command_does(name):
    answer = CliRunner().invoke(app, [name, "--help"], terminal_width=200)
    assert answer.exit_code == 0
    assert "Example: juncture " + name in answer.stdout


@pytest.mark.parametrize("name", COMMANDS)
def test_the_list_says_the_first_sentence_of_the_help(name):
    assert commands.COMMANDS[name] == COMMANDS[name].__doc__.splitlines()[0]


def test_the_list_imports_no_command():
    code = (
        "import sys; from juncture.cli.main import app; app(['--help'], standalone_mode=False);"
        " print([m for m in ('numpy', 'numba', 'juncture.cli.query') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.endswith("[]\n")


@pytest.mark.parametrize("name", COMMANDS)
def test_the_example_is_documented(name):
    """As a line of its own, which `test_docs.py` runs."""
    lines = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8").splitlines()
    assert f"$ {example_of(COMMANDS[name])}" in lines
