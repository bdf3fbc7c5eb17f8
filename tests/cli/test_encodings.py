"""Standard streams that are not UTF-8: data and documents are UTF-8 all the same; tables show what the encoding has."""

from __future__ import annotations

import json
import re
import subprocess
import sys

import pytest

import juncture as jt
from juncture.cli.commands import COMMANDS, list_options
from support.command_line import OF_USERS, juncture

ENCODINGS = ("ascii", "latin-1", "cp1252")
# arguments of each command, all of whose rows or models come from standard input
LINES = {
    "info": ["-"],
    "examples": [],
    "query": ["-", "--given", "größe=á"],
    "mpe": ["-", "--given", "größe=á"],
    "separation": ["-", "größe", "é"],
    "sample": ["-", "40", "--seed", "1"],
    "fit": ["MODEL", "-", "--out", "-", "--prior", "1"],
    "learn": ["-", "--out", "-"],
    "predict": ["MODEL", "-", "--target", "größe"],
    "evaluate": ["MODEL", "-"],
    "compare": ["-", "--target", "größe", "--learners", "naive-bayes", "--folds", "2", "--repeats", "1"],
    "cluster": ["-", "--components", "2", "--restarts", "0"],
    "advise": ["-"],
    "convert": ["-", "-"],
    "draw": ["-", "-", "--beliefs"],
}
OF_ROWS = {"fit", "learn", "predict", "evaluate", "compare", "cluster"}
DATA_AS_SUCH = {"sample", "fit", "learn", "predict", "cluster", "convert", "draw"}  # without --json


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    """The file of a network with letters of many alphabets, and what standard input gives: models and rows."""
    folder = tmp_path_factory.mktemp("letters")
    size, mark = jt.Variable("größe", ["à", "á", "日本"]), jt.Variable("é", ["€", "ß", "é", "e\u0301"])
    tables = [[0.5, 0.2, 0.1, 0.2], [0.1, 0.6, 0.2, 0.1], [0.3, 0.3, 0.1, 0.3]]
    network = jt.BayesianNetwork([jt.Conditional(size, [], [0.2, 0.3, 0.5]), jt.Conditional(mark, [size], tables)])
    choice = jt.Variable("wählen", ["日本", "à"])
    decision = jt.DecisionNetwork(
        [network["größe"], jt.Decision(choice, []), jt.Utility([size, choice], [[3, 1], [0, 2], [1, 1]])]
    )
    for name, model in (("model.json", network), ("decision.json", decision)):
        jt.write(model, folder / name)
    jt.sample(network, 120, rng=0).to_csv(folder / "rows.csv")
    return folder


def variants(command: str) -> list[tuple[bool, list[str]]]:
    """The ways in which a command writes to standard output: whether data or a table, and its arguments."""
    line = LINES[command]
    plain = [] if command in {"fit", "learn"} else ["--json"]  # with --out - the document is the output
    found = [(command in DATA_AS_SUCH, line)]
    if "json" in list_options([command]) and plain:
        found.append((True, [*line, *plain]))
    return [*found, (True, [*line, "--report", "-"])] if command == "compare" else found


def given(command: str, folder) -> bytes:
    name = "rows.csv" if command in OF_ROWS else "decision.json" if command == "advise" else "model.json"
    return (folder / name).read_bytes()


def without_times(data: bytes) -> bytes:
    """`compare` prints how many seconds learners took."""
    return re.sub(rb'("seconds": |<td[^>]*>)[0-9.e-]+', rb"\1", data)


def test_every_command_is_tried():
    assert {*LINES, "warmup"} == set(COMMANDS)


@pytest.mark.parametrize("command", LINES)
def test_data_are_utf8_whatever_the_streams_are(command, inputs):
    for number, (is_data, line) in enumerate(variants(command)):
        arguments = [str(inputs / "model.json") if word == "MODEL" else word for word in line]
        stdin = given(command, inputs)
        wanted = juncture(command, *arguments, stdin=stdin)
        assert wanted.returncode == 0, wanted.err
        for encoding in ENCODINGS[number : number + 1] if command == "compare" else ENCODINGS:  # which takes a second
            found = juncture(command, *arguments, stdin=stdin, encoding=encoding)
            assert found.returncode == 0, found.stderr
            if is_data:
                assert without_times(found.stdout) == without_times(wanted.stdout)
            else:
                found.stdout.decode(encoding)
                assert b"?" not in found.stdout
            assert b"?" not in found.stderr
        if is_data and "--json" in line:
            assert json.loads(wanted.stdout)


def test_letters_that_differ_are_shown_as_different(inputs):
    """A table for the eye: `à` and `á` are both lacking in ASCII, and stay apart; columns keep their widths."""
    printed = juncture("query", str(inputs / "model.json"), encoding="ascii").stdout.decode("ascii")
    assert "\\xe0" in printed
    assert "\\xe1" in printed
    rows = [line for line in printed.splitlines() if line.startswith("|")]
    assert len({len(line) for line in rows}) == 1


def test_the_script_itself_in_a_pipe(inputs):
    """Rows out of one command and into another, each a process of its own."""
    environment = {**OF_USERS, "PYTHONIOENCODING": "cp1252", "PYTHONUTF8": "0", "LC_ALL": "C"}
    command = [sys.executable, "-m", "juncture"]
    rows = subprocess.run(
        [*command, "sample", str(inputs / "model.json"), "120", "--seed", "0"],
        env=environment, capture_output=True, check=True,
    ).stdout  # fmt: skip
    assert rows == (inputs / "rows.csv").read_bytes()
    learned = [*command, "fit", str(inputs / "model.json"), "-", "--out", "-"]
    document = subprocess.run(learned, env=environment, input=rows, capture_output=True, check=True).stdout
    assert document == juncture(*learned[3:], stdin=rows).stdout
    assert "größe" in document.decode()


def test_rows_in_another_encoding_are_refused(inputs):
    """Not read as other letters."""
    rows = (inputs / "rows.csv").read_text(encoding="utf-8").replace("日本", "x").replace("e\u0301", "y")
    for encoding in ENCODINGS:
        ended = juncture("learn", "-", stdin=rows.encode("cp1252"), encoding=encoding)
        assert ended.returncode == 1
        assert b"standard input: not readable as text in UTF-8, but perhaps Windows-1252" in ended.stderr


def test_a_file_name_that_is_no_text_is_told_in_json(inputs):
    """Python has bytes of a name that are not UTF-8 as half surrogates, which JSON writes as escapes."""
    name = inputs / "\udcff.json"
    name.write_bytes((inputs / "model.json").read_bytes())
    ended = juncture("query", str(name), "--json")
    assert ended.returncode == 0
    assert json.loads(ended.stdout)["network"] == str(name)
