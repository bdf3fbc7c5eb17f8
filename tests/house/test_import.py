"""`import juncture` stays light: under 0.2 s of processor time beyond NumPy's own import, and brings nothing heavy."""

from __future__ import annotations

import importlib
import json
import pkgutil
import subprocess
import sys

import juncture

HEAVY = {"numba", "sklearn", "pandas", "polars", "pyarrow", "matplotlib", "networkx", "typer", "rich"}

PROBE = """
import json, sys, time
import numpy
start = time.process_time()
import juncture
seconds = time.process_time() - start
{use}
print(json.dumps([seconds, sorted(sys.modules)]))
"""

SCIPY = {"scipy.linalg", "scipy.special", "scipy.stats", "scipy.optimize", "scipy.sparse", "scipy.integrate"}

USE = """
juncture.infer(juncture.example("asia"), {"xray": "yes"}).to_dict()
"""


def probe(use: str = "") -> tuple[float, set[str]]:
    code = PROBE.format(use=use)
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    seconds, modules = json.loads(run.stdout)
    return seconds, {name.split(".")[0] for name in modules} | {name for name in modules if name in SCIPY}


def test_import_takes_under_a_fifth_of_a_second():
    assert min(probe()[0] for _ in range(3)) < 0.2


def test_import_brings_nothing_heavy():
    assert not probe()[1] & (HEAVY | SCIPY)


def test_a_small_query_brings_nothing_heavy(monkeypatch):
    monkeypatch.setenv("JUNCTURE_COMPILATION", "auto")
    assert not probe(USE)[1] & (HEAVY | SCIPY)


COMPLETE = """
import os, sys
os.environ.update(_JUNCTURE_COMPLETE="complete_bash", COMP_WORDS="juncture {words}", COMP_CWORD="{last}")
from juncture.cli.main import run
try:
    run()
except SystemExit:
    print("numpy" in sys.modules)
"""


def test_names_of_bundled_networks_are_completed_without_numpy():
    for words, proposals in [("query as", ["asia"]), ("query asia --given xray=", ["xray=yes", "xray=no"])]:
        code = COMPLETE.format(words=words, last=len(words.split()))
        run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        assert run.stdout.splitlines() == [*proposals, "False"]


def test_every_module_can_be_imported():
    """Also one that no other imports; whatever is optional is imported by the function that needs it."""
    for module in pkgutil.walk_packages(juncture.__path__, "juncture."):
        if module.name != "juncture.__main__":  # which runs the command line
            importlib.import_module(module.name)
