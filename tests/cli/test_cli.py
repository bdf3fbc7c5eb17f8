"""The command line, as a user meets it; commands run in this process, which ends as one of their own does."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

import juncture as jt
from support.command_line import OF_USERS, juncture


@pytest.mark.parametrize(
    ("arguments", "stdin"),
    [
        (("predict", "asia", "-", "--target", "lung"), b"either,tub,name\nno,yes,a\nyes,,b\n"),
        (("query", "asai"), b""),
    ],
)
def test_a_process_of_its_own_ends_alike(arguments, stdin):
    command = [sys.executable, "-m", "juncture", *arguments]
    run = subprocess.run(command, env=OF_USERS, input=stdin, capture_output=True, check=False)
    assert juncture(*arguments, stdin=stdin) == (run.returncode, run.stdout, run.stderr)


def test_query_prints_a_table():
    run = juncture("query", "asia", "lung", "bronc", "--given", "xray=yes", "--given", "smoke=no")
    assert run.returncode == 0
    expected = jt.infer(jt.example("asia"), {"xray": "yes", "smoke": "no"})
    assert f"{expected['lung']['yes']:.6f}" in run.out
    assert "asia given xray=yes, smoke=no" in run.out
    assert "junction-tree, exact" in run.out
    assert "\x1b" not in run.out


def test_query_as_json():
    run = juncture("query", "asia", "lung", "-g", "xray=yes", "--likelihood", "dysp=0.5,1", "--json")
    document = json.loads(run.out)
    expected = jt.infer(jt.example("asia"), {"xray": "yes", "dysp": [0.5, 1]})
    assert document["log_evidence"] == expected.log_evidence
    assert document["marginals"]["lung"] == [
        {"state": label, "probability": p} for label, p in expected["lung"].to_dict().items()
    ]


def test_mpe_lists_the_best():
    run = juncture("mpe", "weather", "-k", "2", "--json")
    best = json.loads(run.out)["best"]
    assert best[0]["assignment"] == {"X1": "Sunny", "X2": "T", "X3": "T"}
    assert len(best) == 2
    assert "0.384" in juncture("mpe", "weather").out


def test_sample_writes_csv(tmp_path):
    path = tmp_path / "rows.csv"
    assert juncture("sample", "asia", "50", "--seed", "1", "--out", str(path)).returncode == 0
    rows = jt.Dataset(str(path), variables=jt.example("asia").variables)
    assert rows == jt.sample(jt.example("asia"), 50, rng=1)
    assert juncture("sample", "asia", "50", "--seed", "1").out == path.read_text()
    given = juncture("sample", "asia", "5", "--given", "smoke=yes").out
    assert given.count("\n") == 6


def test_convert_and_standard_streams(tmp_path):
    bif, net = tmp_path / "asia.bif", tmp_path / "asia.net"
    assert juncture("convert", "asia", str(bif)).returncode == 0
    assert juncture("convert", str(bif), str(net)).returncode == 0
    assert jt.read(net) == jt.example("asia")
    printed = juncture("convert", "asia", "-")
    assert juncture("info", "-", "--json", stdin=printed.stdout).returncode == 0


def test_draw_writes_svg(tmp_path):
    path = tmp_path / "asia.svg"
    assert juncture("draw", "asia", str(path), "--given", "xray=yes").returncode == 0
    assert path.read_text().startswith("<svg")
    assert juncture("draw", "alarm", "-").out.startswith("<svg")


def test_info_tells_sizes_and_zeros():
    run = juncture("info", "asia")
    assert "parameters" in run.out
    assert "note: either has 4 zero entries" in run.out
    facts = json.loads(juncture("info", "student", "--json").out)
    assert (facts["parameters"], facts["joint_parameters"]) == (15, 47)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("query", "asai"), "did you mean 'asia'"),
        (("query", "asia", "lungs"), "did you mean 'lung'"),
        (("query", "asia", "--given", "smokes=yes"), "did you mean 'smoke'"),
        (("query", "asia", "--given", "smoke=maybe"), "'smoke' has no state 'maybe'"),
        (("query", "asia", "--given", "smoke=yes", "--given", "smoke=no"), "given twice"),
        (("query", "asia", "--given", "lung=yes", "--given", "either=no"), "cannot occur together"),
        (("query", "alarm", "--method", "enumeration"), "joint states"),
        (("convert", "asia", "asia.xyz"), "belongs to no format"),
        (("convert", "asia", "/nowhere/asia.bif"), "nowhere"),
    ],
)
def test_what_cannot_be_answered_exits_with_1_and_one_sentence(arguments, words):
    run = juncture(*arguments)
    assert run.returncode == 1
    assert run.out == ""
    assert run.err.startswith("juncture: ")
    assert words in run.err
    assert run.err.count("\n") == 1
    assert "Traceback" not in run.err


def test_wrong_usage_exits_with_2():
    assert juncture("query").returncode == 2
    assert juncture("query", "asia", "--colour").returncode == 2
    assert juncture("sample", "asia", "many").returncode == 2


def test_version():
    assert juncture("--version").out == f"juncture {jt.__version__}\n"


def test_the_package_runs_as_a_module():
    run = subprocess.run([sys.executable, "-m", "juncture", "--version"], capture_output=True, check=True)
    assert run.stdout.decode() == f"juncture {jt.__version__}\n"


@pytest.mark.parametrize("arguments", [("separation", "asia", "tub", "bronc"), ("info", "asia", "--json")])
def test_it_ends_quietly_when_nobody_reads(arguments):
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-m", "juncture", *arguments]
    run = subprocess.run(command, env=OF_USERS, stdout=writing, stderr=subprocess.PIPE, check=False)
    os.close(writing)
    assert (run.returncode, run.stderr) == (0, b"")
