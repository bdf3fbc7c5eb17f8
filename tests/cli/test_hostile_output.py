"""What the command line prints when names hold control characters, numbers are huge, or nobody listens."""

from __future__ import annotations

import contextlib
import errno
import itertools
import json
import math
import os
import pty
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import juncture as jt
from juncture.cli import sample as juncture_sample
from juncture.cli.commands import COMMANDS, load_command
from juncture.cli.info import info, joint_parameters
from juncture.data.files.writers import CsvColumn
from juncture.errors import CONTROLS, escape_controls
from juncture.learning.em.steps import EMSteps
from juncture.runtime import files
from support.command_line import OF_USERS, juncture

EVIL = "a\x1b]0;title\x07\x1b[2J\n\r\u202e\x9b[bold red]name[/]:smile:"
STATE = "yes\x1b[31m\x7f[red]"


@pytest.fixture(scope="module")
def network(tmp_path_factory):
    """Two variables with names and states that a terminal would obey."""
    evil, other = jt.Variable(EVIL, [STATE, "no"]), jt.Variable("b", ["[bold]x", "\x08y"])
    model = jt.BayesianNetwork(
        [jt.Conditional(evil, [], [0.0, 1.0]), jt.Conditional(other, [evil], [[0.5, 0.5], [0.1, 0.9]])]
    )
    path = tmp_path_factory.mktemp("networks") / "evil.json"
    jt.write(model, path)
    rows = path.parent / "rows.csv"
    jt.sample(model, 20, rng=0).to_csv(rows)
    return str(path), str(rows)


EACH = """
import json, os, sys
from juncture.cli.main import run
for arguments in json.loads(os.environ["COMMANDS"]):
    sys.argv = ["juncture", *arguments]
    try:
        run()
    except SystemExit:
        print("=====", flush=True)
"""


def on_terminal(several: list[tuple[str, ...]]) -> list[str]:
    """What a terminal without colours is sent by each of several commands."""
    reading, writing = pty.openpty()
    environment = {**OF_USERS, "TERM": "dumb", "COMMANDS": json.dumps(several)}
    process = subprocess.Popen([sys.executable, "-c", EACH], stdout=writing, stderr=writing, env=environment)
    os.close(writing)
    parts = []
    with contextlib.suppress(OSError):  # the other end is closed
        while part := os.read(reading, 65536):
            parts.append(part)
    process.wait()
    os.close(reading)
    return b"".join(parts).decode().replace("\r\n", "\n").split("=====\n")[:-1]


def commands(path: str, rows: str) -> list[tuple[str, ...]]:
    out = path.replace("evil.json", "out.json")
    return [
        ("info", path), ("info", path, "--json"), ("query", path), ("query", path, "--json", "-g", "b=[bold]x"),
        ("query", path, EVIL + "?"), ("query", path, "-g", f"{EVIL}=\x1b"), ("query", path, "-g", f"{EVIL}={STATE}"),
        ("mpe", path), ("mpe", path, "--json"), ("separation", path, EVIL, "b"), ("sample", path, "3"),
        ("predict", path, rows, EVIL), ("convert", path, "-"), ("draw", path, "-"), ("fit", path, rows, "--out", out),
        ("learn", rows, "--out", out), ("info", "\x1b[31m/nofile\n"), ("query", path, "--\x1b[31m"), ("\x1b[31mno",),
    ]  # fmt: skip


def test_no_control_character_reaches_a_terminal(network):
    several = commands(*network)
    texts = on_terminal(several)
    assert len(texts) == len(several)
    for arguments, text in zip(several, texts, strict=True):
        found = {hex(ord(match)) for match in CONTROLS.findall(text)} - {"0xa", "0x9"}
        assert not found, (arguments, text)
        assert "Traceback" not in text, (arguments, text)


def test_markup_in_names_is_text(network):
    printed = juncture("query", network[0]).stdout.decode()
    assert "[bold red]name[/]:smile:" in printed
    assert "\\x1b]0;title\\x07\\x1b[2J\\n\\r\\u202e\\x9b" in printed
    assert "yes\\x1b[31m\\x7f[red]" in printed
    assert "[bold]x" in printed


def test_data_are_the_same_in_a_pipe(network):
    """Only a terminal is spared: files and pipes get what the model holds."""
    document = json.loads(juncture("query", network[0], "--json").stdout)
    assert set(document["marginals"]) == {EVIL, "b"}
    command = [sys.executable, "-m", "juncture", "sample", network[0], "20", "--seed", "0"]
    rows = subprocess.run(command, env=OF_USERS, capture_output=True, check=True).stdout
    assert rows == Path(network[1]).read_bytes()
    assert jt.read(network[0]).variables.names == (EVIL, "b")


def test_every_control_character_is_escaped():
    everything = "".join(map(chr, range(0x2100)))
    assert escape_controls("tab\tline\nescape\x1b ü ñ 語") == "tab\\tline\\nescape\\x1b ü ñ 語"
    assert all(ord(c) >= 0x20 and not 0x7F <= ord(c) < 0xA0 for c in escape_controls(everything))


CLOSED = [
    ("query asia lung", ">&-"), ("info asia --json", "2>&- >&-"), ("sample asia 20000", "| head -c 1 >/dev/null"),
    ("--version", ">&-"),
]  # fmt: skip


@pytest.mark.parametrize(("arguments", "end"), CLOSED)
def test_a_closed_output_ends_quietly(arguments, end):
    line = f"set -o pipefail; {sys.executable} -m juncture {arguments} {end}"
    run = subprocess.run(["bash", "-c", line], env=OF_USERS, capture_output=True, check=False)
    assert (run.returncode, run.stdout, run.stderr) == (0, b"", b"")


def test_a_full_disk_is_told_in_one_line():
    with Path("/dev/full").open("wb") as full:
        command = [sys.executable, "-m", "juncture", "info", "asia"]
        run = subprocess.run(command, env=OF_USERS, stdout=full, stderr=subprocess.PIPE, check=False)
    assert run.returncode == 1
    assert run.stderr == b"juncture: No space left on device: standard output\n"


# each option and argument that names a file to write; the inputs do not exist: the output is tried first
OUTPUTS = {
    ("sample", "out"): "sample none.json 5 --out OUT.csv",
    ("fit", "out"): "fit none.json none.csv --out OUT.json",
    ("fit", "resume"): "fit none.json none.csv --out - --resume OUT.json",
    ("learn", "out"): "learn none.csv --out OUT.bif",
    ("predict", "out"): "predict none.json none.csv --target x --out OUT.parquet",
    ("compare", "report"): "compare none.csv --target x --report OUT.html",
    ("cluster", "out"): "cluster none.csv --out OUT.csv.gz",
    ("cluster", "model"): "cluster none.csv --model OUT.json",
    ("convert", "target"): "convert none.json OUT.net",
    ("draw", "target"): "draw none.json OUT.svg",
    ("draw", "out"): "draw none.json --out OUT.svg",
}


def test_every_output_is_tried():
    found = set()
    for name in COMMANDS:
        for each in load_command(name).params:
            if each.name in {"out", "resume", "report", "model"} or (each.name == "target" and each.metavar == "FILE"):
                found.add((name, each.name))
    assert found == set(OUTPUTS)


def refusal(line: str, folder: Path) -> str:
    """What a command says of its output, and that it leaves nothing behind."""
    before = set(folder.iterdir())
    ended = juncture(*line.replace("OUT", str(folder / "out")).split())
    assert ended.returncode == 1
    assert set(folder.iterdir()) == before
    (told,) = ended.err.splitlines()
    return told.replace(str(folder), "")


@pytest.mark.parametrize("line", OUTPUTS.values())
def test_outputs_are_tried_before_the_work(line, tmp_path, monkeypatch):
    out = next(word for word in line.split() if word.startswith("OUT")).replace("OUT", "out")
    (tmp_path / out).mkdir()
    assert refusal(line, tmp_path) == f"juncture: this is a folder; give the name of a file: /{out}"
    (tmp_path / out).rmdir()
    (tmp_path / out).symlink_to(tmp_path / out)
    assert refusal(line, tmp_path) == f"juncture: Too many levels of symbolic links: /{out}"
    (tmp_path / out).unlink()
    assert refusal(line.replace("OUT", "OUT/none"), tmp_path).startswith("juncture: /out/none")
    for place, number in (("open", errno.EROFS), ("open", errno.EACCES), ("fsync", errno.ENOSPC)):
        with monkeypatch.context() as patched:
            patched.setattr(files.os, place, failing(getattr(os, place), number, tmp_path))
            assert refusal(line, tmp_path) == f"juncture: {os.strerror(number)}: /{out}"


def failing(call, number, folder):
    """The call of the operating system, which fails for files of the folder."""

    def fail(file, *others):
        name = Path(f"/proc/self/fd/{file}").readlink() if isinstance(file, int) else Path(file)
        if name.parent == folder and name.name.endswith(".unfinished"):
            raise OSError(number, os.strerror(number), str(name))
        return call(file, *others)

    return fail


# --- signals ---------------------------------------------------------------------------------------------------------

SIGNALS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]


@pytest.fixture
def heeded():
    """Every signal has its handler of the start: a run under nohup would have one ignored."""
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGHUP, before)


@pytest.mark.usefixtures("heeded")
@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_keeps_the_best_so_far(number, tmp_path, monkeypatch):
    """EM that a signal ends in its third step: the model of the second is written, and the command exits with 130."""
    rows, out = tmp_path / "rows.csv", tmp_path / "out.json"
    rows.write_text("smoke,lung,bronc\n" + "yes,,no\nno,no,yes\n,yes,yes\n" * 10)
    step, count = EMSteps.step, itertools.count(1)

    def signalled(steps, state):
        if next(count) == 3:
            signal.raise_signal(number)
        return step(steps, state)

    monkeypatch.setattr(EMSteps, "step", signalled)
    before = [signal.getsignal(each) for each in SIGNALS]
    latent = [word for name in ("asia", "tub", "either", "xray", "dysp") for word in ("--latent", name)]
    ended = juncture("fit", "asia", str(rows), "--out", str(out), *latent)
    assert ended.returncode == 130
    assert "interrupted after step 2" in ended.out
    assert jt.read(out).variables == jt.example("asia").variables
    assert [signal.getsignal(each) for each in SIGNALS] == before


@pytest.mark.usefixtures("heeded")
@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_leaves_no_unfinished_file(number, tmp_path, monkeypatch):
    cells, out = CsvColumn.cells, tmp_path / "rows.csv"
    out.write_bytes(b"old")

    def signalled(column, start, stop):
        assert len(list(tmp_path.iterdir())) == 2
        signal.raise_signal(number)
        return cells(column, start, stop)

    monkeypatch.setattr(CsvColumn, "cells", signalled)
    ended = juncture("sample", "asia", "5", "--out", str(out))
    assert (ended.returncode, ended.err) == (130, "juncture: interrupted\n")
    assert [path.name for path in tmp_path.iterdir()] == ["rows.csv"]
    assert out.read_bytes() == b"old"


def test_a_signal_that_is_ignored_stays_so(monkeypatch):
    """As under nohup."""
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        monkeypatch.setattr(juncture_sample, "save_rows", lambda *_: signal.raise_signal(signal.SIGHUP))
        assert juncture("sample", "asia", "5").returncode == 0
    finally:
        signal.signal(signal.SIGHUP, before)


def test_a_closed_terminal_keeps_the_best_so_far(tmp_path):
    """A bar is on a terminal when it closes."""
    rows, out = tmp_path / "rows.csv", tmp_path / "out.json"
    rows.write_text("smoke,lung,bronc,asia,tub,either,xray,dysp\n" + "yes,,no,no,,no,,yes\nno,no,,no,no,no,no,\n" * 10)
    process, terminal = pty.fork()
    if not process:
        signal.signal(signal.SIGHUP, signal.SIG_DFL)  # which a run under nohup would leave ignored
        command = [sys.executable, "-m", "juncture", "fit", "asia", str(rows), "--out", str(out)]
        os.execve(command[0], [*command, "--restarts", "1000000"], OF_USERS)  # noqa: S606
    shown = b""
    while b"step " not in shown:
        shown += os.read(terminal, 4096)
    os.close(terminal)
    assert os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) == 130
    assert [path.name for path in sorted(tmp_path.iterdir())] == ["out.json", "rows.csv"]
    assert jt.read(out) != jt.example("asia")


def test_the_joint_tables_of_large_networks_are_powers_of_ten(tmp_path, capsys):
    for sizes in ([2, 3], [10] * 14, [2] * 49, [7] * 17):
        assert joint_parameters(sizes) == math.prod(sizes) - 1
    for sizes in ([10] * 15, [2] * 2000, [21] * 1041, [3] * 100_000, [99] * 400):
        mantissa, exponent = joint_parameters(sizes).split("e+")
        logarithm = math.fsum(map(math.log10, sizes))
        assert 1 <= float(mantissa) < 10
        assert math.log10(float(mantissa)) + int(exponent) == pytest.approx(logarithm, abs=3e-4)
    variables = [jt.Variable(f"v{i}", 10) for i in range(400)]
    model = jt.BayesianNetwork([jt.Conditional(v, [], [0.1] * 10) for v in variables])
    jt.write(model, tmp_path / "large.json")
    info(str(tmp_path / "large.json"))
    assert "1.000e+400" in capsys.readouterr().out
    info(str(tmp_path / "large.json"), json=True)
    assert json.loads(capsys.readouterr().out)["joint_parameters"] == "1.000e+400"
