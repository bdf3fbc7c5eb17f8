"""`import juncture` stays light, and a first call imports only what it uses."""

from __future__ import annotations

import importlib
import json
import pkgutil
import subprocess
import sys

import pytest

import juncture

HEAVY = {"numba", "sklearn", "pandas", "polars", "pyarrow", "matplotlib", "networkx", "typer", "rich"}

PROBE = """
import json, sys
import numpy
import juncture
{use}
print(json.dumps(sorted(sys.modules)))
"""

SCIPY = {"scipy.linalg", "scipy.special", "scipy.stats", "scipy.optimize", "scipy.sparse", "scipy.integrate"}

USE = """
juncture.infer(juncture.example("asia"), {"xray": "yes"}).to_dict()
"""


def probe(use: str = "") -> set[str]:
    """The packages, and the parts of SciPy, that the import and a use of it bring."""
    run = subprocess.run([sys.executable, "-c", PROBE.format(use=use)], capture_output=True, text=True, check=True)
    modules = json.loads(run.stdout)
    return {name.split(".")[0] for name in modules} | {name for name in modules if name in SCIPY}


def test_import_brings_no_module_of_ours_but_the_table_of_names():
    run = subprocess.run([sys.executable, "-c", PROBE.format(use="")], capture_output=True, text=True, check=True)
    assert [name for name in json.loads(run.stdout) if name.startswith("juncture")] == ["juncture", "juncture.names"]


def test_import_brings_nothing_heavy():
    assert not probe() & (HEAVY | SCIPY)


def test_a_small_query_brings_nothing_heavy(monkeypatch):
    monkeypatch.setenv("JUNCTURE_COMPILATION", "auto")
    assert not probe(USE) & (HEAVY | SCIPY)


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


# --- what first calls import -----------------------------------------------------------------------------------------

ASIA = 'juncture.example("asia")'
NETWORK = {"inference.bounded", "inference.messages", "inference.decisions", "learning", "latent", "sequences"}
REST = {"supervised", "evaluation", "estimators", "plots", "cli", "information"}
ENGINES = {"inference.sampling", "inference.variational", "inference.exact.hybrid", "inference.exact.gaussian"}
TREES = {
    "inference.exact.junction_tree.sparse_plan",
    "inference.exact.junction_tree.sparse_tree",
    "kernels.sparse_tree",
    "inference.exact.junction_tree.factored_tree",
}
PICTURES = {"drawing.layout", "drawing.svg", "drawing.text"}
SOURCES = {"data.files", "data.sources.dask", "data.sources.spark", "data.sources.duckdb", "data.sources.files"}
QUESTION = NETWORK | REST | PICTURES | SOURCES
MIXTURE = "juncture.Mixture([0.5, 0.5], juncture.Gaussian([0.0, 3.0], [1.0, 1.0]))"
HIDDEN = "juncture.HiddenMarkovModel([0.5, 0.5], [[0.8, 0.2], [0.2, 0.8]], [[0.9, 0.1], [0.2, 0.8]])"

FIRST_CALLS = {  # call → folders and modules that it does without
    f'juncture.infer({ASIA}, {{"xray": "yes"}})["lung"]': QUESTION | ENGINES | TREES,
    f'juncture.log_prob({ASIA}, {{"xray": "yes"}})': QUESTION | ENGINES,
    f'juncture.most_probable({ASIA}, {{"xray": "yes"}})': QUESTION | ENGINES,
    f"juncture.sample({ASIA}, 5, rng=0)": QUESTION | ENGINES - {"inference.sampling"},
    f'juncture.infer({ASIA}, method="gibbs", rng=0)': QUESTION
    | {"inference.exact.hybrid", "inference.sampling.particle_filter", "inference.sampling.particle_model"},
    f"juncture.draw({ASIA})": NETWORK | REST | SOURCES | ENGINES | TREES | {"inference.exact"},
    'juncture.fit(juncture.DirectedGraph([("a", "b")]), {"a": [0, 1], "b": [1, 0]}, prior=1.0)': (
        (NETWORK | REST | ENGINES | {"drawing.layout.arrange", "learning.structure"}) - {"learning"}
    ),
    'juncture.learn_structure({"a": ["x", "y"] * 20, "b": ["u", "v"] * 20})': (
        (NETWORK | REST | ENGINES | {"drawing.layout.arrange"}) - {"learning"}
    ),
    "juncture.Gaussian(0.0, 1.0).log_prob(1.0)": {"inference", "learning", "networks", "graphs", "drawing", "kernels"}
    | REST,
    f"juncture.infer({HIDDEN}, [0, 1])": (NETWORK | REST | ENGINES | {"inference.exact"}) - {"learning", "sequences"},
    f"juncture.infer({MIXTURE}, [0.5])": (
        (NETWORK | REST | ENGINES) - {"latent", "learning", "inference.variational"}
        | {"latent.factor_analysis", "latent.topics"}
    ),
}


@pytest.mark.parametrize("call", FIRST_CALLS)
def test_first_calls_import_only_what_they_use(call):
    code = PROBE.format(use=f"import warnings; warnings.simplefilter('ignore'); {call}")
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    imported = {
        name.removeprefix("juncture.") for name in json.loads(run.stdout.splitlines()[-1]) if "juncture." in name
    }
    assert [
        name for name in sorted(imported) if any(f"{name}.".startswith(f"{place}.") for place in FIRST_CALLS[call])
    ] == []


def test_the_first_answer_reads_few_of_our_lines():
    code = PROBE.format(use=USE) + (
        "files = [module.__file__ for name, module in sys.modules.items() if name.startswith('juncture')]\n"
        "print(sum(len(open(file).readlines()) for file in files))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert int(run.stdout.splitlines()[-1]) < 22_000
