"""Hybrid networks: first and repeated queries, and one target for many rows with the same columns observed.

    python benchmarks/hybrid.py FOLDER [--rows 10000]

FOLDER holds the published networks `waste` and `sangiovese` as `NAME.json.gz` (discrete nodes: states, parents, table;
real nodes: discrete_parents, real_parents, intercept, coefficients, variance). The answers are checked against single
rows first; then the first call and the median of five further ones are printed, with two threads. No other Python
library answers these networks exactly: `pyagrum.clg` has no variables with states (see benchmarks/gaussian.py).
"""

from __future__ import annotations

import argparse
import gzip
import importlib.metadata
import json
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import juncture as jt

RUNS = 5


def version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"


def read_network(path: Path) -> jt.BayesianNetwork:
    nodes = json.loads(gzip.decompress(path.read_bytes()))["nodes"]
    known = {name: jt.Variable(name, node["states"]) for name, node in nodes.items()}
    return jt.BayesianNetwork([read_node(known, name, node) for name, node in nodes.items()])


def read_node(known: dict[str, jt.Variable], name: str, node: dict[str, Any]) -> Any:
    if node["states"] is not None:
        return jt.Conditional(known[name], [known[parent] for parent in node["parents"]], node["table"])
    parents = [known[parent] for parent in (*node["discrete_parents"], *node["real_parents"])]
    shape = (*np.shape(node["intercept"]), len(node["real_parents"]))
    coefficients = np.reshape(np.array(node["coefficients"], float), shape)
    return jt.LinearGaussian(known[name], parents, coefficients, node["intercept"], node["variance"])


def clock(what: str, ask: Callable[[], Any]) -> None:
    seconds = []
    for _ in range(RUNS + 1):
        start = time.perf_counter()
        ask()
        seconds.append(time.perf_counter() - start)
    print(f"{what}: first {seconds[0] * 1e3:.1f} ms, then {statistics.median(seconds[1:]) * 1e3:.2f} ms")


def ask_all(model: jt.BayesianNetwork, evidence: dict[str, Any]) -> list[Any]:
    beliefs = jt.infer(model, evidence)
    return [beliefs[each.name].mean if each.is_real else beliefs[each.name].values for each in model.variables]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rows", type=int, default=10_000)
    options = parser.parse_args()
    jt.set_compilation("always")
    jt.set_num_threads(2)
    versions = ", ".join(f"{name} {version(name)}" for name in ("juncture", "numpy"))
    print(f"{versions}; median of {RUNS}")
    waste, wine = (read_network(options.folder / f"{name}.json.gz") for name in ("waste", "sangiovese"))
    clock("waste, all marginals given Mout", lambda: ask_all(waste, {"Mout": 3.0}))
    rows = jt.sample(wine, options.rows, rng=0).to_pandas()
    for target in ("Treatment", "Brix"):
        seen = rows.drop(columns=["Treatment", "Brix"])
        alone = jt.infer(wine, seen.iloc[7].to_dict(), targets=[target]).log_evidence
        assert np.isclose(jt.infer(wine, seen, targets=[target]).log_evidence[7], alone, rtol=1e-12)

        def ask(target: str = target, seen: Any = seen) -> Any:
            found = jt.infer(wine, seen, targets=[target])[target]
            return found.mean if target == "Brix" else found.values

        clock(f"sangiovese, {target} given 13 numbers in {options.rows:,} rows", ask)
    seen = rows.drop(columns=["Treatment", "Brix"])
    alone = jt.most_probable(wine, seen.iloc[7].to_dict()).log_joint
    assert np.isclose(jt.most_probable(wine, seen).log_joint[7], alone, rtol=1e-12)
    clock(f"sangiovese, the best of both in {options.rows:,} rows", lambda: jt.most_probable(wine, seen))


if __name__ == "__main__":
    main()
